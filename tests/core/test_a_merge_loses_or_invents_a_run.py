"""A merge brings every whole run of another store, and nothing else; killed anywhere, all of them or none."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import api
from harness.base.errors import UsageError
from harness.base.files import digest_of, sha256_of, write_json
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, now
from harness.proof.log import LOG, NEXT, Log
from harness.proof.plans import LoggedCell, enter_plan, plan_path
from harness.proof.results import ResultSet, faults_of
from harness.results.digests import stored_results
from harness.results.merge import Merged, check_source, merge
from harness.results.records import RECORD_FILE
from harness.results.scoring import Scores, scored_files, scores_path
from harness.results.store import Store
from tests.core.factories import planned_job, record_of
from tests.core.word_for_word import layout_of

FINAL = (Verdict.OK, Verdict.ERROR, Verdict.TIMEOUT)


def store_of(folder: Path) -> Store:
    return Store(folder / "runs")


def put(
    folder: Path,
    seed: int,
    verdict: Verdict = Verdict.OK,
    answer: bytes = b"scores",
    order: str = "",
    **more: bool,
) -> str:
    """A run of the job with this seed, made on the machine whose results lie in `folder`."""
    planned, work = planned_job(seed), folder.parent / f"{folder.name}-made"
    work.mkdir(exist_ok=True)
    files = {"log.txt": work / "log.txt", "predictions.npy": work / "predictions.npy"}
    files["log.txt"].write_text(f"made in {folder.name}\n")
    files["predictions.npy"].write_bytes(answer)
    record = record_of(planned, verdict, f"{verdict} in {folder.name}").model_copy(update={"order": order})
    store_of(folder).put(record, files if verdict is Verdict.OK else {"log.txt": files["log.txt"]}, **more)
    return planned.key


def put_scores(folder: Path, key: str, changed: dict[str, Any]) -> None:
    """Scores of a run, whole as they stand, which no log tells of."""
    evidence = scored_files("repurposing", store_of(folder).record(key).to_json()["files"])
    content: dict[str, Any] = {"key": key, "scorer": "6" * 64, "evidence": evidence, **changed}
    scores = Scores(**content, metrics={"AUC/as-defined": 0.75}, notes={})
    write_json(scores_path(layout_of(folder), key), scores.to_json())


def tree(folder: Path) -> dict[str, str]:
    """Every file under a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def runs_in(folder: Path) -> dict[str, str]:
    return {name: digest for name, digest in tree(folder / "runs").items() if not name.startswith(".")}


def faults(folder: Path) -> list[str]:
    """What an audit of the log would find."""
    store = store_of(folder)
    results = ResultSet("runs", folder, stored_results(store, folder / "scores"))
    for key in store.finished():
        store.check(store.record(key))
    return [f"{fault.what}: {fault.where}" for fault in faults_of(store.log.leaves(), results)]


def merged(here: Path, *others: Path) -> list[Merged]:
    return [merge(layout_of(here), other) for other in others]


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three machines: the last two made two runs each, one of which failed, and each told of its plan."""
    here, one, two = (tmp_path / name for name in ("here", "one", "two"))
    for folder, seeds in ((one, (1, 2)), (two, (3, 4))):
        with store_of(folder).open_log() as (log, _):
            cells = [LoggedCell(planned_job(seed).key, f"seed {seed}") for seed in (1, 2, 3, 4)]
            enter_plan(log, "four", cells)
        put(folder, seeds[0])
        put(folder, seeds[1], Verdict.INFRASTRUCTURE)
        put(folder, seeds[1], Verdict.TIMEOUT)
    return here, one, two


def test_all_runs_and_their_failures_come_with_every_bit(machines: tuple[Path, Path, Path]) -> None:
    here, one, two = machines
    with store_of(two).open_log() as (log, _):
        enter_plan(log, "another", [LoggedCell(planned_job(3).key, "seed 3")])
        plans = [leaf.plan for leaf in log.leaves() if leaf.plan]
    before = [tree(folder) for folder in (one, two)]
    outcomes = merged(here, one, two)
    assert [outcome.taken for outcome in outcomes] == [{"ok": 1, "timeout": 1}] * 2
    assert outcomes[1].plans == plans and len(plans) == 2
    assert [plan_path(here, plan).read_bytes() for plan in plans] == [
        plan_path(two, plan).read_bytes() for plan in plans
    ]
    assert not any(outcome.refused or outcome.disagreements or outcome.known for outcome in outcomes)
    assert runs_in(here) == runs_in(one) | runs_in(two) and len(runs_in(here)) == 10
    assert [tree(folder) for folder in (one, two)] == before, "another machine's folder was changed"
    assert faults(here) == []
    assert not [path for path in (here / "work").rglob("*") if path.name.startswith("merging")]


def test_a_second_merge_changes_nothing(machines: tuple[Path, Path, Path]) -> None:
    here, one, two = machines
    merged(here, one, two)
    before = {name: digest for name, digest in tree(here).items() if not name.startswith("work/")}
    assert [(again.taken.total(), again.known) for again in merged(here, one, two)] == [(0, 2)] * 2
    assert {name: digest for name, digest in tree(here).items() if not name.startswith("work/")} == before


def test_what_was_made_since_is_taken_by_the_next_merge(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    merged(here, one)
    put(one, 9)
    (outcome,) = merged(here, one)
    assert (outcome.taken.total(), outcome.known) == (1, 2)
    assert runs_in(here) == runs_in(one) and faults(here) == []


def test_a_run_that_was_lost_here_comes_back_with_no_leaf_too_many(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    merged(here, one)
    size, key = store_of(here).log.size, planned_job(1).key
    shutil.rmtree(store_of(here).path(key))
    assert faults(here)
    (outcome,) = merged(here, one)
    assert outcome.taken == {"ok": 1} and store_of(here).log.size == size
    assert runs_in(here) == runs_in(one) and faults(here) == []
    # forgotten on purpose is another thing: the log says that it was removed, and that it came again
    store_of(here).remove(key)
    merged(here, one)
    assert [leaf.kind for leaf in store_of(here).log.leaves()[size:]] == [Event.REMOVAL, Event.IMPORT]
    assert runs_in(here) == runs_in(one) and faults(here) == []


@pytest.mark.parametrize("changed", [{}, {"key": "5" * 64}, {"evidence": {"predictions.npy": "0" * 64}}])
def test_scores_come_with_the_run_that_they_are_of(tmp_path: Path, changed: dict[str, Any]) -> None:
    """They lie where every command looks; those of another run or of other predictions are left behind."""
    here, other = tmp_path / "here", tmp_path / "other"
    key = put(other, 1)
    (other / LOG).unlink()
    put_scores(other, key, changed)
    merged(here, other)
    path = scores_path(layout_of(here), key)
    assert runs_in(here) == runs_in(other) and path.is_file() == (not changed)
    if not changed:
        assert path.read_bytes() == scores_path(layout_of(other), key).read_bytes()


def test_scores_that_the_other_log_does_not_tell_of_are_left_behind(tmp_path: Path) -> None:
    """Whoever writes better ones, with a digest of their own, does so in vain."""
    here, other = tmp_path / "here", tmp_path / "other"
    put_scores(other, put(other, 1), {})
    (outcome,) = merged(here, other)
    assert outcome.taken == {"ok": 1} and runs_in(here) == runs_in(other)
    assert not list(layout_of(here).scores.rglob("*.json"))


def test_a_store_without_a_log_is_imported_as_such(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    (one / LOG).unlink()
    merged(here, one)
    assert runs_in(here) == runs_in(one) and faults(here) == []
    assert [leaf.kind for leaf in store_of(here).log.leaves()] == [Event.IMPORT] * 2


def _changed_byte(run: Path) -> None:
    path = run / "predictions.npy"
    path.write_bytes(b"SCORES")


def _cut(run: Path) -> None:
    (run / "predictions.npy").write_bytes(b"")


def _missing(run: Path) -> None:
    (run / "log.txt").unlink()


def _missing_last(run: Path) -> None:
    """All files before it were copied when it is missed."""
    (run / max(json.loads((run / RECORD_FILE).read_text())["files"])).unlink()


def _pipe(run: Path) -> None:
    (run / "log.txt").unlink()
    os.mkfifo(run / "log.txt")


def _unreadable(run: Path) -> None:
    """As of a disk that is ill, or of a file of somebody else's."""
    (run / "predictions.npy").unlink()
    (run / "predictions.npy").symlink_to("/proc/self/mem")


def _cut_record(run: Path) -> None:
    (run / RECORD_FILE).write_bytes((run / RECORD_FILE).read_bytes()[:-9])


def _better_record(run: Path) -> None:
    """A record that agrees with itself, and was never the one of the log."""
    content = json.loads((run / RECORD_FILE).read_text())
    del content["digest"]
    content["resources"] = {}
    write_json(run / RECORD_FILE, {**content, "digest": digest_of(content)})


def _controls(run: Path) -> None:
    """A table would show its reason, and a terminal would obey it."""
    content = json.loads((run / RECORD_FILE).read_text())
    del content["digest"]
    content["reason"] = "killed\x1b[2J"
    write_json(run / RECORD_FILE, {**content, "digest": digest_of(content)})


def _gone(run: Path) -> None:
    shutil.rmtree(run)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_changed_byte, "a file of a run differs from its record"),
        (_cut, "a file of a run differs from its record"),
        (_missing, "a file of a run is missing"),
        (_missing_last, "a file of a run is missing"),
        (_pipe, "a file of a run is missing"),
        (_unreadable, "it can't be read: Input/output error"),
        (_cut_record, "a record is cut or not a record"),
        (_better_record, "the record is not the one of leaf 2 of its log"),
        (_controls, "a record breaks its schema: Value error, it holds what can't be printed"),
        (_gone, "leaf 2 of its log tells of 'ok', and the run is not there"),
    ],
)
@pytest.mark.parametrize("is_here_too", [False, True])
def test_a_damaged_run_is_refused_by_name_and_the_others_are_taken(
    machines: tuple[Path, Path, Path], damage: Callable[[Path], None], words: str, is_here_too: bool
) -> None:
    here, one, two = machines
    key = planned_job(1).key
    if is_here_too:
        put(here, 1)
    damage(store_of(one).path(key))
    first, second = merged(here, one, two)
    assert [(run.key, run.label, run.what) for run in first.refused] == [
        (key, "repurposing: constant/published on synthetic, random-1", words)
    ]
    assert (first.taken, second.taken) == ({"timeout": 1}, {"ok": 1, "timeout": 1})
    assert (key in set(store_of(here).finished())) is is_here_too and faults(here) == []
    leaf = [leaf for leaf in store_of(here).log.leaves() if leaf.key == key][-1]
    assert leaf.kind is (Event.DUPLICATE if is_here_too else Event.REMOVAL)
    assert str(one) not in store_of(here).log.path.read_text(), "the log names a folder of this machine"


@pytest.mark.parametrize("damage", [_cut, _missing, _missing_last, _unreadable])
def test_nothing_of_a_damaged_run_lands_in_the_store_also_without_a_log(
    machines: tuple[Path, Path, Path], damage: Callable[[Path], None]
) -> None:
    here, one, _ = machines
    (one / LOG).unlink()
    key = planned_job(1).key
    damage(store_of(one).path(key))
    (outcome,) = merged(here, one)
    assert [run.key for run in outcome.refused] == [key] and outcome.taken == {"timeout": 1}
    assert not store_of(here).path(key).exists() and faults(here) == []


def test_a_name_that_a_terminal_would_obey_is_told_nowhere(tmp_path: Path) -> None:
    here, one = tmp_path / "here", tmp_path / "one"
    planned, log = planned_job(1, dataset="x\x1b[2J"), tmp_path / "log.txt"
    log.write_text("")
    store_of(one).put(record_of(planned, Verdict.ERROR), {"log.txt": log})
    (outcome,) = merged(here, one)
    assert [(run.label, run.what) for run in outcome.refused] == [
        (f"run {planned.key[:12]}", "its job has a name that can't be printed")
    ]
    assert not outcome.taken


def test_a_damaged_run_that_is_replaced_takes_its_scores_with_it(machines: tuple[Path, Path, Path]) -> None:
    """The other one gave the same answer and was never scored: no leaf tells that these are its scores."""
    here, one, _ = machines
    key, store = put(here, 1), store_of(here)
    put_scores(here, key, {})
    (logged,) = stored_results(store, here / "scores").values()
    store.log.append([Leaf(Event.SCORE, now(), logged.scope, key, logged.record, score=logged.score)])
    assert logged.score and faults(here) == []
    _cut(store.path(key))
    (outcome,) = merged(here, one)
    assert outcome.taken == {"ok": 1, "timeout": 1} and faults(here) == []
    assert not scores_path(layout_of(here), key).exists()


def test_nobody_waits_for_who_would_write_into_a_pipe(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    put_scores(one, planned_job(1).key, {})
    for path in (one / "runs" / ".lock", one / NEXT, scores_path(layout_of(one), planned_job(1).key)):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    (outcome,) = merged(here, one)
    assert outcome.taken == {"ok": 1, "timeout": 1} and not outcome.refused and faults(here) == []


def test_a_run_that_was_refused_is_taken_once_it_is_whole(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    path = store_of(one).path(planned_job(1).key) / "predictions.npy"
    whole = path.read_bytes()
    path.write_bytes(b"SCORES")
    merged(here, one)
    path.write_bytes(whole)
    (outcome,) = merged(here, one)
    assert outcome.taken == {"ok": 1} and not outcome.refused
    assert runs_in(here) == runs_in(one) and faults(here) == []


def test_a_run_that_no_leaf_tells_of_is_refused(machines: tuple[Path, Path, Path], tmp_path: Path) -> None:
    here, one, _ = machines
    put(tmp_path / "outside", 7)
    key = planned_job(7).key
    shutil.copytree(store_of(tmp_path / "outside").path(key), store_of(one).path(key))
    (outcome,) = merged(here, one)
    assert [(run.label, run.what) for run in outcome.refused] == [
        (f"run {key[:12]}", "no leaf of its log tells of this run")
    ]
    assert outcome.taken.total() == 2 and faults(here) == []


def test_an_event_that_a_killed_harness_had_not_logged_counts(machines: tuple[Path, Path, Path]) -> None:
    here, one, _ = machines
    log = store_of(one).log
    *others, last = log.lines()
    log.path.write_bytes(b"".join(line + b"\n" for line in others))
    run = store_of(one).path(planned_job(2).key) / RECORD_FILE
    write_json(one / NEXT, {"leaf": json.loads(last), "file": os.path.relpath(run, one)})
    (outcome,) = merged(here, one)
    assert outcome.taken.total() == 2 and not outcome.refused and faults(here) == []
    assert last in store_of(here).log.lines() and last not in log.lines()


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "told"),
    [
        ((Verdict.OK, b"scores"), (Verdict.OK, b"scores"), "ok", "equal"),
        ((Verdict.OK, b"scores"), (Verdict.OK, b"others"), "unstable", "gave another predictions.npy"),
        ((Verdict.OK, b"scores"), (Verdict.ERROR, b""), "unstable", "ended as 'error'"),
        ((Verdict.OK, b"scores"), (Verdict.TIMEOUT, b""), "ok", "ended as 'timeout'"),
        ((Verdict.TIMEOUT, b""), (Verdict.OK, b"scores"), "timeout", "ended as 'ok'"),
        ((Verdict.ERROR, b""), (Verdict.ERROR, b""), "error", "equal"),
        ((Verdict.OK, b"scores"), (Verdict.INTERRUPTED, b""), "ok", "known"),
        ((Verdict.INFRASTRUCTURE, b""), (Verdict.OK, b"scores"), "ok", "taken"),
        ((Verdict.INFRASTRUCTURE, b""), (Verdict.INTERRUPTED, b""), "infrastructure", "known"),
    ],
)
def test_of_two_runs_of_one_job_none_is_silently_chosen(
    tmp_path: Path, ours: tuple[Verdict, bytes], theirs: tuple[Verdict, bytes], verdict: str, told: str
) -> None:
    here, one = tmp_path / "here", tmp_path / "one"
    key, _ = put(here, 1, *ours), put(one, 1, *theirs)
    for _ in range(2):
        (outcome,) = merged(here, one)
        assert store_of(here).standing(key).verdict == verdict and faults(here) == []
        if told in ("equal", "known", "taken"):
            assert not outcome.disagreements and not outcome.refused
            counts = {"equal": outcome.equal, "known": outcome.known, "taken": outcome.taken.total()}
            assert counts == {**dict.fromkeys(counts, 0), told: 1}
            told = "known" if told == "taken" else told
        elif not outcome.disagreements[0].what.startswith("it ended as 'ok'") or verdict != "unstable":
            assert told in outcome.disagreements[0].what
    size = store_of(here).log.size
    merged(here, one)
    assert store_of(here).log.size == size, "a merge that brings nothing writes something"


@pytest.mark.parametrize(
    ("answer", "verdict", "order", "told"),
    [
        (b"others", Verdict.OK, "2" * 32, "in_other_order"),
        (b"others", Verdict.OK, "", "in_other_order"),
        (b"others", Verdict.OK, "1" * 32, "disagreements"),
        (b"scores", Verdict.OK, "2" * 32, "equal"),
        (b"", Verdict.ERROR, "2" * 32, "disagreements"),
    ],
)
def test_another_order_of_items_excuses_other_bits_and_nothing_else(
    tmp_path: Path, answer: bytes, verdict: Verdict, order: str, told: str
) -> None:
    here, one = tmp_path / "here", tmp_path / "one"
    key, _ = put(here, 1, order="1" * 32), put(one, 1, verdict, answer, order)
    (outcome,) = merged(here, one)
    counts = {
        "in_other_order": outcome.in_other_order,
        "equal": outcome.equal,
        "disagreements": len(outcome.disagreements),
    }
    assert counts == {**dict.fromkeys(counts, 0), told: 1}
    assert store_of(here).standing(key).verdict == ("unstable" if told == "disagreements" else "ok")
    assert faults(here) == []


def test_a_run_that_two_machines_removed_at_the_same_moment_stays_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their logs share the leaf that tells of it, and the merged one has it before the other machine's record."""
    here, one = tmp_path / "here", tmp_path / "one"
    monkeypatch.setattr("harness.results.store.now", lambda: "2026-01-01T00:00:00Z")
    for folder in (here, one):
        key = put(folder, 1)
        store_of(folder).remove(key)
    (outcome,) = merged(here, one)
    assert (outcome.taken.total(), outcome.refused, outcome.disagreements) == (0, [], [])
    last = store_of(here).log.leaves()[-1]
    assert (last.kind, last.key, last.note) == (Event.REMOVAL, key, "removed where it was made")
    assert faults(here) == [] and [*store_of(here).finished()] == []


_ACTS = st.lists(
    st.tuples(
        st.integers(0, 2),  # on which machine
        st.integers(1, 4),  # which job
        st.sampled_from((*FINAL, Verdict.INFRASTRUCTURE, None)),  # None: it is removed
        st.sampled_from((b"one", b"two")),
    ),
    max_size=14,
)


@settings(max_examples=12)
@given(_ACTS, st.lists(st.permutations((0, 1, 2)), min_size=1, max_size=3))
def test_whatever_happened_where_every_merge_leaves_what_was_final_and_a_log_that_fits(
    tmp_path_factory: pytest.TempPathFactory,
    acts: list[tuple[int, int, Verdict | None, bytes]],
    order: list[list[int]],
) -> None:
    """Also back and forth, so that logs hold logs that hold each other."""
    folders = [tmp_path_factory.mktemp("merge") / str(number) for number in range(3)]
    for folder in folders:
        store_of(folder).folder.mkdir(parents=True)
    for machine, seed, verdict, answer in acts:
        if verdict is None:
            store_of(folders[machine]).remove(planned_job(seed).key)
        else:
            put(folders[machine], seed, verdict, answer)
    for target, first, second in order:
        for source in (first, second):
            here, there = (
                {
                    key: str(store_of(folders[one]).standing(key).verdict)
                    for key in store_of(folders[one]).finished()
                }
                for one in (target, source)
            )
            outcome = merge(layout_of(folders[target]), folders[source])
            after = {key: str(store_of(folders[target]).standing(key).verdict) for key in {**here, **there}}
            for key, found in after.items():
                if key in here and Verdict(here[key]).is_final:
                    assert found in (here[key], "unstable")
                elif key in there and (Verdict(there[key]).is_final or key not in here):
                    assert found == there[key]
                else:
                    assert found == here[key]
            assert not outcome.refused
            assert faults(folders[target]) == [] == faults(folders[source])
            lines = store_of(folders[target]).log.lines()
            assert all(line in lines for line in store_of(folders[source]).log.lines())


class Killed(BaseException):
    """As if the process were gone here."""


def test_a_merge_that_ends_anywhere_brings_all_or_nothing(
    machines: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each change that the arrival makes on the disk in turn; the next who opens the log ends it."""
    _, one, two = machines
    left, number, was_killed, ends = 0, 0, True, set[bool]()

    def count(change: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return change(*arguments, **more)

        return counted

    while was_killed:
        here = tmp_path / f"round-{number}"
        put(here, 2, Verdict.INFRASTRUCTURE)
        merged(here, two)
        before, left = runs_in(here), number
        expected = {**before, **runs_in(one)}
        with monkeypatch.context() as patch:
            for name in ("rename", "replace", "unlink"):
                patch.setattr(Path, name, count(getattr(Path, name)))
            patch.setattr(Log, "append_lines", count(Log.append_lines))
            patch.setattr(shutil, "rmtree", count(shutil.rmtree))
            try:
                merged(here, one)
                was_killed = False
            except Killed:
                number += 1
        with store_of(here).open_log():
            pass
        assert runs_in(here) in (before, expected) and faults(here) == []
        ends.add(runs_in(here) == expected)
        lines = store_of(here).log.lines()
        assert len(lines) == len(set(lines)), "an event is in the log twice"
        merged(here, one)
        assert runs_in(here) == expected and faults(here) == [] and not (here / "arrived").exists()
    assert number > 8 and ends == {True, False}


def test_a_merge_that_is_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    """kill -9 of a real process at random moments; the same command in the end."""
    here, one, moments = tmp_path / "here", tmp_path / "one", random.Random(15)
    for seed in range(40):
        put(one, seed, FINAL[seed % 3], b"x" * 200_000)
    context, took = multiprocessing.get_context("fork"), 0.5
    kills = 0
    for attempt in range(12):
        process = context.Process(target=merge, args=(layout_of(here), one))
        began = time.monotonic()
        process.start()
        process.join(timeout=moments.uniform(0, took))
        if process.is_alive():
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        else:
            took = time.monotonic() - began
        process.join()
        there = runs_in(here) if here.is_dir() else {}
        if here.is_dir():
            with store_of(here).open_log():
                pass
            there = runs_in(here)
            assert faults(here) == [] and there in ({}, runs_in(one))
        if there:
            here = tmp_path / f"here-{attempt}"
    assert kills > 4
    merged(here, one)
    assert runs_in(here) == runs_in(one) and faults(here) == []


def _no_leaf(folder: Path) -> None:
    with (folder / LOG).open("ab") as file:
        file.write(b"{}\n")


def _no_plan(folder: Path) -> None:
    (leaf,) = (leaf for leaf in store_of(folder).log.leaves() if leaf.kind is Event.PLAN)
    plan_path(folder, leaf.plan).unlink()


def _piped_plan(folder: Path) -> None:
    _no_plan(folder)
    (leaf,) = (leaf for leaf in store_of(folder).log.leaves() if leaf.kind is Event.PLAN)
    os.mkfifo(plan_path(folder, leaf.plan))


def _unreadable_log(folder: Path) -> None:
    (folder / LOG).unlink()
    (folder / LOG).symlink_to("/proc/self/mem")


def _no_merged_log(folder: Path) -> None:
    """What another log told of is taken out, after it was merged there."""
    put(folder.parent / "third", 8, Verdict.INFRASTRUCTURE)
    merged(folder, folder.parent / "third")
    lines = [line for line in store_of(folder).log.lines() if b'"infrastructure in third' not in line]
    kept = [line for line in lines if planned_job(8).key.encode() not in line]
    store_of(folder).log.path.write_bytes(b"".join(line + b"\n" for line in kept))


def _half_merged(folder: Path) -> None:
    (folder / "arrived").mkdir()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_no_leaf, "no leaf of a log"),
        (_no_plan, "a plan is missing, or can't be read"),
        (_piped_plan, "a plan is missing, or can't be read"),
        (_unreadable_log, "it can't be read: Input/output error"),
        (_no_merged_log, "a log of 1 leaf that was merged is not among the leaves"),
        (_half_merged, "a merge into this folder was killed"),
    ],
)
def test_of_a_folder_whose_log_can_not_be_believed_nothing_is_taken(
    machines: tuple[Path, Path, Path], damage: Callable[[Path], None], words: str
) -> None:
    here, one, two = machines
    damage(one)
    repository = api.Repository(layout_of(here))
    refused, taken = api.merge([one, two], progress=None, repository=repository)
    assert [run.what for run in refused.refused] == [words] and not refused.taken
    assert taken.taken == {"ok": 1, "timeout": 1} and runs_in(here) == runs_in(two) and faults(here) == []


def test_a_folder_that_is_no_other_store_is_refused_before_anything_is_merged(
    machines: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    here, one, _ = machines
    repository = api.Repository(layout_of(here))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there are no runs to merge"):
        api.merge([one, tmp_path / "empty"], progress=None, repository=repository)
    assert not here.exists()
    merged(here, one)
    (tmp_path / "link").symlink_to(here)
    with pytest.raises(UsageError, match="with itself"):
        check_source(layout_of(here), tmp_path / "link")
