"""The workers of a cluster, each examined where it is: what would fail there after hours is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.layout import Layout
from harness.execution.cluster import Cluster, wanted_file
from harness.execution.errands import clock_ahead, own_meaning, refusal
from harness.upkeep.doctor import Examination, State, examine

# Clocks that differ by more make a log whose times lead astray.
_CLOCK_S = 5.0
_LOST = [
    Examination("worker", State.FAIL, "it was lost while it was examined", "look at its log, and start it again")
]


def examine_nodes(
    cluster: Cluster, layout: Layout, mirrors: Sequence[Path] = (), *, runtime: str | None = None
) -> Iterator[tuple[str, list[Examination]]]:
    """Each worker with its checks, as soon as it has answered. One that can do nothing for us is asked no more."""
    with wanted_file(layout) as wanted:
        arguments = (layout, wanted, own_meaning(), tuple(mirrors), runtime)
        for address, checks in cluster.ask_each(_examined, *arguments):
            yield address, _LOST if checks is None else checks


def _examined(
    layout: Layout, wanted: Path, meaning: str, mirrors: Sequence[Path], runtime: str | None
) -> list[Examination]:
    """The checks of the machine that this runs on."""
    if reason := refusal(wanted, meaning):
        todo = (
            "start it in the same tree, where the same folder of results has the same name, mounted so that locks "
            "reach all machines, and let it keep its time (chrony, ntp)"
        )
        return [Examination("worker", State.FAIL, reason, todo)]
    return [
        Examination("worker", State.OK, "the same harness, and it sees the folder of results"),
        _clock(clock_ahead(wanted)),
        *examine(layout, mirrors, runtime=runtime),
    ]


def _clock(ahead: float) -> Examination:
    if abs(ahead) <= _CLOCK_S:
        return Examination("clock", State.OK, f"no more than {_CLOCK_S:.0f} s from that of this command")
    where = "ahead" if ahead > 0 else "behind"
    todo = "let both machines keep their time (chrony, ntp): records and the log say when things were"
    return Examination("clock", State.WARN, f"{abs(ahead):.0f} s {where}", todo)
