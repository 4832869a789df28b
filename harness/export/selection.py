"""The plan of a few runs that a person chose by their keys, to be packed without the rest of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.few import few_in_line
from harness.base.layout import Layout
from harness.handles import find_handle
from harness.planning.commands import command_of_stored
from harness.planning.plan import Plan, make_plan
from harness.results.reference import find_reference
from harness.results.store import Store

# Digits that tell runs apart, and as many runs as a name names.
_DIGITS, _FEW = 12, 3


def plan_of_keys(
    layout: Layout, beginnings: Iterable[str], *, reference: bool, mirrors: Sequence[Path] = ()
) -> Plan:
    """These runs, each by the beginning of its key: as they were made here, or with `reference` as committed.

    A split that is not kept any more is made again.
    """
    store = Store(layout.runs)
    found = {one.key: one for one in (find_handle(layout, store, beginning) for beginning in beginnings)}
    for key, one in found.items():
        if reference and key not in find_reference(layout, key):
            what, todo = "is no committed result", "leave --reference out"
        elif not reference and one.folder is None:
            what, todo = "was not run on this machine", "add --reference: as it is committed, without predictions"
        else:
            continue
        raise UsageError(f"{key[:_DIGITS]} {what}", where=one.where, todo=todo)
    names = [key[:_DIGITS] for key in found]
    jobs = [one.planned.job for one in found.values()]
    plan = make_plan(layout, few_in_line(names, _FEW), jobs, mirrors=mirrors)
    for key, cell in zip(found, plan.cells, strict=True):
        if cell.key is None:
            raise UsageError(
                f"{key[:_DIGITS]} can't be planned today: {cell.verdict}: {cell.reason}",
                where=cell.job.label,
                todo="put that right, and export it then",
            )
        if cell.key != key:
            raise UsageError(
                f"{key[:_DIGITS]} is of code, an environment or data that has changed since",
                where=cell.job.label,
                todo=f"run it again: {command_of_stored(layout, cell.job)}",
            )
    return plan
