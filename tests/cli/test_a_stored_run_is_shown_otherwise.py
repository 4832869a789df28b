"""Commands about runs by their keys: what a person reads of them, what a program gets, and which exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from harness import api
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.cli.show import _show_log
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.status.table import key_metrics
from tests.cli.calls import document, harness_of


def test_all_scores_are_a_line_for_each_run_and_those_of_a_key_every_metric(here: Layout, keys: list[str]) -> None:
    result = harness_of("score")
    assert result.return_value == 0 and result.stderr == ""
    lines = sorted(result.stdout.splitlines())
    assert [line.split()[0] for line in lines] == sorted(key[:16] for key in keys[:3])
    run = api.scores(keys[0], repository=api.Repository(here))
    shown = [(name, run.scores.metrics.get(name)) for name in key_metrics("repurposing")]
    text = "  ".join(f"{name} {value:.4f}" for name, value in shown if value is not None)
    assert f"{keys[0][:16]}  {run.job.label}  {text}" in lines and text
    lines = harness_of("score", keys[0][:12]).stdout.splitlines()
    assert lines[0] == f"{run.job.label}  ({keys[0]})"
    metrics, notes = run.scores.metrics, run.scores.notes
    told = {line.strip().rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in lines[1:] if ": " not in line}
    assert told == {name: repr(value) for name, value in metrics.items() if value is not None}
    words = " ".join(" ".join(lines).split())
    assert all(name in words and " ".join(note.split()) in words for name, note in notes.items())
    rows = document(harness_of("score", "--json"))["rows"]
    assert {row["key"] for row in rows} == {*keys[:3]} and rows[0]["metrics"]


@pytest.mark.usefixtures("here")
def test_a_run_that_failed_has_nothing_to_score(keys: list[str]) -> None:
    with pytest.raises(UsageError, match=f"run {keys[3][:16]} has nothing to score: error") as error:
        harness_of("score", keys[3])
    assert error.value.where == "exit code 3: no such matrix"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("key", ["", "..", "bnnr"])
def test_what_is_no_key_is_scored_by_no_name(key: str) -> None:
    with pytest.raises(UsageError, match=f"no run is called '{key}': a key holds digits"):
        harness_of("score", key)


@pytest.mark.usefixtures("here")
def test_a_key_in_capitals_is_scored(keys: list[str]) -> None:
    assert harness_of("score", f" {keys[0].upper()} ").stdout == harness_of("score", keys[0]).stdout


def scored(monkeypatch: pytest.MonkeyPatch, notes: dict[str, str], **metrics: float | None) -> str:
    """What is printed of a run with these scores, all runs having been asked for."""
    row = {"key": "ab" * 32, "metrics": metrics, "notes": notes}
    run = SimpleNamespace(
        job=SimpleNamespace(label="a job", benchmark="repurposing"), scores=SimpleNamespace(to_json=lambda: row)
    )
    monkeypatch.setattr("harness.api.scores", lambda *_, **__: run, raising=False)
    monkeypatch.setattr("harness.cli.score.key_metrics", lambda _benchmark: ("one", "two"))
    return harness_of("score", "ab").stdout


@pytest.mark.usefixtures("looked_at")
def test_a_score_that_is_undefined_is_told_with_its_note(monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> None:
    notes = {"two": "no positive", "three": "why"}
    shown = scored(monkeypatch, notes, one=0.123456789012345678, two=None)
    assert shown.splitlines() == [
        f"a job  ({'ab' * 32})",
        "  one  0.12345678901234568",
        "  undefined, no positive: two",
        "  three: why",
    ]
    beginning = f"{('ab' * 32)[:16]}  a job  "
    assert {*harness_of("score").stdout.splitlines()} == {f"{beginning}one 0.1235"}
    scored(monkeypatch, notes, three=1.0)
    assert {*harness_of("score").stdout.splitlines()} == {f"{beginning}no positive"}
    scored(monkeypatch, {}, one=None)
    assert {*harness_of("score").stdout.splitlines()} == {beginning}
    scored(monkeypatch, {}, one=0.5, two=0.25, three=1.0)
    lines = harness_of("score").stdout.splitlines()
    # a line for each run that ended ok
    assert lines == [f"{beginning}one 0.5000  two 0.2500"] * 3
    # a score of 0 is a score, and a note to it is told
    shown = scored(monkeypatch, {"one": "no pair is ranked well", "three": "why"}, one=0.0, two=0.25)
    assert shown.splitlines()[1:] == ["  one  0.0", "  two  0.25", "  one: no pair is ranked well", "  three: why"]
    assert {*harness_of("score").stdout.splitlines()} == {f"{beginning}one 0.0000  two 0.2500"}


@pytest.mark.usefixtures("looked_at")
def test_scores_are_asked_for_with_what_was_typed(
    monkeypatch: pytest.MonkeyPatch, keys: list[str], tmp_path: Path
) -> None:
    ordinary, asked, warned = api.scores, list[object](), list[object]()

    def scores(key: str, *, again: bool, repository: api.Repository) -> api.ScoredRun:
        asked.append((key, again, repository.mirrors))
        return ordinary(key, repository=repository)

    monkeypatch.setattr("harness.api.scores", scores, raising=False)
    monkeypatch.setattr(
        "harness.cli.score.echo_warnings", lambda _store, key, indent: warned.append((key, indent))
    )
    result = harness_of("score", keys[0], keys[2], "--again", "--mirror", str(tmp_path))
    assert result.return_value == 0 and warned == [(keys[0], "  "), (keys[2], "  ")]
    assert asked == [(keys[0], True, (tmp_path,)), (keys[2], True, (tmp_path,))]
    warned.clear()
    result = harness_of("score", keys[0], "--json")
    assert result.return_value == 0 and [row["key"] for row in document(result)["rows"]] == [keys[0]]
    assert warned == [] and asked[2:] == [(keys[0], False, ())]
    assert harness_of("score").return_value == 0 and warned == []


@pytest.mark.usefixtures("looked_at")
def test_a_run_is_shown_with_data_from_where_they_were_named(
    monkeypatch: pytest.MonkeyPatch, keys: list[str], tmp_path: Path
) -> None:
    asked: list[object] = []
    ordinary = api.show

    def show(key: str, *, repository: api.Repository) -> dict[str, Any]:
        asked.append((key, repository.mirrors))
        return ordinary(key, repository=repository)

    monkeypatch.setattr("harness.api.show", show, raising=False)
    assert harness_of("show", keys[3], "--mirror", str(tmp_path)).return_value == 0
    result = harness_of("show", keys[3], "--json")
    assert result.return_value == 0 and document(result)["key"] == keys[3]
    assert asked == [(keys[3], (tmp_path,)), (keys[3], ())]
    assert harness_of("show", keys[3], "--log", "--json").return_value == 0
    with pytest.raises(UsageError, match="no run has a key"):
        harness_of("show", "0" * 64, "--log")


@pytest.mark.usefixtures("here")
def test_on_a_terminal_a_log_controls_nothing(
    here: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    content = b"a\x1b[2Jb\n\xff\nend"
    Store(here.runs).path(keys[0]).joinpath("log.txt").write_bytes(content)
    repository = api.Repository(here)
    for terminal, shown in ((False, content), (True, "a\\x1b[2Jb\n\ufffd\nend\n".encode())):
        monkeypatch.setattr("sys.stdout.isatty", lambda terminal=terminal: terminal)
        with pytest.raises(CorruptData):
            _show_log(repository, keys[0], None, as_json=False)
        assert capsysbinary.readouterr().out == shown
    result = harness_of("show", keys[0], "--log", "--json")
    assert result.return_value == 4 and document(result)["log"] == "a\x1b[2Jb\n\ufffd\nend"


def test_scores_are_computed_again_where_it_is_asked_for(here: Layout, keys: list[str]) -> None:
    path = scores_path(here, keys[0])
    before = path.stat().st_mtime_ns
    harness_of("score", keys[0])
    assert path.stat().st_mtime_ns == before
    harness_of("score", keys[0], "--again")
    assert path.stat().st_mtime_ns != before


def test_without_runs_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
    assert harness_of("score").stdout == "no stored run has predictions to score\n"
    assert document(harness_of("score", "--json"))["rows"] == []


@pytest.mark.usefixtures("here")
def test_a_log_is_shown_as_it_is_or_its_end(keys: list[str]) -> None:
    assert harness_of("show", keys[0], "--log").stdout == "reading\nfitting\ndone\n"
    result = harness_of("show", keys[0][:12], "--log", "--lines", "2")
    assert (result.return_value, result.stdout) == (0, "fitting\ndone\n")
    told = document(harness_of("show", keys[0], "--log", "--lines", "1", "--json"))
    assert (told["key"], told["bytes"], told["log"], told["recorded"]) == (keys[0], 21, "done\n", True)
    with pytest.raises(click.UsageError, match="--lines needs --log"):
        harness_of("show", keys[0], "--lines", "1")
    assert api.container_log(keys[3][:12]) == "no such matrix\n"


def test_another_log_than_the_recorded_one_is_shown_and_not_believed(here: Layout, keys: list[str]) -> None:
    Store(here.runs).path(keys[0]).joinpath("log.txt").write_bytes(b"forged\n")
    result = harness_of("show", keys[0], "--log", "--json")
    assert (result.return_value, document(result)["recorded"]) == (4, False)
    with pytest.raises(CorruptData, match="not the one that was recorded") as error:
        harness_of("show", keys[0], "--log")
    assert error.value.where.endswith(f"{keys[0]}/log.txt")
    assert error.value.todo == f"harness audit {keys[0][:12]} tells more"


def test_an_empty_log_is_told_beside_it(here: Layout, keys: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Store(here.runs).path(keys[0]).joinpath("log.txt").write_bytes(b"")
    with pytest.raises(CorruptData):
        _show_log(api.Repository(here), keys[0], None, as_json=False)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "the log is empty\n")


def test_a_page_of_a_run_is_text_or_a_document(here: Layout, keys: list[str]) -> None:
    page = api.show(keys[0], repository=api.Repository(here))
    told = document(harness_of("show", keys[0], "--json"))
    assert told.items() >= page.items() and page["key"] == keys[0]
    result = harness_of("show", keys[0])
    text = result.stdout
    assert result.return_value == 0
    assert text.endswith("\n") and not text.endswith("\n\n") and keys[0] in text


@pytest.mark.usefixtures("here")
def test_the_log_of_results_is_shown_by_key_and_with_its_root(keys: list[str]) -> None:
    whole = document(harness_of("log", "--json"))
    assert [leaf["leaf"] for leaf in whole["leaves"]] == [*range(1, whole["size"] + 1)]
    assert not any("proof" in leaf for leaf in whole["leaves"]) and whole["size"] >= 4
    lines = harness_of("log").stdout.splitlines()
    assert lines[-1] == f"{whole['size']} leaves, root {whole['root']}"
    assert len(lines) == min(whole["size"], 20) + 1
    mine = [leaf for leaf in whole["leaves"] if leaf.get("key") == keys[0]]
    lines = harness_of("log", keys[0][:12].upper()).stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [str(leaf["leaf"]) for leaf in mine] != []
    assert all(keys[0][:12] in line for line in lines[:-1])
    told = document(harness_of("log", keys[0][:12], "--proof", "--json"))["leaves"]
    lines = harness_of("log", keys[0][:12], "--proof").stdout.splitlines()
    for leaf in told:
        assert f"leaf {leaf['leaf']}: {leaf['hash']}" in lines and leaf["proof"]
        assert all(f"  {one}" in lines for one in leaf["proof"])
    with pytest.raises(UsageError, match="no run of the log is called 'ffffff'"):
        harness_of("log", "ffffff")
    with pytest.raises(click.UsageError, match="--proof needs a KEY"):
        harness_of("log", "--proof")


@pytest.mark.usefixtures("here")
def test_of_two_runs_every_section_that_differs_is_headed(keys: list[str]) -> None:
    result = harness_of("diff", keys[0][:12], keys[1][:12])
    assert result.return_value == 1
    rows = document(harness_of("diff", keys[0][:12], keys[1][:12], "--json"))["rows"]
    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert heads == list(dict.fromkeys(row["section"] for row in rows)) and heads[0] == "job"
    assert any(row["decides"] for row in rows)
    by = next(row for row in rows if row["by"] is not None)
    (line,) = [
        line
        for line in result.stdout.splitlines()
        if line.split()[:2] == [by["name"], by["first"]] and f"{by['by']:+.3g}" in line
    ]
    assert line.startswith("  ")
    assert max(len(cell) for line in result.stdout.splitlines() for cell in line.split("  ")) <= 35
    result = harness_of("diff", keys[0], keys[0])
    assert (result.return_value, result.stdout) == (
        0,
        "the same: job, image, inputs, outcome, scores, and every file of the answer\n",
    )
    assert document(harness_of("diff", keys[0], keys[0], "--json"))["rows"] == []


def test_runs_are_forgotten_when_it_is_meant(
    here: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(here.runs)
    with pytest.raises(UsageError, match="with --json nobody is asked"):
        harness_of("forget", keys[0], "--json")
    with pytest.raises(UsageError, match="nobody is here to be asked"):
        harness_of("forget", keys[0])
    result = harness_of("forget", keys[0][:12], "--dry-run")
    size = api.forget(keys[0], dry_run=True, repository=api.Repository(here))[0].bytes
    assert (result.return_value, result.stdout.splitlines()[1:]) == (
        0,
        [f"1 run, {size / 1e6:.1f} MB of predictions, logs, records and scores"],
    )
    assert result.stdout.startswith(f"{keys[0][:12]}  ok  ")
    monkeypatch.setattr("harness.cli.forget._is_asked", lambda: True)
    monkeypatch.setattr("click.confirm", lambda _question: False)
    result = harness_of("forget", keys[0])
    assert (result.return_value, result.stdout.splitlines()[-1]) == (1, "nothing was removed")
    told = document(harness_of("forget", "--method", "constant", "--dry-run", "--json"))
    assert told["removed"] is False and {run["key"] for run in told["runs"]} == {*keys[:2]}
    assert all(store.path(key).is_dir() for key in keys[:4])
    monkeypatch.setattr("click.confirm", lambda _question: True)
    result = harness_of("forget", keys[0])
    assert (result.return_value, result.stdout.splitlines()[-1]) == (0, "removed: 1")
    assert not store.path(keys[0]).exists() and store.path(keys[1]).is_dir()
    told = document(harness_of("forget", "--dataset", "synthetic", "--yes", "--json"))
    assert told["removed"] is True and {run["key"] for run in told["runs"]} == {*keys[1:4]}
    assert list(store.finished()) == []


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", [(), ("--yes",), ("--dry-run",)])
def test_where_no_run_is_of_both_nothing_is_asked_or_removed(
    words: tuple[str, ...], keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {keys[0]: ("pmf", "hdvd")}
    monkeypatch.setattr(
        "harness.handles.removal._names", lambda _store, key: names.get(key, ("als_wr", "synthetic"))
    )
    chosen = ("--method", "pmf", "--dataset", "synthetic")
    result = harness_of("forget", *chosen, *words)
    assert (result.return_value, result.stdout) == (0, "nothing to remove: no run of this machine is of both\n")
    if words:
        result = harness_of("forget", *chosen, *words, "--json")
        assert (result.return_value, document(result)["runs"]) == (0, [])


def test_a_run_that_stays_is_told(here: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    runs = api.forget(keys[0], dry_run=True, repository=api.Repository(here))
    stays = [replace(run, fault="it is busy") for run in runs]
    monkeypatch.setattr("harness.api.handles.forget_runs", lambda *_: iter(stays))
    result = harness_of("forget", keys[0], "--yes")
    assert (result.return_value, result.stdout.splitlines()[-1]) == (1, "removed: 0")
    assert result.stderr == f"not removed: {keys[0][:12]}: it is busy\n"
    assert harness_of("forget", keys[0], "--yes", "--json").return_value == 1
