"""What findings say of printed numbers beside ours, held against the printed tables and the committed results."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import product
from statistics import fmean

import pytest

from harness.base.layout import Layout
from harness.results.reference import load_reference
from tests.conftest import REPOSITORY

KINDS = {"with": "cluster", "without": "random"}


def printed(sheet: str, metric: str, split: str) -> dict[str, float]:
    """A column of a table of the paper in percent, by method."""
    with (REPOSITORY / "results" / "published" / "ddi" / "tables.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == sheet and row["metric"] == metric]
    return {row["method"]: 100 * float(row["value"]) for row in rows if row["split"] == split}


def ours(layout: Layout, method: str, metric: str) -> dict[str, list[float]]:
    """The scores of all seeds on DrugBank in percent, by kind of split."""
    return {split: [*values.values()] for split, values in by_seed(layout, method, metric, "published").items()}


def by_seed(layout: Layout, method: str, metric: str, variant: str) -> dict[str, dict[int, float]]:
    """The score of each seed on DrugBank in percent, by kind of split."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for result in load_reference(layout, "ddi", methods=[method]).values():
        job = result.planned.job
        if (job.dataset, job.split.strategy, job.variant) == ("drugbank", "released", variant):
            assert result.fresh_scores is not None
            value = result.fresh_scores.every[f"{metric}/as-published"]
            assert value is not None
            found[job.split.parameters["which"]][job.split.seed] = 100 * value
    return {split: found[which] for split, which in KINDS.items()}


def test_a_count_of_types_is_above_five_printed_methods(repository: Layout) -> None:
    """In S1. In S2 it has what MSTE has, and nobody is printed with less."""
    control = ours(repository, "drug_frequency", "S1 F1")
    below = {}
    for split, value in (("with", 20.5), ("without", 26.6)):
        assert {round(one, 1) for one in control[split]} == {value}
        table = printed("10", "S1 F1", split)
        assert len(table) == 10
        below[split] = {name for name, one in table.items() if one < value}
    assert below["without"] == {"MLP", "MSTE", "Decagon"}
    assert below["with"] == below["without"] | {"SSI-DDI", "MRCGNN"}
    assert round(fmean(ours(repository, "ssi_ddi", "S1 F1")["with"]), 1) == 21.2
    for split, value in (("with", 1.2), ("without", 1.0)):
        assert {round(one, 1) for one in ours(repository, "drug_frequency", "S2 F1")[split]} == {value}
        table = printed("10", "S2 F1", split)
        assert min(table, key=table.__getitem__) == "MSTE" and table["MSTE"] == pytest.approx(value)


def test_neither_bits_nor_counts_are_nearer_to_all_that_is_printed(repository: Layout) -> None:
    """Of MLP, on all seeds, and on those that both have: so its numbers do not tell which of them it read."""
    nearest: dict[str, set[str]] = {"all": set(), "common": set()}
    for split, metric in product(KINDS, ("S1 F1", "S2 F1")):
        variants = {name: by_seed(repository, "mlp", metric, name)[split] for name in ("published", "counts")}
        common = variants["published"].keys() & variants["counts"].keys()
        assert len(common) == 3
        for which, seeds in (("all", None), ("common", common)):
            distance = {
                name: abs(fmean(value for seed, value in found.items() if seeds is None or seed in seeds) - target)
                for name, found in variants.items()
                for target in [printed("10", metric, split)["MLP"]]
            }
            nearest[which].add(min(distance, key=distance.__getitem__))
    assert nearest == {"all": {"published", "counts"}, "common": {"published", "counts"}}


def test_mste_says_one_type_of_all_pairs_of_new_drugs(repository: Layout) -> None:
    """Whatever the seed. The paper's Table 12 shows it as all of type 48 and nothing of the others."""
    for split, share in (("with", 24.55), ("without", 34.11)):
        assert {*ours(repository, "mste", "S2 kappa")[split]} == {0.0}
        assert ours(repository, "mste", "S2 accuracy")[split] == pytest.approx([share] * 8, abs=0.006)
        types = (48, 46, 72, 29, 71, 57, 24, 1, 18)
        table = [printed("12", f"S2 accuracy of type {one}", split)["MSTE"] for one in types]
        assert table == [100.0] + [0.0] * 8
