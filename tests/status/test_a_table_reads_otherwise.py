"""A table of every kind of cell, word for word, in each of its forms: nothing is lost, miscounted or misplaced.

One method failed for one reason at most of its seeds, several for one reason on several columns; one row is a
control, one has the published order, one is a committed reference result, one was never scored.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.plan import Plan, make_plan
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from harness.status import ScoredCell, Table
from harness.status.footnotes import Footnotes
from harness.status.json_values import to_json
from harness.status.markdown import to_markdown
from harness.status.table import suite_jobs
from harness.status.terminal import show
from harness.status.text import headline, notes, reason_lines, to_text
from tests.fabricate import planned_of, table_of

S1, S2 = "S1 F1/as-published", "S2 F1/as-published"
MEMORY, TIME = "killed out of memory (limit 1024 MiB)", "stopped at its time limit of 60 s"


def cell(
    method: str,
    verdict: Verdict = Verdict.OK,
    reason: str = "finished",
    *,
    seed: int = 1,
    split: str = "cluster",
    scores: tuple[float | None, float | None] | None = None,
    notes: dict[str, str] | None = None,
    control: bool = False,
) -> ScoredCell:
    """A cell of Synthetic's drug interactions; nothing is stored of it."""
    spec = SplitSpec(strategy=split, seed=seed)
    job = Job(benchmark="ddi", method=method, parameters={}, dataset="synthetic_ddi", split=spec)
    metrics = {S1: scores[0], S2: scores[1]} if scores else {}
    planned = Cell(job, None, verdict, reason)
    return ScoredCell(planned, method, {}, control, metrics, notes or {}, scored=bool(metrics))


CELLS = (
    replace(cell("sagan", seed=1, scores=(0.5, 0.25)), published_order=True),
    replace(cell("sagan", seed=2, scores=(0.75, 0.5)), published_order=True),
    replace(cell("label_frequency", scores=(0.125, 0.0625), control=True), reference=True),
    cell("mlp", Verdict.TIMEOUT, TIME, seed=1),
    # a reason of two lines is another reason, and is shown on one
    cell("mlp", Verdict.TIMEOUT, TIME.replace("time limit", "time\n limit"), seed=2),
    *(cell("mlp", Verdict.TIMEOUT, TIME, seed=seed) for seed in range(3, 10)),
    cell("mlp", seed=10, scores=(0.375, None), notes={S2: "no item is scored"}),
    cell("mlp", Verdict.PENDING, "not run yet", split="random"),
    *(cell(f"m{number}", Verdict.MEMORY, MEMORY, split="random") for number in range(5)),
    cell("sagan", Verdict.MEMORY, MEMORY, seed=3),
    cell("tiger", split="random"),
)
TABLE = Table("drugs", len(CELLS) + 3, CELLS, 1, {"synthetic_ddi": "it is made up"})

TEXT = """\
drugs: 21 of 24 cells planned in view = 5 ok + 6 memory + 9 timeout + 1 pending

ddi: synthetic_ddi, cluster (a stand-in)
  method                     verdict             S1 F1 (n)
  -------------------------  ------------------  -------------------
  mlp                        ok 1/10, timeout 9  0.3750 (1)
  sagan °                    ok 2/3, memory 1    0.6250 ± 0.1768 (2)
  label_frequency [control]  ok 1/1              0.1250 (1)

  method                     S2 F1 (n)
  -------------------------  -------------------
  mlp                        - [1]
  sagan °                    0.3750 ± 0.1768 (2)
  label_frequency [control]  0.0625 (1)

ddi: synthetic_ddi, random (a stand-in)
  method  verdict      S1 F1 (n)  S2 F1 (n)  S1 ROC-AUC (n)  S2 ROC-AUC (n)
  ------  -----------  ---------  ---------  --------------  --------------
  m0      memory 1/1   -          -          -               -
  m1      memory 1/1   -          -          -               -
  m2      memory 1/1   -          -          -               -
  m3      memory 1/1   -          -          -               -
  m4      memory 1/1   -          -          -               -
  mlp     pending 1/1  -          -          -               -
  tiger   ok 1/1       -          -          -               -

[1] S2 F1: no item is scored

Why not ok
  timeout: mlp on synthetic_ddi, cluster, seeds 1, 3, 4, 5, 6, 7 and 2 more
      stopped at its time limit of 60 s
  timeout: mlp on synthetic_ddi, cluster, seed 2
      stopped at its time limit of 60 s
  memory: sagan, m0, m1 and 3 more on synthetic_ddi, cluster; synthetic_ddi,
    random, 6 cells
      killed out of memory (limit 1024 MiB)

Verdicts
  ok       the container finished and its predictions are valid
  memory   the method, or a child of it, was killed for want of memory
  timeout  the harness stopped the container at its time limit
  pending  not run yet

Metrics: mean ± sample standard deviation over the seeds that ended ok (n of
  them), as published.
synthetic_ddi is a stand-in, no claim rests on it: it is made up.
°: the answer depends on the order of drugs, diseases and items, so a run gets
  the published one; all other runs get a secret order.
1 cell not run on this machine: the committed reference results are shown.
1 cell ok without fresh scores: run `harness score`.
1 stored run belongs to no cell of this plan: of other plans, of an image,
  dataset or split that has changed since, or too damaged to be read.
"""

MARKDOWN = """\
# Status of `drugs`

drugs: 21 of 24 cells planned in view = 5 ok + 6 memory + 9 timeout + 1 pending

## ddi

Each entry: verdicts, then S1 F1/as-published, S2 F1/as-published (n).

| method | synthetic_ddi, cluster | synthetic_ddi, random |
| --- | --- | --- |
| m0 | not planned | memory 1/1 |
| m1 | not planned | memory 1/1 |
| m2 | not planned | memory 1/1 |
| m3 | not planned | memory 1/1 |
| m4 | not planned | memory 1/1 |
| mlp | ok 1/10, timeout 9<br>0.3750 (1)<br>- [1] | pending 1/1 |
| sagan ° | ok 2/3, memory 1<br>0.6250 ± 0.1768 (2)<br>0.3750 ± 0.1768 (2) | not planned |
| tiger | not planned | ok 1/1 |
| label_frequency *(control)* | ok 1/1<br>0.1250 (1)<br>0.0625 (1) | not planned |

[1] S2 F1: no item is scored


## Why not ok

- timeout: mlp on synthetic_ddi, cluster, seeds 1, 3, 4, 5, 6, 7 and 2 more: stopped at its time limit of 60 s
- timeout: mlp on synthetic_ddi, cluster, seed 2: stopped at its time limit of 60 s
- memory: sagan, m0, m1 and 3 more on synthetic_ddi, cluster; synthetic_ddi, random, 6 cells: killed out of memory (limit 1024 MiB)

## Verdicts

- **ok**: the container finished and its predictions are valid
- **memory**: the method, or a child of it, was killed for want of memory
- **timeout**: the harness stopped the container at its time limit
- **pending**: not run yet

Metrics: mean ± sample standard deviation over the seeds that ended ok (n of them), as published.
synthetic_ddi is a stand-in, no claim rests on it: it is made up.
°: the answer depends on the order of drugs, diseases and items, so a run gets the published one; all other runs get a secret order.
1 cell not run on this machine: the committed reference results are shown.
1 cell ok without fresh scores: run \\`harness score\\`.
1 stored run belongs to no cell of this plan: of other plans, of an image, dataset or split that has changed since, or too damaged to be read.
"""  # noqa: E501


def test_plain_text_word_for_word() -> None:
    assert to_text(TABLE) == TEXT


def test_the_list_of_cells_takes_the_place_of_the_blocks_alone() -> None:
    text = to_text(TABLE, cells=True)
    head, _, rest = text.partition("\n\n")
    cells, _, below = rest.partition("Why not ok")
    assert (head, f"Why not ok{below}") == (TEXT.partition("\n\n")[0], TEXT[TEXT.index("Why not ok") :])
    blocks = [block.splitlines() for block in cells.strip().split("\n\n")]
    assert [block[0] for block in blocks] == [
        f"ddi: synthetic_ddi, {split} (a stand-in)" for split in ("cluster", "random")
    ]
    for block in blocks:
        assert re.split(r"\s{2,}", block[1].strip()) == ["method", "seed", "verdict", "key", "S1 F1"]
    rows = [re.split(r"\s{2,}", line.strip()) for block in blocks for line in block[3:]]
    cells_in_view = [one for group in TABLE.groups for one in group.cells]
    values = [one.metrics.get("S1 F1/as-published") for one in cells_in_view]
    assert [row[1:3] for row in rows] == [
        [str(one.cell.job.split.seed), str(one.cell.verdict)] for one in cells_in_view
    ]
    assert [row[4] for row in rows] == ["-" if value is None else f"{value:.4f}" for value in values]
    assert any(values) and None in values


def test_a_chosen_metric_takes_the_place_of_the_usual_ones() -> None:
    cell = replace(CELLS[0], metrics={"S1 F1/as-published": 0.25, "S1 F1/as-defined": 0.75}, notes={})
    table = Table("drugs", 1, (cell,), 0)
    for shown in (to_text, to_markdown):
        for cells in (False, True):
            usual, chosen = shown(table, cells=cells), shown(table, cells=cells, metric="S1 F1/as-defined")
            assert "0.2500" in usual and "0.7500" not in usual
            assert "0.7500" in chosen and "0.2500" not in chosen and "S1 F1/as-defined" in chosen
            assert "as published" in " ".join(usual.split()) and "them), as published" not in " ".join(
                chosen.split()
            )


def test_markdown_word_for_word() -> None:
    assert to_markdown(TABLE) == MARKDOWN
    listed = to_markdown(TABLE, cells=True)
    below = "## Why not ok"
    assert listed[listed.index(below) :] == MARKDOWN[MARKDOWN.index(below) :]
    assert listed.startswith(
        MARKDOWN[: MARKDOWN.index("## ddi")] + "| cell | verdict | reason | key | metric | score |\n"
    )
    rows = re.findall(
        r"^\| (.*) \| (.*) \| (.*) \| `-` \| S1 F1/as-published \| (.*) \|$", listed, flags=re.MULTILINE
    )
    values = [(one, one.metrics.get("S1 F1/as-published")) for group in TABLE.groups for one in group.cells]
    assert rows == [
        (
            one.cell.job.label,
            one.cell.verdict,
            " ".join(one.cell.reason.split()),
            r"\-" if value is None else f"{value:.4f}",
        )
        for one, value in values
    ]


def test_each_column_of_a_matrix_shows_the_metrics_that_its_data_have() -> None:
    """Some metrics exist for one kind of data only."""
    area = "S1 ROC-AUC/as-published"
    other = replace(cell("mlp", split="random"), metrics={area: 0.875}, scored=True)
    text = to_markdown(Table("drugs", 2, (cell("mlp", scores=(0.5, 0.25)), other), 0))
    assert f"then {S1}, {S2} or {area}, S2 ROC-AUC/as-published (n)." in text
    assert "| mlp | ok 1/1<br>0.5000 (1)<br>0.2500 (1) | ok 1/1<br>0.8750 (1)<br>- |" in text


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_same_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    stream = Terminal()
    show(TABLE, stream=stream)
    shown = stream.getvalue()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    words = set(" ".join(TEXT.split()).replace("(a stand-in)", "").replace("-", "").split())
    assert words <= set(plain.replace("-", "").split())
    assert plain.index("drugs: 21 of 24") < plain.index("Why not ok") < plain.index("Verdicts\n")
    colours = dict(re.findall(r"\x1b\[(\d+)m(\w+ \d+/\d+[^\x1b]*)", shown))
    assert {number: text.split()[0] for number, text in colours.items()} == {
        "31": "memory",
        "34": "pending",
        "32": "ok",
    }
    assert re.findall(r"\x1b\[31m(ok[^\x1b]*)", shown) == ["ok 1/10, timeout 9", "ok 2/3, memory 1"]
    assert "\x1b[3mlabel_frequency [control]\x1b[0m" in shown


def test_where_a_terminal_is_narrow_the_verdicts_alone_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that have no room stand below, beside the methods' names again: numbers have no colour."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    names, coloured = [], []
    for columns in ("60", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        stream = Terminal()
        show(TABLE, stream=stream)
        names.append(stream.getvalue().count("label_frequency [control]"))
        coloured.append(re.findall(r"\x1b\[(3[1-6]|90)m([a-z-]+ \d+/\d+|[^\x1b]*)", stream.getvalue()))
    assert names[0] > names[1], "there are further columns"
    assert coloured[0] == coloured[1] != []
    assert all(re.fullmatch(r"[a-z-]+ \d+/\d+", text) for _, text in coloured[0])


@pytest.mark.parametrize(
    ("verdict", "colour"),
    [
        (Verdict.OK, "32"),
        (Verdict.NOT_APPLICABLE, "90"),
        (Verdict.PENDING, "34"),
        (Verdict.INTERRUPTED, "34"),
        (Verdict.MISSING_DATA, "33"),
        (Verdict.INFRASTRUCTURE, "35"),
        (Verdict.UNSTABLE, "31"),
    ],
)
def test_what_waits_what_cannot_be_and_what_went_wrong_differ_in_colour(
    monkeypatch: pytest.MonkeyPatch, verdict: Verdict, colour: str
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    stream = Terminal()
    show(Table("drugs", 1, (cell("mlp", verdict, "for a reason"),), 0), stream=stream)
    assert re.findall(rf"\x1b\[(\d+)m{verdict} 1/1", stream.getvalue()) == [colour]


def test_a_terminal_shows_the_metric_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    show(TABLE, metric=S2, stream=stream)
    plain = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).split())
    assert "S2 F1 (n)" in plain and "S1 F1" not in plain
    assert "over the seeds that ended ok (n of them)." in plain and "as published" not in plain


def test_the_words_of_a_run_are_no_markup_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    words = "java:warning: [bold]no[/bold] convergence of :cat: [1]"
    one = cell("mlp", verdict=Verdict.ERROR)
    said = replace(one, row="mlp [red] :dog:", cell=replace(one.cell, reason=words))
    stream = Terminal()
    show(Table("drugs [b]:cow:[/b]", 1, (said,), 0), stream=stream)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    for text in (words, "mlp [red] :dog:", "drugs [b]:cow:[/b]: "):
        assert text in plain


@pytest.mark.parametrize("cells", [False, True])
def test_a_pipe_and_a_list_are_plain(*, cells: bool) -> None:
    pipe, terminal = io.StringIO(), Terminal()
    show(TABLE, cells=cells, stream=pipe)
    assert pipe.getvalue() == to_text(TABLE, cells=cells)
    show(TABLE, cells=True, stream=terminal)
    assert terminal.getvalue() == to_text(TABLE, cells=True)


SUMS = """\
large: 263 cells planned = 5 ok + 6 memory + 251 timeout + 1 pending

ddi
  method                     cells  ok  memory  timeout  pending
  m0                             1   -       1        -        -
  m1                             1   -       1        -        -
  m2                             1   -       1        -        -
  m3                             1   -       1        -        -
  m4                             1   -       1        -        -
  mlp                          253   1       -      251        1
  sagan                          3   2       1        -        -
  tiger                          1   1       -        -        -
  label_frequency [control]      1   1       -        -        -

  dataset        cells  ok  memory  timeout  pending
  synthetic_ddi    263   5       6      251        1

Why not ok
  timeout: mlp on synthetic_ddi (243 splits), 250 cells
"""


def test_a_table_of_hundreds_of_rows_is_summed_up() -> None:
    many = [cell("mlp", Verdict.TIMEOUT, TIME, split=f"cluster:gamma=0.{number}") for number in range(1, 243)]
    cells = (*CELLS, *many)
    large, limit = (Table("large", len(some), some, 0) for some in (cells, cells[:-2]))
    assert (len(large.groups), len(limit.groups)) == (252, 250)
    for stream in (Terminal(), io.StringIO()):
        show(large, stream=stream)
        text = stream.getvalue()
        assert text.startswith(SUMS), text
        assert len(text.splitlines()) < 50 and "These are sums of 252 rows" in text
        assert "Metrics:" not in text and 0 < text.index("°: the answer depends") < text.index("These are sums")
    for shown, table, chosen in (
        (to_text(limit), limit, {}),
        (to_text(large, cells=True), large, {"cells": True}),
        (to_text(large, metric=S2), large, {"metric": S2}),
    ):
        show(table, stream=(stream := io.StringIO()), **chosen)
        assert stream.getvalue() == shown


def test_json_tells_all_of_it() -> None:
    values = to_json(TABLE)
    cells = values.pop("cells")
    groups = values.pop("groups")
    meanings = {str(verdict): verdict.meaning for verdict in (Verdict.OK, Verdict.MEMORY, Verdict.TIMEOUT)}
    assert values == {
        "plan": "drugs",
        "planned": 24,
        "in_view": 21,
        "verdicts": {"ok": 5, "memory": 6, "timeout": 9, "pending": 1},
        "meanings": {**meanings, "pending": Verdict.PENDING.meaning},
        "runs_of_other_plans": 1,
        "stand_ins": {"synthetic_ddi": "it is made up"},
    }
    about = {"benchmark": "ddi", "dataset": "synthetic_ddi", "control": False, "published_order": False}
    assert groups[0] == {
        **about,
        "row": "mlp",
        "method": "mlp",
        "split": "cluster",
        "planned": 10,
        "verdicts": {"ok": 1, "timeout": 9},
        "metrics": {S1: {"mean": 0.375, "sd": None, "n": 1}},
    }
    assert groups[1]["metrics"][S2] == {"mean": 0.375, "sd": pytest.approx(0.125 * 2**0.5), "n": 2}
    assert [(one["row"], one["split"], one["planned"]) for one in groups] == [
        ("mlp", "cluster", 10),
        ("sagan", "cluster", 3),
        ("label_frequency", "cluster", 1),
        *((f"m{number}", "random", 1) for number in range(5)),
        ("mlp", "random", 1),
        ("tiger", "random", 1),
    ]
    assert [one["control"] for one in groups] == [False, False, True] + [False] * 7
    assert [one["published_order"] for one in groups] == [False, True] + [False] * 8
    for scored, values in zip(CELLS, cells, strict=True):
        assert values == {
            **scored.cell.job.model_dump(mode="json"),
            "key": None,
            "control": scored.control,
            "published_order": scored.published_order,
            "reference": scored.reference,
            "verdict": str(scored.cell.verdict),
            "reason": scored.cell.reason,
            "metrics": scored.metrics,
            "notes": scored.notes,
            "scored": scored.scored,
        }


def test_further_metrics_are_shown_as_far_as_the_width_holds_them() -> None:
    """Every setting of the first metric has a place, if need be below; others do not make a table longer."""
    areas = {"S1 ROC-AUC/as-published": 0.875, "S2 ROC-AUC/as-published": 0.625}
    scored = cell("mlp", scores=(0.5, 0.25))
    scored = replace(scored, metrics={**scored.metrics, **areas})
    table = Table("drugs", 1, (scored,), 0)
    assert [value in to_text(table) for value in ("0.5000", "0.2500", "0.8750", "0.6250")] == [True] * 4
    narrow = to_text(table, width=46)
    assert [value in narrow for value in ("0.5000", "0.2500", "0.8750", "0.6250")] == [True, True, False, False]


def test_a_grid_below_has_the_rows_that_have_something_to_say() -> None:
    cells = (cell("mlp", scores=(0.5, 0.0)), cell("tiger"), cell("sagan", Verdict.ERROR, "exit code 1"))
    (_, below) = to_text(Table("drugs", 3, cells, 0), width=40).split("S2 F1 (n)\n")
    assert [line.split() for line in below.partition("\n\n")[0].splitlines()[1:]] == [["mlp", "0.0000", "(1)"]]
    # nothing is no score, and a score of zero is one
    listed = to_text(Table("drugs", 3, cells, 0), cells=True, metric=S2)
    assert [line.split()[-1] for line in listed.splitlines() if re.match(r"  \w+ +1 ", line)] == [
        "0.0000",
        "-",
        "-",
    ]


def test_a_dataset_beside_a_stand_in_is_none() -> None:
    other = cell("mlp")
    job = other.cell.job.model_copy(update={"dataset": "drugbank"})
    cells = (cell("mlp"), replace(other, cell=replace(other.cell, job=job)))
    text = to_text(Table("drugs", 2, cells, 0, {"synthetic_ddi": "it is made up"}))
    assert re.findall(r"^ddi: .*", text, flags=re.MULTILINE) == [
        "ddi: synthetic_ddi, cluster (a stand-in)",
        "ddi: drugbank, cluster",
    ]


def test_why_a_cell_does_not_apply_is_told_though_nothing_is_wrong() -> None:
    corrected = replace(cell("mlp", Verdict.NOT_APPLICABLE, "it reads no graph"), row="mlp/corrected")
    text = to_text(Table("drugs", 1, (corrected,), 0))
    assert "not-applicable: mlp/corrected on synthetic_ddi, cluster, seed 1\n      it reads no graph\n" in text


@pytest.mark.parametrize(
    ("cells", "planned", "text"),
    [
        (CELLS[:1], 1, "drugs: 1 cell planned = 1 ok"),
        (CELLS[:3], 3, "drugs: 3 cells planned = 3 ok"),
        (CELLS[:3], 4, "drugs: 3 of 4 cells planned in view = 3 ok"),
        ((), 1, "drugs: 0 of 1 cell planned in view = 0"),
        ((), 0, "drugs: 0 cells planned = 0"),
    ],
)
def test_the_sum_is_spelt_out(cells: tuple[ScoredCell, ...], planned: int, text: str) -> None:
    assert headline(Table("drugs", planned, cells, 0)) == text


def test_nothing_is_noted_that_does_not_hold() -> None:
    first = "Metrics: mean ± sample standard deviation over the seeds that ended ok (n of them), as published."
    scored = replace(CELLS[0], published_order=False)
    assert notes(Table("drugs", 1, (scored,), 0)) == [first]
    assert notes(Table("drugs", 1, (), 0)) == [first]
    (_, other) = notes(Table("drugs", 1, (scored,), 2))
    assert other.startswith("2 stored runs belong to no cell of this plan:")
    (_, unscored) = notes(Table("drugs", 2, (CELLS[-1], CELLS[3]), 0))
    assert unscored == "1 cell ok without fresh scores: run `harness score`."


def test_where_nothing_is_stored_it_is_said_what_makes_runs_and_no_heading_stands_alone() -> None:
    empty = Table("stored", 0, (), 0)
    said = "No run is stored here yet: `harness run --suite smoke` makes some."
    assert to_text(empty) == f"stored: 0 cells planned = 0\n\n{said}\n"
    assert "Verdicts" not in to_markdown(empty) and said.split("`")[0] in to_markdown(empty)
    # of nothing, as the second of ten parts of one cell: other runs are stored all the same
    part = " ".join(to_text(Table("request", 0, (), 6)).split())
    assert said not in part and "6 stored runs belong to no cell of this plan" in part
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    show(empty, stream=terminal)
    assert "Verdicts" not in terminal.getvalue() and said in terminal.getvalue()


def test_nobody_is_asked_to_score_what_has_no_truth() -> None:
    asked = cell("mlp", split="new_drugs")
    (_, said) = notes(Table("drugs", 1, (asked,), 0))
    assert said == "1 cell of `harness predict` without scores: nobody knows the truth."
    (_, unscored, said) = notes(Table("drugs", 3, (asked, replace(asked, row="mste"), CELLS[-1]), 0))
    assert unscored == "1 cell ok without fresh scores: run `harness score`."
    assert said.startswith("2 cells of `harness predict` without scores")


def test_a_reason_of_many_splits_names_the_dataset_and_counts_them() -> None:
    """The suite full has a reason that holds of 432 splits."""
    cells = tuple(cell("mlp", Verdict.MEMORY, MEMORY, split=f"space={number}") for number in range(9))
    text = " ".join(to_text(Table("drugs", 9, cells, 0)).split())
    assert "memory: mlp on synthetic_ddi (9 splits), 9 cells killed out of memory" in text
    text = " ".join(to_text(Table("drugs", 6, cells[:6], 0)).split())
    assert "memory: mlp on synthetic_ddi, space=0; synthetic_ddi, space=1;" in text


def test_reasons_that_differ_anywhere_are_told_apart_and_whole() -> None:
    """A long one says at its very end what it is about."""
    long = f"exit code 1: {'no such matrix among those that were read, ' * 6}row "
    cells = (
        *(cell("mlp", Verdict.ERROR, f"{long}{seed}", seed=seed) for seed in (1, 2)),
        # the same words for another verdict are another reason, too
        *(cell("mlp", Verdict.INVALID, f"{long}2", seed=seed) for seed in (3, 4)),
    )
    where = "mlp on synthetic_ddi, cluster"
    assert reason_lines(Table("drugs", 4, cells, 0)) == [
        *(f"error: {where}, seed 1", f"    {long}1"),
        *(f"error: {where}, seed 2", f"    {long}2"),
        *(f"invalid: {where}, seeds 3, 4", f"    {long}2"),
    ]


def test_footnotes_are_numbered_once_and_bounded() -> None:
    def remarked(count: int) -> Table:
        cells = [
            cell("mlp", seed=seed, scores=(0.5, None), notes={S2: f"because of {seed}"}) for seed in range(count)
        ]
        return Table("drugs", count, tuple(cells), 0)

    (three,), (four,), (five,) = (remarked(count).groups for count in (3, 4, 5))
    footnotes = Footnotes()
    assert (footnotes.entry(three, S1), footnotes.texts) == ("0.5000 ± 0.0000 (3)", [])
    assert [footnotes.entry(group, S2) for group in (three, five, three)] == ["- [1]", "- [2]", "- [1]"]
    together = "S2 F1: because of 0; S2 F1: because of 1; S2 F1: because of 2"
    assert footnotes.texts == [together, f"{together} and 2 more"]
    assert footnotes.lines == [f"[1] {together}", f"[2] {together} and 2 more"]
    # what is tried out on a copy is forgotten with it
    trial = footnotes.copy()
    assert trial.entry(four, S2) == "- [3]" and trial.texts[2:] == [f"{together} and 1 more"]
    trial = footnotes.copy()
    trial.entry(remarked(1).groups[0], S2)
    assert (len(trial.texts), len(footnotes.texts)) == (3, 2)
    footnotes.keep(trial)
    assert footnotes.texts == trial.texts


def test_what_was_ever_run_stands_in_one_order(evidence: Layout, made_up: Plan) -> None:
    """By benchmark, dataset, split and seed, method, variant: whatever order the keys have."""
    jobs = suite_jobs(evidence, Store(evidence.runs), "stored")
    seeds = [job.split.seed for job in jobs]
    assert [job.method for job in jobs] == ["als_wr", "constant", "als_wr", "constant"]
    assert seeds == sorted(seeds) and len(set(seeds)) == 2
    assert {job.label for job in jobs} == {cell.job.label for cell in made_up.cells[:4]}


def test_a_damaged_run_was_run_too(evidence: Layout, made_up: Plan) -> None:
    """Else a table of all that was run would be good after any damage."""
    store = Store(evidence.runs)
    jobs = suite_jobs(evidence, store, "stored")
    log = store.path(planned_of(made_up.cells[0]).key) / "log.txt"
    log.write_text(log.read_text() + "more\n")
    assert suite_jobs(evidence, store, "stored") == jobs
    table = table_of(evidence, make_plan(evidence, "stored", jobs))
    assert (table.counts[Verdict.INFRASTRUCTURE], table.others, table.is_good) == (1, 0, False)
    # of what cannot be read nobody knows what it was of
    (log.parent / "record.json").write_text("{")
    assert suite_jobs(evidence, store, "stored") == [one for one in jobs if one != made_up.cells[0].job]


def test_what_can_not_be_run_again_was_run_too(evidence: Layout) -> None:
    """Else its runs would be gone from the table of all that was run, as soon as nobody can build its image."""
    store = Store(evidence.runs)
    jobs = suite_jobs(evidence, store, "stored")
    (evidence.root / "containers" / "_numpy" / "tree.toml").unlink()
    assert suite_jobs(evidence, store, "stored") == jobs
    table = table_of(evidence, make_plan(evidence, "stored", jobs))
    told = {(one.key, one.cell.verdict, one.cell.reason) for one in table.cells}
    reason = "environment '_numpy' was never built and recorded"
    assert (told, len(table.cells)) == ({(None, Verdict.INFRASTRUCTURE, reason)}, 4)
