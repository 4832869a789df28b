"""Sheets are what `study.toml` describes, of any benchmark; a fault in it names file and field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, load_claims, load_names
from harness.compare.claims import Claim
from harness.compare.comparison import Comparable, Comparison
from harness.compare.judge import Single
from harness.compare.names import Target
from harness.compare.runs import Obtained, Runs
from harness.status.table import summarise
from harness.study import claims as grid_of_claims
from harness.study import grid, make_study, to_markdown, to_text
from harness.study.extension import OwnSheets
from harness.study.grid import _reasons
from harness.study.sheets import Sheet, Study
from harness.study.sides import Derived
from harness.study.specs import Cost, Spec
from tests.study.kept import described, is_kept

NAMES = """
benchmark = "toy"
variant = "published"
beside = ["corrected"]
seeds = 3
[sources]
paper = "A paper"
files = "none"
[methods]
Sum = "sum"
Vote = "vote"
Late = "late"
[datasets]
Letters = "letters"
Words = "words"
[splits]
early = "random"
[[metrics]]
published = "near F1"
ours = "near F1/as-published"
reason = "the same"
[[metrics]]
published = "far F1"
ours = "far F1/as-published"
reason = "the same"
"""
PRINTED = """table,dataset,split,method,metric,statistic,value,sd,n,note
1,Letters,early,Sum,near F1,band,0.500,0.020,0,
1,Letters,early,Vote,near F1,band,0.400,0.010,0,
1,Letters,early,Sum,far F1,band,0.300,,0,
1,Letters,early,Vote,far F1,band,0.400,,0,
2,Letters,early,Sum,,status,ran,,3,
2,Letters,early,Vote,,status,runtime error,,3,
2,Words,early,Sum,,status,hung,,3,
3,Letters,early,Sum,minutes,cost,6,,0,elsewhere
"""
STUDY = """
columns = "printed: the paper's"
[categories]
Sum = "counting"
[[sheets]]
kind = "table"
number = "1"
title = "F1"
made = "grid"
rows = { category = "kind", method = "method" }
columns = ["split", "metric"]
averages = true
dataset = "Letters"
splits = { soon = "early" }
metrics = { near = "near F1", far = "far F1" }
notes = ["Printed / ours."]
[[sheets]]
kind = "table"
number = "2"
title = "What ran"
made = "grid"
rows = { dataset = "data" }
columns = ["split", "method"]
marks = { ran = "+", "runtime error" = "E" }
[[sheets]]
kind = "table"
number = "3"
title = "Time"
made = "costs"
rows = { method = "method" }
dataset = "Letters"
splits = { early = "early" }
[[sheets.costs]]
metric = "minutes"
printed = "theirs"
ours = "our minutes"
quantity = "cpu_s"
unit = 60
digits = 1
[[sheets]]
kind = "table"
number = "1"
title = "Claim by claim"
made = "claims"
[[sheets]]
kind = "figure"
number = "1"
title = "Nothing yet"
made = "own"
suite = "toy-full"
legend = "What is drawn"
"""
UNPRINTED = """
[[sheets]]
kind = "figure"
number = "9"
title = "Drawn"
made = "grid"
rows = { method = "method" }
columns = ["split", "metric"]
printed = false
dataset = "Letters"
splits = { early = "early" }
metrics = { near = "near F1" }
"""
LETTERS = Target("sum", "letters", "random")
MIRRORS = (Path("mirror"),)
Toy = Callable[..., Study | None]


def runs_of(target: Target, *values: tuple[float, float]) -> Runs:
    runs = {}
    # a store finds runs in the order of their keys
    for seed, (near, far) in reversed([*enumerate(values)]):
        metrics = {"near F1/as-published": near, "far F1/as-published": far}
        runs[seed] = Obtained(f"{seed}" * 64, Verdict.OK, "Sum, Vote", {**metrics}, {}, cpu_s=90.0)
    return {target: runs}


class _Own(OwnSheets):
    def derived(self, sides: object, mirrors: object) -> tuple[Derived, ...]:
        assert mirrors == MIRRORS
        runs = runs_of(Target("ensemble", "letters", "random"), (0.9, 0.8))
        return (Derived("ensemble", "Made of two.", runs),)

    def makers(self, sides: object) -> dict[str, Callable[..., Sheet]]:
        return {"own": lambda spec: spec.sheet(["nothing"], []), "later": lambda spec: None}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """Makes the study of a benchmark that is nowhere else, from this description."""
    layout = Layout(tmp_path, tmp_path, tmp_path)
    published = layout.published / "toy"
    published.mkdir(parents=True)
    (published / "names.toml").write_text(NAMES)
    (published / "tables.csv").write_text(PRINTED)
    monkeypatch.setattr("harness.benchmarks.folder", lambda name: tmp_path)
    monkeypatch.setattr("harness.benchmarks.part", lambda name, below: SimpleNamespace(STUDY=_Own()))
    monkeypatch.setattr("harness.study.load_methods", lambda *_: [SimpleNamespace(name="coin", control=True)])
    runs = runs_of(LETTERS, (0.51, 0.37), (0.515, 0.38), (0.505, 0.36))
    runs |= runs_of(Target("coin", "letters", "random"), (0.1, 0.2))
    runs[Target("vote", "letters", "random")] = {1: Obtained("e" * 64, Verdict.ERROR, "why", None, {})}
    beside = {"corrected": runs_of(Target("vote", "letters", "random"), (0.45, 0.44))}
    names = load_names(layout, "toy")
    known = Comparable(frozenset({"sum", "vote"}), frozenset({"letters", "words"}), frozenset({"random"}))
    claims = load_claims(layout, names)
    # one that no table prints: it is in no sheet, and takes none away
    claims.append(claims[0]._replace(sheet=""))

    def made(description: str, without: tuple[str, str] = ("", ""), undefined: str = "") -> Study | None:
        """Of all claims but those about a method and a metric; `undefined`: of the runs beside."""
        for run in beside["corrected"][Target("vote", "letters", "random")].values():
            assert run.metrics is not None
            run.metrics.pop(undefined, None)
        here = [one for one in claims if (one.method, one.metric) != without]
        comparisons = tuple(map(Single(names, known, runs).judge, here))
        book = Book("toy", ("A paper",), comparisons, runs, beside)
        (tmp_path / "study.toml").write_text(description)
        return make_study(layout, book, MIRRORS)

    return made


@pytest.fixture
def sheets(toy: Toy) -> dict[str, Sheet]:
    study = toy(STUDY)
    assert study is not None and study.columns == "printed: the paper's"
    return {sheet.title: sheet for sheet in study.sheets}


def test_an_average_is_over_all_metrics_or_none(toy: Toy) -> None:
    """One over fewer would have a rank among those of all."""
    study = toy(STUDY, without=("Vote", "far F1"), undefined="far F1/as-published")
    assert study is not None
    sum_row, vote_row, beside = next(sheet for sheet in study.sheets if sheet.title == "F1").rows[:3]
    assert beside[1:] == ["vote/corrected", "45.0 (1)", "-", "- / -", "- / -"]
    assert sum_row[4:] == ["40.0 / 44.0", "1 of 1 / 1 of 1"]
    assert vote_row[:3] == ["beside", "Vote", "40.0±1.0 / -"] and vote_row[3:] == ["-", "- / -", "- / -"]


def test_a_sheet_of_which_nothing_is_known_yet_is_none(toy: Toy) -> None:
    later = UNPRINTED.replace('made = "grid"', 'made = "later"')
    study, other = toy(STUDY + later), toy(STUDY)
    assert later != UNPRINTED and study is not None and study == other


def test_a_grid_has_claimed_methods_then_ours(sheets: dict[str, Sheet]) -> None:
    """Late has no number in the table, so that it has no row; what is ours is no claim and has no place."""
    sheet = sheets["F1"]
    assert sheet.head == ["kind", "method", "soon, near", "soon, far", "soon, average", "soon, rank"]
    assert sheet.rows == [
        ["counting", "Sum", "50.0±2.0 / 51.0±0.5 (3)", "30.0 / 37.0±1.0 (3)", "40.0 / 44.0", "1 / 1 of 1"],
        ["beside", "Vote", "40.0±1.0 / -", "40.0 / -", "40.0 / -", "1 / -"],
        ["beside", "vote/corrected", "45.0 (1)", "44.0 (1)", "- / 44.5", "- / -"],
        ["ensemble", "ensemble", "90.0 (1)", "80.0 (1)", "- / 85.0", "- / -"],
        ["control", "coin", "10.0 (1)", "20.0 (1)", "- / 15.0", "- / -"],
    ]
    assert [row[2:4] for row in sheet.chips] == [["reproduced", "deviates"], *[["", ""]] * 4]
    assert sheet.tally == {ClaimVerdict.REPRODUCED: 1, ClaimVerdict.DEVIATES: 1, ClaimVerdict.NOT_COMPARABLE: 2}
    assert sheet.notes[:3] == ["Printed / ours.", "Made of two.", "1 ensemble of Sum, Vote."]
    assert [note for note in sheet.notes if note.startswith("2 numbers: not-comparable")]


@pytest.mark.parametrize(
    ("sd", "ours", "share", "texts"),
    [
        (0.0, [0.0, 0.0], "0.0±0.0 / 0.0±0.0 (2)", ("0.0 ± 0", "0.0000 (2)")),
        (None, [0.0], "0.0 / 0.0 (1)", ("0.0", "0.0000 (1)")),
        (0.25, [], "0.0±25.0 / -", ("0.0 ± 0.25", "-")),
    ],
)
def test_a_number_and_a_deviation_of_zero_are_shown(
    sd: float | None, ours: list[float], share: str, texts: tuple[str, str]
) -> None:
    """What is not known has a dash, or nothing; that two runs gave the same is known."""
    mean = summarise(ours)
    one = Comparison(
        Claim("a paper", "band", "M", "D", "S", "F1", "0.0", None, sd=sd),
        Target("m", "d", "s"),
        "F1/as-published",
        ClaimVerdict.REPRODUCED,
        "",
        ours=mean.mean if mean else None,
        n=len(ours),
    )
    assert grid._share(one, mean) == share
    assert grid._share(None, mean) == share.partition(" / ")[2]
    assert grid_of_claims._Line("M", "F1", one).texts == ("M", "F1", texts[0], "-", texts[1], "", "reproduced")


@pytest.mark.parametrize(
    ("verdict", "ended", "text"),
    [
        (None, [], "-"),
        (None, [Verdict.OK, Verdict.ERROR], "ok 1, error 1"),
        (ClaimVerdict.NOT_COMPARABLE, [], "+ no data"),
        (ClaimVerdict.NOT_COMPARABLE, [Verdict.OK, Verdict.OK], "+ ok 2"),
        (ClaimVerdict.REPRODUCED, [], "+ -"),
        (ClaimVerdict.DEVIATES, [Verdict.TIMEOUT], "+ timeout 1 ≠"),
    ],
)
def test_how_runs_ended_is_shown_whether_or_not_they_can_be_compared(
    verdict: ClaimVerdict | None, ended: list[Verdict], text: str
) -> None:
    claim = Claim("Table 2", "status", "Sum", "Letters", "early", "", "ran")
    one = Comparison(claim, Target("m", "d", "s"), "", verdict, "why") if verdict else None
    runs = [Obtained(str(number) * 64, end, "", None, {}) for number, end in enumerate(ended)]
    maker: Any = SimpleNamespace(spec=SimpleNamespace(marks={"ran": "+"}))
    cell = grid.Grid._status(maker, one, runs)
    assert (cell.text, cell.runs) == (text, tuple(run.key for run in runs))
    assert cell.values["verdict"] == verdict


def test_a_status_is_marked_as_printed(sheets: dict[str, Sheet]) -> None:
    """A word that has no mark is shown as it is."""
    sheet = sheets["What ran"]
    assert sheet.head == [
        "data",
        "early, Sum",
        "early, Vote",
        "early, vote/corrected",
        "early, ensemble",
        "early, coin",
    ]
    assert sheet.rows[0][:3] == ["Letters", "+ ok 3", "E error 1"]
    assert sheet.runs[0][:3] == [(), tuple(str(seed) * 64 for seed in range(3)), ("e" * 64,)], "by seed"
    assert sheet.rows[1][:3] == ["Words", "hung -", "-"]
    assert sheet.tally.total() == 3 and sheet.counted == "cells"
    assert sheet.values["rows"][0]["cells"]["early, Vote"]["ours"] == {"error": 1}


def test_costs_are_medians_beside_printed_ones(sheets: dict[str, Sheet]) -> None:
    assert sheets["Time"].head == ["method", "theirs", "our minutes", "runs"]
    rows = {row[0]: row[1:] for row in sheets["Time"].rows}
    assert rows["Sum"] == ["6", "1.5", "3"] and rows["coin"] == ["-", "1.5", "1"]
    assert "ensemble" not in rows, "what is made of several runs has no cost of its own"


def test_claims_of_one_method_stand_line_by_line(sheets: dict[str, Sheet]) -> None:
    sheet = sheets["Claim by claim"]
    assert [row[:5] for row in sheet.rows[:2]] == [
        ("Sum", "near F1", "0.500 ± 0.02", "-", "0.5100 (3)"),
        ("Sum", "far F1", "0.300", "-", "0.3700 (3)"),
    ]
    assert [row[0] for row in sheet.rows] == ["Sum", "Sum", "Vote", "Vote", "coin", "coin"], (
        "whatever the file's order"
    )
    assert sheet.rows[-1] == ("coin", "far F1", "-", "-", "0.2000 (1)", "control")


def test_a_figure_without_runs_says_what_makes_them(sheets: dict[str, Sheet]) -> None:
    assert sheets["Nothing yet"].notes == ["No run yet: `harness run --suite toy-full` makes them."]
    assert not sheets["Nothing yet"].legend


def test_a_figure_without_printed_numbers_has_all_methods(toy: Toy) -> None:
    study = toy(STUDY + UNPRINTED)
    assert study is not None
    (sheet,) = (one for one in study.sheets if one.title == "Drawn")
    assert [row[0] for row in sheet.rows] == ["Sum", "Vote", "Late", "vote/corrected", "ensemble", "coin"]
    assert sheet.rows[0][1] == "51.0±0.5 (3)" and sheet.rows[1][1] == "-" and not sheet.tally


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('made = "claims"', 'made = "claim"', "sheets.3.made"),
        ('number = "2"', 'number = "22"', "sheets.1.number"),
        ('dataset = "Letters"\nsplits = { soon', 'dataset = "Letter"\nsplits = { soon', "sheets.0.dataset"),
        ('soon = "early"', 'soon = "late"', "sheets.0.splits"),
        ('near = "near F1"', 'near = "near"', "sheets.0.metrics"),
        ('kind = "figure"', 'kind = "drawing"', "sheets.4.kind"),
        ('title = "F1"', "", "sheets.0.title"),
        ('rows = { dataset = "data" }', "", "sheets.1"),
        ('columns = ["split", "metric"]', "", "sheets.0"),
        ("unit = 60", "unit = 0", "sheets.2.costs.0.unit"),
        ('style = "two"', 'styl = "two"', "sheets.4.styl"),
        ("printed = false", "", "sheets.5.number"),
    ],
)
def test_a_fault_names_file_and_field(toy: Toy, tmp_path: Path, old: str, new: str, field: str) -> None:
    text = STUDY + 'style = "two"\n' + UNPRINTED
    assert text.count(old) >= 1
    with pytest.raises(UsageError) as found:
        toy(text.replace(old, new, 1) if "costs" not in field else text.replace(old, new))
    assert f"{tmp_path / 'study.toml'}: {field}" in found.value.where and found.value.todo


def test_without_description_there_is_no_study(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.benchmarks.folder", lambda name: tmp_path / "nowhere")
    assert toy(STUDY) is None


def test_a_note_tells_how_many_runs_the_numbers_lack() -> None:
    """One note for claims with the same reason, with the fewest and the most runs that would decide."""

    def lacking(needed: int | None, reason: str = "too few runs") -> Comparison:
        claim = Claim("Table 1", "band", "Sum", "Letters", "early", "near F1", "0.5")
        target = Target("sum", "letters", "random")
        return Comparison(claim, target, "F1", ClaimVerdict.NOT_COMPARABLE, reason, n=3, needed=needed)

    edge = "no number of runs decides"
    notes = _reasons([lacking(5), lacking(None, edge), lacking(40), lacking(5), lacking(None, edge)], "number")
    assert notes == [
        "3 numbers: not-comparable: too few runs; 2 to 37 more would decide",
        "2 numbers: not-comparable: no number of runs decides",
    ]
    assert _reasons([lacking(7)], "cell") == ["1 cell: not-comparable: too few runs; 4 more would decide"]


def test_a_note_about_several_rows_names_each_of_them_once() -> None:
    """And about all rows it says so."""

    def line(about: str, verdict: ClaimVerdict, reason: str, note: str = "") -> grid_of_claims._Line:
        claim = Claim("Table 1", "band", "Sum", "Letters", "early", "near F1", "0.5", note=note)
        return grid_of_claims._Line(about, "F1", Comparison(claim, Target("m", "d", "s"), "F1", verdict, reason))

    other, well = ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED
    lines = [
        line("A", other, "beyond 0.05; as it is printed", "as it is printed"),
        line("B", other, "beyond 0.05"),
        line("B", other, "beyond 0.05"),
        line("C", well, "within 0.05", "as it is printed; twice"),
    ]
    assert [*grid_of_claims._notes(lines)] == [
        "A; B: deviates: beyond 0.05",
        "A; C: as it is printed",
        "C: twice",
    ]
    assert [*grid_of_claims._notes(lines[1:3])] == ["all: deviates: beyond 0.05"]


def test_every_sheet_reads_as_kept(toy: Toy) -> None:
    """Entries, verdicts, runs, notes and JSON values of every kind of sheet, for terminals and documents."""
    study = toy(STUDY + UNPRINTED)
    assert study is not None
    assert is_kept("toy.txt", "\n".join(map(described, study.sheets)))
    assert is_kept("toy-terminal.txt", to_text(study)) and is_kept("toy.md", to_markdown(study))


COST = Cost(metric="minutes", printed="theirs", ours="ours", quantity="cpu_s", unit=60)
GRID_OF = {"made": "grid", "rows": {"method": "m"}, "columns": ["split"], "metrics": {"near": "near F1"}}
COSTS_OF = {"made": "costs", "rows": {"method": "m"}, "costs": [COST], "splits": {"soon": "early"}}
NO_ROWS = "sheet 7, made as '{made}', says nothing of its rows"
NO_GRID = "sheet 7, a grid, has columns, and either metrics or marks"
NO_COSTS = "sheet 7, of costs, has rows of methods, and one split"


@pytest.mark.parametrize(
    ("whole", "changed", "told"),
    [
        (GRID_OF, {}, ""),
        (GRID_OF, {"metrics": {}, "marks": {"ran": "+"}}, ""),
        (GRID_OF, {"marks": {"ran": "+"}}, ""),
        (GRID_OF, {"rows": {}}, NO_ROWS.format(made="grid")),
        (GRID_OF, {"columns": []}, NO_GRID),
        (GRID_OF, {"metrics": {}}, NO_GRID),
        (COSTS_OF, {}, ""),
        (COSTS_OF, {"columns": ["split"]}, ""),
        (COSTS_OF, {"rows": {}}, NO_ROWS.format(made="costs")),
        (COSTS_OF, {"rows": {"dataset": "d"}}, NO_COSTS),
        (COSTS_OF, {"rows": {"method": "m", "dataset": "d"}}, NO_COSTS),
        (COSTS_OF, {"costs": []}, NO_COSTS),
        (COSTS_OF, {"splits": {}}, NO_COSTS),
        (COSTS_OF, {"splits": {"soon": "early", "then": "late"}}, NO_COSTS),
        ({"made": "own"}, {}, ""),
        ({"made": "claims"}, {}, ""),
    ],
)
def test_a_sheet_without_what_its_kind_needs_is_refused(
    whole: dict[str, object], changed: dict[str, object], told: str
) -> None:
    fields = {"kind": "table", "number": "7", "title": "", **whole, **changed}
    if not told:
        assert Spec.model_validate(fields).label == "Table 7"
        return
    with pytest.raises(ValidationError) as found:
        Spec.model_validate(fields)
    assert [fault["msg"] for fault in found.value.errors()] == [f"Value error, {told}"]


def test_defaults_of_a_description_leave_things_out() -> None:
    spec = Spec(kind="figure", number="1", title="", made="own")
    assert (spec.printed, spec.averages, COST.digits) == (True, False, 0)
    empty = [getattr(spec, name) for name in spec.model_fields_set ^ set(Spec.model_fields)]
    assert [value for value in empty if value] == [True]
    for unit, digits in ((1, -1), (0, 0), (-1, 0), (float("inf"), 0), (float("nan"), 0)):
        with pytest.raises(ValidationError):
            Cost(metric="", printed="", ours="", quantity="cpu_s", unit=unit, digits=digits)
    assert Cost(metric="", printed="", ours="", quantity="cpu_s", unit=0.5, digits=0).unit == 0.5


def test_a_figure_alone_names_its_suite_and_only_without_rows() -> None:
    spec = Spec(kind="figure", number="1", title="t", made="own", suite="some", legend="l", notes=["n"], style="s")
    rows = [["1"]]
    for one, given, notes, legend in (
        (spec, rows, ["n", "more"], "l"),
        (spec, [], ["No run yet: `harness run --suite some` makes them."], ""),
        (spec.model_copy(update={"kind": "table"}), [], ["n", "more"], "l"),
        (spec.model_copy(update={"suite": ""}), [], ["n", "more"], "l"),
    ):
        sheet = one.sheet(["h"], given, notes=["more"], counted="cells")
        assert (sheet.notes, sheet.legend, sheet.style, sheet.counted) == (notes, legend, "s", "cells")
        assert (sheet.kind, sheet.number, sheet.title, sheet.head) == (one.kind, "1", "t", ["h"])
