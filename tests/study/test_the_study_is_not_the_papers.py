"""The groups behind a statistic are the paper's: its own files give its printed numbers, with known exceptions."""

from __future__ import annotations

import pytest

from harness.benchmarks.repurposing.study.figures import PANELS
from harness.compare import Book
from harness.compare.claims import DIFFERENCE, Claim, H
from harness.compare.groups import Several
from harness.compare.paper import Place
from harness.compare.values import TIME
from tests.study.conftest import Drawn

PAIR_ORIENTED = {"FastaiCollabWrapper", "NIMCGCN", "HAN", "LRSSL"}


@pytest.mark.parametrize(
    ("contrast", "first", "second"), [("GB", 25, 25), ("MF", 46, 46), ("NN", 17, 18)], ids=lambda value: str(value)
)
def test_the_groups_have_the_printed_sizes(
    nothing_run: Several, claims: dict[tuple[str, str, str], Claim], contrast: str, first: int, second: int
) -> None:
    claim = next(one for one in claims.values() if one.statistic == H and one.method.startswith(f"{contrast}, "))
    assert [len(group) for group in nothing_run.groups(claim)] == [first, second]


def test_printed_numbers_follow_from_the_authors_files_but_for_three(book: Book) -> None:
    printed = [one for one in book.comparisons if one.files is not None]
    assert len(printed) == 81
    wrong = {
        (one.claim.source, one.claim.metric, one.claim.statistic)
        for one in printed
        if not one.files or not one.files.agrees
    }
    assert wrong == {
        ("Table 7, ALSWR, Synthetic", "AUC", "mean"),
        ("Table 8, LogisticMF, Synthetic", "AUC", "mean"),
        ("Table 10, GB, random against weakly correlated, all", "NS-AUC", DIFFERENCE),
    }


def test_the_class_of_drrs_is_computed_both_ways(book: Book) -> None:
    found = {one.claim.method.split(",")[0]: one for one in book.comparisons if one.claim.dataset == "all"}
    assert {"GB", "MF", "GB with DRRS", "MF without DRRS"} <= found.keys()
    values = {name: one.files.value for name, one in found.items() if one.files and one.claim.statistic == H}
    assert values["GB with DRRS"] == pytest.approx(623.0, rel=0.05)
    assert values["MF without DRRS"] == pytest.approx(884.5, rel=0.05)


def test_the_best_three_are_those_the_paper_counts(nothing_run: Several) -> None:
    """Pair-oriented are 27 of 96, and 8 of 32 best; by AUC 12 of 16 have another three. Without Synthetic."""
    best, threes = [], {}
    for metric, split in PANELS:
        for dataset in [name for name in nothing_run.paper.datasets if name != "Synthetic"]:
            places = [Place(dataset, method, split) for method in nothing_run.paper.methods]
            having = [place for place in places if nothing_run.published.has(place)]
            best.append([place.method for place in nothing_run.best(nothing_run.published, having, metric)])
            threes[metric, split, dataset] = {*best[-1]}
    assert sum(method in PAIR_ORIENTED for three in best for method in three) == 27
    assert sum(three[0] in PAIR_ORIENTED for three in best) == 8
    others = [three != threes["NS-AUC", split, name] for (by, split, name), three in threes.items() if by == "AUC"]
    assert (sum(others), len(others)) == (12, 16)


def test_every_published_run_of_the_paper_is_known(nothing_run: Several) -> None:
    runs = nothing_run.published.values
    assert len(runs) == 88 + 89 + 10
    assert all(len(seeds) == 46 for seeds in runs.values())
    assert all(TIME in run for seeds in runs.values() for run in seeds.values())


def test_controls_never_enter_a_statistic(book: Book, drawn: Drawn) -> None:
    assert book.several is not None
    methods = {place.method for place in book.several.ours.values}
    assert methods == set(book.several.paper.methods)
    assert book.several.ours.values.keys() == drawn(10).ours.values.keys()
