"""A machine whose engine is stood in for, and modules whose answers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import api
from harness.api import audits, jobs, predictions, runs
from harness.base.layout import Layout
from harness.base.progress import Silent

Told = list[tuple[tuple[Any, ...], dict[str, Any]]]
Put = Callable[..., Told]


class Listener(Silent):
    """Progress that keeps what a person is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass(frozen=True)
class Machine:
    """A repository with a mirror, and the engine that is found where it is asked for."""

    repository: api.Repository
    engine: object
    asked: Told

    @property
    def layout(self) -> Layout:
        return self.repository.layout


ENGINE = SimpleNamespace(name="docker", facts=SimpleNamespace(version="20.10"))


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """What a module calls is answered by `answer`; with what it was called."""

    def in_place(module: Any, name: str, answer: Any = None) -> Told:
        told: Told = []

        def stand_in(*own: Any, **named: Any) -> Any:
            told.append((own, named))
            return answer

        monkeypatch.setattr(module, name, stand_in)
        return told

    return in_place


@pytest.fixture
def machine(fabricated: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    asked: Told = []

    @contextmanager
    def find(*own: Any, **named: Any) -> Iterator[object]:
        asked.append((own, named))
        yield ENGINE

    for module in (audits, jobs, predictions, runs):
        monkeypatch.setattr(module, "find_engine", find)
    return Machine(api.Repository(fabricated, (tmp_path,), True, "runsc"), ENGINE, asked)
