"""Which runs are replayed is drawn, which are shown is all; what was passed over is counted and told."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.audit import AuditReport, audit_runs, find_key, to_json, to_text
from harness.audit.basis import find_superseded
from harness.audit.chain import Auditor
from harness.audit.replay import sample_of
from harness.audit.report import _replay
from harness.audit.steps import Audit, Checked, Lack, Step, equal, failed, guarded, not_checked, ok
from harness.base.errors import CorruptData, EngineError, ImageError, InvalidPredictions, MissingData, UsageError
from harness.base.heartbeat import PULSE
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import mark_unstable
from harness.planning.plan import Plan
from harness.results.reference import ReferenceResult, load_reference, save_reference
from harness.results.store import Store
from tests.audit.forging import forge_plan, refresh
from tests.fabricate import plan_of, planned_of, put_run, record_seeds

SEEDS = range(100, 105)


@pytest.fixture
def many(evidence: Layout) -> Layout:
    """Five more runs that ended ok."""
    record_seeds(evidence, SEEDS)
    for cell in plan_of(evidence, methods=("constant",), seeds=SEEDS).cells:
        put_run(evidence, planned_of(cell), score=False)
    return evidence


def replayed(report: AuditReport) -> list[str]:
    return [audit.key for audit in report.audits if any(step.name == "replay" for step in audit.steps)]


def test_a_forger_can_not_know_which_runs_are_looked_at(many: Layout, made_up: Plan) -> None:
    """The sample is drawn from all sound, present runs that ended, half failed ones, by a reviewer's seed."""
    store = Store(many.runs)
    superseded = forge_plan(many, made_up, 2, image_tree="0" * 64)
    broken = planned_of(made_up.cells[1]).key
    log = store.path(broken) / "log.txt"
    log.write_text(log.read_text().replace("done", "Done"))
    keys = list(store.finished())
    eligible = sorted(
        key for key in keys if key not in (superseded, broken) and store.standing(key).verdict is Verdict.OK
    )
    assert len(eligible) == 6
    (failed,) = (key for key in keys if store.standing(key).verdict is Verdict.ERROR)
    refresh()
    drawn = {}
    for seed in range(3):
        drawn[seed] = replayed(audit_runs(many, keys, replay=3, seed=seed))
        assert sorted(drawn[seed]) == sorted([failed, *random.Random(seed).sample(eligible, 2)])
    assert len({tuple(chosen) for chosen in drawn.values()}) == 3
    assert replayed(audit_runs(many, keys[::-1], replay=3, seed=0))[::-1] == drawn[0]


def test_only_runs_that_can_come_again_are_drawn(evidence: Layout, made_up: Plan) -> None:
    """None of data that have changed since, and none that is known to come out otherwise."""
    outgrown = forge_plan(evidence, made_up, 0, dataset_digest="0" * 64)
    store, (good, unstable) = Store(evidence.runs), (planned_of(made_up.cells[cell]).key for cell in (2, 1))
    mark_unstable(store, store.record(unstable), "a repetition gave another predictions.npy")
    refresh()
    report = audit_runs(evidence, [outgrown, unstable, good], replay=3)
    assert (report.failed, report.superseded) == (0, 1)
    assert replayed(report) == [good]


def test_every_run_is_drawn_as_often_as_any_other() -> None:
    keys = [f"{number:064d}" for number in range(10)]
    counts = [sum(key in sample_of(keys, 3, seed) for seed in range(400)) for key in keys]
    # 120 expected each, standard deviation 9
    assert min(counts) > 80 and max(counts) < 160


def test_references_are_drawn_likewise(many: Layout) -> None:
    save_reference(many, Store(many.runs))
    entries = load_reference(many)
    eligible = sorted(key for key, entry in entries.items() if entry.scores is not None)
    (failed,) = entries.keys() - set(eligible)
    assert len(eligible) == 8
    for seed in (0, 1):
        report = audit_runs(many, entries, replay=4, seed=seed)
        assert sorted(replayed(report)) == sorted([failed, *random.Random(seed).sample(eligible, 3)])
        steps = [step for audit in report.audits for step in audit.steps if step.name == "replay"]
        assert {(step.checked, step.what) for step in steps} == {(Checked.NOT_CHECKED, "no engine")}


@pytest.mark.parametrize(
    ("changed", "said", "lack"),
    [
        ({"upstream": "a" * 64}, "own checkout", Lack.OTHER),
        ({"accelerator": "cuda"}, "a GPU computed it: another one need not give the same bits", Lack.MACHINE),
    ],
)
def test_what_can_not_be_had_again_bit_for_bit_is_not_replay(
    evidence: Layout, made_up: Plan, changed: dict[str, Any], said: str, lack: Lack
) -> None:
    planned = planned_of(made_up.cells[0])
    key = forge_plan(evidence, made_up, job=planned.job.model_copy(update=changed))
    engine = cast(Engine, SimpleNamespace())
    store = Store(evidence.runs)
    record = store.record(key)
    for run in (record, ReferenceResult(record.model_dump(mode="json"), None, "where")):
        (step,) = _replay(evidence, store, engine, run, ())
        assert (step.name, step.checked, step.lack) == ("replay", Checked.NOT_CHECKED, lack) and said in step.what


def test_a_replay_is_told_what_the_audit_was_told(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a stored run, and of a committed result; an error on the way is a step."""
    save_reference(evidence, Store(evidence.runs))
    entries, keys = load_reference(evidence), [planned_of(cell).key for cell in made_up.cells[:1]]
    engine, mirrors, told = cast(Engine, SimpleNamespace()), (Path("a mirror"),), list[tuple[object, ...]]()

    def again(layout: Layout, store: Store, *rest: object) -> list[Step]:
        told.append((layout, store.folder, *rest))
        raise CorruptData("cut", where="there", todo="")

    monkeypatch.setattr("harness.audit.report.replay_run", again)
    monkeypatch.setattr("harness.audit.report.replay_entry", again)
    monkeypatch.setattr("harness.audit.chain.check_built", lambda *_: [])
    here = (evidence, Store(evidence.runs).folder, engine)
    for runs, run in (
        (keys, Store(evidence.runs).record(keys[0])),
        ({keys[0]: entries[keys[0]]}, entries[keys[0]]),
    ):
        (audit,) = audit_runs(evidence, runs, engine=engine, mirrors=mirrors, replay=1).audits
        assert told.pop() == (*here, run, mirrors)
        assert audit.steps[-1] == failed("replay", "cut", where="there")


def test_all_that_a_replay_found_is_in_the_chain(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only another order shows, too."""
    found = [ok("replay", "equal bit for bit"), failed("order", "other scores in another order")]
    monkeypatch.setattr("harness.audit.report.replay_run", lambda *_: found)
    monkeypatch.setattr("harness.audit.chain.check_built", lambda *_: [])
    engine = cast(Engine, SimpleNamespace())
    report = audit_runs(evidence, [planned_of(made_up.cells[0]).key], engine=engine, replay=1)
    assert [*report.audits[0].steps[-2:]] == found and report.failed == 1


@pytest.mark.parametrize("came_again", [True, False])
def test_predictions_that_came_again_are_no_gap_of_a_committed_result(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, came_again: bool
) -> None:
    save_reference(evidence, Store(evidence.runs))
    entries = load_reference(evidence)
    key = planned_of(made_up.cells[0]).key
    found = [ok("replay", "equal") if came_again else not_checked("replay", "no engine", Lack.ENGINE)]
    monkeypatch.setattr("harness.audit.report.replay_entry", lambda *_: found)
    monkeypatch.setattr("harness.audit.chain.check_built", lambda *_: [])
    engine = cast(Engine, SimpleNamespace())
    (audit,) = audit_runs(evidence, {key: entries[key]}, engine=engine, replay=1).audits
    assert [step for step in audit.steps if step.name == "replay"] == found
    assert [one.name for one in audit.steps if one.lack is Lack.REPLAY] == ([] if came_again else ["predictions"])


def test_without_a_seed_the_sample_is_that_of_seed_zero(many: Layout) -> None:
    keys = list(Store(many.runs).finished())
    samples = [replayed(audit_runs(many, keys, replay=3, seed=seed)) for seed in (0, 1)]
    assert replayed(audit_runs(many, keys, replay=3)) == samples[0] != samples[1]
    plain = audit_runs(many, keys)
    assert replayed(plain) == [] and plain.without_run == 0 == AuditReport(()).without_run


def made(key: str, *steps: Step, superseded: str = "") -> Audit:
    return Audit(key * 64, f"run {key}", superseded, steps)


HOLDS, BREAKS, OPEN = (
    ok("record", "digest", "f" * 64),
    failed("log.txt", "differs"),
    not_checked("lock", "why not"),
)
SIX = (
    made("1", HOLDS),
    made("2", HOLDS, BREAKS),
    made("3", HOLDS, superseded="code changed"),
    made("4", HOLDS, BREAKS, OPEN, superseded="code changed"),
    made("5", HOLDS, OPEN),
    made("6", OPEN),
)


def test_every_run_is_counted_once() -> None:
    """A broken run of changed code is broken."""
    report = AuditReport(SIX, without_run=2)
    assert (report.passed, report.failed, report.superseded) == (3, 2, 1)
    told = to_json(report)
    assert (told["audited"], told["passed"], told["failed"], told["superseded"]) == (6, 3, 2, 1)
    assert told["cells_without_run"] == 2
    assert [run["verdict"] for run in told["runs"]] == ["ok", "FAILED", "superseded", "FAILED", "ok", "ok"]
    assert told["runs"][3]["superseded"] == "code changed" and told["runs"][3]["key"] == "4" * 64
    assert [len(run["steps"]) for run in told["runs"]] == [1, 2, 1, 3, 2, 1]


STOPPED = made("7", HOLDS), made("8", HOLDS, BREAKS), made("9", HOLDS, superseded="code changed")


def test_a_run_that_did_not_end_by_itself_does_not_pass() -> None:
    """A broken one fails, and one of changed code is superseded, as ever."""
    reason = "the verdict is 'interrupted': a person stopped the run"
    report = AuditReport((*SIX, *(replace(audit, unfinished=reason) for audit in STOPPED)))
    assert (report.passed, report.failed, report.superseded, report.not_audited) == (3, 3, 2, 1)
    told, text = to_json(report), to_text(report)
    assert (told["audited"], told["not_audited"]) == (8, 1)
    assert told["runs"][6]["verdict"] == "unfinished" and told["runs"][6]["unfinished"] == reason
    assert "8 stored runs audited = 3 passed + 3 failed + 2 superseded\n" in text
    assert f"unfinished  {'7' * 12}  run 7: {reason}\n" in text and "1 stored run not audited: " in text
    assert reason in to_text(AuditReport((replace(STOPPED[0], unfinished=reason),)))
    both = to_text(AuditReport((replace(STOPPED[2], unfinished=reason),)))
    assert f"\n  superseded: code changed\n  unfinished: {reason}\n" in both


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if not verdict.is_final])
def test_whatever_stopped_a_run_is_no_evidence(evidence: Layout, verdict: Verdict) -> None:
    (cell,) = plan_of(evidence, methods=("constant",), seeds=(7,)).cells
    put_run(evidence, planned_of(cell), verdict=verdict, reason="the power went out")
    refresh()
    report = audit_runs(evidence, [planned_of(cell).key], replay=1)
    assert (report.passed, report.failed, report.not_audited) == (0, 0, 1)
    assert report.audits[0].unfinished == f"the verdict is '{verdict}': the power went out"
    assert not replayed(report)


def test_a_step_is_told_in_full_to_programs() -> None:
    step = failed("log.txt", "differs", expected="a", found="b", where=Path("/there"))
    (told,) = to_json(AuditReport((made("1", step),)))["runs"][0]["steps"]
    assert told == {
        "name": "log.txt",
        "checked": "FAILED",
        "what": "differs",
        "expected": "a",
        "found": "b",
        "where": "/there",
        "lack": "",
    }


def test_the_sum_and_what_it_means_are_told() -> None:
    text = to_text(AuditReport(SIX, without_run=2))
    assert "6 stored runs audited = 3 passed + 2 failed + 1 superseded" in text
    assert "superseded: sound in itself" in text and "planned, without a run to audit: 2 cells" in text
    sound = to_text(AuditReport((SIX[0], SIX[4])))
    assert "superseded:" not in sound and "planned cells" not in sound and "FAILED" not in sound


def test_broken_runs_are_told_link_by_link_and_sound_ones_in_a_line() -> None:
    lines = to_text(AuditReport(SIX)).splitlines()
    assert f"{'ok':10}  {'1' * 12}  run 1: 1 ok" in lines
    assert f"{'superseded':10}  {'3' * 12}  run 3: 1 ok" in lines
    assert f"{'ok':10}  {'5' * 12}  run 5: 1 ok, 1 not checked" in lines
    for key in "24":
        assert f"  key {key * 64}" in lines and f"  {key * 12}  run {key}" in lines
    # of what is broken alike the links stand once, below the runs
    alike = [f"  {key * 12}  run {key}" for key in "24"]
    assert lines[lines.index("FAILED") :][: len(alike) + 3] == ["FAILED", *alike, "    log.txt: differs", ""]
    twice = to_text(AuditReport((SIX[0], made("2", BREAKS, failed("record", "cut")))))
    assert twice.partition("\nFAILED\n")[2].startswith(
        f"  {'2' * 12}  run 2\n    log.txt: differs\n    record: cut\n"
    )
    assert "  superseded: code changed" in lines
    assert f"  key {'1' * 64}" not in lines
    everything = to_text(AuditReport(SIX), everything=True).splitlines()
    assert sum(line.startswith("  key ") for line in everything) == 6


def test_of_many_runs_that_are_broken_alike_a_dozen_are_told() -> None:
    """One changed file of an environment breaks thousands; what is broken otherwise has a chain of its own."""
    many = [made(f"{number:x}", failed("tree", "changed", found="here", where="there")) for number in range(1, 16)]
    text = to_text(AuditReport((*many, made("0", failed("tree", "changed", found="elsewhere")))))
    chains, _, below = text.partition("\nFAILED\n")
    assert [line for line in chains.splitlines() if line.startswith("  key ")] == [
        f"  key {key * 64}" for key in "123456789abc0"
    ]
    assert [line for line in chains.splitlines() if line.startswith("FAILED")] == [
        f"FAILED      {key * 12}  run {key}: 1 FAILED" for key in "def"
    ]
    named = [f"  {key * 12}  run {key}" for key in "123456789abc"]
    assert below.splitlines()[:15] == [*named, "  and 4 more", "    tree: changed", ""]
    everything = to_text(AuditReport(tuple(many)), everything=True)
    assert everything.count("  key ") == 15, "--verbose tells each"


def test_a_single_run_is_told_in_full() -> None:
    text = to_text(AuditReport((made("1", HOLDS, failed("a", "b", expected="c", found="d", where="e")),)))
    for told in ("ok           record  digest", "f" * 64, "expected: c", "found: d", "where: e"):
        assert told in text
    sound = to_text(AuditReport((SIX[4],)))
    assert "not checked  lock    why not" in sound and "\nNot checked" not in sound


def test_what_was_not_checked_is_told_once_with_its_number() -> None:
    text = to_text(AuditReport(SIX))
    assert "\nNot checked\n  lock (3 runs): why not\n" in text
    nothing = AuditReport((made("1", not_checked("scores", "nothing is scored", lack=None)), made("2", HOLDS)))
    assert "\nNot checked\n  scores (1 run): nothing is scored\n" in to_text(nothing)
    many = tuple(made("7", not_checked(f"step {number}", "why")) for number in range(14))
    shown = to_text(AuditReport(many))
    assert shown.count("(1 run): why") == 12 and "  and 2 more\n" in shown
    thirteen = to_text(AuditReport(many[:13]))
    assert thirteen.count("(1 run): why") == 12 and "  and 1 more\n" in thirteen
    twelve = to_text(AuditReport(many[:12]))
    assert twelve.count("(1 run): why") == 12 and "more" not in twelve


WHOLE = AuditReport(
    (
        *(replace(audit, benchmark="ddi" if audit.key[0] in "14" else "dti", verdict="ok") for audit in SIX),
        replace(STOPPED[0], unfinished="the verdict is 'interrupted'", benchmark="dti", verdict="interrupted"),
        replace(STOPPED[2], unfinished="the verdict is 'interrupted'", benchmark="ddi", verdict="interrupted"),
        Audit("a" * 64, "the run aaaaaaaaaaaa", "", (failed("record", "cut", where="there"),)),
    ),
    without_run=1,
    repository=(
        ok("page", "it is as the harness wrote it"),
        ok("commit", "as committed", "c0ffee"),
        failed("log", "some were taken out", where="there"),
        not_checked("statement", "there is none", Lack.STATEMENT),
    ),
)
SUM = """
8 stored runs audited = 3 passed + 3 failed + 2 superseded
superseded: sound in itself, but of code, an environment or data that has changed since
1 stored run not audited: stopped from outside, it shows nothing
planned, without a run to audit: 1 cell
"""
REPOSITORY = """
Repository
  ok           page: it is as the harness wrote it
  ok           commit: as committed c0ffee
  FAILED       log: some were taken out
  not checked  statement: there is none

FAILED
  log: some were taken out
  222222222222  run 2
  444444444444  run 4
    log.txt: differs
  aaaaaaaaaaaa  the run aaaaaaaaaaaa
    record: cut
"""
LINES = f"""\
ok          111111111111  run 1: 1 ok
run 2
  key {"2" * 64}
  ok           record   digest
                        {"f" * 64}
  FAILED       log.txt  differs

superseded  333333333333  run 3: 1 ok
run 4
  key {"4" * 64}
  superseded: code changed
  ok           record   digest
                        {"f" * 64}
  FAILED       log.txt  differs
  not checked  lock     why not

ok          555555555555  run 5: 1 ok, 1 not checked
ok          666666666666  run 6: 1 not checked
unfinished  777777777777  run 7: the verdict is 'interrupted'
superseded  999999999999  run 9: 1 ok
the run aaaaaaaaaaaa
  key {"a" * 64}
  FAILED       record  cut
                       where: there


Not checked
  lock (3 runs): why not
"""
BRIEF = """\
ddi               3 runs: 2 ok, 1 interrupted; audited: 1 ok, 1 FAILED, 1 superseded
dti               5 runs: 4 ok, 1 interrupted; audited: 2 ok, 1 FAILED, 1 superseded, 1 unfinished
unreadable         1 run: 1 ; audited: 1 FAILED
not checked  statement (1), superseded (3), missing (2), other (2); --verbose tells each
"""


def test_an_audit_is_told_so() -> None:
    """Word for word: a line for each sound run, chains of broken ones, then what is open, and the sum."""
    assert to_text(WHOLE) == f"{LINES}{REPOSITORY}{SUM}"
    assert to_text(WHOLE, brief=True) == f"{BRIEF}{REPOSITORY}{SUM}"
    nothing = AuditReport((), repository=(ok("page", "as written"),))
    assert to_text(nothing, brief=True) == (
        "\nRepository\n  ok           page: as written\n\n"
        "0 stored runs audited = 0 passed + 0 failed + 0 superseded\n"
    )


def test_what_was_run_again_is_told_however_long_the_list() -> None:
    link, other = ok("replay", "equal bit for bit"), failed("order", "it scores otherwise")
    report = AuditReport(
        (made("1", HOLDS), made("2", HOLDS, link, other), made("3", not_checked("replay", "no engine")))
    )
    told = """
Run again
  ok           run 2: equal bit for bit
  FAILED       run 2: it scores otherwise
  not checked  run 3: no engine

FAILED
"""
    assert told in to_text(report) and told in to_text(report, brief=True)
    # where each chain is shown they stand in it
    assert "Run again" not in to_text(report, everything=True)
    assert "Run again" not in to_text(AuditReport((made("2", HOLDS, link),)))


def test_a_single_run_is_told_so() -> None:
    """With all that each link says; one without links has none to tell of."""
    link = failed("log", "differs", expected="a", found="b", where="there")
    stopped = replace(made("1", HOLDS, link, OPEN), unfinished="stopped")
    assert to_text(AuditReport((stopped,))).startswith(
        f"run 1\n  key {'1' * 64}\n  unfinished: stopped\n"
        f"  ok           record  digest\n                       {'f' * 64}\n"
        "  FAILED       log     differs\n                       expected: a\n                       found: b\n"
        "                       where: there\n"
        "  not checked  lock    why not\n\n\nFAILED\n"
    )
    assert to_text(AuditReport((made("1"),))).startswith(f"run 1\n  key {'1' * 64}\n\n\n1 stored run audited")


def test_an_audit_is_told_to_programs_so() -> None:
    told = to_json(WHOLE)
    assert {name: value for name, value in told.items() if name not in ("runs", "repository")} == {
        "audited": 8,
        "not_audited": 1,
        "passed": 3,
        "failed": 3,
        "superseded": 2,
        "cells_without_run": 1,
        "lacking": {
            "statement": {"count": 1, "reasons": ["statement: there is none"]},
            "superseded": {"count": 3, "reasons": ["code changed"]},
            "missing": {
                "count": 2,
                "reasons": ["run 7: the verdict is 'interrupted'", "planned, without a run: 1 cell"],
            },
            "other": {"count": 2, "reasons": ["lock: why not"]},
        },
    }
    assert [step["name"] for step in told["repository"]] == ["page", "commit", "log", "statement"]
    assert told["repository"][3]["lack"] == "statement"
    run = told["runs"][6]
    assert {name: value for name, value in run.items() if name != "steps"} == {
        "key": "7" * 64,
        "label": "run 7",
        "verdict": "unfinished",
        "superseded": "",
        "unfinished": "the verdict is 'interrupted'",
    }


@pytest.mark.parametrize(
    ("runs", "repository", "broken"),
    [
        ((SIX[0],), (), False),
        ((SIX[1],), (), True),
        ((), (HOLDS, BREAKS), True),
        ((SIX[1],), (HOLDS,), True),
        ((SIX[0],), (HOLDS, OPEN), False),
    ],
)
def test_one_broken_link_breaks_the_audit(
    runs: tuple[Audit, ...], repository: tuple[Step, ...], broken: bool
) -> None:
    assert AuditReport(runs, repository=repository).is_broken is broken


class Said(Silent):
    """Remembers what was said."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []
        self.steps: list[str] = []

    def begin(self, what: str, total: int) -> None:
        self.begun.append((what, total))

    def step(self, text: str) -> None:
        self.steps.append(text)


def test_a_long_audit_says_how_far_it_is(evidence: Layout, made_up: Plan) -> None:
    log = Store(evidence.runs).path(planned_of(made_up.cells[0]).key) / "log.txt"
    log.write_text(log.read_text().replace("done", "Done"))
    said = Said()
    refresh()
    keys = [planned_of(cell).key for cell in made_up.cells[:2]]
    report = audit_runs(evidence, keys, replay=5, without_run=3, progress=said)
    assert said.begun == [("audit", 2), ("replay", 1)]
    label = [made_up.cells[cell].job.label for cell in (0, 1)]
    assert said.steps == [f"FAILED: {label[0]}", f"ok: {label[1]}", f"not checked: {label[1]}"]
    assert report.without_run == 3
    assert audit_runs(evidence, {}, without_run=4, progress=said).without_run == 4


def raising(error: Exception) -> Any:
    def check() -> list[Step]:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (MissingData("no file", where="there", todo=""), not_checked("x", "no file (there)", Lack.DATA)),
        (EngineError("none", where="there", todo=""), not_checked("x", "none (there)", Lack.ENGINE)),
        (ImageError("another", where="there", todo=""), failed("x", "another", where="there")),
        (CorruptData("cut", where="there", todo=""), failed("x", "cut", where="there")),
        (InvalidPredictions("nan"), failed("x", "nan")),
        (
            OSError(5, "Input/output error", "there"),
            failed("x", "can't be read: Input/output error", where="there"),
        ),
        (OSError(28, "No space left on device"), failed("x", "can't be read: No space left on device")),
    ],
)
def test_an_error_is_a_step_and_only_absent_data_is_no_fault(error: Exception, step: Step) -> None:
    assert guarded("x", raising(error)) == [step]


@pytest.mark.parametrize("found", ["a", "c"])
def test_two_texts_are_equal_or_the_link_is_broken(found: str) -> None:
    """Whichever comes first in the alphabet."""
    assert equal("x", "the same", "b", "b", "there") == ok("x", "the same", "b")
    # of what nobody wrote down nothing is equal
    assert equal("x", "the same", "", found) == failed("x", "the same", found=found)
    other = equal("x", "the same", "b", found, Path("/there"))
    assert other == failed("x", "the same", expected="b", found=found, where="/there")
    assert other == Step("x", Checked.FAILED, "the same", "b", found, "/there", None)
    assert not_checked("x", "why") == Step("x", Checked.NOT_CHECKED, "why", lack=Lack.OTHER)


def test_a_fault_of_the_audit_itself_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        guarded("x", raising(ZeroDivisionError()))


KEYS = ["aa11" + "0" * 60, "aa12" + "0" * 60, "bb11" + "0" * 60]


def test_a_key_is_found_by_what_begins_no_other() -> None:
    assert find_key(KEYS, "B", Path("runs")) == KEYS[2]
    assert find_key(KEYS, "AA12", Path("runs")) == KEYS[1]
    assert find_key(KEYS, KEYS[0], Path("runs")) == KEYS[0]
    with pytest.raises(UsageError, match="2 keys begin with 'aa1'") as refused:
        find_key(KEYS, "aa1", Path("runs"))
    assert refused.value.todo == "give 4 characters of it: aa11, aa12" and refused.value.where == "runs"
    # as much of them is asked for as tells them apart, be it all
    alike = ["c" * 63 + end for end in "0123456"]
    with pytest.raises(UsageError, match="7 keys begin with ' CC '") as refused:
        find_key([*KEYS, *alike], " CC ", Path("runs"))
    assert refused.value.todo == f"give 64 characters of it: {', '.join(alike[:6])} and 1 more"
    # in the middle of a key is not at its beginning
    with pytest.raises(UsageError, match="no run is called '11'"):
        find_key(KEYS, "11", Path("runs"))


def test_no_list_of_keys_is_told_but_how_to_see_it() -> None:
    keys = [f"{number:02d}" + "0" * 62 for number in range(30)]
    with pytest.raises(UsageError) as refused:
        find_key(keys, "ff", Path("runs"))
    listing = "`harness status --suite stored --cells` with `harness reference list --keys`"
    assert refused.value.todo == f"{listing} shows all 30"
    with pytest.raises(UsageError) as refused:
        find_key(keys, "", Path("runs"))
    assert len(refused.value.todo.split(", ")) == 6


def test_why_a_run_is_superseded_is_told_of_image_and_data(evidence: Layout, made_up: Plan) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    assert str(find_superseded(evidence, record)) == ""

    def changed(**fields: Any) -> str:
        planned = record.planned.model_copy(update=fields)
        return str(find_superseded(evidence, record.model_copy(update={"planned": planned})))

    both = changed(image_tree="0" * 64, dataset_digest="0" * 64)
    image, data = both.split("; ")
    assert image == changed(image_tree="0" * 64) and record.planned.image_tree[:12] in image
    assert data == changed(dataset_digest="0" * 64) and record.planned.dataset_digest[:12] in data
    job = record.planned.job
    assert changed(job=job.model_copy(update={"method": "of_old"})).startswith("there is no method 'of_old'")
    assert changed(job=job.model_copy(update={"dataset": "of_old"})).startswith("there is no dataset 'of_old'")


def test_references_have_chains_of_their_own(many: Layout) -> None:
    save_reference(many, Store(many.runs))
    entries = load_reference(many)
    refresh()
    report = audit_runs(many, entries)
    assert report.passed == len(entries) == len(report.audits)
    for audit in report.audits:
        names = list(dict.fromkeys(step.name for step in audit.steps))
        has_scores = entries[audit.key].scores is not None
        assert names[: 2 + has_scores] == ["record", *["scores"] * has_scores, "made by"]
        assert names[2 + has_scores : 4 + has_scores] == ["plausibility", "predictions"]
        for name in ("image tree", "code tree", "environment tree", "lock _base/debian.lock", "dataset", "split"):
            assert name in names
    one = next(iter(entries.values()))
    forged = replace(one, content={**one.content, "image": {**one.content["image"], "code_tree": "0" * 64}})
    report = audit_runs(many, {**entries, one.content["key"]: forged})
    assert [audit.key for audit in report.audits if audit.failed] == [one.content["key"]]


def test_how_far_it_is_is_told_where_one_run_takes_long(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def looked_at(_: Auditor, key: str) -> Audit:
        PULSE.beat(0)
        return Audit(key, key, "", ())

    monkeypatch.setattr(Auditor, "audit", looked_at)
    keys = [planned_of(cell).key for cell in made_up.cells[:2]]
    with PULSE.speaker(said.append):
        audit_runs(evidence, keys)
        audit_runs(evidence, keys[:1])
    assert [line.partition(" (")[0] for line in said] == [
        f"1 of 2: audit of {keys[0][:12]}",
        f"2 of 2: audit of {keys[1][:12]}",
        f"audit of {keys[0][:12]}",
    ]
