"""What `harness run` was asked with reaches the campaign, and what came of it is shown and in the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import api
from harness.base.errors import DataError, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.status import Table, to_json
from harness.status.table import known_sets
from tests.cli.calls import document, harness_of
from tests.fabricate import SEEDS, table_of

_SEEDS = [word for seed in SEEDS for word in ("--seed", str(seed))]
CONSTANT = ("run", "--method", "constant", "--dataset", "synthetic", *_SEEDS)
NUMBER: dict[str, Any] = {
    **dict.fromkeys(
        ("seed", "published_sd", "published_n", "authors_files", "ours", "difference", "interval_low")
    ),
    **dict.fromkeys(("interval_high", "margin", "needed")),
    **dict.fromkeys(("source", "method", "dataset", "split", "variant", "test"), "x"),
    "published_names": dict.fromkeys(("method", "dataset", "split", "metric"), "x"),
    "metric": "AUC/as-defined",
    "statistic": "value",
    "published": "0.75",
    "n": 1,
    "published_n": 1,
    "verdict": "deviates",
    "reason": "why",
    "keys": [],
}
Running = Callable[..., SimpleNamespace]


@pytest.fixture
def running(looked_at: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A campaign that ends so; what was asked is noted, nothing is run."""

    def runs(
        table: Table | None = None,
        *,
        left: int = 1,
        stopped: bool = False,
        obstacles: tuple[DataError, ...] = (),
        not_again: int = 0,
    ) -> SimpleNamespace:
        asked = SimpleNamespace(plans=[], runs=[], pages=[], compared=[])
        table = table or table_of(looked_at, made_up)

        def run(plan: Plan, **others: Any) -> api.Campaign:
            asked.runs.append(others)
            return api.Campaign(table, left, stopped, obstacles, not_again)

        def report(_table: Table, **others: Any) -> Path:
            asked.pages.append(others)
            return Path("/the/page.html")

        def plan(**others: Any) -> Plan:
            asked.plans.append(others)
            return made_up

        def beside(_layout: object, _store: object, runs: list[Any], mirrors: tuple[Path, ...]) -> dict[str, Any]:
            asked.compared.append(([one.key for one in runs], mirrors))
            return {one.key: [NUMBER] for one in runs}

        # to read every published number takes a second or more
        monkeypatch.setattr("harness.handles.published_beside", beside)
        monkeypatch.setattr("harness.api.plan", plan, raising=False)
        monkeypatch.setattr("harness.api.run", run, raising=False)
        monkeypatch.setattr("harness.api.report", report, raising=False)
        return asked

    return runs


def only(table: Table, places: slice) -> Table:
    """A table of some of the cells."""
    return replace(table, cells=table.cells[places])


def test_what_is_typed_is_what_is_run(running: Running, tmp_path: Path) -> None:
    asked = running()
    harness_of(*CONSTANT)
    assert asked.plans[0]["make_splits"] is True and asked.plans[0]["seeds"] == SEEDS
    usual = asked.runs[0]
    repository = usual.pop("repository")
    assert (repository.mirrors, repository.install, repository.runtime) == ((), False, None)
    assert usual == {
        "progress": "auto",
        "workers": None,
        "again": (),
        "remove_images": False,
        "upstream": None,
        "on": "local",
        "verify": False,
    }
    (tmp_path / "code").mkdir()
    words = ["--variant", "corrected", "--set", "score=2", "--split", "cluster:gamma=0.6", "--inner-folds", "3"]
    words += ["--upstream", str(tmp_path / "code"), "--accelerator", "CUDA", "--shard", "1/2"]
    words += ["--published-seeds", "4", "--mirror", str(tmp_path), "--workers", "3", "--again", "timeout"]
    words += ["--again", "ERROR", "--remove-images", "--install", "--runtime", "runsc", "--on", "dask", "--verify"]
    harness_of(*CONSTANT, *words, "--json")
    plan, whole = asked.plans[1], asked.runs[1]
    assert plan.pop("repository") == (repository := whole.pop("repository"))
    assert (repository.mirrors, repository.install, repository.runtime) == ((tmp_path,), True, "runsc")
    assert plan == {
        "suite": None,
        "published_seeds": 4,
        "methods": ("constant",),
        "variant": "corrected",
        "parameters": {"score": 2},
        "datasets": ("synthetic",),
        "splits": ("cluster:gamma=0.6",),
        "seeds": SEEDS,
        "options": {"inner_folds": 3},
        "upstream": tmp_path / "code",
        "accelerator": "cuda",
        "shard": "1/2",
        "make_splits": True,
    }
    assert whole == {
        "progress": None,
        "workers": 3,
        "again": ("timeout", "error"),
        "remove_images": True,
        "upstream": tmp_path / "code",
        "on": "dask",
        "verify": True,
    }


def test_of_few_runs_every_score_and_where_the_evidence_lies_is_shown(here: Layout, keys: list[str]) -> None:
    result = harness_of(*CONSTANT)
    assert (result.return_value, result.stderr) == (0, "nothing is left to do: 2 finished\n")
    blocks = result.stdout.split("\n\n")[-2:]
    for key, block in zip((keys[0], keys[1]), sorted(blocks, key=lambda one: str(SEEDS[1]) in one), strict=True):
        lines = block.splitlines()
        assert lines[0].endswith("ok: the container finished and its predictions are valid")
        assert lines[-2:] == [
            f"  evidence: {here.runs / key[:2] / key}",
            f"  why believe it: harness audit {key[:12]}",
        ]
        scores = api.scores(key, repository=api.Repository(here)).scores.metrics
        assert {line.rsplit(maxsplit=1)[0].strip() for line in lines[1:-2]} == {*scores}


@pytest.mark.parametrize(
    ("unpublished", "kind"), [(frozenset[str](), "as-published"), (frozenset({"synthetic"}), "as-defined")]
)
def test_the_metrics_of_the_table_come_first(
    unpublished: frozenset[str],
    kind: str,
    running: Running,
    looked_at: Layout,
    made_up: Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = only(table_of(looked_at, made_up), slice(0, 1))
    table = replace(table, unpublished=unpublished)
    running(table)
    lines = harness_of(*CONSTANT).stdout.split("\n\n")[-1].splitlines()
    first = [metric for members in known_sets(table.groups) for metric in members]
    assert first[0] == f"NS-AUC/{kind}" and len(first) > 2
    names = [line.split()[0] for line in lines[1:] if " published " not in line]
    assert names[: len(first)] == first
    # whatever comes first in the alphabet
    monkeypatch.setattr("harness.cli.run.known_sets", lambda _groups: [tuple(first[::-1])])
    lines = harness_of(*CONSTANT).stdout.split("\n\n")[-1].splitlines()
    names = [line.split()[0] for line in lines[1:] if " published " not in line]
    assert names[: len(first)] == first[::-1]


def test_a_published_number_stands_below_ours_with_the_reason(here: Layout, keys: list[str]) -> None:
    words = ("run", "--method", "als_wr", "--dataset", "synthetic", *_SEEDS)
    result = harness_of(*words)
    assert result.return_value == 1
    good, bad = result.stdout.split("\n\n")[-2:]
    assert "published 1.0: deviates [1]" in good and "\n  [1] differs by more than the tolerance" in good
    assert bad.splitlines() == [
        f"als_wr/published on synthetic, random-{SEEDS[1]}: error: exit code 3: no such matrix",
        f"  evidence: {here.runs / keys[3][:2] / keys[3]}",
        f"  why believe it: harness audit {keys[3][:12]}",
    ]


def test_a_warning_of_a_run_is_shown_with_it(
    running: Running, looked_at: Layout, made_up: Plan, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr(
        "harness.cli.run.echo_warnings", lambda store, key, **others: shown.append((store.folder, key, others))
    )
    running(only(table_of(looked_at, made_up), slice(3, 6)))
    harness_of(*CONSTANT)
    assert shown == [(looked_at.runs, keys[3], {"indent": "  "})]


def test_a_run_that_is_not_there_has_no_evidence(
    running: Running, looked_at: Layout, made_up: Plan, keys: list[str]
) -> None:
    """And what may be run once more is nothing to believe."""
    table = table_of(looked_at, made_up)
    running(only(table, slice(3, 6)))
    lines = harness_of(*CONSTANT).stdout.splitlines()
    assert [line for line in lines if "evidence: " in line] == [
        f"  evidence: {looked_at.runs / keys[3][:2] / keys[3]}"
    ]
    assert lines[-1] == f"lrssl/published on synthetic, random-{SEEDS[1]}: pending: not run yet"
    cell = table.cells[0]
    stopped = replace(
        cell, cell=Cell(cell.cell.job, cell.cell.planned, Verdict.INTERRUPTED, "x", cell.cell.record)
    )
    running(replace(table, cells=(stopped,)))
    assert harness_of(*CONSTANT).stdout.splitlines()[-1].startswith("  evidence: ")


def test_of_a_long_reason_only_its_first_line_is_told_twice(
    running: Running, looked_at: Layout, made_up: Plan
) -> None:
    """Whole it stands below the table."""
    table = table_of(looked_at, made_up)
    cell = table.cells[4].cell
    without = replace(cell, verdict=Verdict.INFRASTRUCTURE, reason="no image\n  where: there\n  to do: build it")
    running(replace(table, cells=(replace(table.cells[4], cell=without),)))
    text = harness_of(*CONSTANT).stdout
    assert text.endswith(f"\n\n{cell.job.label}: infrastructure: no image\n")
    assert text.count("build it") == 1


@pytest.mark.parametrize(("count", "each"), [(4, True), (5, False)])
def test_of_many_runs_it_is_said_where_scores_are(
    count: int, each: bool, running: Running, looked_at: Layout, made_up: Plan, keys: list[str]
) -> None:
    said = "every metric of a run: harness score KEY; why believe it: harness audit KEY (status --cells)"
    asked = running(only(table_of(looked_at, made_up), slice(0, count)))
    result = harness_of(*CONSTANT)
    assert (said in result.stdout) is not each and ("evidence: " in result.stdout) is each
    assert (
        result.stdout.count(" published 0.75: deviates [1]\n") == result.stdout.count("\n  [1] why\n") == 3 * each
    )
    told = document(harness_of(*CONSTANT, "--json", "--mirror", str(looked_at.root)))["published"]
    # those that have scores to be held against published ones
    compared = keys[:3] if each else []
    assert told == {key: [NUMBER] for key in compared}
    assert asked.compared == ([(compared, ()), (compared, (looked_at.root,))] if each else [])
    # a whole suite is told by its table alone
    result = harness_of("run", "--suite", "full")
    assert said not in result.stdout and "evidence: " not in result.stdout


@pytest.mark.parametrize(
    ("places", "left", "said"),
    [
        (slice(0, 2), 0, "nothing is left to do: 2 finished\n"),
        (slice(0, 2), 1, ""),
        (slice(0, 3), 0, "nothing is left to do: 2 finished, 1 can't be run (reasons below)\n"),
        (
            slice(2, 4),
            0,
            "nothing is left to do: 2 finished\n"
            "failures are kept, also where the card's inputs or limits changed; "
            "to run them again: --again error\n",
        ),
    ],
)
def test_it_is_said_where_nothing_was_left(
    places: slice, left: int, said: str, running: Running, looked_at: Layout, made_up: Plan
) -> None:
    table = only(table_of(looked_at, made_up), places)
    if len(table.cells) == 3:
        cell = table.cells[2]
        missing = replace(cell, cell=Cell(cell.cell.job, None, Verdict.MISSING_DATA, "no data"), metrics={})
        table = replace(table, cells=(*table.cells[:2], missing))
    running(table, left=left)
    assert harness_of(*CONSTANT).stderr == said
    assert harness_of(*CONSTANT, "--json").stderr == ""


def test_every_kind_of_failure_that_is_kept_can_be_asked_for_again(
    running: Running, looked_at: Layout, made_up: Plan
) -> None:
    good, bad = table_of(looked_at, made_up).cells[2:4]
    late = replace(good, cell=replace(good.cell, verdict=Verdict.TIMEOUT))
    running(replace(table_of(looked_at, made_up), cells=(late, bad)), left=0)
    assert harness_of(*CONSTANT).stderr.endswith("; to run them again: --again error --again timeout\n")


def test_every_reason_why_a_published_number_decides_nothing_is_told(
    running: Running, looked_at: Layout, made_up: Plan, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    running(only(table_of(looked_at, made_up), slice(0, 1)))
    numbers = [NUMBER, {**NUMBER, "published": "0.5", "reason": "another why"}]
    monkeypatch.setattr("harness.handles.published_beside", lambda *_: {keys[0]: numbers})
    shown = harness_of(*CONSTANT).stdout
    assert " published 0.75: deviates [1]\n" in shown and " published 0.5: deviates [2]\n" in shown
    assert "\n  [1] why\n  [2] another why\n" in shown


@pytest.mark.parametrize(
    ("places", "stopped", "code"),
    [(slice(0, 2), False, 0), (slice(2, 4), False, 1), (slice(0, 2), True, 130), (slice(2, 4), True, 130)],
)
def test_how_it_ended_is_in_the_exit_code(
    places: slice, stopped: bool, code: int, running: Running, looked_at: Layout, made_up: Plan
) -> None:
    table = only(table_of(looked_at, made_up), places)
    running(table, stopped=stopped)
    assert harness_of(*CONSTANT).return_value == code
    result = harness_of(*CONSTANT, "--json")
    assert result.return_value == code
    told = document(result)
    assert told.items() >= json.loads(json.dumps(to_json(table))).items()


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 run wanted again came to no verdict: the earlier result stands\n"),
        (2, "2 runs wanted again came to no verdict: the earlier results stand\n"),
    ],
)
def test_what_was_wanted_again_and_did_not_come_is_told(
    count: int, said: str, running: Running, looked_at: Layout, made_up: Plan
) -> None:
    table = only(table_of(looked_at, made_up), slice(0, 2))
    running(table, not_again=count)
    result = harness_of(*CONSTANT)
    assert (result.return_value, result.stderr) == (1, said)
    running(table, not_again=count, stopped=True)
    assert harness_of(*CONSTANT).return_value == 130


def test_data_that_a_score_lacks_are_told_below_the_table(
    running: Running, looked_at: Layout, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a program gets one document: why there is no answer."""
    table = only(table_of(looked_at, made_up), slice(0, 2))
    asked = running(table, obstacles=(MissingData("no file", where="the matrix"), MissingData("another")))
    with pytest.raises(SystemExit) as ended:
        main([*CONSTANT, "--report"])
    shown = capsys.readouterr()
    assert ended.value.code == 4 and shown.err == "error: no file\n  where: the matrix\n"
    assert "ok 2/2" in shown.out and shown.out.endswith("\nreport: /the/page.html\n") and len(asked.pages) == 1
    with pytest.raises(SystemExit) as ended:
        main([*CONSTANT, "--report", "--json"])
    assert ended.value.code == 4 and json.loads(capsys.readouterr().out)["error"]["what"] == "no file"
    assert len(asked.pages) == 2, "the page holds all that there is"
    running(table, stopped=True, obstacles=(MissingData("no file"),))
    assert harness_of(*CONSTANT).return_value == 130
    stopped = harness_of(*CONSTANT, "--json")
    assert stopped.return_value == 130 and "error" not in document(stopped)


def test_the_page_is_written_where_it_is_asked_for(running: Running) -> None:
    asked = running()
    assert "report: " not in harness_of(*CONSTANT).stdout and asked.pages == []
    result = harness_of(*CONSTANT, "--report")
    assert result.stdout.endswith("\nreport: /the/page.html\n")
    document(harness_of(*CONSTANT, "--report", "--json"))
    assert [(one["unless_current"], one["repository"].install) for one in asked.pages] == [(True, False)] * 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--suite", "smoke"), True),
        (("--suite", "full"), False),
        (("--suite", "smoke", "--shard", "1/2"), False),
        (("--suite", "smoke", "--json"), False),
        (CONSTANT[1:], False),
    ],
)
def test_behind_the_smoke_suite_stands_what_the_whole_would_take(
    words: tuple[str, ...],
    told: bool,
    running: Running,
    looked_at: Layout,
    made_up: Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = running()
    needs = api.needs(made_up, repository=api.Repository(looked_at)).text()
    ordinary, where = api.needs, list[Any]()

    def needed(plan: Plan, *, repository: api.Repository) -> Any:
        where.append(repository)
        return ordinary(plan, repository=repository)

    monkeypatch.setattr("harness.api.needs", needed, raising=False)
    result = harness_of("run", *words)
    assert result.stdout.endswith(f"\n\n{needs}\n") is told
    assert [(one["suite"], one["make_splits"]) for one in asked.plans[1:]] == ([("full", False)] if told else [])
    assert where == ([asked.plans[0]["repository"]] if told else [])
    assert all(one["repository"] == asked.plans[0]["repository"] for one in asked.plans)


def test_who_stops_the_smoke_suite_is_not_kept_waiting(running: Running) -> None:
    asked = running(stopped=True)
    assert harness_of("run", "--suite", "smoke").return_value == 130
    assert [one["suite"] for one in asked.plans] == ["smoke"]


def test_a_dry_run_runs_nothing(running: Running, made_up: Plan, keys: list[str]) -> None:
    asked = running()
    result = harness_of(*CONSTANT, "--dry-run")
    assert (result.return_value, asked.runs) == (0, []) and asked.plans[0]["make_splits"] is False
    # six cells are too many to be shown each
    assert result.stdout.startswith("made-up: 6 cells planned, 2 left\n")
    result = harness_of(*CONSTANT, "--dry-run", "--json")
    told = document(result)
    assert result.return_value == 0 and (told["suite"], len(told["cells"])) == ("made-up", 6)
    assert [row["key"] for row in told["cells"]] == keys


def test_a_dry_run_counts_what_would_be_run_again(running: Running, made_up: Plan) -> None:
    running()
    result = harness_of(*CONSTANT, "--dry-run", "--again", "error", "--again", "ok")
    assert result.stdout.startswith("made-up: 6 cells planned, 6 left\n")
    rows = document(harness_of(*CONSTANT, "--dry-run", "--again", "error", "--json"))["cells"]
    assert [(row["verdict"], row["reason"]) for row in rows[2:4]] == [
        ("ok", "the container finished and its predictions are valid"),
        ("pending", "ended as 'error'; run again"),
    ]
    # of other failures than those that were named none is run again
    rows = document(harness_of(*CONSTANT, "--dry-run", "--again", "ok", "--json"))["cells"]
    assert [row["verdict"] for row in rows] == [*["pending"] * 3, "error", *["pending"] * 2]


@pytest.mark.parametrize("words", [(), ("--again", "error"), ("--mirror", "."), ("--accelerator", "cuda")])
def test_a_dry_run_names_no_command_of_another_plan(words: tuple[str, ...], running: Running) -> None:
    running()
    last = harness_of("run", "--suite", "ddi-smoke", "--dry-run", *words).stdout.splitlines()[-1]
    assert last == "  start or resume it with: the same command without --dry-run"


@pytest.mark.parametrize("count", [4, 5])
def test_a_dry_run_of_few_shows_each(
    count: int, running: Running, made_up: Plan, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    running()
    few = replace(made_up, cells=tuple(made_up.cells)[:count])
    monkeypatch.setattr("harness.api.plan", lambda **_: few, raising=False)
    lines = harness_of(*CONSTANT, "--dry-run").stdout.splitlines()
    assert lines[0].startswith(f"{keys[0][:12]}  ok") is (count == 4)
