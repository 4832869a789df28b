"""The drugs of DrugBank and TWOSIDES: identifiers, structures, texts, years of approval, and the names of types.

Nothing is invented: what a repository does not have stays empty, and is remarked on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import CorruptData
from harness.base.plurals import counted
from harness.benchmarks.ddi.converters.ddi_bench.approval import approvals_in
from harness.benchmarks.ddi.dataset import Integers
from harness.data.lines import path_of, table_in

TWOSIDES_TYPES = 209
_BEFORE_1982 = "Approved Prior to Jan 1, 1982"


@dataclass(frozen=True)
class Drugs:
    """One entry per drug in each; `accessions` are DrugBank's, empty where unknown; `signed` says multilabel."""

    ids: tuple[str, ...]
    accessions: tuple[str, ...]
    smiles: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]
    graph_texts: tuple[str, ...]
    years: Integers
    type_names: tuple[str, ...]
    signed: bool
    remarks: tuple[str, ...] = ()


def drugbank(files: Mapping[str, Path]) -> Drugs:
    """DrugBank's: an accession for each; the sentences that TextDDI read are not public."""
    ids = _in_order(table_in("node2id.json", files), "node2id.json")
    descriptions = _by_number("drug_DDI_GPT.json", files, len(ids))
    smiles = _by_number("id2smiles.json", files, len(ids))
    approvals = approvals_in(path_of("drug_info_with_approval_date.xlsx", files))
    dates = [approvals.get(accession, "") for accession in ids]
    types = path_of("id2rel.txt", files).read_text(encoding="utf-8").splitlines()
    return Drugs(
        ids=ids,
        accessions=ids,
        smiles=tuple(str(text) for text in smiles),
        names=tuple(str(drug["name"]) for drug in descriptions),
        texts=("",) * len(ids),
        graph_texts=tuple(str(drug["description"]) for drug in descriptions),
        years=np.array([int(date[:4]) if date[:4].isdecimal() else 0 for date in dates], dtype=np.int32),
        type_names=tuple(types),
        signed=False,
        remarks=(
            f"{dates.count(_BEFORE_1982)} drugs were approved before 1982, no year is told: they count as undated",
        ),
    )


def twosides(files: Mapping[str, Path]) -> Drugs:
    """TWOSIDES': a PubChem compound for each; nobody has published the names of its 209 types."""
    ids = _in_order(table_in("cid2id.json", files), "cid2id.json")
    descriptions = _by_number("two_DDI_GPT.json", files, len(ids))
    smiles = table_in("cid2smiles.json", files)
    accession = {drug["cid"]: drug["db"] or "" for drug in table_in("twosides_id2drug.json", files).values()}
    summaries = {int(cid): drug["summary"] for cid, drug in table_in("twosides_dict_revised.json", files).items()}
    summaries |= {int(cid): drug["description"] for cid, drug in table_in("sent_additional.json", files).items()}
    return Drugs(
        ids=ids,
        accessions=tuple(str(accession.get(cid, "")) for cid in ids),
        smiles=tuple(str(smiles[cid]) for cid in ids),
        names=tuple(str(drug["name"]) for drug in descriptions),
        texts=tuple(str(summaries.get(int(cid.removeprefix("CID")), "")) for cid in ids),
        graph_texts=tuple(str(drug["description"]) for drug in descriptions),
        years=np.zeros(len(ids), dtype=np.int32),
        type_names=tuple(f"type {number}" for number in range(TWOSIDES_TYPES)),
        signed=True,
    )


READERS: dict[str, Callable[[Mapping[str, Path]], Drugs]] = {"drugbank": drugbank, "twosides": twosides}


def _in_order(numbers: Mapping[str, Any], file: str) -> tuple[str, ...]:
    """Names by their numbers, which must be 0, 1, 2, ..."""
    names = sorted(numbers, key=lambda name: int(numbers[name]))
    if [numbers[name] for name in names] != list(range(len(names))):
        raise CorruptData("the numbers of the drugs have a gap", where=file, todo="restore the original file")
    return tuple(names)


def _by_number(name: str, files: Mapping[str, Path], drugs: int) -> list[Any]:
    """The values of a table whose keys are the numbers of the drugs."""
    table = table_in(name, files)
    gaps = [number for number in range(drugs) if str(number) not in table]
    if gaps:
        raise CorruptData(
            f"{counted(len(gaps), 'drug')} missing, number {gaps[0]} for one",
            where=str(files[name]),
            todo="restore the original file",
        )
    return [table[str(number)] for number in range(drugs)]
