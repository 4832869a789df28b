"""A runtime that a person chose is the one that is used and recorded, or is refused before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.engine import Engine, find
from harness.engine.facts import read_facts
from harness.engine.find import find_engine

INFO = {"Runtimes": {"runc": {}, "runsc": {}}, "DefaultRuntime": "runc", "SecurityOptions": ["name=seccomp"]}
PODMAN = {"Components": [{"Name": "Podman Engine"}]}


class Stub(Engine):
    """An engine that tells what it is told."""

    def __init__(self, version: Mapping[str, object]) -> None:
        self.closed = False
        self._runtime = ""
        self.socket = Path("/s")
        self.facts = read_facts(version, INFO, api_version="1.41", socket="/s")

    @property
    def api(self) -> object:
        """The client, as far as it is asked."""
        return SimpleNamespace(info=lambda: INFO)

    def close(self) -> None:
        """Take note."""
        self.closed = True


def test_a_known_one_is_used_and_recorded() -> None:
    engine = Stub({})
    engine.use_runtime("runsc")
    assert engine.facts.runtime == "runsc"


def test_an_unknown_one_is_refused_with_those_there_are() -> None:
    engine = Stub({})
    with pytest.raises(UsageError, match="'kata'") as refused:
        engine.use_runtime("kata")
    assert "runc, runsc" in refused.value.where and refused.value.todo and engine.facts.runtime == "runc"


def test_podman_takes_only_its_own() -> None:
    """It would accept another in silence, and use its own all the same."""
    engine = Stub(PODMAN)
    with pytest.raises(UsageError, match="'runsc'"):
        engine.use_runtime("runsc")
    engine.use_runtime("runc")


@pytest.mark.parametrize("how", ["asked", "variable", "asked against the variable"])
def test_every_command_can_be_told(how: str, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Stub({})
    monkeypatch.setattr(find, "_find", lambda *arguments: engine)
    variable = {"asked": {}, "variable": {"PERMAFROST_RUNTIME": "runsc"}}.get(
        how, {"PERMAFROST_RUNTIME": "no-such"}
    )
    found = find_engine(layout, runtime=None if how == "variable" else "runsc", environment=variable)
    assert found.facts.runtime == "runsc"


def test_an_engine_that_does_not_have_it_is_let_go(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Stub({})
    monkeypatch.setattr(find, "_find", lambda *arguments: engine)
    with pytest.raises(UsageError):
        find_engine(layout, runtime="no-such", environment={})
    assert engine.closed
