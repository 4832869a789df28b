"""What is said of merges, and of what is left of a plan: what, where and what to do, word for word."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import cast

import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.proof.leaves import Event, Leaf, LoggedResult
from harness.results import merge as merging
from harness.results import remainder, store
from harness.results.merge import MergedRun, check_source, merge
from harness.results.records import RECORD_FILE
from harness.results.remainder import what_is_told
from harness.results.store import Store
from tests.core.factories import planned_job, put_run, record_of
from tests.core.word_for_word import layout_of, said


def test_a_folder_that_can_not_be_merged_is_told(here: Store, tmp_path: Path) -> None:
    layout = layout_of(here.folder.parent)
    with pytest.raises(UsageError) as found:
        check_source(layout, tmp_path / "made")
    assert said(found.value) == (
        "there are no runs to merge",
        str(tmp_path / "made"),
        "name the results folder of another machine, or a copy of it: results/local of its tree, or what "
        "$PERMAFROST_RESULTS named there",
    )
    with pytest.raises(UsageError) as found:
        check_source(layout, layout.local)
    assert said(found.value) == (
        "a store can't be merged with itself",
        str(layout.local),
        "name another folder",
    )
    check_source(layout_of(tmp_path / "nothing here yet"), layout.local)


@pytest.mark.parametrize(
    ("damage", "what", "where", "todo"),
    [
        (
            "arrived",
            "a merge into this folder was killed",
            "",
            "let it come to an end: harness store merge, with the same folders as there",
        ),
        (
            "merged",
            "a log of 3 leaves that was merged is not among the leaves",
            "log.jsonl",
            "restore the log: nothing is ever taken out of it, or changed",
        ),
    ],
)
def test_a_log_that_can_not_be_believed_is_told(
    here: Store, tmp_path: Path, damage: str, what: str, where: str, todo: str
) -> None:
    if damage == "arrived":
        (here.log.folder / "arrived").mkdir()
    else:
        scope = "a log of 3 leaves"
        here.log.append([Leaf(Event.MERGE, "2026-01-01T00:00:00Z", scope, cells=3, root="0" * 64, parts="0-2")])
    with pytest.raises(CorruptData) as found:
        merge(layout_of(tmp_path / "target"), here.log.folder)
    assert said(found.value) == (what, str(here.log.folder / where if where else here.log.folder), todo)


def other_machine(tmp_path: Path, name: str, **verdicts: Verdict) -> Store:
    made = Store(tmp_path / name / "runs")
    for seed, verdict in verdicts.items():
        put_run(made, planned_job(int(seed[1:])), tmp_path / f"{name} {seed}", verdict)
    return made


def test_what_was_refused_is_told_by_run_file_and_leaf(here: Store, tmp_path: Path) -> None:
    ok = Verdict.OK
    other = other_machine(tmp_path, "other", s2=ok, s3=ok, s4=ok, s5=ok, s6=Verdict.INTERRUPTED)
    keys = {seed: planned_job(seed).key for seed in range(2, 8)}
    (other.path(keys[2]) / "log.txt").unlink()
    (other.path(keys[3]) / "predictions.npy").write_text("x")
    shutil.rmtree(other.path(keys[4]))
    shutil.rmtree(other.path(keys[6]))
    outside = other_machine(tmp_path, "outside", s7=ok)
    shutil.copytree(outside.path(keys[7]), other.path(keys[7]))
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    label = "repurposing: constant/published on synthetic, random-{}"
    assert {run.key: run for run in outcome.refused} == {
        keys[2]: MergedRun(
            keys[2], label.format(2), "a file of a run is missing", str(other.path(keys[2]) / "log.txt")
        ),
        keys[3]: MergedRun(
            keys[3],
            label.format(3),
            "a file of a run differs from its record",
            str(other.path(keys[3]) / "predictions.npy"),
        ),
        keys[4]: MergedRun(keys[4], label.format(4), "leaf 3 of its log tells of 'ok', and the run is not there"),
        keys[7]: MergedRun(
            keys[7],
            f"run {keys[7][:12]}",
            "no leaf of its log tells of this run",
            str(other.path(keys[7])),
        ),
    }
    assert outcome.taken == {"ok": 1} and not outcome.plans and outcome.folder == other.folder.parent
    notes = {leaf.key: leaf.note for leaf in here.log.leaves() if leaf.kind is Event.REMOVAL}
    assert notes == {
        run.key: f"refused when it was merged: {run.what}" for run in outcome.refused if run.key != keys[7]
    }


def test_how_two_runs_of_a_job_differ_is_told_and_logged(here: Store, tmp_path: Path) -> None:
    ok, memory, error = Verdict.OK, Verdict.MEMORY, Verdict.ERROR
    for seed in (2, 3, 4):
        put_run(here, planned_job(seed), tmp_path / f"ours {seed}", ok)
    other = other_machine(tmp_path, "other", s1=ok, s2=error, s3=memory)
    planned = planned_job(4)
    files = {name: tmp_path / name for name in ("log.txt", "predictions.npy", "lowest.npy")}
    for path in files.values():
        path.write_text("others")
    other.put(record_of(planned, ok), files)
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    records = {seed: other.record(planned_job(seed).key).to_json()["digest"][:12] for seed in (2, 3, 4)}
    label = "repurposing: constant/published on synthetic, random-{}"
    error_meaning, memory_meaning = error.meaning, memory.meaning
    told = {
        2: (f"it ended as 'error' (record {records[2]}): {error_meaning}", True),
        3: (f"it ended as 'memory' (record {records[3]}): {memory_meaning}", False),
        4: (f"it gave another predictions.npy, lowest.npy (record {records[4]})", True),
    }
    assert sorted((run.key, run.what, run.unstable) for run in outcome.disagreements) == sorted(
        (planned_job(seed).key, *what) for seed, what in told.items()
    )
    assert {run.label.rpartition("-")[2] for run in outcome.disagreements} == {"2", "3", "4"}
    assert label.format(2).startswith("repurposing")
    assert (outcome.known, outcome.equal, outcome.taken.total()) == (1, 0, 0)
    for seed, (what, is_shaken) in told.items():
        standing = here.standing(planned_job(seed).key)
        assert standing.verdict is (Verdict.UNSTABLE if is_shaken else ok)
        assert standing.reason == (f"on another machine {what}" if is_shaken else ok.meaning)
    notes = {leaf.key: leaf.note for leaf in here.log.leaves() if leaf.kind is Event.DUPLICATE}
    assert notes == {
        planned_job(seed).key: f"not that of the other log: {what}" for seed, (what, _) in told.items()
    }


def test_runs_without_a_log_say_so_when_they_are_merged(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK, s1=Verdict.OK)
    here.remove(planned_job(1).key)
    other.log.path.unlink()
    merge(layout_of(here.folder.parent), other.folder.parent)
    leaves = [leaf for leaf in here.log.leaves() if leaf.kind is Event.IMPORT]
    assert {leaf.key: leaf.note for leaf in leaves} == {
        planned_job(seed).key: "merged from a store whose log does not tell of it" for seed in (1, 2)
    }
    assert all(leaf.verdict == "ok" and leaf.record and leaf.scope for leaf in leaves)


def test_a_run_that_was_lost_here_is_merged_again_and_an_equal_one_is_told(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK)
    layout = layout_of(here.folder.parent)
    merge(layout, other.folder.parent)
    shutil.rmtree(here.path(planned_job(2).key))
    here.log.append([Leaf(Event.REMOVAL, "2026-01-01T00:00:00Z", "x", key=planned_job(2).key)])
    merge(layout, other.folder.parent)
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.note) == (Event.IMPORT, "merged again")
    third = other_machine(tmp_path, "third")
    record = record_of(planned_job(2), Verdict.OK).model_copy(update={"finished": "2027-01-01T00:00:00Z"})
    files = {name: tmp_path / "other s2" / name for name in ("log.txt", "predictions.npy")}
    files["log.txt"].parent.mkdir(exist_ok=True)
    files["log.txt"].write_text("a line\n")
    files["predictions.npy"].write_bytes(b"not really an array")
    third.put(record, files)
    assert merge(layout, third.folder.parent).equal == 1
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.note) == (
        Event.DUPLICATE,
        "not that of the other log, which is equal, of another order or no result",
    )


class _Told:
    """A progress that writes down what it is told."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def begin(self, what: str, total: int) -> None:
        self.words.append(f"begin {what}, {total}")

    def step(self, what: str) -> None:
        self.words.append(f"step {what}")

    def note(self, what: str) -> None:
        self.words.append(f"note {what}")


def test_a_merge_tells_of_each_run_and_takes_its_obstacle_away(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK, s3=Verdict.TIMEOUT, s5=Verdict.OK)
    (other.path(planned_job(3).key) / "log.txt").unlink()
    here.log.path.unlink()
    obstacles, told = Obstacles(here.folder), _Told()
    for seed in (2, 3, 4, 5):
        obstacles.note("run", planned_job(seed).key, "a fault")
    merge(layout_of(here.folder.parent), other.folder.parent, cast(Progress, told))
    label = "{}/published on synthetic, random-{}"
    assert told.words[0] == f"begin merging {other.folder.parent}, 3"
    steps = {
        **{planned_job(seed).key: f"step ok: {label.format('constant', seed)}" for seed in (2, 5)},
        planned_job(3).key: "step refused: repurposing: "
        f"{label.format('constant', 3)}: a file of a run is missing",
    }
    assert told.words[1:4] == [steps[key] for key in sorted(steps)]
    assert told.words[4:] == [f"note {here.log.path}: 1 run older than the log; it says so of each"]
    assert {*obstacles.all("run")} == {planned_job(3).key, planned_job(4).key}
    assert not any(path.name.startswith("merging-") for path in (here.folder.parent / "work").rglob("*"))


def test_a_run_of_ours_that_went_away_meanwhile_is_no_other_ones(here: Store, tmp_path: Path) -> None:
    """It was here when theirs was looked at, so that theirs was not copied."""
    key, logged = planned_job(2).key, LoggedResult("1" * 64, "ok", "", "scope")
    run = merging._Run(Verdict.OK, "fine", "the label", {}, "", logged)
    runs, outcome = {key: run}, merging.Merged(tmp_path)
    merging._decide(here, runs, tmp_path / "ready", outcome)
    assert not runs and not outcome.taken
    assert outcome.refused == [MergedRun(key, "the label", "ours was removed during the merge: merge again")]


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_a_log_is_read_whole_in_pieces_of_any_size(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 0)
    monkeypatch.setattr(remainder, "_BATCH", batch)
    for seed, verdict in ((2, Verdict.INTERRUPTED), (3, Verdict.ERROR), (2, Verdict.OK), (9, Verdict.OK)):
        put_run(here, planned_job(seed), tmp_path / f"{seed} {verdict}", verdict)
    here.remove(planned_job(3).key)
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, 6))))
    told = what_is_told(plan, here)
    assert told.notes == [] and not told.has_records
    assert [cell.verdict for cell in told.cells] == [cell.verdict for cell in store.join(plan, here)]
    assert [str(cell.verdict) for cell in told.cells] == ["ok", "ok", "pending", "pending", "pending"]


def test_bounds_of_what_is_looked_at_are_those_that_are_documented() -> None:
    assert (remainder.LOOKED_AT, remainder.SAMPLE) == (20_000, 1_000)


@pytest.mark.parametrize(("cells", "is_whole"), [(3, True), (4, False)])
def test_a_plan_of_so_many_cells_is_looked_at_whole(
    here: Store, monkeypatch: pytest.MonkeyPatch, cells: int, is_whole: bool
) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 3)
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, cells + 1))))
    told = what_is_told(plan, here)
    assert told.has_records is is_whole and told.notes == []
    assert [cell.verdict for cell in told.cells] == [Verdict.OK, *[Verdict.PENDING] * (cells - 1)]
    first, second, *_ = told.cells
    assert first.reason == Verdict.OK.meaning + ("" if is_whole else " (by the log)")
    assert second.reason == Verdict.PENDING.meaning
    assert first.record == (
        here.standing(planned_job().key).content
        if is_whole
        else {"resources": here.record(planned_job().key).resources}
    )


def test_a_log_that_is_not_believed_is_told(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 0)
    plan = Plan("some", (Cell(planned_job().job, planned_job()),))
    path = here.path(planned_job().key) / RECORD_FILE
    content = path.read_bytes()
    path.unlink()
    label = planned_job().job.label
    assert what_is_told(plan, here).notes == [
        f"{label} is 'ok' by the log, and stored as pending: {Verdict.PENDING.meaning}; "
        "so all records are looked at"
    ]
    path.write_bytes(content)
    with here.log.path.open("ab") as stream:
        stream.write(b'{"kind":"record"}\n')
    assert what_is_told(plan, here).notes == [
        f"{here.log.path}: a line is no leaf of a log (KeyError); so all records are looked at"
    ]
    assert what_is_told(plan, here, verify=True).notes == []
