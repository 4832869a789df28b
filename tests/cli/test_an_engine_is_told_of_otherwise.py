"""What doctor, clean, engine, stop and store say, with which exit code, and what a program gets of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

import harness.cli.clean
import harness.cli.doctor
import harness.cli.engine
from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout, find_layout
from harness.cli import group
from harness.cli.store import _show
from harness.engine.custody import Reached, Stopped
from harness.execution.queues import logs_of
from harness.proof.plans import PlanProgress
from harness.results.merge import Merged, MergedRun
from harness.upkeep import Examination, Removal, State
from tests.cli.calls import document, harness_of

SOCKET = Path("/run/a b/engine.sock")
GOOD = Examination("memory", State.OK, "enough")
WARNED = Examination("limits", State.WARN, "none", "use another")
FAILED = Examination("data x", State.FAIL, "changed", "get it")
DEAD = Examination("control run", State.FAIL, "no shell", "mend it")


@pytest.mark.parametrize(
    ("checks", "code"),
    [((GOOD,), 0), ((GOOD, WARNED), 0), ((FAILED, GOOD), 1), ((FAILED, DEAD, WARNED), 3)],
)
def test_the_worst_check_decides_the_exit_code(
    checks: tuple[Examination, ...], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.cli.doctor, "examine", lambda *_, **__: iter(checks))
    result = harness_of("doctor")
    assert result.return_value == code
    lines = [line for one in checks for line in _lines(one)]
    assert result.stdout.splitlines() == lines
    result = harness_of("doctor", "--json")
    told = document(result)
    assert (result.return_value, told["ready"]) == (code, code == 0)
    assert told["checks"] == [
        {"name": one.name, "state": str(one.state), "detail": one.detail, "todo": one.todo} for one in checks
    ]


def test_on_a_terminal_the_state_of_a_check_has_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness.cli.doctor, "examine", lambda *_, **__: iter((GOOD, WARNED, FAILED)))
    told = CliRunner().invoke(group, ["doctor"], standalone_mode=False, color=True).stdout
    shown = [line for line in told.splitlines() if "to do" not in line]
    for check, line, colour in zip((GOOD, WARNED, FAILED), shown, ("green", "yellow", "red"), strict=True):
        assert line == f"{click.style(f'{check.state:4}', fg=colour)}  {check.name}: {check.detail}"


def _lines(check: Examination) -> list[str]:
    todo = [f"      to do: {check.todo}"] if check.todo else []
    return [f"{check.state:4}  {check.name}: {check.detail}", *todo]


def test_what_a_machine_is_asked_with_reaches_its_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def examine(_layout: object, mirrors: tuple[Path, ...], *, runtime: str | None) -> Iterator[Examination]:
        asked.append((mirrors, runtime))
        return iter(())

    monkeypatch.setattr(harness.cli.doctor, "examine", examine)
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    harness_of("doctor")
    harness_of("doctor", "--mirror", str(tmp_path), "--runtime", "runsc")
    assert asked == [((), None), ((tmp_path,), "runsc")]


@pytest.mark.parametrize(("worst", "code"), [(WARNED, 0), (FAILED, 1), (DEAD, 3)])
def test_of_a_worker_what_is_not_well_is_told(
    worst: Examination, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []
    nodes = {"tcp://a": [GOOD], "tcp://b": [WARNED, GOOD, worst]}

    def cluster(on: str, *, logs: Path) -> object:
        asked.append((on, logs))
        return nullcontext("cluster")

    def examine(*given: object, runtime: str | None) -> Iterator[tuple[str, list[Examination]]]:
        asked.append((*given, runtime))
        return iter(nodes.items())

    monkeypatch.setattr(harness.cli.doctor, "open_cluster", cluster)
    monkeypatch.setattr(harness.cli.doctor, "examine_nodes", examine)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    layout = find_layout()
    result = harness_of("doctor", "--on", "tcp://there:1", "--mirror", str(tmp_path), "--runtime", "runsc")
    assert (result.return_value, asked) == (
        code,
        [("tcp://there:1", logs_of(layout)), ("cluster", layout, (tmp_path,), "runsc")],
    )
    assert result.stdout.splitlines() == [
        "tcp://a: 1 check, 1 ok",
        *("tcp://b: 3 checks, 1 ok", *_lines(WARNED), *_lines(worst)),
    ]
    told = document(harness_of("doctor", "--on", "tcp://there:1", "--json"))
    assert told["ready"] is (code == 0)
    assert {name: [one["name"] for one in checks] for name, checks in told["nodes"].items()} == {
        name: [one.name for one in checks] for name, checks in nodes.items()
    }
    nodes.clear()
    with pytest.raises(EngineError, match="the cluster has no worker") as error:
        harness_of("doctor", "--on", "tcp://there:1")
    assert error.value.where == "--on tcp://there:1" and "docs/cluster.md" in error.value.todo


REMOVALS = [
    Removal("container", "0123 (exited) of run r"),
    Removal("image", "permafrost/x:1", 12_340_000),
    Removal("image", "permafrost/y:1", 1_000_000),
    Removal("cache", "/c", 5_000_000, "it is busy"),
]


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[Removal]:
    """What a clean-up is going to find, in an engine that answers."""
    found: list[Removal] = []
    monkeypatch.setattr(harness.cli.clean, "find_engine", lambda _layout: nullcontext(object()))
    monkeypatch.setattr(harness.cli.clean, "clean", lambda *_, **__: iter(found))
    return found


@pytest.mark.parametrize(("words", "word"), [(("clean",), "removed"), (("clean", "--dry-run"), "would remove")])
def test_a_clean_up_is_told_line_by_line_and_summed_by_kind(
    words: tuple[str, ...], word: str, removed: list[Removal]
) -> None:
    removed[:] = REMOVALS
    result = harness_of(*words)
    assert result.return_value == 1
    assert result.stdout.splitlines() == [
        f"{word} container 0123 (exited) of run r",
        f"{word} image permafrost/x:1, 12.3 MB",
        f"{word} image permafrost/y:1, 1.0 MB",
        "could not remove cache /c, 5.0 MB: it is busy",
        "image  13.3 MB",
        "(layers that images share are counted with each of them)",
    ]
    rows = document(harness_of(*words, "--json"))["rows"]
    assert rows[3] == {"kind": "cache", "name": "/c", "bytes": 5_000_000, "fault": "it is busy"}
    assert [row["kind"] for row in rows] == ["container", "image", "image", "cache"]


def test_of_a_clean_up_without_sizes_or_images_no_more_is_told(removed: list[Removal]) -> None:
    result = harness_of("clean")
    assert (result.return_value, result.stdout) == (0, "nothing to remove\n")
    assert document(harness_of("clean", "--json"))["rows"] == []
    removed[:] = REMOVALS[:1]
    result = harness_of("clean")
    assert (result.return_value, result.stdout.splitlines()) == (0, ["removed container 0123 (exited) of run r"])
    removed[:] = [Removal("cache", "/c", 2_000_000)]
    assert harness_of("clean").stdout.splitlines()[1:] == ["cache  2.0 MB"]


@pytest.mark.parametrize("option", ["old_images", "images", "cache", "dry_run"])
def test_a_clean_up_takes_what_was_named(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_engine(_layout: object) -> object:
        raise EngineError("nobody answers")

    asked: list[Any] = []
    monkeypatch.setattr(harness.cli.clean, "find_engine", no_engine)

    def clean(_layout: object, *one: object, **two: object) -> Iterator[Removal]:
        asked.append((one, two))
        return iter(())

    monkeypatch.setattr(harness.cli.clean, "clean", clean)
    result = harness_of("clean", f"--{option.replace('_', '-')}")
    usual = dict.fromkeys(("old_images", "images", "cache", "dry_run"), False)
    assert asked == [((None,), {**usual, option: True})]
    assert result.stderr == "containers and images were not looked at: nobody answers\n"
    is_in_vain = option in ("old_images", "images")
    told = "could not remove image all that was asked for: nobody answers" if is_in_vain else "nothing to remove"
    assert (result.return_value, result.stdout) == (int(is_in_vain), f"{told}\n")


def test_a_clean_up_of_all_looks_in_every_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def clean_all(_layout: object, environment: object, *, dry_run: bool) -> Iterator[Removal]:
        asked.append((environment is os.environ, dry_run))
        return iter(REMOVALS[:1])

    monkeypatch.setattr(harness.cli.clean, "clean_all", clean_all)
    assert harness_of("clean", "--all").return_value == 0
    assert harness_of("clean", "--all", "--dry-run").stdout.startswith("would remove container")
    assert asked == [(True, False), (True, True)]


@pytest.mark.parametrize("kept", [True, False])
def test_an_engine_that_stays_up_is_told_with_what_a_shell_needs(
    monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    asked: list[bool] = []

    def find(layout: Layout, *, install: bool) -> object:
        assert layout == find_layout()
        asked.append(install)
        return nullcontext("engine")

    def keep(layout: Layout, engine: object, environment: object) -> Reached:
        assert (layout, engine) == (find_layout(), "engine") and environment is os.environ
        return Reached("docker", SOCKET, kept)

    monkeypatch.setattr(harness.cli.engine, "find_engine", find)
    monkeypatch.setattr(harness.cli.engine, "keep", keep)
    text = {
        True: f'docker stays up at {SOCKET}; for this shell: eval "$(harness engine env)"\n',
        False: f"docker answers at {SOCKET}; the harness does not serve it, so it stays as it is\n",
    }
    assert harness_of("engine", "start").stdout == text[kept]
    told = document(harness_of("engine", "start", "--install", "--json"))
    assert (told["engine"], told["socket"], told["kept"]) == ("docker", str(SOCKET), kept)
    assert asked == [False, True]


@pytest.mark.parametrize(("name", "variable"), [("docker", "DOCKER_HOST"), ("podman", "CONTAINER_HOST")])
def test_a_shell_is_told_of_the_engine_in_its_own_words(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach(layout: Layout, environment: object) -> Reached:
        assert layout == find_layout() and environment is os.environ
        return Reached(name, SOCKET, True)

    monkeypatch.setattr(harness.cli.engine, "reach", reach)
    assert harness_of("engine", "env").stdout == f"export {variable}='unix://{SOCKET}'\n"
    told = document(harness_of("engine", "env", "--json"))
    assert told["variables"] == {variable: f"unix://{SOCKET}"}
    assert (told["engine"], told["socket"], told["kept"]) == (name, str(SOCKET), True)


@pytest.mark.parametrize(
    ("named", "other"), [("DOCKER_HOST", "CONTAINER_HOST"), ("CONTAINER_HOST", "DOCKER_HOST")]
)
@pytest.mark.parametrize("elsewhere", ["unix:///another", "unix:///zzz"])
def test_of_an_engine_that_stops_a_shell_that_names_it_is_told(
    named: str, other: str, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[Stopped] = []

    def release(layout: Layout, environment: object) -> list[Stopped]:
        assert layout == find_layout() and environment is os.environ
        return stopped

    monkeypatch.setattr(harness.cli.engine, "release", release)
    monkeypatch.setenv(named, f"unix://{SOCKET}")
    monkeypatch.setenv(other, elsewhere)
    assert harness_of("engine", "stop").stdout == "no engine is kept running\n"
    stopped += [Stopped(SOCKET, False), Stopped(Path("/x"), True)]
    result = harness_of("engine", "stop")
    assert result.stdout == f"{SOCKET}: stopped\n/x: in use; it stops with its last user\n"
    assert result.stderr == f"this shell still names it: unset {named}\n"
    result = harness_of("engine", "stop", "--json")
    assert document(result)["rows"] == [
        {"socket": str(SOCKET), "in_use": False},
        {"socket": "/x", "in_use": True},
    ]
    assert result.stderr == ""


@pytest.mark.parametrize(("now", "end"), [(False, "finished"), (True, "stopped")])
def test_a_campaign_that_is_asked_to_end_is_told_how_it_ends(
    monkeypatch: pytest.MonkeyPatch, *, now: bool, end: str
) -> None:
    asked: list[Any] = []

    def stop(name: str, *, now: bool) -> object:
        asked.append((name, now))
        return SimpleNamespace(name="3fa91c", plan="smoke", underway=["a run"])

    monkeypatch.setattr("harness.api.stop", stop, raising=False)
    flags = ["--now"] if now else []
    result = harness_of("stop", "3fa", *flags)
    assert result.return_value == 0
    assert result.stdout == f"3fa91c (smoke) begins nothing more; what is at work (1 run) is {end}\n"
    result = harness_of("stop", "--json", *flags)
    told = document(result)
    assert result.return_value == 0
    assert (told["campaign"], told["plan"], told["now"]) == ("3fa91c", "smoke", now)
    assert asked == [("3fa", now), ("", now)]


def test_nothing_to_stop_is_a_wrong_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
    with pytest.raises(UsageError, match="no campaign"):
        harness_of("stop")
    assert harness_of("status", "--watch").stdout == f"no campaign is at work in {tmp_path}\n"


def test_all_that_came_of_a_folder_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    _show(Merged(Path("/one"), Counter({"ok": 2, "error": 1}), known=4, equal=5, in_other_order=6))
    _show(Merged(Path("/two")))
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "/one: 3 runs taken (error 1, ok 2); 4 known before; 5 here too, and equal bit for bit; "
        "6 here too, made in another order of items; ours stay",
        "/two: 0 runs taken",
    ]
    assert shown.err == ""


def test_a_run_that_was_not_taken_is_told_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    refused = [
        MergedRun("", "all of its runs", "its log is cut", "/log\x1b[2J"),
        MergedRun("", "one", "no record"),
    ]
    others = [MergedRun("a" * 64, "bnnr", "another answer"), MergedRun("b" * 64, "drrs", "another end")]
    _show(Merged(Path("/two"), refused=refused, disagreements=others))
    shown = capsys.readouterr()
    assert shown.out == "/two: 0 runs taken; 2 refused; 2 in disagreement with ours, which stay\n"
    assert shown.err.splitlines() == [
        "  refused: all of its runs: its log is cut",
        "    where: /log\\x1b[2J",
        "  refused: one: no record",
        "  to do: mend what is told there and merge again, or run it again",
        "  disagrees: bnnr (aaaaaaaaaaaa): another answer",
        "  disagrees: drrs (bbbbbbbbbbbb): another end",
        "  to do: compare the two: harness audit KEY --replay 1, on both machines",
    ]


def test_what_is_left_of_a_plan_is_told_behind_the_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))
    asked: list[Any] = []

    def merge(folders: tuple[Path, ...], *, progress: str | None, repository: object) -> tuple[Merged, ...]:
        asked.append((folders, progress))
        return Merged(tmp_path, plans=["one", "two"]), Merged(tmp_path, plans=["three"])

    def progress(folder: Path, _leaves: object, plans: Iterator[str]) -> list[PlanProgress]:
        asked.append((folder, [*plans]))
        return [PlanProgress("full", 100, 0, 1), PlanProgress("smoke", 1, 3, 0)]

    monkeypatch.setattr("harness.api.merge", merge, raising=False)
    monkeypatch.setattr("harness.cli.store.progress_of", progress)
    lines = harness_of("store", "merge", str(tmp_path), str(tmp_path)).stdout.splitlines()
    assert lines[2:] == ["plan full: 100 cells, 1 left", "plan smoke: 1 cell, 0 left, 3 can't be run"]
    told = document(harness_of("store", "merge", str(tmp_path), "--json"))
    assert [(one["name"], one["left"]) for one in told["plans"]] == [("full", 1), ("smoke", 0)]
    plans = (tmp_path / "local", ["one", "two", "three"])
    assert asked == [((tmp_path, tmp_path), "auto"), plans, ((tmp_path,), None), plans]


@pytest.mark.parametrize(
    ("merged", "code"), [({}, 0), ({"refused": 1}, 4), ({"refused": 1, "disagreements": 1}, 5)]
)
def test_a_merge_ends_with_the_worst_of_it(
    merged: dict[str, int], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))
    one = MergedRun("a" * 64, "bnnr", "damaged")
    every = (Merged(tmp_path, **{name: [one] * count for name, count in merged.items()}), Merged(tmp_path))  # type: ignore[arg-type]
    monkeypatch.setattr("harness.api.merge", lambda *_, **__: every, raising=False)
    assert harness_of("store", "merge", str(tmp_path)).return_value == code
    shown = harness_of("store", "merge", str(tmp_path)).stdout
    assert shown.startswith(f"{tmp_path}: 0 runs taken") and shown.count(f"{tmp_path}: ") == 2
    result = harness_of("store", "merge", str(tmp_path), "--json")
    folders = document(result)["folders"]
    assert result.return_value == code and [folder["folder"] for folder in folders] == [str(tmp_path)] * 2
    assert [run["what"] for run in folders[0]["refused"]] == ["damaged"] * merged.get("refused", 0)
    # whichever folder it was
    monkeypatch.setattr("harness.api.merge", lambda *_, **__: every[::-1], raising=False)
    assert harness_of("store", "merge", str(tmp_path)).return_value == code
