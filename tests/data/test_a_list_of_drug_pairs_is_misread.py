"""Drug pairs of one's own: every fault by its place, every cell where it belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.ddi.converters import ddi_csv
from harness.benchmarks.ddi.converters.ddi_bench.approval import approvals_in
from harness.benchmarks.ddi.splits.form import FORM as DRUG_FORM
from harness.benchmarks.ddi.splits.parts import (
    KNOWN,
    PARTS,
    TEST_NEW,
    TEST_S0,
    TEST_S1,
    TEST_S2,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    VALID_S1,
)
from harness.benchmarks.ddi.splits.strategies import released
from tests.data.told import Told, manifest, put, told


def by_pairs(folder: Path, drugs: str, interactions: str, knowledge: str = "", **more: Any) -> Any:
    contents = {"drugs.csv": drugs, "interactions.csv": interactions, "knowledge.csv": knowledge}
    files = {name: put(folder / name, text) for name, text in contents.items() if text}
    named = {"knowledge": "knowledge.csv"} if knowledge else {}
    return ddi_csv.convert(manifest("ddi_csv", fingerprint=8, **named, **more), files)


DRUGS = "drug,smiles\nA,C\nB,CC\nC,CCC\n"


@pytest.mark.parametrize(
    ("drugs", "interactions", "knowledge", "faults"),
    [
        (
            "drug,smiles,year\nA,C,199\nA,CC,19990\n,CCC,200x\nB,O,19²²\n",
            "",
            "",
            [
                ("'199' is no year", "drugs.csv: line 2", "give four digits, or leave an unknown year empty"),
                ("drug 'A' is also in line 2", "drugs.csv: line 3", "keep one of the lines"),
                ("'19990' is no year", "drugs.csv: line 3", "give four digits, or leave an unknown year empty"),
                ("the cell of 'drug' is empty", "drugs.csv: line 4", "fill it, or remove the line"),
                ("'19²²' is no year", "drugs.csv: line 5", "give four digits, or leave an unknown year empty"),
            ],
        ),
        (
            DRUGS,
            "head,tail,type\nA,X,t\nA,A,t\nA,B,\nB,C,t\nB,C,t\n",
            "",
            [
                (
                    "drug 'X' has no line among the drugs",
                    "interactions.csv: line 2",
                    "add it there, or remove this line",
                ),
                ("drug 'A' is paired with itself", "interactions.csv: line 3", "remove the line"),
                (
                    "a type has no name, or is there twice",
                    "interactions.csv: line 4",
                    "give every type once, separated by ;",
                ),
                (
                    "the interaction 'B, C, t' is also in line 5",
                    "interactions.csv: line 6",
                    "keep one of the lines",
                ),
            ],
        ),
        (
            DRUGS,
            "head,tail,types,sign\nA,B,t;t,+\nA,C,t,x\nB,C,u; t,-\nB,C,t ;u,-1\n",
            "",
            [
                (
                    "a type has no name, or is there twice",
                    "interactions.csv: line 2",
                    "give every type once, separated by ;",
                ),
                ("the sign 'x' is neither + nor -", "interactions.csv: line 3", "correct the sign"),
                (
                    "the interaction 'B, C, t, u, -' is also in line 4",
                    "interactions.csv: line 5",
                    "keep one of the lines",
                ),
            ],
        ),
        (
            DRUGS,
            "head,tail,type\nA,B,t\n",
            "head,tail,relation\nA,g,binds\nA,g,binds\nA,g,eats\n",
            [
                ("the edge 'A, g, binds' is also in line 2", "knowledge.csv: line 3", "keep one of the lines"),
                (
                    "relation 'eats' is not in the manifest's list",
                    "knowledge.csv: line 4",
                    "add it to parameters.relations",
                ),
            ],
        ),
    ],
)
def test_a_table_of_drug_pairs_is_corrected_by_its_faults(
    tmp_path: Path, drugs: str, interactions: str, knowledge: str, faults: list[Told]
) -> None:
    more = {"relations": ["binds"]} if knowledge else {}
    found = told(lambda: by_pairs(tmp_path, drugs, interactions or "head,tail,type\n", knowledge, **more))
    assert found == [(what, f"{tmp_path}/{where}", todo) for what, where, todo in faults]


def test_drug_pairs_are_read_cell_by_cell(tmp_path: Path) -> None:
    drugs = "drug,smiles,name,text,graph_text,year\nB,C,Beta,t,g,1990\nA,CC,,,,\n"
    edges = "head,tail,relation\nA,y,s\nx,A,r\nB,x,r\n"
    dataset = by_pairs(tmp_path, drugs, "head,tail,type\nA,B,u\nB,A,t\nA,B,t\n", edges)
    assert (dataset.drug_ids, dataset.drug_names, dataset.smiles) == (("B", "A"), ("Beta", "A"), ("C", "CC"))
    assert (dataset.drug_texts, dataset.graph_texts) == (("t", ""), ("g", ""))
    assert dataset.years.tolist() == [1990, 0] and dataset.type_names == ("t", "u")
    assert (dataset.pairs.tolist(), dataset.labels.tolist()) == ([[0, 1], [1, 0], [1, 0]], [0, 0, 1])
    assert dataset.entity_names == ("B", "A", "y", "x") and dataset.relation_names == ("s", "r")
    assert dataset.knowledge.tolist() == [[1, 2, 0], [3, 1, 1], [0, 3, 1]]
    assert dataset.released.shape == (5, 0) and dataset.fingerprints.shape == (2, 8)
    signs = "head,tail,types,sign\nB,A,u;t,+\nA,B,t,-1\nA,B,u,1\nB,A,t,-\nA,B,t;u,+1\n"
    signed = by_pairs(tmp_path, drugs, signs, edges, relations=["s", "q", "r"])
    assert signed.labels.tolist() == [[1, 1], [-1, 0], [0, 1], [-1, 0], [1, 1]]
    assert signed.pairs.tolist() == [[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]]
    assert signed.relation_names == ("s", "q", "r") and signed.knowledge[:, 2].tolist() == [0, 2, 2]
    assert by_pairs(tmp_path, drugs, "head,tail,type\n").pairs.shape == (0, 2)


def test_a_workbook_that_is_none_says_so(tmp_path: Path) -> None:
    ((what, where, todo),) = told(lambda: approvals_in(put(tmp_path / "x.xlsx", "text")))
    assert what.startswith("not a workbook: ") and (where, todo) == (
        str(tmp_path / "x.xlsx"),
        "restore the original file",
    )


SIX = "drug,smiles\n" + "".join(f"{name},{'C' * size}\n" for size, name in enumerate("ABCDEF", start=1))


@pytest.mark.parametrize("signed", [False, True])
def test_the_parts_of_a_table_are_a_split_in_its_order(tmp_path: Path, signed: bool) -> None:
    """A and B train; C is new to the validation, D and E to the test; nothing is said of F."""
    parts = {"DE": "test", "CA": "valid", "BA": "train", "AD": "Test", "AB": "test", "AE": "test", "BC": "valid"}
    head, more = ("head,tail,types,sign,part\n", "t;u,+") if signed else ("head,tail,type,part\n", "t")
    lines = (f"{pair[0]},{pair[1]},{more},{part}\n" for pair, part in parts.items())
    made = by_pairs(tmp_path, SIX, head + "".join(lines))
    split = released.make(made, 1, released.Parameters(which="own"))
    assert split.drugs.tolist() == [KNOWN, KNOWN, VALID_NEW, TEST_NEW, TEST_NEW, KNOWN]
    asked = {
        part: ["".join(made.drug_ids[end] for end in made.pairs[item]) for item in split.items_in(part)]
        for part in PARTS
    }
    expected = {TRAIN: ["BA"], VALID_S1: ["CA", "BC"], TEST_S0: ["AB"], TEST_S1: ["AD", "AE"], TEST_S2: ["DE"]}
    assert asked == {part: expected.get(part, []) for part in PARTS}
    assert made.remarks == ("3 items to test on: --split released:which=own",)
    assert made.statistics().released == 1
    assert DRUG_FORM.broken_promises(split, made) == []
    assert released.broken_promises(made, split, released.Parameters(which="own")) == []


def test_known_drugs_alone_may_be_validated_on(tmp_path: Path) -> None:
    made = by_pairs(tmp_path, DRUGS, "head,tail,type,part\nA,B,t,train\nB,A,t,valid\nA,C,t,test\n")
    split = released.make(made, 1, released.Parameters(which="own"))
    assert {part: len(split.items_in(part)) for part in (TRAIN, VALID_S0, TEST_S1)} == dict.fromkeys(
        (TRAIN, VALID_S0, TEST_S1), 1
    )


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        (
            "A,B,t,TRAIN\nA,C,t,Fit\nB,C,t,\n",
            [
                ("'Fit' is no part", "interactions.csv: line 3", "write train, valid, test"),
                ("'' is no part", "interactions.csv: line 4", "write train, valid, test"),
            ],
        ),
        (
            "A,B,t,train\nA,C,t,test\nB,C,t,valid\n",
            [
                (
                    "drug 'C' has lines of valid and of test, and none to train on",
                    "interactions.csv: line 3",
                    "let a new drug have lines of one part",
                )
            ],
        ),
        (
            "A,B,t,train\nA,C,t,train\nB,C,t,test\n",
            [
                (
                    "no line of part test has a drug without lines to train on",
                    "interactions.csv",
                    "give such lines, or leave the column `part` out",
                )
            ],
        ),
        (
            "A,B,t,test\nA,C,t,test\n",
            [("no line trains", "interactions.csv", "give such lines, or leave the column `part` out")],
        ),
    ],
)
def test_parts_that_are_no_split_are_refused(tmp_path: Path, lines: str, faults: list[Told]) -> None:
    found = told(lambda: by_pairs(tmp_path, DRUGS, f"head,tail,type,part\n{lines}"))
    assert [(what, where.removeprefix(f"{tmp_path}/"), todo) for what, where, todo in found] == faults
