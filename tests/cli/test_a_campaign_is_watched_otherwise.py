"""Campaigns are shown as they run until none is, in lines or in place, and a watching command is heard of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.api import Repository
from harness.base.heartbeat import PERIOD_S
from harness.base.layout import Layout
from harness.cli import watch as watching
from harness.cli.warnings import echo_warnings
from harness.execution.bulletins import Bulletin
from harness.results.store import Store
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

KEY = "ab" * 32


def bulletin(name: str, runs: int = 3) -> Bulletin:
    return Bulletin(
        name=name,
        plan="smoke",
        on="local",
        host="here",
        process=7,
        seconds=2.0,
        runs=runs,
        ended={},
        nodes={},
        underway=(),
        ill=(),
        lost=0,
        seconds_left=None,
        wish=None,
    )


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., SimpleNamespace]:
    """What each look finds; how long is waited between them, and whether a person was told that it is alive."""

    def found(*answers: list[Bulletin]) -> SimpleNamespace:
        left, case = [*answers], SimpleNamespace(slept=[], heard=0, folders=[])

        def campaigns(*, repository: Repository) -> list[Bulletin]:
            case.folders.append(repository.layout.local)
            return left.pop(0)

        def heard() -> None:
            case.heard += 1

        monkeypatch.chdir(REPOSITORY)
        monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
        monkeypatch.setattr("harness.api.campaigns", campaigns, raising=False)
        monkeypatch.setattr("harness.cli.watch.time.sleep", case.slept.append)
        monkeypatch.setattr(watching, "PULSE", SimpleNamespace(heard=heard))
        return case

    return found


Looks = Callable[..., SimpleNamespace]


def test_campaigns_are_lines_where_no_terminal_is(looks: Looks, tmp_path: Path) -> None:
    one, two, three = bulletin("a"), bulletin("b"), bulletin("a", 4)
    case = looks([one, two], [three], [])
    result = harness_of("status", "--watch")
    assert result.return_value == 0
    assert result.stdout == f"{one.text()}\n{two.text()}\n{three.text()}\nno campaign is at work any more\n"
    assert (case.slept, case.heard, case.folders) == ([PERIOD_S] * 2, 2, [tmp_path] * 3)


def test_where_none_is_at_work_nothing_is_waited_for(looks: Looks, tmp_path: Path) -> None:
    case = looks([])
    assert harness_of("status", "--watch").stdout == f"no campaign is at work in {tmp_path}\n"
    assert (case.slept, case.heard) == ([], 0)


def test_on_a_terminal_they_are_shown_in_place(
    looks: Looks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []

    class Live:
        """A part of a screen, written anew."""

        def __init__(self, text: Any, *, transient: bool) -> None:
            shown.append(f"{text} {transient}")

        def __enter__(self) -> Live:
            return self

        def __exit__(self, *_: object) -> None:
            shown.append("end")

        def update(self, text: Any) -> None:
            shown.append(str(text))

    one, two = bulletin("a"), bulletin("a", 4)
    case = looks([one], [two], [])
    monkeypatch.setattr("rich.live.Live", Live)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    watching.watch()
    assert shown == [f"{one.text()} False", one.text(), two.text(), "end"]
    # more often than it would be in lines
    assert (case.slept, case.heard) == ([2.0] * 2, 2)
    assert capsys.readouterr().out == "no campaign is at work any more\n"


def test_campaigns_are_a_document_for_a_program(looks: Looks) -> None:
    one = bulletin("a")
    looks([one])
    assert document(harness_of("status", "--watch", "--json"))["campaigns"] == [one.model_dump(mode="json")]


@pytest.mark.parametrize(("count", "end"), [(4, None), (5, None), (6, "1 more warning"), (7, "2 more warnings")])
def test_five_warnings_of_a_run_are_shown_and_the_rest_counted(
    count: int, end: str | None, layout: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(layout.runs)
    store.path(KEY).mkdir(parents=True)
    texts = [f"UserWarning: number {number}" for number in range(count)]
    (store.path(KEY) / "method.json").write_text(json.dumps({"protocol": 1, "warnings": texts}))
    echo_warnings(store, KEY, indent=" ", err=True)
    shown = capsys.readouterr()
    lines = [f" warning of the method: number {number}" for number in range(min(count, 5))]
    assert shown.out == ""
    assert shown.err.splitlines() == [*lines, *([f" and {end}: {store.path(KEY) / 'method.json'}"] if end else [])]


def test_a_long_warning_is_cut_and_another_kind_keeps_its_name(
    layout: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(layout.runs)
    store.path(KEY).mkdir(parents=True)
    texts = ["FutureWarning: UserWarning: soon", "x" * 5000]
    (store.path(KEY) / "method.json").write_text(json.dumps({"protocol": 1, "warnings": texts}))
    echo_warnings(store, KEY)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "warning of the method: FutureWarning: UserWarning: soon"
    assert second.startswith("warning of the method: xxx") and second.endswith("x ...") and len(second) < 1100
