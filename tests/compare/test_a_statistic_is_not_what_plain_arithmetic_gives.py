"""Medians, rank tests and differences of both sides follow from the files, by code that is not ours."""

from __future__ import annotations

from collections import Counter
from typing import cast

import pytest
from scipy import stats

from harness.base.layout import Layout
from harness.compare import Book, compare_claims
from harness.compare.claims import ADJUSTED_P, DIFFERENCE, MEDIAN, STATISTICS, Claim, H
from harness.compare.comparison import ClaimVerdict
from harness.compare.groups import Several
from harness.results.store import Store
from tests.recomputation import groups
from tests.recomputation.claims import Published, published
from tests.study.conftest import Drawn


@pytest.fixture(scope="module")
def book(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The claims beside the committed results alone."""
    elsewhere = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("nothing"))
    return compare_claims(elsewhere, Store(elsewhere.runs), "repurposing")


@pytest.fixture(scope="module")
def printed() -> list[Published]:
    """The claims over several methods, as the tables have them."""
    return [claim for claim in published("repurposing") if claim.statistic in STATISTICS]


def test_what_the_authors_files_give_is_their_definition(book: Book, printed: list[Published]) -> None:
    comparisons = [one for one in book.comparisons if one.claim.statistic in STATISTICS]
    assert len(comparisons) == len(printed)
    agreeing = Counter[bool]()
    for claim, one in zip(printed, comparisons, strict=True):
        if claim.statistic == ADJUSTED_P:
            continue
        files = groups.from_files(claim)
        assert one.files is not None
        assert one.files.value == pytest.approx(files.value, rel=1e-9), claim
        assert (one.files.n, one.files.agrees) == (files.n, files.agrees), claim
        agreeing[files.agrees] += 1
        decided, value, n = groups.decision(claim, groups.ours())
        assert (one.verdict is ClaimVerdict.REPRODUCED) == (decided == "reproduced"), claim
        assert (one.verdict is ClaimVerdict.DEVIATES) == (decided == "deviates"), claim
        if one.ours is not None:
            assert value is not None and one.ours == pytest.approx(value, rel=1e-9, abs=1e-9), claim
            assert one.n == n, claim
    assert agreeing[True] > 30 and agreeing[False]


def test_adjusted_chances_are_of_the_hs_of_their_table(book: Book) -> None:
    tables = {one.claim.sheet for one in book.comparisons if one.claim.statistic == ADJUSTED_P}
    assert len(tables) == 2
    for table in tables:
        own = [one for one in book.comparisons if one.claim.sheet == table]
        chances = [one for one in own if one.claim.statistic == ADJUSTED_P]
        hs = {(one.claim.method, one.claim.dataset): one for one in own if one.claim.statistic == H}
        tests = [hs[one.claim.method, one.claim.dataset].files for one in chances]
        adjusted = stats.false_discovery_control([groups.chance(test.value) for test in tests if test])
        for one, expected in zip(chances, adjusted.tolist(), strict=True):
            assert one.files is not None and one.files.value == pytest.approx(expected, rel=1e-6)
            assert one.files.agrees == ((expected < 0.01) == (one.claim.value < 0.01))


def test_a_chance_is_adjusted_over_its_whole_table_also_where_few_claims_are_asked_for(
    book: Book, repository: Layout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("nothing"))
    (one, *_) = (one for one in book.comparisons if one.claim.statistic == ADJUSTED_P)
    chosen = compare_claims(
        elsewhere, Store(elsewhere.runs), "repurposing", datasets=[one.claim.dataset], methods=[one.claim.method]
    )
    found = [other for other in chosen.comparisons if other.claim == one.claim]
    assert found == [one] and 0 < len(chosen.comparisons) < 10


def plain(several: Several) -> groups.Values:
    """Our side of a made-up world, as plain values."""
    return {(place.dataset, place.method, place.split): runs for place, runs in several.ours.values.items()}


@pytest.mark.parametrize(
    ("seeds", "shift"), [(10, 0.0), (20, 0.0), (40, 0.0), (20, 0.02), (20, -0.02), (40, 0.05)]
)
def test_a_made_up_world_is_judged_by_the_same_rules(
    drawn: Drawn, printed: list[Published], claims: dict[tuple[str, str, str], Claim], seeds: int, shift: float
) -> None:
    """Draws of the authors' runs as if they were ours, and some methods shifted: here claims are decided."""
    several = drawn(seeds, shift=shift, of=("HAN", "LRSSL", "LogisticMF"))
    values, kinds = plain(several), Counter[str | None]()
    about = {"median": MEDIAN, "difference of means": DIFFERENCE, "Kruskal-Wallis H": H}
    wanted = [
        claim for claim in claims.values() if claim.statistic in about and claim.dataset in ("Fdataset", "LRSSL")
    ]
    for claim in wanted:
        (own,) = (
            one
            for one in printed
            if (one.sheet, one.statistic, one.method, one.dataset, one.split)
            == (claim.sheet, claim.statistic, claim.method, claim.dataset, claim.split)
        )
        decided, value, n = groups.decision(own, values)
        one = several.judge(claim)
        verdict = str(one.verdict) if one.verdict in (ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES) else None
        assert (verdict, one.n) == (decided, n), one
        assert one.ours == pytest.approx(cast(float, value), rel=1e-9)
        kinds[decided] += 1
    assert len(wanted) >= 4 and sum(kinds.values()) == len(wanted)
