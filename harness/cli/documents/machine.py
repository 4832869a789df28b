"""The state of this machine, as answers."""

from __future__ import annotations

from harness.cli.documents.forms import Answer, Fields
from harness.upkeep.clean import Removal
from harness.upkeep.doctor import Examination


class Examinations(Answer):
    """`harness doctor`."""

    ready: bool
    checks: list[Examination]


class NodeExaminations(Answer):
    """`harness doctor --on`: the checks of each worker, by its address."""

    ready: bool
    nodes: dict[str, list[Examination]]


class Removals(Answer):
    """`harness clean`: what was removed, or with --dry-run would be."""

    rows: list[Removal]


class ReachedEngine(Answer):
    """`harness engine start`: where an engine answers, and whether the harness keeps it running."""

    engine: str
    socket: str
    kept: bool


class EngineVariables(ReachedEngine):
    """`harness engine env`: what tells docker or podman of it."""

    variables: dict[str, str]


class StoppedEngine(Fields):
    """An engine that is kept no longer; `in_use`: it stops with its last user."""

    socket: str
    in_use: bool


class StoppedEngines(Answer):
    """`harness engine stop`."""

    rows: list[StoppedEngine]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "clean": (Removals,),
    "doctor": (Examinations, NodeExaminations),
    "engine env": (EngineVariables,),
    "engine start": (ReachedEngine,),
    "engine stop": (StoppedEngines,),
}
