"""`harness audit` exits 5 when a link is broken and 0 when none is; what it is asked for is found or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.audit import keys_of_jobs
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.cli import main
from harness.planning.plan import Plan
from harness.planning.suites import jobs_of, load_suite
from harness.results.store import Store
from tests.audit.forging import forge_record, refresh
from tests.evidence import go_to
from tests.fabricate import planned_of

# No socket answers there: the command must do without an engine, and say so.
NO_ENGINE = "unix:///nowhere/engine.sock"


@pytest.fixture
def here(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    go_to(evidence, monkeypatch)
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    refresh()
    return evidence


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["audit", *arguments])
    code = left.value.code
    assert isinstance(code, int)
    return code


def test_sound_evidence_is_0_and_a_planted_tampering_5(
    here: Layout, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--all") == 0
    assert "not checked" in capsys.readouterr().out
    key = planned_of(made_up.cells[0]).key
    log = Store(here.runs).path(key) / "log.txt"
    log.write_text(log.read_text().replace("done", "Done"))
    assert run("--all") == 5
    out = capsys.readouterr().out
    assert "3 passed + 1 failed" in out and "expected:" in out and "found:" in out
    assert run("--json", key[:10]) == 5
    assert json.loads(capsys.readouterr().out)["runs"][0]["verdict"] == "FAILED"


def test_what_is_stored_is_a_suite_as_it_is_of_other_commands(
    here: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--all", "--json") == 0
    every = json.loads(capsys.readouterr().out)["runs"]
    assert run("--suite", "stored", "--json") == 0
    stored = json.loads(capsys.readouterr().out)["runs"]
    assert len(every) > 1 and [one["key"] for one in stored] == [one["key"] for one in every]
    assert run("--suite", "stored", "--reference") == 2
    assert "the runs made here are --suite stored" in capsys.readouterr().err


def test_several_runs_are_audited_by_their_keys(
    here: Layout, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells[:2]]
    assert run("--json", *(key[:12] for key in keys)) == 0
    assert [one["key"] for one in json.loads(capsys.readouterr().out)["runs"]] == keys


def test_a_lock_tampered_with_does_not_hide_its_runs_from_a_suite(
    here: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = here.containers / "_base" / "debian.lock"
    lock.write_text(lock.read_text().replace("0", "1", 1))
    assert run("--suite", "smoke") == 5
    assert "lock _base/debian.lock" in capsys.readouterr().out


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def unlike(content: dict[str, Any]) -> Callable[[Path], None]:
    """A job document with other fields, which the record vouches for."""

    def change(path: Path) -> None:
        write_json(path, {**json.loads(path.read_text()), **content})

    return change


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("name", "damage", "vouched"),
    [
        ("job.json", deep, True),
        ("job.json", unlike({"inputs": [1]}), True),
        ("job.json", unlike({"inputs": {"folds": 1}}), True),
        ("job.json", unlike({"inputs": {}}), True),
        ("job.json", unlike({"inputs": None}), True),
        ("job.json", unlike({"inputs": {"labels": {"sha256": "0"}}}), True),
        ("job.json", folder_instead, False),
        ("predictions.npy", folder_instead, False),
        ("predictions.npy", to_itself, False),
        ("method.json", deep, True),
        ("record.json", deep, False),
        ("record.json", folder_instead, False),
        ("record.json", to_itself, False),
    ],
)
@pytest.mark.parametrize("asked", [("--all",), ("--suite", "smoke")])
def test_damage_of_any_kind_is_5_and_never_a_crash(
    here: Layout,
    made_up: Plan,
    capsys: pytest.CaptureFixture[str],
    name: str,
    damage: Callable[[Path], None],
    vouched: bool,
    asked: tuple[str, ...],
) -> None:
    damage(Store(here.runs).path(planned_of(made_up.cells[0]).key) / name)
    if vouched:
        forge_record(here, made_up, lambda record: None)
    assert run(*asked) == 5
    out = capsys.readouterr().out
    assert " 1 failed" in out and "FAILED" in out


@pytest.mark.parametrize(
    "damage", [lambda text: text + "\n[nonsense", lambda text: text.replace("digest", "digestt")]
)
def test_a_broken_manifest_fails_the_runs_that_rest_on_it(
    here: Layout, capsys: pytest.CaptureFixture[str], damage: Callable[[str], str]
) -> None:
    path = here.datasets / "synthetic" / "dataset.toml"
    path.write_text(damage(path.read_text()))
    assert run("--all") == 5
    assert "0 passed + 4 failed" in capsys.readouterr().out


def test_planned_cells_without_a_run_are_told(here: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--suite", "smoke") == 0
    assert "planned, without a run to audit: " in capsys.readouterr().out


def test_a_suite_has_every_run_of_its_jobs(here: Layout) -> None:
    # a record's parameters are in alphabetical order, a card's as a person wrote them
    stored = {Store(here.runs).record(key).planned.job.method for key in Store(here.runs).finished()}
    keys, without_run = keys_of_jobs(Store(here.runs), jobs_of(here, load_suite("smoke")))
    assert {"als_wr", "constant"} <= stored
    assert sorted(keys) == sorted(Store(here.runs).finished())
    assert without_run == len(jobs_of(here, load_suite("smoke"))) - len(keys)


@pytest.mark.parametrize("arguments", [["ffffffffffffffff"], [""], ["abc", "--all"]])
def test_what_is_not_there_is_refused(here: Layout, arguments: list[str]) -> None:
    assert run(*arguments) == 2


def test_a_replay_without_an_engine_is_an_engine_error(here: Layout) -> None:
    assert run("--all", "--replay", "1") == 3
