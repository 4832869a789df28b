"""What nothing else depends on, held against each other: times, limits, memory, names, verdict, sizes, values.

None of it proves a run. Who invents one has to invent all of this in accord, and with what cards and locks say.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from harness import benchmarks
from harness.audit.steps import Step, failed, not_checked, ok
from harness.base.files import read_json
from harness.base.foreign_text import printable
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.method_report import METHOD
from harness.benchmarks.order import PUBLISHED
from harness.execution.runs.classify import ATTEMPTS
from harness.execution.tasks import recorded_limits
from harness.images.cards import environment_chain, layers_of
from harness.images.identity import method_image_name
from harness.images.locks import read_wheels
from harness.images.record import variant_of
from harness.planning.jobs import card_of
from harness.results.records import JOB_FILE, LOG_FILE, Record
from harness.results.scoring import Scores, scorer_digest

_PLAUSIBLE, _MAKER = "plausibility", "made by"
# Clocks of two machines may differ so much; stamps are cut to whole seconds.
_CLOCKS, _STAMP_S = timedelta(minutes=10), 2.0
# The kernel lends a container a little more at once than its share of the processors.
_CPU_SHARE, _CPU_S = 1.1, 1.0
# A kill for want of memory comes when there is none left, whatever the last reading was.
_FULL = 0.5
# Every record has these; of a container that an engine lost sight of some are null, but never those counted here.
_MEASURED = ("ran_s", "cpu_s", "peak_bytes", "exit_code", "oom_kills")
_COUNTED = ("wall_s", "log_bytes", "output_bytes")
_SOMETIMES = ("paused_s", "log_cut_bytes")
# No run measures as much of anything.
_LARGEST = 1e18
# Runs that ended before this may be of a version that did not write down what made them.
_MAKERS_SINCE = "2026-11-24"


class Oddity(NamedTuple):
    """Something that no run can have left so."""

    what: str
    expected: str
    found: str


def check_plausibility(record: Record, scores: Scores | None = None) -> list[Step]:
    """Times, resources, limits, attempts, verdict and sizes of a record, and the values of its scores."""
    # what is no number can't be held against anything
    faults = [*_measurements(record)]
    faults = faults or [*_resources(record), *_verdict(record), *_sizes(record)]
    faults += [*_times(record), *_names(record), *(_values(record, scores) if scores else ())]
    return _steps(faults, "times, resources, verdict, sizes and names agree")


def check_card(layout: Layout, record: Record) -> list[Step]:
    """Limits and order against the present card; only for runs of the present code."""
    card = card_of(layout, record.planned.job)
    expected = recorded_limits(card)
    faults = [
        Oddity(
            f"the limit of {name} is not that of the card", str(expected.get(name)), str(record.limits.get(name))
        )
        for name in sorted({*expected, *record.limits})
        if expected.get(name) != record.limits.get(name)
    ]
    if (record.order == PUBLISHED) != bool(card.published_order):
        which = "published" if card.published_order else "secret"
        faults.append(
            Oddity("items had another kind of order than the card says", which, record.order or "published")
        )
    return _steps(faults, "limits and order are those of the card")


def check_kept(layout: Layout, record: Record, folder: Path, document: dict[str, Any] | None) -> list[Step]:
    """The kept log, report and job document against the record, and the versions in it against the locks."""
    faults: list[Oddity] = []
    limits = {} if document is None else document.get("limits") or {}
    if not isinstance(limits, dict):
        faults.append(Oddity("the container was told no limits", "each by its name", str(limits)))
    else:
        for name, value in limits.items():
            other = record.limits.get("cpus" if name == "threads" else name)
            if value != other:
                faults.append(Oddity(f"the container was told another limit of {name}", str(other), str(value)))
    report = read_json(folder / METHOD)
    if isinstance(report, dict):
        faults += _report(record, report)
        faults += _versions(layout, record, report)
    faults += _last_words(record, folder / LOG_FILE)
    return _steps(faults, "log, report and job document agree with the record")


def check_maker(record: Record) -> list[Step]:
    """What made the run, where its record says it."""
    made_by = record.made_by
    if made_by is None:
        if record.finished < _MAKERS_SINCE:
            return [not_checked(_MAKER, "the record is of a version that did not write it down", lack=None)]
        return [failed(_MAKER, "the record does not say what made it", where=record.finished)]
    faults = []
    engine = f"{record.engine.get('name')} {record.engine.get('version')}"
    if made_by.engine != engine:
        faults.append(Oddity("another engine made it than ran it", engine, made_by.engine))
    if made_by.harness == _harness() and made_by.scorer != (scorer := scorer_digest(record.planned.job.benchmark)):
        faults.append(Oddity("the scorer is not that of this harness", scorer, made_by.scorer))
    return [failed(_MAKER, what, expected=one, found=other) for what, one, other in faults] or [
        ok(_MAKER, "as the record says", made_by.text)
    ]


def _harness() -> str:
    import harness
    from harness.meaning.folders import meaning_of_folder

    return meaning_of_folder(Path(harness.__file__).parent)


def _steps(faults: list[Oddity], what: str) -> list[Step]:
    steps = [failed(_PLAUSIBLE, text, expected=expected, found=found) for text, expected, found in faults]
    return steps or [ok(_PLAUSIBLE, what)]


def _times(record: Record) -> Iterator[Oddity]:
    started, finished = _moment(record.started), _moment(record.finished)
    if started is None or finished is None:
        yield Oddity("the times are no times", "ISO 8601 with a zone", f"{record.started}, {record.finished}")
        return
    now = datetime.now(UTC) + _CLOCKS
    if max(started, finished) > now:
        yield Oddity("it ended in the future", f"before {now:%Y-%m-%dT%H:%MZ}", record.finished)
    span = (finished - started).total_seconds() + _STAMP_S
    if span < 0:
        yield Oddity("it ended before it began", f"after {record.started}", record.finished)
    elif span < (wall := _number(record, "wall_s")):
        yield Oddity("it took longer than from its beginning to its end", f"at most {span:.1f} s", f"{wall:g} s")


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _number(record: Record, name: str) -> float:
    value = record.resources.get(name)
    return float(value) if _is_number(value) else 0.0


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number that can be computed with: a whole one in JSON may be larger than any that is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


def _measurements(record: Record) -> Iterator[Oddity]:
    """What was measured is a number, or was not seen."""
    values: dict[str, Any] = {name: record.resources.get(name) for name in (*_MEASURED, *_COUNTED, *_SOMETIMES)}
    values |= {f"the limit of {name}": value for name, value in record.limits.items()}
    not_kept = record.resources.get("not_kept", {})
    if isinstance(not_kept, dict):
        values |= {name: one.get("bytes") if isinstance(one, dict) else "-" for name, one in not_kept.items()}
    else:
        values["not_kept"] = "-"
    for name, value in values.items():
        if value is not None and not _is_number(value):
            yield Oddity(f"{name} is no number", "a number", str(value)[:_QUOTED])


def _resources(record: Record) -> Iterator[Oddity]:
    wall, ran, cpu = (_number(record, name) for name in ("wall_s", "ran_s", "cpu_s"))
    limits = record.limits
    # what is left out can't be held against anything
    absent = [name for name in _MEASURED if name not in record.resources]
    absent += [name for name in _COUNTED if record.resources.get(name) is None]
    if absent:
        yield Oddity("a measurement that every run has is not in the record", absent[0], "-")
    if (least := min(wall, ran, cpu, _number(record, "peak_bytes"))) < 0:
        yield Oddity("less than nothing was used", "0", f"{least:g}")
    if wall and ran > wall + _STAMP_S:
        yield Oddity("the container ran longer than the run took", f"{wall:g} s", f"{ran:g} s")
    most = max(wall, ran) * limits.get("cpus", 1) * _CPU_SHARE + _CPU_S
    if cpu > most:
        yield Oddity("more processor time than there was", f"at most {most:.1f} s", f"{cpu:g} s")
    memory = limits.get("memory_bytes", 0)
    if record.resources.get("memory_limit_enforced") is not False and _number(record, "peak_bytes") > memory:
        yield Oddity("more memory than its limit", str(memory), str(record.resources["peak_bytes"]))
    if not 1 <= record.attempts <= ATTEMPTS and record.verdict.is_final:
        yield Oddity("so many attempts are never made", f"1 to {ATTEMPTS}", str(record.attempts))


def _verdict(record: Record) -> Iterator[Oddity]:
    """A verdict against the signs it was decided from."""
    code = record.resources.get("exit_code")
    limits = record.limits
    match record.verdict:
        case Verdict.OK:
            if code != 0:
                yield Oddity("the verdict is 'ok'", "exit code 0", f"exit code {code}")
            if absent := record.missing_files:
                yield Oddity("the verdict is 'ok'", f"a file {absent[0]}", "none")
        case Verdict.TIMEOUT:
            ran, paused = _number(record, "ran_s") or _number(record, "wall_s"), _number(record, "paused_s")
            if ran - paused < limits.get("seconds", 0):
                yield Oddity(
                    "the verdict is 'timeout'", f"at least {limits.get('seconds')} s", f"{ran - paused:g} s"
                )
        case Verdict.MEMORY:
            killed = bool(record.resources.get("oom_kills")) or record.resources.get("oom_flag") is True
            if not killed:
                yield Oddity("the verdict is 'memory'", "a kill for want of memory", "none")
            peak, memory = record.resources.get("peak_bytes"), limits.get("memory_bytes", 0)
            if isinstance(peak, int | float) and peak < _FULL * memory:
                yield Oddity("the verdict is 'memory'", f"a peak near {memory}", str(peak))
        case Verdict.ERROR:
            if code == 0:
                yield Oddity("the verdict is 'error'", "another exit code", "exit code 0")
        case Verdict.INVALID:
            if code is None:
                yield Oddity("the verdict is 'invalid'", "an exit code", "none")
        case _:
            pass


def _sizes(record: Record) -> Iterator[Oddity]:
    """Sizes of files against their sums in the record."""
    files = {name: stored.bytes for name, stored in record.files.items()}
    if min(files.values(), default=0) < 0 or any(
        len(stored.sha256) != _DIGITS for stored in record.files.values()
    ):
        yield Oddity("a file has no size or no sha256", "both", str(min(files.values())))
    if JOB_FILE in files and not files[JOB_FILE]:
        yield Oddity(f"{JOB_FILE} is empty", "a document", "0 bytes")
    if METHOD in files and record.verdict is Verdict.OK and not files[METHOD]:
        yield Oddity(f"{METHOD} is empty", "a report", "0 bytes")
    outputs = sum(size for name, size in files.items() if name not in (JOB_FILE, LOG_FILE))
    outputs += sum(one.get("bytes") or 0 for one in record.resources.get("not_kept", {}).values())
    if "output_bytes" in record.resources and record.verdict is Verdict.OK:
        if outputs != record.resources["output_bytes"]:
            yield Oddity(
                "the files are not as large as what was collected",
                str(record.resources["output_bytes"]),
                str(outputs),
            )
        if outputs > record.limits.get("output_bytes", outputs):
            yield Oddity("more was collected than may be", str(record.limits["output_bytes"]), str(outputs))
    log_bytes = record.resources.get("log_bytes")
    is_whole = log_bytes is not None and not record.resources.get("log_cut_bytes")
    if LOG_FILE in files and is_whole and files[LOG_FILE] != log_bytes:
        yield Oddity("the log is not as long as what was read", str(log_bytes), str(files[LOG_FILE]))


_DIGITS = 64


def _names(record: Record) -> Iterator[Oddity]:
    """The name of the image follows from method and tree, an id is an id."""
    expected = method_image_name(record.planned.job.method, record.planned.image_tree)
    if record.image.get("name") != expected:
        yield Oddity(
            "the image has another name than its method and tree give", expected, str(record.image.get("name"))
        )
    if not str(record.image.get("id", "")).startswith("sha256:"):
        yield Oddity("the image has no id", "sha256:...", str(record.image.get("id")))


def _values(record: Record, scores: Scores) -> Iterator[Oddity]:
    """Every metric of the benchmark in its range, and no other."""
    benchmark = record.planned.job.benchmark
    metrics = {one.name: one for one in benchmarks.get(benchmark).scoring.metrics}
    # which there were for another scorer, nobody knows
    if scores.scorer == scorer_digest(benchmark):
        for name in metrics:
            if name not in scores.metrics:
                yield Oddity(f"{name} is missing, and scores have every metric", "a value, or a note", "-")
    for name, value in scores.metrics.items():
        metric = metrics.get(name)
        if metric is None:
            yield Oddity("a metric that the benchmark does not know", "-", name)
        elif (
            value is not None
            and metric.range
            and not metric.range[0] - _ROUND <= value <= metric.range[1] + _ROUND
        ):
            yield Oddity(
                f"{name} is outside its range", f"{metric.range[0]:g} to {metric.range[1]:g}", f"{value:g}"
            )
        elif value is None and not scores.notes.get(name):
            yield Oddity(f"{name} is undefined without a reason", "a note", "none")


_ROUND = 1e-9


def _report(record: Record, report: dict[str, Any]) -> Iterator[Oddity]:
    """A method's own times can't be longer than the run."""
    seconds = report.get("seconds")
    # a method may write what it likes
    lists = (
        [values for values in seconds.values() if isinstance(values, list)] if isinstance(seconds, dict) else []
    )
    spent = [one for values in lists for one in values if _is_number(one)]
    wall = _number(record, "wall_s")
    if spent and wall and max(spent) > wall + _STAMP_S:
        yield Oddity("the method timed more than the run took", f"{wall:g} s", f"{max(spent):g} s")


def _versions(layout: Layout, record: Record, report: dict[str, Any]) -> Iterator[Oddity]:
    """Libraries that the report names, in the version of the locks."""
    versions = report.get("versions")
    if not isinstance(versions, dict):
        return
    locked = _locked(layout, record)
    for name, version in versions.items():
        if name in locked and str(version) != locked[name]:
            yield Oddity(f"{METHOD} names another version of {name} than is locked", locked[name], str(version))


def _locked(layout: Layout, record: Record) -> dict[str, str]:
    job, locked = record.planned.job, dict[str, str]()
    for environment in layers_of(environment_chain(layout, job.method)):
        if environment.card.wheels is not None:
            path = environment.lock_path("wheels", variant_of(environment, job.accelerator))
            locked |= {wheel.name.lower(): wheel.version for wheel in read_wheels(path)}
    return locked


def _last_words(record: Record, log: Path) -> Iterator[Oddity]:
    """The reason of an error quotes the last line of the log."""
    prefix = f"exit code {record.resources.get('exit_code')}: "
    if record.verdict is not Verdict.ERROR or not record.reason.startswith(prefix) or not log.is_file():
        return
    quote = record.reason.removeprefix(prefix).split("…")[0].strip()
    # as the reason has it: an error may be said in two lines
    lines = (printable(line.strip()) for line in log.read_text(encoding="utf-8", errors="replace").splitlines())
    text = " ".join(" ".join(lines).split())
    if " ".join(quote.split())[:_QUOTED] not in text:
        yield Oddity("the reason quotes what the log does not say", quote[:_QUOTED], text[-_QUOTED:])


_QUOTED = 40
