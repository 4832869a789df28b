"""What no run can have left so is told: one oddity for each fact that does not fit, and none at the bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.audit.plausibility import check_card, check_kept, check_maker, check_plausibility
from harness.audit.steps import Checked, Step, failed, ok
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.order import PUBLISHED
from harness.execution.runs.log import BoundedLog
from harness.meaning.folders import meaning_of_folder
from harness.results.records import Record
from harness.results.scoring import parse_scores, scorer_digest, scores_path
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of

MEMORY = 4 << 30
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def sound(fabricated: Layout) -> Record:
    """A run that ended ok, of four gibibytes, two processors and at most a minute."""
    record = Store(fabricated.runs).record(planned_of(plan_of(fabricated).cells[0]).key)
    limits = {**record.limits, "memory_bytes": MEMORY, "cpus": 2, "seconds": 60}
    return record.model_copy(update={"limits": limits})


def changed(record: Record, change: Change) -> Record:
    content = json.loads(record.model_dump_json())
    change(content)
    return Record.model_validate(content)


def used(**resources: object) -> Change:
    return lambda record: record["resources"].update(resources)


def without(name: str) -> Change:
    return lambda record: record["resources"].pop(name)


def ended(verdict: str, **resources: object) -> Change:
    def change(record: dict[str, Any]) -> None:
        record.update(verdict=verdict)
        record["resources"].update(resources)

    return change


def at(started: str, finished: str) -> Change:
    return lambda record: record.update(started=started, finished=finished)


def odd(steps: list[Step]) -> list[tuple[str, str, str]]:
    """What was told, expected and found; a list of nothing where all agrees."""
    if [step.checked for step in steps] == [Checked.OK]:
        return []
    assert {(step.name, step.checked) for step in steps} == {("plausibility", Checked.FAILED)}
    return [(step.what, step.expected, step.found) for step in steps]


def after_now(**later: float) -> str:
    return (datetime.now(UTC) + timedelta(**later)).isoformat()


TIMES = "2026-01-01T00:00:00Z"
ODDITIES: Mapping[str, tuple[Change, tuple[str, str, str]]] = {
    "no moment": (at(TIMES, "today"), ("the times are no times", "ISO 8601 with a zone", f"{TIMES}, today")),
    "no zone": (
        at("2026-01-01T00:00:00", TIMES),
        ("the times are no times", "ISO 8601 with a zone", f"2026-01-01T00:00:00, {TIMES}"),
    ),
    "backwards": (
        at("2026-01-01T00:00:09Z", TIMES),
        ("it ended before it began", "after 2026-01-01T00:00:09Z", TIMES),
    ),
    "before it began by two seconds": (
        at("2026-01-01T00:00:02Z", TIMES),
        ("it took longer than from its beginning to its end", "at most 0.0 s", "1.5 s"),
    ),
    "no time for it": (
        used(wall_s=4.5),
        ("it took longer than from its beginning to its end", "at most 4.0 s", "4.5 s"),
    ),
    "longer inside": (used(ran_s=3.75), ("the container ran longer than the run took", "1.5 s", "3.75 s")),
    "processor time": (used(cpu_s=4.5), ("more processor time than there was", "at most 4.3 s", "4.5 s")),
    "processor time of one processor": (
        lambda record: (record["limits"].pop("cpus"), record["resources"].update(cpu_s=2.75)),
        ("more processor time than there was", "at most 2.7 s", "2.75 s"),
    ),
    "no limit of memory": (
        lambda record: record["limits"].pop("memory_bytes"),
        ("more memory than its limit", "0", "52428800"),
    ),
    "less than nothing": (used(cpu_s=-0.5), ("less than nothing was used", "0", "-0.5")),
    "less memory than none": (used(peak_bytes=-7), ("less than nothing was used", "0", "-7")),
    "over the limit": (
        used(peak_bytes=MEMORY + 1),
        ("more memory than its limit", str(MEMORY), str(MEMORY + 1)),
    ),
    "no attempt": (
        lambda record: record.update(attempts=0),
        ("so many attempts are never made", "1 to 3", "0"),
    ),
    "many attempts": (
        lambda record: record.update(attempts=4),
        ("so many attempts are never made", "1 to 3", "4"),
    ),
    "another end": (used(exit_code=1), ("the verdict is 'ok'", "exit code 0", "exit code 1")),
    "an end that nobody saw": (used(exit_code=None), ("the verdict is 'ok'", "exit code 0", "exit code None")),
    "no answer": (
        lambda record: record["resources"].update(
            output_bytes=record["resources"]["output_bytes"] - record["files"].pop("predictions.npy")["bytes"]
        ),
        ("the verdict is 'ok'", "a file predictions.npy", "none"),
    ),
    "too early": (
        ended("timeout", wall_s=1.5, ran_s=1.25, exit_code=137),
        ("the verdict is 'timeout'", "at least 60 s", "1.25 s"),
    ),
    "too early by the clock of the harness": (
        ended("timeout", wall_s=1.5, ran_s=None, exit_code=137),
        ("the verdict is 'timeout'", "at least 60 s", "1.5 s"),
    ),
    "paused meanwhile": (
        lambda record: (
            at(TIMES, "2026-01-01T00:02:00Z")(record),
            ended("timeout", wall_s=70.0, ran_s=70.0, paused_s=11.0, exit_code=137)(record),
        ),
        ("the verdict is 'timeout'", "at least 60 s", "59 s"),
    ),
    "nothing was killed": (
        ended("memory", exit_code=137, peak_bytes=MEMORY),
        ("the verdict is 'memory'", "a kill for want of memory", "none"),
    ),
    "memory was left": (
        ended("memory", exit_code=137, oom_kills=1, peak_bytes=MEMORY // 2 - 1),
        ("the verdict is 'memory'", f"a peak near {MEMORY}", str(MEMORY // 2 - 1)),
    ),
    "no memory was used": (
        ended("memory", exit_code=137, oom_kills=1, peak_bytes=0),
        ("the verdict is 'memory'", f"a peak near {MEMORY}", "0"),
    ),
    "a log of which nothing was read": (
        used(log_bytes=0),
        ("the log is not as long as what was read", "0", "21"),
    ),
    "no error": (ended("error", exit_code=0), ("the verdict is 'error'", "another exit code", "exit code 0")),
    "no end": (ended("invalid", exit_code=None), ("the verdict is 'invalid'", "an exit code", "none")),
    "a longer log": (
        lambda record: record["files"]["log.txt"].update(bytes=99),
        ("the log is not as long as what was read", "21", "99"),
    ),
    "a shorter log": (
        lambda record: record["files"]["log.txt"].update(bytes=20),
        ("the log is not as long as what was read", "21", "20"),
    ),
    "another name": (
        lambda record: record["image"].update(name="localhost/permafrost/constant:latest"),
        (
            "the image has another name than its method and tree give",
            "{name}",
            "localhost/permafrost/constant:latest",
        ),
    ),
    "an id that is absent": (
        lambda record: record["image"].pop("id"),
        ("the image has no id", "sha256:...", "None"),
    ),
    "no id": (lambda record: record["image"].update(id="4" * 64), ("the image has no id", "sha256:...", "4" * 64)),
    **{
        f"no {name}": (
            without(name),
            ("a measurement that every run has is not in the record", name, "-"),
        )
        for name in ("ran_s", "cpu_s", "peak_bytes", "oom_kills", "wall_s", "log_bytes", "output_bytes")
    },
    **{
        f"null {name}": (
            used(**{name: None}),
            ("a measurement that every run has is not in the record", name, "-"),
        )
        for name in ("wall_s", "log_bytes")
    },
    "no exit code": (
        lambda record: (ended("error")(record), without("exit_code")(record)),
        ("a measurement that every run has is not in the record", "exit_code", "-"),
    ),
    "nothing to hold the container's time against": (
        used(wall_s=None, ran_s=10.0),
        ("a measurement that every run has is not in the record", "wall_s", "-"),
    ),
}


@pytest.mark.parametrize("case", ODDITIES)
def test_each_fact_that_does_not_fit_is_told_once(sound: Record, case: str) -> None:
    change, (what, expected, found) = ODDITIES[case]
    told = (what, expected.format(name=sound.image["name"]), found)
    assert odd(check_plausibility(changed(sound, change))) == [told]


@pytest.mark.parametrize(
    "change",
    [
        lambda _record: None,
        used(wall_s=4.0),
        used(ran_s=3.5),
        used(cpu_s=4.25),
        used(peak_bytes=MEMORY),
        used(peak_bytes=MEMORY + 1, memory_limit_enforced=False),
        used(ran_s=None, cpu_s=None, peak_bytes=None),
        used(cpu_s=0.0),
        used(ran_s=None, cpu_s=4.25),
        lambda record: (record["limits"].pop("cpus"), record["resources"].update(cpu_s=2.5)),
        lambda record: record["limits"].pop("output_bytes"),
        lambda record: record.update(attempts=3),
        lambda record: record.update(attempts=9, verdict="infrastructure"),
        lambda record: at(TIMES, "2026-01-01T00:01:00Z")(record),
        lambda record: (
            at(TIMES, "2026-01-01T00:01:30Z")(record),
            ended("timeout", wall_s=90.0, ran_s=71.0, paused_s=11.0, exit_code=137)(record),
        ),
        lambda record: (
            at(TIMES, "2026-01-01T00:01:30Z")(record),
            ended("timeout", wall_s=60.0, ran_s=None, exit_code=137)(record),
        ),
        lambda record: (
            record["limits"].pop("seconds"),
            ended("timeout", wall_s=0.5, ran_s=0.5, cpu_s=0.5, exit_code=137)(record),
        ),
        lambda record: (
            record["limits"].pop("memory_bytes"),
            ended("memory", exit_code=137, oom_kills=1, peak_bytes=0)(record),
        ),
        ended("memory", exit_code=137, oom_kills=1, peak_bytes=MEMORY // 2),
        ended("memory", exit_code=0, oom_flag=True, peak_bytes=MEMORY // 2),
        ended("memory", exit_code=137, oom_kills=1, peak_bytes=None),
        ended("error", exit_code=1),
        ended("invalid", exit_code=0),
        ended("error", exit_code=1, output_bytes=5),
        lambda record: (ended("error", exit_code=1)(record), record.update(files={})),
        lambda record: (
            ended("error", exit_code=1)(record),
            record["files"]["method.json"].update(bytes=0),
        ),
        lambda record: (record["files"]["log.txt"].update(bytes=0), record["resources"].update(log_bytes=0)),
        lambda record: (
            record["files"]["log.txt"].update(bytes=99),
            record["resources"].update(log_cut_bytes=5),
        ),
    ],
)
def test_what_can_happen_is_no_oddity(sound: Record, change: Change) -> None:
    """Up to each bound, with what an engine could not measure, and a log that was cut."""
    assert odd(check_plausibility(changed(sound, change))) == []


def test_clocks_may_differ_by_ten_minutes(sound: Record) -> None:
    soon, late = after_now(minutes=9.5), after_now(minutes=10.5)
    assert odd(check_plausibility(changed(sound, at(TIMES, soon)))) == []
    ((what, expected, found),) = odd(check_plausibility(changed(sound, at(TIMES, late))))
    assert (what, found) == ("it ended in the future", late) and expected.startswith("before 20")


def test_sizes_are_held_against_their_sums(sound: Record) -> None:
    total = sound.resources["output_bytes"]
    absent, unlike = odd(check_plausibility(changed(sound, used(output_bytes=None))))
    assert absent == ("a measurement that every run has is not in the record", "output_bytes", "-")
    assert unlike == ("the files are not as large as what was collected", "None", str(total))
    for collected in (total - 1, total + 1, 0):
        told = ("the files are not as large as what was collected", str(collected), str(total))
        assert odd(check_plausibility(changed(sound, used(output_bytes=collected)))) == [told]

    def left_out(record: dict[str, Any]) -> None:
        record["resources"].update(
            output_bytes=total + 5, not_kept={"model.bin": {"bytes": 5, "sha256": "0" * 64}}
        )

    assert odd(check_plausibility(changed(sound, left_out))) == []

    def of_no_size(record: dict[str, Any]) -> None:
        record["resources"].update(not_kept={"model.bin": {"sha256": "0" * 64}})

    assert odd(check_plausibility(changed(sound, of_no_size))) == []
    (over,) = odd(
        check_plausibility(changed(sound, lambda record: record["limits"].update(output_bytes=total - 1)))
    )
    assert over == ("more was collected than may be", str(total - 1), str(total))
    assert (
        odd(check_plausibility(changed(sound, lambda record: record["limits"].update(output_bytes=total)))) == []
    )


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("job.json", {"bytes": 0}, [("job.json is empty", "a document", "0 bytes")]),
        ("lowest.npy", {"sha256": "0" * 63}, [("a file has no size or no sha256", "both", "{least}")]),
        ("lowest.npy", {"sha256": "0" * 65}, [("a file has no size or no sha256", "both", "{least}")]),
        ("job.json", {"bytes": -1}, [("a file has no size or no sha256", "both", "-1")]),
    ],
)
def test_a_file_has_a_size_and_a_digest(
    sound: Record, file: str, change: dict[str, Any], told: list[tuple[str, str, str]]
) -> None:
    steps = check_plausibility(changed(sound, lambda record: record["files"][file].update(change)))
    least = min(stored.bytes for stored in sound.files.values())
    assert odd(steps) == [(what, expected, found.format(least=least)) for what, expected, found in told]


def test_a_report_of_nothing_is_told(sound: Record) -> None:
    def emptied(record: dict[str, Any]) -> None:
        record["resources"]["output_bytes"] -= record["files"]["method.json"]["bytes"]
        record["files"]["method.json"]["bytes"] = 0

    assert odd(check_plausibility(changed(sound, emptied))) == [("method.json is empty", "a report", "0 bytes")]


def test_values_lie_in_the_range_of_their_metric(fabricated: Layout, sound: Record) -> None:
    scores = parse_scores(json.loads(scores_path(fabricated, sound.key).read_text()))
    assert scores is not None and odd(check_plausibility(sound, scores)) == []
    name = "AUC/as-defined"
    for value, told in (
        (1.0 + 1e-9, []),
        (-1e-9, []),
        (1.0 + 1.5e-9, [(f"{name} is outside its range", "0 to 1", "1")]),
        (-1.5e-9, [(f"{name} is outside its range", "0 to 1", "-1.5e-09")]),
        (1.1, [(f"{name} is outside its range", "0 to 1", "1.1")]),
        (-0.1, [(f"{name} is outside its range", "0 to 1", "-0.1")]),
        (None, [(f"{name} is undefined without a reason", "a note", "none")]),
    ):
        scores.metrics[name] = value
        assert odd(check_plausibility(sound, scores)) == told
    scores.metrics["NDCG/as-defined"] = 17.0
    assert len(odd(check_plausibility(sound, scores))) == 1, "what has no range has no bounds"
    scores.notes[name] = ""
    assert odd(check_plausibility(sound, scores)) == [(f"{name} is undefined without a reason", "a note", "none")]
    scores.notes[name] = "one class only"
    assert odd(check_plausibility(sound, scores)) == []
    scores.metrics["fame"] = 1.0
    unknown = ("a metric that the benchmark does not know", "-", "fame")
    assert odd(check_plausibility(sound, scores)) == [unknown]
    # one that looks bad is not just left out; of another scorer nobody knows which there were
    del scores.metrics[name]
    missing = (f"{name} is missing, and scores have every metric", "a value, or a note", "-")
    assert odd(check_plausibility(sound, scores)) == [missing, unknown]
    assert odd(check_plausibility(sound, replace(scores, scorer="another"))) == [unknown]


@pytest.mark.parametrize("name", ["seconds", "memory_bytes", "processes", "output_bytes", "cpus", "gpus"])
def test_every_limit_is_that_of_the_card(fabricated: Layout, name: str) -> None:
    record = Store(fabricated.runs).record(planned_of(plan_of(fabricated).cells[0]).key)
    assert odd(check_card(fabricated, record)) == []
    limit = record.limits[name]
    other = changed(record, lambda content: content["limits"].update({name: limit + 1}))
    told = (f"the limit of {name} is not that of the card", str(limit), str(limit + 1))
    assert odd(check_card(fabricated, other)) == [told]
    lower = changed(record, lambda content: content["limits"].update({name: limit - 1}))
    assert odd(check_card(fabricated, lower)) == [(told[0], str(limit), str(limit - 1))]
    gone = changed(record, lambda content: content["limits"].pop(name))
    assert odd(check_card(fabricated, gone)) == [(told[0], str(limit), "None")]


def test_limits_that_are_not_those_of_the_card_are_told_by_name(fabricated: Layout) -> None:
    """Also one that no card has."""
    record = Store(fabricated.runs).record(planned_of(plan_of(fabricated).cells[0]).key)
    (same,) = check_card(fabricated, record)
    assert same == ok("plausibility", "limits and order are those of the card")
    names = ["waits", "seconds", "cpus", "memory_bytes", "gpus", "processes"]
    other = changed(record, lambda content: content["limits"].update(dict.fromkeys(names, 7)))
    told = odd(check_card(fabricated, other))
    assert [what for what, _, _ in told] == [
        f"the limit of {name} is not that of the card" for name in sorted(names)
    ]
    assert told[-1] == ("the limit of waits is not that of the card", "None", "7")


def test_the_order_is_of_the_kind_that_the_card_says(fabricated: Layout) -> None:
    record = Store(fabricated.runs).record(planned_of(plan_of(fabricated).cells[0]).key)
    assert record.order != PUBLISHED
    (told,) = odd(check_card(fabricated, record.model_copy(update={"order": PUBLISHED})))
    assert told == ("items had another kind of order than the card says", "secret", "published")
    card = fabricated.methods / "fastai_collab" / "method.toml"
    assert "published_order" in card.read_text()
    job = record.planned.job.model_copy(update={"method": "fastai_collab"})
    other = record.model_copy(update={"planned": record.planned.model_copy(update={"job": job})})
    what = told[0]
    found = [one for one in odd(check_card(fabricated, other)) if one[0] == what]
    assert found == [(what, "published", record.order)]
    published = other.model_copy(update={"order": PUBLISHED})
    assert what not in [one[0] for one in odd(check_card(fabricated, published))]


def kept(layout: Layout, record: Record, folder: Path, **files: str) -> list[tuple[str, str, str]]:
    for name, text in files.items():
        (folder / {"log": "log.txt", "report": "method.json"}[name]).write_text(text)
    return odd(check_kept(layout, record, folder, {"limits": {"threads": 2, "memory_bytes": MEMORY}}))


def test_the_container_was_told_the_limits_of_the_record(
    fabricated: Layout, sound: Record, tmp_path: Path
) -> None:
    assert kept(fabricated, sound, tmp_path) == []
    named = {name: name for name in sound.limits if name not in ("cpus", "gpus")} | {"threads": "cpus"}
    for name, key in named.items():
        document = {"limits": {**{one: sound.limits[other] for one, other in named.items()}, name: 5}}
        told = (f"the container was told another limit of {name}", str(sound.limits[key]), "5")
        assert odd(check_kept(fabricated, sound, tmp_path, document)) == [told]
    unknown = ("the container was told another limit of waits", "None", "2")
    assert odd(check_kept(fabricated, sound, tmp_path, {"limits": {"waits": 2}})) == [unknown]
    nothing: tuple[dict[str, Any] | None, ...] = (None, {}, {"limits": {}})
    for empty in nothing:
        (same,) = check_kept(fabricated, sound, tmp_path, empty)
        assert same == ok("plausibility", "log, report and job document agree with the record")


def test_versions_are_those_of_the_locks(fabricated: Layout, sound: Record, tmp_path: Path) -> None:
    lines = (fabricated.root / "containers" / "_numpy" / "wheels.cpu.lock").read_text()
    (locked,) = {part.split("-")[1] for part in lines.replace("/", " ").split() if part.startswith("numpy-")}
    report = {"versions": {"numpy": locked, "another": "1"}}
    assert kept(fabricated, sound, tmp_path, report=json.dumps(report)) == []
    report["versions"]["numpy"] = "1.0"
    told = ("method.json names another version of numpy than is locked", locked, "1.0")
    assert kept(fabricated, sound, tmp_path, report=json.dumps(report)) == [told]
    report["versions"]["numpy"] = "9.0"
    assert kept(fabricated, sound, tmp_path, report=json.dumps(report)) == [(*told[:2], "9.0")]
    for other in (f"{locked}.1", locked[:-1], ""):
        report["versions"]["numpy"] = other
        assert kept(fabricated, sound, tmp_path, report=json.dumps(report)) == [(*told[:2], other)]
    # each fault of a report is told
    slow = {"versions": {"numpy": "1.0"}, "seconds": {"fit": [99.0]}}
    timed = ("the method timed more than the run took", "1.5 s", "99 s")
    assert kept(fabricated, sound, tmp_path, report=json.dumps(slow)) == [timed, told]
    for nothing in ('{"versions": "all"}', "{}", "[1]", "nonsense"):
        assert kept(fabricated, sound, tmp_path, report=nothing) == []


def test_a_method_can_not_time_more_than_the_run_took(fabricated: Layout, sound: Record, tmp_path: Path) -> None:
    for seconds, told in (
        ('{"fit": [3.5, 0.25], "predict": []}', []),
        ('{"fit": [0.25, 3.75]}', [("the method timed more than the run took", "1.5 s", "3.75 s")]),
        ('{"fit": "long"}', []),
        ('{"fit": ["long", 0.5], "parts": {"one": 9}}', []),
        ("[9]", []),
    ):
        assert kept(fabricated, sound, tmp_path, report=f'{{"seconds": {seconds}}}') == told
    untimed = sound.model_copy(update={"resources": {**sound.resources, "wall_s": None}})
    assert kept(fabricated, untimed, tmp_path, report='{"seconds": {"fit": [9.0]}}') == []


def test_the_reason_of_an_error_quotes_the_log(fabricated: Layout, sound: Record, tmp_path: Path) -> None:
    wrong = sound.model_copy(
        update={
            "verdict": Verdict.ERROR,
            "reason": "exit code 3: no such matrix",
            "resources": {**sound.resources, "exit_code": 3},
        }
    )
    assert kept(fabricated, wrong, tmp_path, log="reading\nno such matrix\n") == []
    told = ("the reason quotes what the log does not say", "no such matrix", "all went well")
    assert kept(fabricated, wrong, tmp_path, log="all went well\n") == [told]
    assert kept(fabricated, sound, tmp_path, log="all went well\n") == []
    long = "x" * 40
    cut = wrong.model_copy(update={"reason": f"exit code 3: {long}, {'y' * 50}…"})
    assert kept(fabricated, cut, tmp_path, log=f"{long}, and other words\n") == []
    short = wrong.model_copy(update={"reason": "exit code 3: no  such mat…"})
    assert kept(fabricated, short, tmp_path, log="no such matrix\n") == []
    (tmp_path / "log.txt").write_bytes(b"\xff no such matrix\n")
    assert kept(fabricated, wrong, tmp_path) == []
    other = wrong.model_copy(update={"reason": f"exit code 3: {'q' * 60}"})
    told = ("the reason quotes what the log does not say", "q" * 40, "w" * 40)
    assert kept(fabricated, other, tmp_path, log=f"it began well {'w' * 40}") == [told]
    # one that begins as a line of the log does
    told = ("the reason quotes what the log does not say", "no such matrix", "no such luck")
    assert kept(fabricated, wrong, tmp_path, log="no such luck\n") == [told]
    # a reason in words of the harness, and a log that was not kept
    killed = wrong.model_copy(update={"reason": "too many processes"})
    assert kept(fabricated, killed, tmp_path, log="all went well\n") == []
    (tmp_path / "log.txt").unlink()
    assert kept(fabricated, other, tmp_path) == []


@pytest.mark.parametrize(
    "log",
    [
        "Error: unexpected '}' in:\n\"  list(scores = \n}\"\nExecution halted\n",
        "Error in fit(x) : \n\tno  such\tmatrix\nExecution halted\n",
        "error: no such matrix\nerror: called from\n    main at line 2\n",
        "error: parse error near line 7 of file /opt/method/main.m\n\n  syntax error\n\n>>> a = (1;\n       ^\n",
        "half\rno such\x07 matrix\r\n\n",
    ],
)
def test_an_error_that_a_run_quotes_is_found_in_its_log(
    fabricated: Layout, sound: Record, tmp_path: Path, log: str
) -> None:
    """However the harness made one line of it."""
    with BoundedLog(tmp_path / "log", 1000) as kept_log:
        kept_log.write(log.encode())
        changes = {"verdict": Verdict.ERROR, "reason": f"exit code 1: {kept_log.last_line}"}
    resources = {**sound.resources, "exit_code": 1}
    assert kept(fabricated, sound.model_copy(update={**changes, "resources": resources}), tmp_path, log=log) == []


def test_a_record_says_what_made_it(sound: Record) -> None:
    (step,) = check_maker(sound)
    assert sound.made_by is not None
    assert (step.name, step.checked, step.what, step.found) == (
        "made by",
        Checked.OK,
        "as the record says",
        sound.made_by.text,
    )
    for engine in ("podman 5.0", "podman 20.10", "docker 20.1", "docker 20.10.1"):
        other = sound.made_by.model_copy(update={"engine": engine})
        (step,) = check_maker(sound.model_copy(update={"made_by": other}))
        assert (step.checked, step.what) == (Checked.FAILED, "another engine made it than ran it")
        assert (step.expected, step.found) == ("docker 20.10", engine)


@pytest.mark.parametrize(
    ("finished", "checked", "said"),
    [
        ("2026-11-23T23:59:59Z", Checked.NOT_CHECKED, "the record is of a version that did not write it down"),
        ("2026-11-24T00:00:00Z", Checked.FAILED, "the record does not say what made it"),
    ],
)
def test_only_an_old_record_may_be_silent_about_it(
    sound: Record, finished: str, checked: Checked, said: str
) -> None:
    (step,) = check_maker(sound.model_copy(update={"made_by": None, "finished": finished}))
    where = finished if checked is Checked.FAILED else ""
    assert (step.name, step.checked, step.what, step.lack) == ("made by", checked, said, None)
    assert step.where == where


@pytest.mark.parametrize("scorer", ["0" * 64, "f" * 64])
def test_this_harness_scores_with_its_own_scorer(
    sound: Record, monkeypatch: pytest.MonkeyPatch, scorer: str
) -> None:
    """Of another harness nothing is known, whichever comes first in the alphabet."""
    assert sound.made_by is not None
    for digest in ("0" * 64, "f" * 64):
        made_by = sound.made_by.model_copy(update={"scorer": scorer, "harness": digest})
        assert [step.checked for step in check_maker(sound.model_copy(update={"made_by": made_by}))] == [
            Checked.OK
        ]
    monkeypatch.setattr("harness.audit.plausibility._harness", lambda: sound.made_by and sound.made_by.harness)
    made_by = sound.made_by.model_copy(update={"scorer": scorer})
    told = failed(
        "made by", "the scorer is not that of this harness", expected=scorer_digest("repurposing"), found=scorer
    )
    assert check_maker(sound.model_copy(update={"made_by": made_by})) == [told]
    assert [step.checked for step in check_maker(sound)] == [Checked.OK]
    both = made_by.model_copy(update={"engine": "a 1.0"})
    other = failed("made by", "another engine made it than ran it", expected="docker 20.10", found="a 1.0")
    assert check_maker(sound.model_copy(update={"made_by": both})) == [other, told]


def test_this_harness_is_known_by_all_of_its_code(sound: Record) -> None:
    assert sound.made_by is not None
    made_by = sound.made_by.model_copy(
        update={"scorer": "0" * 64, "harness": meaning_of_folder(Path(harness.__file__).parent)}
    )
    assert [step.checked for step in check_maker(sound.model_copy(update={"made_by": made_by}))] == [
        Checked.FAILED
    ]
