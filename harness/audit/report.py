"""The whole audit: chains, replays, and the sum that must hold: every run counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.audit.chain import Auditor
from harness.audit.replay import REPLAY_STEPS, replay_entry, replay_run, replay_sample
from harness.audit.steps import Audit, Checked, Lack, Step, guarded, not_checked
from harness.audit.strictness import Gap, gaps_of
from harness.base.errors import AuditError, CorruptData
from harness.base.few import few
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.progress import Progress, Silent
from harness.engine import Engine
from harness.results.records import Record
from harness.results.reference import ReferenceResult, load_reference
from harness.results.store import Store

_UNFINISHED = "unfinished"
# Of how many runs that are broken by the very same each is told.
_TOLD = 12


@dataclass(frozen=True)
class AuditReport:
    """All chains of one request, and the planned cells that have no run to audit."""

    audits: tuple[Audit, ...]
    without_run: int = 0
    # links of the repository as a whole
    repository: tuple[Step, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether any link is broken, of a run or of the repository."""
        return bool(self.failed) or any(step.checked is Checked.FAILED for step in self.repository)

    @cached_property
    def gaps(self) -> dict[Lack, Gap]:
        """What was not checked for want of something, and which runs are not as they must be."""
        return gaps_of(self.audits, self.repository, self.without_run)

    def lacking(self, waived: Collection[Lack] = ()) -> dict[Lack, Gap]:
        """The gaps that a person did not say to expect."""
        return {lack: gap for lack, gap in self.gaps.items() if lack not in waived}

    @property
    def failed(self) -> int:
        """Runs with a broken link."""
        return self._counts["FAILED"]

    @property
    def superseded(self) -> int:
        """Sound runs of code or environments that the repository no longer holds."""
        return self._counts["superseded"]

    @property
    def passed(self) -> int:
        """Sound runs of the present repository that ended by themselves."""
        return self._counts["ok"]

    @property
    def not_audited(self) -> int:
        """Sound runs of the present repository that were stopped, by a person or for want of a machine."""
        return self._counts[_UNFINISHED]

    @property
    def audited(self) -> int:
        """Runs that passed, failed or are superseded."""
        return len(self.audits) - self.not_audited

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(map(_verdict, self.audits))


def audit_runs(
    layout: Layout,
    runs: Sequence[str] | Mapping[str, ReferenceResult],
    *,
    engine: Engine | None = None,
    mirrors: Sequence[Path] = (),
    replay: int = 0,
    seed: int = 0,
    without_run: int = 0,
    repository: Sequence[Step] = (),
    progress: Progress | None = None,
) -> AuditReport:
    """Audit stored runs or committed reference results, by key; then run a seeded sample of the good ones again.

    Sound and current ones are good. What is run again must give the same files, bit for bit.
    """
    store, progress = Store(layout.runs), progress or Silent()
    auditor = Auditor(layout, store, engine, mirrors)
    entries = runs if isinstance(runs, Mapping) else {}
    progress.begin("audit", len(runs))
    audits = {}
    for number, key in enumerate(runs, 1):
        part = f"{number:,} of {len(runs):,}" if len(runs) > 1 else ""
        with activity(f"audit of {key[:12]}", part=part):
            audits[key] = auditor.audit_reference(entries[key]) if key in entries else auditor.audit(key)
        progress.step(f"{_verdict(audits[key])}: {audits[key].label}")
    if replay:
        sound = [key for key, audit in audits.items() if not audit.failed and not audit.superseded]
        verdicts = {key: (entries[key].record if key in entries else store.standing(key)).verdict for key in sound}
        selection = replay_sample(verdicts, replay, seed)
        progress.begin("replay", len(selection))
        for key in selection:
            steps = _replay(layout, store, engine, entries.get(key) or store.record(key), mirrors)
            # what only a replay shows is shown now
            came_again = steps[0].checked is Checked.OK
            kept = [one for one in audits[key].steps if not (came_again and one.lack is Lack.REPLAY)]
            audits[key] = replace(audits[key], steps=(*kept, *steps))
            progress.step(f"{steps[0].checked}: {audits[key].label}")
    report = AuditReport(tuple(audits.values()), without_run, tuple(repository))
    assert report.passed + report.failed + report.superseded == report.audited, "a run is counted twice"
    assert report.audited + report.not_audited == len(runs), "runs were lost while auditing"
    return report


def believed_reference(layout: Layout) -> dict[str, ReferenceResult]:
    """The committed reference results; `AuditError` if one was changed by hand."""
    try:
        return load_reference(layout)
    except CorruptData as error:
        raise AuditError(error.what, where=error.where, todo=error.todo) from None
    except OSError as error:
        todo = "restore the file from the repository"
        raise AuditError(f"a file can't be read: {error.strerror}", where=str(error.filename), todo=todo) from None


def to_text(report: AuditReport, *, everything: bool = False, brief: bool = False) -> str:
    """One line per run, the whole chain of a single or a broken one, all failures again, and the sum.

    Of many runs that are broken by the very same, the first dozen have their chains. `brief`: a line per benchmark
    in place of those of runs.
    """
    lines: list[str] = _sum_lines(report) if brief else []
    alike = Counter[tuple[Step, ...]]()
    for audit in () if brief else report.audits:
        broken = _broken_links(audit)
        alike[broken] += 1
        if everything or (broken and alike[broken] <= _TOLD) or len(report.audits) == 1:
            lines += _chain_lines(audit)
        else:
            details = audit.unfinished if _verdict(audit) == _UNFINISHED else _count_text(audit)
            lines.append(f"{_verdict(audit):10}  {audit.key[:12]}  {audit.label}: {details}")
    lines += [] if brief else _unchecked_lines(report)
    lines += [] if everything else _replay_lines(report)
    lines += [*_repository_lines(report), *_failed_lines(report)]
    lines += [
        "",
        f"{counted(report.audited, 'stored run')} audited = {report.passed} passed + {report.failed} failed + "
        f"{report.superseded} superseded",
    ]
    if report.superseded:
        lines.append("superseded: sound in itself, but of code, an environment or data that has changed since")
    if report.not_audited:
        lines.append(
            f"{counted(report.not_audited, 'stored run')} not audited: stopped from outside, it shows nothing"
        )
    if report.without_run:
        lines.append(f"planned, without a run to audit: {counted(report.without_run, 'cell')}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_json(report: AuditReport) -> dict[str, Any]:
    """Every step of every chain, and what is lacking."""
    return {
        "audited": report.audited,
        "not_audited": report.not_audited,
        "passed": report.passed,
        "failed": report.failed,
        "superseded": report.superseded,
        "cells_without_run": report.without_run,
        "lacking": {
            str(lack): {"count": gap.count, "reasons": [*gap.reasons]} for lack, gap in report.gaps.items()
        },
        "repository": [_step_json(step) for step in report.repository],
        "runs": [
            {
                "key": audit.key,
                "label": audit.label,
                "verdict": _verdict(audit),
                "superseded": audit.superseded,
                "unfinished": audit.unfinished,
                "steps": [_step_json(step) for step in audit.steps],
            }
            for audit in report.audits
        ],
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {**asdict(step), "checked": str(step.checked), "lack": str(step.lack or "")}


def _sum_lines(report: AuditReport) -> list[str]:
    """A line per benchmark: its runs by verdict, and by what the audit came to; then what was not checked."""
    lines = []
    for benchmark in dict.fromkeys(audit.benchmark for audit in report.audits):
        audits = [audit for audit in report.audits if audit.benchmark == benchmark]
        verdicts, states = Counter(audit.verdict for audit in audits), Counter(map(_verdict, audits))
        sums = f"{_text_of(verdicts)}; audited: {_text_of(states)}"
        lines.append(f"{benchmark or 'unreadable':12} {counted(len(audits), 'run'):>11}: {sums}")
    unchecked = [f"{lack} ({gap.count})" for lack, gap in report.gaps.items()]
    return [*lines, *([f"not checked  {', '.join(unchecked)}; --verbose tells each"] if unchecked else [])]


def _text_of(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def _replay_lines(report: AuditReport) -> list[str]:
    """What was run again, and how it came out: in the list it is one line among thousands."""
    lines = [
        f"  {step.checked:11}  {audit.label}: {step.what}"
        for audit in (report.audits if len(report.audits) > 1 else ())
        for step in audit.steps
        if step.name in REPLAY_STEPS
    ]
    return ["", "Run again", *lines] if lines else []


def _repository_lines(report: AuditReport) -> list[str]:
    lines = [f"  {step.checked:11}  {step.name}: {step.what} {step.found}" for step in report.repository]
    return ["", "Repository", *lines] if lines else []


def _replay(
    layout: Layout, store: Store, engine: Engine | None, run: Record | ReferenceResult, mirrors: Sequence[Path]
) -> list[Step]:
    if engine is None:
        return [not_checked("replay", "no engine", Lack.ENGINE)]
    job = run.planned.job
    if job.upstream:
        return [
            not_checked(
                "replay", "a person's own checkout ran in place of our code; it is not kept here", Lack.OTHER
            )
        ]
    if job.accelerator != "cpu":
        return [not_checked("replay", "a GPU computed it: another one need not give the same bits", Lack.MACHINE)]
    if isinstance(run, ReferenceResult):
        return guarded("replay", lambda: replay_entry(layout, store, engine, run, mirrors))
    return guarded("replay", lambda: replay_run(layout, store, engine, run, mirrors))


def _verdict(audit: Audit) -> str:
    if audit.failed:
        return "FAILED"
    if audit.superseded:
        return "superseded"
    return _UNFINISHED if audit.unfinished else "ok"


def _count_text(audit: Audit) -> str:
    counts = audit.counts
    return ", ".join(f"{counts[state]} {state}" for state in Checked if counts[state])


def _chain_lines(audit: Audit) -> list[str]:
    lines = [f"{audit.label}", f"  key {audit.key}"]
    width = max((len(step.name) for step in audit.steps), default=0)
    if audit.superseded:
        lines.append(f"  superseded: {audit.superseded}")
    if audit.unfinished:
        lines.append(f"  {_UNFINISHED}: {audit.unfinished}")
    for step in audit.steps:
        lines.append(f"  {step.checked:11}  {step.name:{width}}  {step.what}")
        if step.checked is Checked.OK:
            if step.found:
                lines.append(f"  {'':11}  {'':{width}}  {step.found}")
        else:
            details = (("expected", step.expected), ("found", step.found), ("where", step.where))
            lines += [f"  {'':11}  {'':{width}}  {name}: {text}" for name, text in details if text]
    return [*lines, ""]


def _failed_lines(report: AuditReport) -> list[str]:
    """The broken links alone, below the runs that have them: in the chains they stand among dozens that hold."""
    lines = [f"  {step.name}: {step.what}" for step in report.repository if step.checked is Checked.FAILED]
    alike: dict[tuple[str, ...], list[str]] = {}
    for audit in report.audits:
        if links := tuple(f"    {step.name}: {step.what}" for step in _broken_links(audit)):
            alike.setdefault(links, []).append(f"{audit.key[:12]}  {audit.label}")
    for links, runs in alike.items():
        lines += [*(f"  {run}" for run in few(runs, _TOLD)), *links]
    return ["", "FAILED", *lines] if lines else []


def _broken_links(audit: Audit) -> tuple[Step, ...]:
    return tuple(step for step in audit.steps if step.checked is Checked.FAILED)


def _unchecked_lines(report: AuditReport) -> list[str]:
    """What was not checked, each reason once: a person might take silence for an ok."""
    reasons: dict[tuple[str, str], int] = {}
    for audit in report.audits:
        for step in audit.steps:
            if step.checked is Checked.NOT_CHECKED:
                reasons[step.name, step.what] = reasons.get((step.name, step.what), 0) + 1
    if not reasons or len(report.audits) == 1:
        return []
    lines = [f"{name} ({counted(count, 'run')}): {why}" for (name, why), count in reasons.items()]
    return [
        "",
        "Not checked",
        *(f"  {line}" for line in few(lines, 12)),
    ]
