"""What keeps an audit from being without gaps: links nobody could check, and runs that are not as they must be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from harness.audit.steps import Audit, Lack, Step
from harness.base.few import few
from harness.base.plurals import counted


@dataclass
class Gap:
    """How often something is lacking, and where first."""

    count: int = 0
    reasons: dict[str, None] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """One more, or several."""
        self.count += count
        self.reasons.setdefault(reason)


_REASONS = 3


def gaps_of(audits: Iterable[Audit], repository: Iterable[Step], without_run: int) -> dict[Lack, Gap]:
    """What is lacking: a run counts once for each lack, whatever number of its links has it."""
    gaps: dict[Lack, Gap] = {}
    for audit in audits:
        lacks = {step.lack: f"{step.name}: {step.what}" for step in reversed(audit.steps) if step.lack}
        if audit.superseded:
            lacks = {Lack.SUPERSEDED: audit.superseded}
        elif audit.unfinished:
            lacks[Lack.MISSING] = f"{audit.label}: {audit.unfinished}"
        for lack, reason in lacks.items():
            gaps.setdefault(lack, Gap()).add(reason)
    for step in repository:
        if step.lack:
            gaps.setdefault(step.lack, Gap()).add(f"{step.name}: {step.what}")
    if without_run:
        gaps.setdefault(Lack.MISSING, Gap()).add(
            f"planned, without a run: {counted(without_run, 'cell')}", without_run
        )
    return {lack: gaps[lack] for lack in Lack if lack in gaps}


def strict_lines(gaps: Mapping[Lack, Gap], waived: Collection[Lack], *, is_broken: bool = False) -> list[str]:
    """What a strict audit does not accept, what a person waived, or that there is nothing."""
    open_gaps = {lack: gap for lack, gap in gaps.items() if lack not in waived}
    lines = ["", "NOT STRICT" if open_gaps or is_broken else "strict: nothing is lacking but what was waived"]
    if not gaps and not is_broken:
        return ["", "strict: every link was checked, and every run is as it must be"]
    if is_broken:
        lines.append("  FAILED: broken links, listed above; they can't be waived")
    for lack, gap in open_gaps.items():
        lines.append(f"  {lack} ({gap.count}): {lack.meaning}; --waive {lack} accepts it")
        lines += [f"    {reason}" for reason in few(list(gap.reasons), _REASONS)]
    if waivers := [f"{lack} ({gap.count})" for lack, gap in gaps.items() if lack in waived]:
        lines.append(f"waived: {', '.join(waivers)}")
    return lines
