"""Every verdict on the committed results follows from records and published files, by code that is not ours."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.compare import Book, compare_claims
from harness.compare.claims import STATISTICS
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.results.store import Store
from tests import recomputation
from tests.recomputation import groups, records
from tests.recomputation.claims import Judged, Published, judged, published

BENCHMARKS = ("repurposing", "ddi", "dti", "combos")


@pytest.fixture(scope="module", params=BENCHMARKS)
def book(request: pytest.FixtureRequest, repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The claims of one benchmark beside the committed results alone."""
    elsewhere = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("nothing"))
    return compare_claims(elsewhere, Store(elsewhere.runs), request.param)


def test_the_other_code_is_other_code() -> None:
    """It imports nothing of what it is held against."""
    modules = sorted(Path(recomputation.__file__).parent.glob("*.py"))
    assert len(modules) >= 3
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            imported = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            imported += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] == "harness" for name in imported), path
            own = [name for name in imported if name.startswith("tests")]
            assert all(name.startswith("tests.recomputation") for name in own), path


def test_every_committed_run_that_counts_is_counted(book: Book) -> None:
    """No run is left out, and none is of something else. What is outdated is run again, or removed."""
    own = records.names(book.benchmark)
    rows, variants = own["methods"].values(), {own["variant"], *own.get("beside", ())}
    methods = {name.partition("/")[0] for name in rows}
    methods |= {*own.get("own_methods", ()), *records.controls(book.benchmark)}
    expected = {
        run.key
        for run in records.runs(book.benchmark)
        if run.method in methods and (run.variant in variants or f"{run.method}/{run.variant}" in rows)
    }
    sides = (book.runs, *book.beside.values())
    counted = {run.key for runs in sides for seeds in runs.values() for run in seeds.values()}
    assert len(expected) > 20
    assert counted == expected, f"{len(counted)} of {len(expected)} committed runs count"


def test_every_verdict_is_that_of_plain_arithmetic(book: Book) -> None:
    claims = list(published(book.benchmark))
    assert len(claims) == len(book.comparisons)
    decided = Counter[str]()
    for claim, one in zip(claims, book.comparisons, strict=True):
        about = f"{claim} {one}"
        own = one.claim
        place = own.statistic, own.method, own.dataset, own.split, own.metric, own.published, own.seed
        assert place == (
            claim.statistic,
            claim.method,
            claim.dataset,
            claim.split,
            claim.metric,
            claim.text,
            claim.seed,
        )
        assert (own.sd, own.n, own.sheet) == (claim.sd, claim.n, claim.sheet), about
        assert own.rounding == pytest.approx(claim.rounding, rel=1e-12), about
        if claim.statistic in STATISTICS:
            # held against plain arithmetic in a file of its own
            decided[str(one.verdict)] += 1
            continue
        expected = judged(book.benchmark, claim)
        _hold(one, expected, about)
        decided[str(expected.decided)] += 1
    assert decided["reproduced"] == book.tally[ClaimVerdict.REPRODUCED]
    assert decided["deviates"] == book.tally[ClaimVerdict.DEVIATES]


def _hold(one: Comparison, expected: Judged, about: str) -> None:
    verdict = str(one.verdict) if one.verdict in (ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES) else None
    assert verdict == expected.decided, about
    if expected.ours is None and not expected.keys:
        return
    if expected.ours is None:
        assert one.ours is None, about
    else:
        assert one.ours == pytest.approx(expected.ours, rel=1e-12, abs=1e-15), about
        assert one.difference == pytest.approx(expected.ours - one.claim.value, rel=1e-9, abs=1e-14), about
    if not expected.keys:
        return
    assert one.n == expected.n and sorted(one.keys) == sorted(expected.keys), about
    assert (one.interval is None) == (expected.low is None), about
    if one.interval is not None:
        assert one.interval == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-12), about
    assert (one.margin is None) == (expected.margin is None), about
    if expected.margin is not None:
        assert one.margin == pytest.approx(expected.margin, rel=1e-9), about
    assert one.needed == expected.needed, about


def test_a_printed_mean_is_held_against_the_authors_files(book: Book) -> None:
    """Within half a unit of its last digit, and no more."""
    if book.benchmark != "repurposing":
        assert all(one.files is None for one in book.comparisons)
        return
    means = groups.their_means()
    agreeing = Counter[bool]()
    for claim, one in zip(published(book.benchmark), book.comparisons, strict=True):
        if claim.statistic == "mean" and claim.sheet:
            value = means[(claim.dataset, claim.method, claim.split), claim.metric]
            agrees = abs(value - claim.value) <= claim.rounding + 1e-9
            assert one.files is not None
            assert (one.files.value, one.files.n, one.files.agrees) == (value, 100, agrees), claim
            agreeing[agrees] += 1
        elif claim.statistic not in STATISTICS:
            assert one.files is None
    assert agreeing[True] > 20 and agreeing[False]


def test_the_rules_decide_by_what_they_say() -> None:
    """A claim of each kind that decides is among the committed results, so that the test above has teeth."""
    kinds = Counter((claim.statistic, judged(name, claim).decided) for name, claim in _means())
    for statistic, verdict in (
        ("mean", "reproduced"),
        ("mean", "deviates"),
        ("mean", None),
        ("band", "reproduced"),
    ):
        assert kinds[statistic, verdict], (statistic, verdict)
    assert kinds["band", "deviates"] and kinds["band", None]


def _means() -> list[tuple[str, Published]]:
    return [
        (name, claim)
        for name in BENCHMARKS
        for claim in published(name)
        if claim.statistic in ("mean", "band", "status")
    ]
