"""Figures of runs: each row, its runs and its drawing, of a few runs that are made up."""

from __future__ import annotations

from typing import cast

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.study import figures
from harness.benchmarks.ddi.study.drawings import Bar, Curve, bars, heat, lines
from harness.compare import Book
from harness.compare.claims import Claim
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.compare.names import ClaimSources, Meaning, MetricName, PublishedNames, Target
from harness.compare.runs import Obtained, Runs
from harness.study.sides import Sides
from harness.study.specs import SheetPart, Spec

SPLITS = {"without": "released:which=random", "with": "released:which=cluster"}
NAMES = PublishedNames(
    benchmark="ddi",
    variant="published",
    seeds=3,
    sources=ClaimSources(paper="a paper", files="files"),
    methods={"One": "one", "Other": "other", "Third": "third"},
    datasets={"Letters": "letters", "Words": "words"},
    splits=SPLITS,
    metrics=[
        MetricName(published=f"S{n} {name}", ours=f"S{n} {name}/as-published", reason="the same")
        for n in (1, 2)
        for name in ("F1", "accuracy", "precision")
    ],
    meanings=[
        Meaning(method="Other", dataset="Words", published="accuracy", ours="precision", reason="it says so"),
        Meaning(method="Third", dataset="Letters", published="kappa", ours="none", reason="of no part"),
    ],
)


def run(key: str, verdict: Verdict = Verdict.OK, **metrics: float) -> Obtained:
    every: dict[str, float | None] = {
        f"{name.replace('_', ' ')}/as-published": one for name, one in metrics.items()
    }
    return Obtained(key * 64, verdict, "", every if verdict is Verdict.OK else None, {})


def sides_of(runs: Runs, comparisons: tuple[Comparison, ...] = ()) -> Sides:
    return Sides(cast(Layout, None), Book("ddi", (), comparisons, runs), NAMES, ("coin",))


def claimed(
    method: str, split: str, metric: str, value: str, dataset: str = "Letters", sheet: str = "Table 4"
) -> Comparison:
    claim = Claim("", "band", method, dataset, split, metric, value, sheet=sheet)
    return Comparison(claim, Target(None, None, None), metric, ClaimVerdict.PENDING, "")


@pytest.fixture
def sides() -> Sides:
    runs = {
        Target("one", "letters", SPLITS["without"]): {
            2: run("b", S1_F1=0.5, S1_accuracy=0.25),
            1: run("a", S1_F1=0.25, S2_F1=0.75),
            3: run("f", Verdict.ERROR),
        },
        Target("one", "letters", SPLITS["with"]): {1: run("c", S1_F1=0.125)},
        Target("other", "words", SPLITS["without"]): {1: run("d", S1_accuracy=0.1, S1_precision=0.9)},
        Target("coin", "letters", SPLITS["with"]): {1: run("e", S1_F1=0.0)},
    }
    comparisons = (
        claimed("One", "without", "S1 F1", "0.4"),
        claimed("One", "with", "S1 F1", "0.0"),
        claimed("Third", "with", "S1 F1", "0.3"),
        claimed("Third", "without", "S2 F1", "0"),
        claimed("Other", "with", "S2 accuracy", "0.2"),
        claimed("Other", "without", "S1 accuracy", "0.7", "Words", "Table 5"),
        claimed("Other", "without", "S1 accuracy", "0.9", "Words", "Table 4"),
    )
    return sides_of(runs, comparisons)


def test_bars_are_printed_and_ours_by_part_setting_and_method(sides: Sides) -> None:
    spec = Spec(
        kind="figure",
        number="6",
        title="Bars",
        made="bars",
        splits={"left": "without", "right": "with"},
        settings=["S1", "S2"],
        parts=[
            SheetPart(dataset="Letters", metric="F1", table="4"),
            SheetPart(dataset="Words", metric="accuracy", table="5"),
        ],
        notes=["First."],
    )
    sheet = figures.comparison(sides, spec)
    assert sheet.head == [
        "dataset",
        "metric",
        "setting",
        "method",
        "without: printed / ours",
        "with: printed / ours",
    ]
    assert sheet.rows == [
        ["Letters", "F1", "S1", "One", "40.0 / 37.5", "0.0 / 12.5"],
        ["Letters", "F1", "S1", "Third", "- / -", "30.0 / -"],
        ["Letters", "F1", "S1", "coin", "- / -", "- / 0.0"],
        ["Letters", "F1", "S2", "One", "- / 75.0", "- / -"],
        ["Letters", "F1", "S2", "Third", "0.0 / -", "- / -"],
        ["Words", "precision", "S1", "Other", "70.0 / 90.0", "- / -"],
    ]
    a, b, c, d, e = (letter * 64 for letter in "abcde")
    assert sheet.runs == [
        [(), (), (), (), (a, b), (c,)],
        [(), (), (), (), (), ()],
        [(), (), (), (), (), (e,)],
        [(), (), (), (), (a, b), (c,)],
        [(), (), (), (), (), ()],
        [(), (), (), (), (d,), ()],
    ]
    first = [
        Bar("One", ((0.4, 0.375), (0.0, 0.125))),
        Bar("Third", ((None, None), (0.3, None))),
        Bar("coin", ((None, None), (None, 0.0))),
    ]
    drawn = {
        "F1 on Letters, S1": first,
        "F1 on Letters, S2": [
            Bar("One", ((None, 0.75), (None, None))),
            Bar("Third", ((0.0, None), (None, None))),
        ],
        "accuracy on Words, S1": [Bar("Other", ((0.7, 0.9), (None, None)))],
    }
    assert [(one.heading, one.svg) for one in sheet.pictures] == [
        (heading, bars(heading, methods)) for heading, methods in drawn.items()
    ]
    assert sheet.notes == ["First.", "Of Other precision in place of accuracy: it says so."]


def test_curves_go_over_gamma_and_end_at_random_splits() -> None:
    runs = {
        Target("one", "letters", "cluster:gamma=0.7"): {1: run("a", S1_F1=0.5)},
        Target("one", "letters", "cluster:gamma=0.0"): {1: run("f", S1_F1=0.0)},
        Target("one", "letters", "cluster:gamma=0.55"): {1: run("b", S1_F1=0.25), 2: run("c", S1_F1=0.75)},
        Target("one", "letters", "random"): {1: run("d", S1_F1=1.0, S2_F1=0.125)},
        Target("other", "letters", "random"): {1: run("e", S1_F1=0.375)},
        Target("one", "letters", "scaffold"): {1: run("x", S1_F1=0.9)},
        Target("one", "letters", "scaffold:gamma=0.6"): {1: run("w", S1_F1=0.9)},
        Target("one", "letters", "cluster:gamma=0.6,test_share=0.2"): {1: run("z", S1_F1=0.9)},
        Target("one", "letters", None): {1: run("v", S1_F1=0.9)},
        Target("one", "words", "cluster:gamma=0.6"): {1: run("y", S1_F1=0.9)},
    }
    spec = Spec(
        kind="figure",
        number="7",
        title="Gamma",
        made="gamma",
        dataset="Letters",
        settings=["S1", "S2"],
        metrics={"shown": "F1"},
    )
    sheet = figures.of_gamma(sides_of(runs), spec)
    assert sheet.head == ["metric", "setting", "method", "gamma=0.0", "gamma=0.55", "gamma=0.7", "random"]
    assert sheet.rows == [
        ["F1", "S1", "One", "0.0", "50.0", "50.0", "100.0"],
        ["F1", "S1", "Other", "-", "-", "-", "37.5"],
        ["F1", "S2", "One", "-", "-", "-", "12.5"],
    ]
    a, b, c, d, e, f = (letter * 64 for letter in "abcdef")
    assert sheet.runs == [
        [(), (), (), (f,), (b, c), (a,), (d,)],
        [(), (), (), (), (), (), (e,)],
        [(), (), (), (f,), (b, c), (a,), (d,)],
    ]
    drawn = {
        "F1 on Letters, S1": [
            Curve("One", [(0.0, 0.0), (0.55, 0.5), (0.7, 0.5), (1.0, 1.0)]),
            Curve("Other", [(1.0, 0.375)]),
        ],
        "F1 on Letters, S2": [Curve("One", [(1.0, 0.125)])],
    }
    assert [(one.heading, one.svg) for one in sheet.pictures] == [
        (heading, lines(heading, curves, "gamma", shares=True)) for heading, curves in drawn.items()
    ]
    without = {target: one for target, one in runs.items() if target.split != "random"}
    assert figures.of_gamma(sides_of(without), spec).head[3:] == ["gamma=0.0", "gamma=0.55", "gamma=0.7"]


def test_a_type_has_a_row_and_a_shade_for_each_method() -> None:
    def kinds(key: str, setting: str, **values: float | None) -> Obtained:
        metrics = {f"{setting} accuracy of type/as-published {name[1:]}": one for name, one in values.items()}
        return Obtained(key * 64, Verdict.OK, "", {**metrics, f"{setting} F1/as-published": 0.5}, {})

    runs = {
        Target("one", "letters", SPLITS["without"]): {
            1: kinds("a", "S1", t2=0.5, t10=None, t9=0.25),
            2: kinds("b", "S1", t2=1.0, t10=None, t4=0.5),
        },
        Target("other", "letters", SPLITS["without"]): {1: kinds("c", "S1", t0=0.125, t3=0.0)},
        Target("third", "letters", SPLITS["with"]): {1: kinds("d", "S2", t1=0.75)},
    }
    spec = Spec(
        kind="figure",
        number="13",
        title="Types",
        made="types",
        dataset="Letters",
        settings=["S1", "S2"],
        splits={"a": "without", "b": "with"},
    )
    sheet = figures.every_type(sides_of(runs), spec)
    assert sheet.head == ["setting", "distribution change", "method", "type", "accuracy", "seeds"]
    assert sheet.rows == [
        ["S1", "without", "One", "#2", "75.0", "2"],
        ["S1", "without", "One", "#4", "50.0", "1"],
        ["S1", "without", "One", "#9", "25.0", "1"],
        ["S1", "without", "Other", "#0", "12.5", "1"],
        ["S1", "without", "Other", "#3", "0.0", "1"],
        ["S2", "with", "Third", "#1", "75.0", "1"],
    ]
    of_one, c, d = ("a" * 64, "b" * 64), ("c" * 64,), ("d" * 64,)
    assert sheet.runs == [[(), (), (), (), keys, ()] for keys in (of_one, of_one, of_one, c, c, d)]
    drawn: dict[str, list[tuple[str, list[float | None]]]] = {
        "S1, without distribution change": [("One", [0.75, 0.5, 0.25, None]), ("Other", [0.125, 0.0])],
        "S2, with distribution change": [("Third", [0.75])],
    }
    assert [(one.heading, one.svg) for one in sheet.pictures] == [
        (heading, heat(heading, rows)) for heading, rows in drawn.items()
    ]
