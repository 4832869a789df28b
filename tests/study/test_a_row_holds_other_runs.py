"""Rows of a study hold the runs that ended ok, their costs, and claims of the paper's rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book
from harness.compare.book import keys_of
from harness.compare.claims import DIFFERENCE, STATISTICS, Claim
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.compare.groups import Several
from harness.compare.names import ClaimSources, MetricName, PublishedNames, Target, target_of
from harness.compare.paper import Place
from harness.compare.runs import Obtained
from harness.compare.text import to_json
from harness.study.claims import ClaimsTable
from harness.study.grid import Grid
from harness.study.sides import CONTROL, OWN, Derived, Row, Sides
from harness.study.specs import Spec

NAMES = PublishedNames(
    benchmark="repurposing",
    variant="published",
    beside=["corrected"],
    seeds=3,
    sources=ClaimSources(paper="a paper", files="files"),
    methods={"Sum": "sum"},
    datasets={"Letters": "letters"},
    splits={"early": "random"},
    metrics=[MetricName(published="F1", ours="F1/as-published", reason="the same")],
)
HERE = Target("sum", "letters", "random")


def run(
    value: float | None,
    verdict: Verdict = Verdict.OK,
    *,
    cpu_s: float | None = 60.0,
    memory: int | None = 1_000_000,
) -> Obtained:
    metrics: dict[str, float | None] | None = None if verdict is not Verdict.OK else {"F1/as-published": value}
    return Obtained("k" * 64, verdict, "because", metrics, {}, cpu_s=cpu_s, memory=memory)


def sides_of(runs: Mapping[int, Obtained], beside: Mapping[int, Obtained]) -> Sides:
    claim = Claim("Table 1, Sum", "band", "Sum", "Letters", "early", "F1", "0.5", sheet="Table 1")
    comparison = Comparison(claim, HERE, "F1/as-published", ClaimVerdict.PENDING, "not run yet")
    book = Book(
        "repurposing", (), (comparison,), {HERE: dict(runs)}, {"corrected": {HERE: dict(beside)}} if beside else {}
    )
    return Sides(cast(Layout, None), book, NAMES, ("coin",))


@pytest.fixture
def sides() -> Sides:
    """Five runs, of which three ended ok, and another variant's."""
    runs = {
        3: run(0.3, cpu_s=30.0),
        1: run(0.1, cpu_s=10.0),
        2: run(None, Verdict.TIMEOUT, cpu_s=7000.0, memory=9_000_000),
        4: run(None, cpu_s=50.0, memory=None),
        5: run(None, Verdict.INTERRUPTED, cpu_s=1.0),
    }
    return sides_of(runs, {1: run(0.9)})


def test_what_ended_badly_has_no_value_and_no_cost(sides: Sides) -> None:
    row = Row("Sum", "sum")
    assert [one.cpu_s for one in sides.ended(row, "Letters", "early")] == [10.0, 30.0, 50.0]
    summary = sides.ours(row, "Letters", "early", "F1")
    assert summary is not None and summary.n == 2 and summary.mean == pytest.approx(0.2)
    assert sides.costs(row, "Letters", "early", ["cpu_s"]) == ([30.0], 3)


def test_a_run_with_one_unknown_cost_has_none(sides: Sides) -> None:
    """Medians of a row are over the same runs, whichever quantity comes first."""
    row = Row("Sum", "sum")
    assert sides.costs(row, "Letters", "early", ["cpu_s", "memory"]) == ([20.0, 1_000_000.0], 2)
    assert sides.costs(row, "Letters", "early", ["memory", "cpu_s"]) == ([1_000_000.0, 20.0], 2)


def test_only_rows_of_the_paper_have_claims(sides: Sides) -> None:
    place = ("Letters", "early", "F1")
    assert sides.claim("Table 1", Row("Sum", "sum"), *place) is sides.book.comparisons[0]
    assert sides.claim("Table 2", Row("Sum", "sum"), *place) is None
    for variant in ("corrected", OWN, CONTROL):
        assert sides.claim("Table 1", Row("Sum", "sum", variant), *place) is None


def test_another_variant_has_its_own_runs(sides: Sides) -> None:
    rows = sides.rows("Letters", ["early"])
    assert [row.title for row in rows] == ["Sum", "sum/corrected", "coin"]
    summary = sides.ours(rows[1], "Letters", "early", "F1")
    assert summary is not None and summary.mean == 0.9
    assert [row.title for row in sides.rows("Letters", ["late"])] == ["Sum", "coin"]
    assert sides.ours(rows[2], "Letters", "early", "F1") is None


def test_rows_of_ours_follow_the_papers_in_a_fixed_order() -> None:
    """Other variants by name, what combines several runs, methods that the paper lacks, and the controls."""
    names = NAMES.model_copy(update={"own_methods": ["mine"], "methods": {"Sum": "sum", "Vote": "vote/soft"}})
    there = {Target(name, "letters", "random"): {1: run(0.5)} for name in ("zeta", "alpha")}
    elsewhere = {Target("sum", "words", "random"): {1: run(0.5)}, Target("sum", "letters", "x"): {1: run(0.5)}}
    derived = {
        Target("mix", "words", "random"): {1: run(0.1)},
        Target("mix", "letters", "random"): {2: run(0.7), 1: run(0.6)},
    }
    soft = {Target("vote", "letters", "random", "soft"): {1: run(0.4)}}
    own = {Target(name, "letters", "random"): {1: run(value)} for name, value in (("mine", 0.3), ("coin", 0.2))}
    book = Book("repurposing", (), (), {**soft, **own}, {"corrected": there, "other": elsewhere})
    mixes = (Derived("mix", "A rule.", derived), Derived("none", "No rule.", {}))
    sides = Sides(cast(Layout, None), book, names, ("coin", "dice"), mixes)
    rows = sides.rows("Letters", ["late", "early"])
    assert [(row.title, row.method, row.variant) for row in rows] == [
        ("Sum", "sum", ""),
        ("Vote", "vote/soft", ""),
        ("alpha/corrected", "alpha", "corrected"),
        ("zeta/corrected", "zeta", "corrected"),
        ("mix", "mix", "mix"),
        ("mine", "mine", OWN),
        ("coin", "coin", CONTROL),
        ("dice", "dice", CONTROL),
    ]
    assert [row.printed for row in rows] == [True, True, *[False] * 6]
    means = [sides.ours(row, "Letters", "early", "F1") for row in rows]
    assert [one.mean if one else None for one in means] == [
        None,
        0.4,
        0.5,
        0.5,
        pytest.approx(0.65),
        0.3,
        0.2,
        None,
    ]
    assert sides.keys(rows[4], "Letters", "early") == ("k" * 64,) * 2
    assert [*sides.runs(rows[4], "Letters", "early")] == [2, 1] and sides.runs(rows[0], "Letters", "early") == {}
    # a metric that no table prints has our name
    assert sides.ours(rows[1], "Letters", "early", "F1/as-published") == means[1]
    assert sides.ours(rows[1], "Letters", "early", "F2") is None


def test_a_table_without_a_dataset_or_splits_has_those_of_all_its_claims() -> None:
    """Also the rows that have runs on one of them alone."""
    names = NAMES.model_copy(
        update={
            "datasets": {"Letters": "letters", "Words": "words"},
            "splits": {"early": "random", "late": "cluster"},
        }
    )
    places = [("Letters", "early"), ("Letters", "late"), ("Words", "early")]
    comparisons = tuple(
        Comparison(
            Claim("Table 1, Sum", "band", "Sum", *place, "F1", "0.5", sheet="Table 1"),
            target_of(names, "Sum", *place),
            "F1/as-published",
            ClaimVerdict.PENDING,
            "not run yet",
        )
        for place in places
    )
    beside = {
        Target("zeta", "letters", "random"): {1: run(0.1)},
        Target("late", "letters", "cluster"): {1: run(0.2)},
        Target("word", "words", "random"): {1: run(0.3)},
        Target("none", "numbers", "random"): {1: run(0.4)},
    }
    sides = Sides(
        cast(Layout, None), Book("repurposing", (), comparisons, {}, {"corrected": beside}), names, ("coin",)
    )
    spec = Spec(
        kind="table",
        number="1",
        title="F1",
        made="grid",
        rows={"dataset": "data", "method": "method"},
        columns=["split", "metric"],
        metrics={"F1": "F1"},
    )
    of_words = Grid(sides, spec.model_copy(update={"dataset": "Words"}), {}).sheet()
    assert [row[:2] for row in of_words.rows] == [["Words", one] for one in ("Sum", "word/corrected", "coin")]
    sheet = Grid(sides, spec, {}).sheet()
    assert sheet.head == ["data", "method", "early, F1", "late, F1"]
    assert sheet.rows == [
        ["Letters", "Sum", "50.0 / -", "50.0 / -"],
        ["Letters", "late/corrected", "-", "20.0 (1)"],
        ["Letters", "zeta/corrected", "10.0 (1)", "-"],
        ["Letters", "word/corrected", "-", "-"],
        ["Letters", "coin", "-", "-"],
        ["Words", "Sum", "50.0 / -", "-"],
        ["Words", "late/corrected", "-", "-"],
        ["Words", "zeta/corrected", "-", "-"],
        ["Words", "word/corrected", "30.0 (1)", "-"],
        ["Words", "coin", "-", "-"],
    ]


def test_what_combines_runs_is_told_by_its_members() -> None:
    def made(reason: str, unscored: str = "", verdict: Verdict = Verdict.OK) -> Obtained:
        return Obtained("k" * 64, verdict, reason, None, {}, unscored=unscored)

    runs = {
        Target("blend", "letters", "random"): {1: made("A, B"), 2: made("A, B"), 3: made("A", "B is gone")},
        Target("blend", "letters", "late"): {1: made("A, B"), 2: made("C", verdict=Verdict.ERROR)},
    }
    sides = Sides(
        cast(Layout, None),
        Book("repurposing", (), (), {}),
        NAMES,
        (),
        (Derived("blend", "A rule.", runs), Derived("none", "No rule.", {})),
    )
    assert [*sides.remarks("Letters", ["early"])] == [
        "A rule.",
        "2 blends of A, B.",
        "1 blend of A, without value: B is gone.",
    ]
    assert [*sides.remarks("Letters", ["late"])] == ["A rule.", "1 blend of A, B."]
    assert [*sides.remarks("Letters", ["early", "late"])] == [
        "A rule.",
        "3 blends of A, B.",
        "1 blend of A, without value: B is gone.",
    ]
    assert [*sides.remarks("Words", ["late"])] == []


def test_the_best_control_has_the_highest_mean_and_of_equal_ones_the_last_name() -> None:
    names = NAMES.model_copy(update={"methods": {"Sum": "sum"}})
    place = Place("Letters", "Sum", "early")
    runs = {
        Target(name, "letters", "random"): {1: run(value), 2: run(value + more)}
        for name, value, more in (("b", 0.25, 0.25), ("a", 0.375, 0.0), ("c", 0.75, -0.75))
    }
    sides = Sides(cast(Layout, None), Book("repurposing", (), (), runs), names, ("b", "a", "c", "none"))
    assert sides.best_control("F1", [place]) in (("b", 0.375), ("c", 0.375))
    assert sides.best_control("F1", [place]) == ("c", 0.375)
    assert replace(sides, controls=("b", "a")).best_control("F1", [place]) == ("b", 0.375)
    assert replace(sides, controls=("none",)).best_control("F1", [place]) is None
    zero = {**runs, Target("a", "letters", "random"): {1: run(0.0)}}
    of_zero = replace(sides, controls=("none", "a"), book=replace(sides.book, runs=zero))
    assert of_zero.best_control("F1", [place]) == ("a", 0.0), "a control that scores 0 is one"
    assert sides.best_control("F1", []) is None and sides.title("Sum") == "Sum"
    better = {**runs, Target("a", "letters", "random"): {1: run(0.5)}}
    assert replace(sides, book=replace(sides.book, runs=better)).best_control("F1", [place]) == ("a", 0.5)


def test_a_number_without_runs_of_its_own_has_no_keys_but_those_it_names(sides: Sides) -> None:
    (one,) = sides.book.comparisons
    assert keys_of(sides.book, one) == ()
    assert keys_of(sides.book, one._replace(keys=("a", "b"), ours=0.5)) == ("a", "b")
    assert keys_of(sides.book, one._replace(ours=0.5)) == ()


def test_a_number_over_several_methods_rests_on_their_runs_that_have_values(sides: Sides) -> None:
    """By seed, each once; what failed has a key, and no value that the number could rest on."""
    runs = {
        2: replace(run(0.2), key="b" * 64),
        1: replace(run(0.1), key="a" * 64),
        3: replace(run(None, Verdict.TIMEOUT), key="c" * 64),
    }
    place = Place("Letters", "Sum", "early")
    several = SimpleNamespace(
        names=NAMES, groups=lambda claim, datasets: [[place], [place]], seeds_of=lambda claim, places: None
    )
    book = replace(sides.book, several=cast(Several, several), runs={HERE: runs})
    (one,) = sides.book.comparisons
    over = one._replace(claim=one.claim._replace(statistic=next(iter(STATISTICS))), ours=0.5)
    # a difference of 0 rests on runs, too
    assert keys_of(book, over) == keys_of(book, over._replace(ours=0.0)) == ("a" * 64, "b" * 64)
    (told,) = to_json(replace(book, comparisons=(over,)))["comparisons"]
    assert told["keys"] == ["a" * 64, "b" * 64], "whoever reads the JSON finds its runs too"
    assert keys_of(book, one._replace(ours=0.5)) == () == keys_of(book, over._replace(ours=None))
    # of a number over the seeds that all methods share no other run is named
    several.seeds_of = lambda claim, places: [2, 3] if places == [place, place] else []
    assert keys_of(book, over) == ("b" * 64,)


def test_a_reason_that_concerns_all_subjects_is_of_all(sides: Sides) -> None:
    """Also where one of them has several rows, and only some of these lack it."""

    def one(method: str, split: str, verdict: ClaimVerdict, reason: str) -> Comparison:
        claim = Claim(f"Table 1, {method}", "value", method, "Letters", split, "F1", "0.5", sheet="Table 1")
        return Comparison(claim, HERE, "F1/as-published", verdict, reason)

    spec = Spec(kind="table", number="1", title="F1", made="claims")
    rows = (
        one("Sum", "early", ClaimVerdict.PENDING, "not run yet"),
        one("Sum", "late", ClaimVerdict.REPRODUCED, "close"),
        one("Vote", "early", ClaimVerdict.PENDING, "not run yet"),
        one("Vote", "late", ClaimVerdict.DEVIATES, "far"),
    )
    book = replace(sides.book, comparisons=rows)
    sheet = ClaimsTable(replace(sides, book=book, controls=()), spec, "").sheet()
    assert [row[0] for row in sheet.rows] == ["Sum", "Sum", "Vote", "Vote"]
    assert sheet.notes == ["all: pending: not run yet", "Vote: deviates: far"]
    assert [row[2] for row in sheet.rows] == ["0.5"] * 4
    # each remark of a claim once, with the rows that have it; a number that is not printed stands in brackets
    noted = tuple(
        row._replace(claim=row.claim._replace(note=note), reason=f"{row.reason}; {note}")
        for row, note in zip(
            rows,
            ("cut off; of 2019", "of 2019", "of 2019; its sd is not printed", "not printed: read off"),
            strict=True,
        )
    )
    sheet = ClaimsTable(replace(sides, book=replace(book, comparisons=noted), controls=()), spec, "").sheet()
    assert sheet.notes == [
        "all: pending: not run yet",
        "Sum: cut off",
        "all: of 2019",
        "Vote: its sd is not printed",
        "Vote: deviates: far",
        "Vote: not printed: read off",
    ]
    assert [row[2] for row in sheet.rows] == ["0.5", "0.5", "0.5", "(0.5)"]


def test_the_best_control_of_a_contrast_is_that_of_both_sides() -> None:
    """Whose splits may be others; and none where some of its data are not here, but of the part that is."""
    names = NAMES.model_copy(update={"splits": {"early": "random", "late": "scaffold"}})
    runs = {
        Target(name, "letters", split): {1: run(value)}
        for name, values in {"a": (0.875, 0.125), "b": (0.5, 0.625)}.items()
        for split, value in zip(("random", "scaffold"), values, strict=True)
    }
    absent = dict[str, str]()
    several = SimpleNamespace(
        paper=SimpleNamespace(datasets_of=lambda dataset: ["Letters", "Words"]),
        why_without=absent.get,
        groups=lambda claim, datasets: [[Place("Letters", "Sum", split)] for split in ("early", "late")],
    )
    book = Book("repurposing", (), (), runs, several=cast(Several, several))
    table = ClaimsTable(
        Sides(cast(Layout, None), book, names, ("a", "b")),
        Spec(kind="table", number="1", title="", made="claims"),
        "",
    )
    claim = Claim("", DIFFERENCE, "one, other", "all", "", "F1", "0.1")
    assert table._best_control(claim) == "0.562 b"
    absent["Words"] = "nobody has it"
    assert table._best_control(claim) == "" and table._best_control(claim, ["Letters"]) == "0.562 b"
