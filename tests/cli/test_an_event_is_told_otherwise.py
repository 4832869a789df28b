"""`harness log` tells each event in a line, the last twenty where no run is named, and proves that it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.tables import aligned
from harness.proof.leaves import Event, Leaf
from harness.proof.tree import inclusion_proof, leaf_hash, root_of
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

PLAN = Leaf(Event.PLAN, "2026-01-01T00:00:00Z", "smoke", plan="f" * 64, cells=4)
RUNS = [
    Leaf(Event.RECORD, f"2026-01-02T00:00:{number:02}Z", f"run {number}", f"{number:02}" + "a" * 62, verdict="ok")
    for number in range(24)
]
REMOVAL = Leaf(Event.REMOVAL, "2026-01-03T00:00:00Z", "run 3", RUNS[3].key, note="a person asked")
LEAVES = [PLAN, *RUNS, REMOVAL]
HASHES = [leaf_hash(leaf.line) for leaf in LEAVES]
ROOT = root_of(HASHES).hex()


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """A log of 26 events, whatever folder it is read from; the folders that it was read from."""
    asked: list[Path] = []

    class Events:
        """The log of a folder."""

        def __init__(self, folder: Path) -> None:
            asked.append(folder)
            self.path = folder / "log.jsonl"

        def leaves(self) -> list[Leaf]:
            """All events."""
            return LEAVES

    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
    monkeypatch.setattr("harness.cli.log.Log", Events)
    return asked


def _lines(numbers: list[int]) -> list[str]:
    rows = []
    for number in numbers:
        leaf = LEAVES[number - 1]
        what = leaf.key[:12] or leaf.plan[:12]
        rows.append([str(number), leaf.at, str(leaf.kind), leaf.verdict, what, leaf.scope, leaf.note])
    return list(aligned(rows))


def test_the_last_twenty_are_shown_and_all_are_counted(
    folders: list[Path], tmp_path: Path, layout: Layout
) -> None:
    lines = harness_of("log").stdout.splitlines()
    assert lines == [*_lines([*range(7, 27)]), f"26 leaves, root {ROOT}"]
    assert harness_of("log", "--reference").stdout.splitlines() == lines
    assert folders == [tmp_path, layout.reference]
    told = document(harness_of("log", "--json"))
    assert (told["size"], told["root"], len(told["leaves"])) == (26, ROOT, 26)
    first: dict[str, Any] = {"leaf": 1, "hash": HASHES[0].hex(), "kind": "plan", "at": PLAN.at, "scope": "smoke"}
    assert told["leaves"][0] == {**first, "plan": "f" * 64, "cells": 4}


def test_all_events_of_a_run_are_shown_with_their_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    key = RUNS[3].key
    assert harness_of("log", key[:3].upper()).stdout.splitlines()[:-1] == _lines([5, 26])
    # more than twenty, too
    everything = [*range(2, 12)]
    assert harness_of("log", "0").stdout.splitlines()[:-1] == _lines([*everything, 26])
    monkeypatch.setattr("harness.cli.log._LAST", 1)
    assert harness_of("log", "0").stdout.splitlines()[:-1] == _lines([*everything, 26])
    proofs = {number: [one.hex() for one in inclusion_proof(HASHES, number - 1)] for number in (5, 26)}
    lines = harness_of("log", key[:12], "--proof").stdout.splitlines()
    shown = [
        line
        for number, proof in proofs.items()
        for line in (f"leaf {number}: {HASHES[number - 1].hex()}", *(f"  {one}" for one in proof))
    ]
    assert lines == [*_lines([5, 26]), *shown, f"26 leaves, root {ROOT}"]
    rows = document(harness_of("log", key[:12], "--proof", "--json"))["leaves"]
    assert {row["leaf"]: row["proof"] for row in rows} == proofs


def test_an_event_of_a_plan_is_told_with_the_plan_in_place_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cli.log._LAST", 26)
    lines = harness_of("log").stdout.splitlines()
    assert lines[:-1] == _lines([*range(1, 27)])
    assert lines[0].split() == ["1", "2026-01-01T00:00:00Z", "plan", "f" * 12, "smoke"]


def test_a_committed_run_is_looked_for_in_the_log_of_the_committed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Events:
        """Only what is committed has events."""

        def __init__(self, folder: Path) -> None:
            self.path, self._committed = folder / "log.jsonl", folder != tmp_path

        def leaves(self) -> list[Leaf]:
            """All events."""
            return LEAVES if self._committed else []

    monkeypatch.setattr("harness.cli.log.Log", Events)
    key = RUNS[3].key[:12]
    with pytest.raises(UsageError) as error:
        harness_of("log", key)
    assert error.value.what == f"no run of this machine's log is called '{key}'"
    assert error.value.where == str(tmp_path / "log.jsonl")
    assert error.value.todo == "ask for the log of the committed results: --reference"
    assert harness_of("log", "--reference", key).stdout.splitlines()[:-1] == _lines([5, 26])


@pytest.mark.parametrize("key", ["", " "])
def test_a_key_that_a_shell_left_empty_is_no_wish_for_the_whole_log(key: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        harness_of("log", key)
    assert error.value.what == "the key is empty"
    assert error.value.where == str(tmp_path / "log.jsonl")
    assert error.value.todo == "give a key or its beginning; without one the last events are shown"


def test_a_run_that_the_log_does_not_know_is_refused_with_those_it_knows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run of the log is called '00aaaaaaaaab'") as error:
        harness_of("log", "00aaaaaaaaab")
    assert error.value.where == str(tmp_path / "log.jsonl")
    assert f"did you mean '{RUNS[0].key[:12]}'" in error.value.todo
    # a plan has no key
    assert error.value.todo.endswith("`harness log --json` shows all 24")
    with pytest.raises(UsageError, match="no run of the committed log is called 'zzzz'") as error:
        harness_of("log", "--reference", "zzzz")
    assert error.value.todo.endswith("`harness log --reference --json` shows all 24")
