"""Outcomes of runs that never were, for tests of what is asked of a container and what becomes of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.runs import Outcome, RunRequest
from harness.images import BuiltImage
from tests.runs.test_container import FACTS

IMAGE = BuiltImage(
    engine="docker",
    name="permafrost/x:1",
    image_id="sha256:1",
    environment_tree="e",
    code_tree="c",
    size_bytes=2_400_000,
)
ENGINE = cast(Engine, SimpleNamespace(facts=FACTS))


def outcome_of(
    folder: Path,
    verdict: Verdict = Verdict.OK,
    files: Mapping[str, bytes] | None = None,
    *,
    log: bytes = b"last words\n",
    **more: Any,
) -> Outcome:
    """A run that ended so and left these files and this log in a folder."""
    out = folder / "collected"
    out.mkdir(parents=True)
    (folder / "log.txt").write_bytes(log)
    for name, content in (files or {}).items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(content)
    values: dict[str, Any] = dict.fromkeys(Outcome.__dataclass_fields__)
    values |= {"verdict": verdict, "reason": "made up", "log": folder / "log.txt", "out_folder": out}
    values |= {"ignored": (), "warnings": (), "attempts": (), "engine": FACTS, "folder": folder}
    values |= {"started": "2026-01-01T00:00:00Z", "image_id": IMAGE.image_id, "wall_s": 2.5, **more}
    return Outcome(**values)


class Execute:
    """In the place of `execute`: keeps what it was asked, looks at the folders of its time, and answers."""

    def __init__(
        self, answer: Callable[[int], Outcome], look: Callable[[RunRequest], Any] = lambda request: None
    ) -> None:
        self._answer, self._look = answer, look
        self.engines: list[Any] = []
        self.requests: list[RunRequest] = []
        self.seen: list[Any] = []
        self.named: list[dict[str, Any]] = []

    def __call__(self, engine: Any, request: RunRequest, **named: Any) -> Outcome:
        self.engines.append(engine)
        self.requests.append(request)
        self.named.append(named)
        self.seen.append(self._look(request))
        return self._answer(len(self.requests))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
