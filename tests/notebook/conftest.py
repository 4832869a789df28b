"""Real kernels in real containers, spoken to by Jupyter's own client."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from harness.base.layout import Layout
from harness.engine import Engine

_PATIENCE = 300


@dataclass(frozen=True)
class Answer:
    """How a cell ended, and all that it printed or displayed."""

    status: str
    text: str


@dataclass(frozen=True)
class Cells:
    """A client that waits for answers."""

    client: Any

    def __call__(self, code: str) -> Answer:
        """Run one cell to its end."""
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            said.append(
                content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue", "")
            )

        reply = self.client.execute_interactive(code, timeout=_PATIENCE, output_hook=hear)
        if reply["content"]["status"] == "aborted":
            # a cell that failed just before cancels those that come within a moment
            time.sleep(0.5)
            return self(code)
        return Answer(reply["content"]["status"], "".join(said))

    def interrupt(self, code: str, ask: Callable[[], object] | None = None) -> float:
        """Start a cell that does not end, interrupt it (by message); the seconds until it had ended."""
        asked = self.client.execute(code)
        time.sleep(2)
        began = time.monotonic()
        if ask is not None:
            ask()
        else:
            self.client.control_channel.send(self.client.session.msg("interrupt_request", {}))
        while self.client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != asked:
            pass
        taken = time.monotonic() - began
        # a failed cell cancels those that wait; nothing must wait when the next one is sent
        time.sleep(0.5)
        return taken

    def completions(self, code: str) -> list[str]:
        """What the kernel would complete it to."""
        matches: list[str] = self.client.complete(code, reply=True, timeout=60)["content"]["matches"]
        return matches


@dataclass(frozen=True)
class Door:
    """`harness notebook` in a process of its own."""

    process: subprocess.Popen[str]
    told: str
    cells: Cells


@pytest.fixture
def environment(layout: Layout) -> dict[str, str]:
    """Variables with which `harness` keeps its runs in a folder of the test's own."""
    return {**os.environ, "PERMAFROST_RESULTS": str(layout.local)}


@contextmanager
def door(*arguments: str, environment: Mapping[str, str], folder: Path | None = None) -> Iterator[Door]:
    """An open kernel, which is gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "notebook", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    client = BlockingKernelClient()
    try:
        told = ""
        for line in process.stdout:
            told += line
            if "Ctrl-C" in line:
                break
        connection = re.search(r"--existing (\S+)", told)
        if connection is None:
            pytest.fail(told)
        client.load_connection_file(connection[1])
        client.start_channels()
        client.wait_for_ready(timeout=_PATIENCE)
        yield Door(process, told, Cells(client))
        client.stop_channels()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def open_door(engine: Engine, environment: dict[str, str]) -> Iterator[Callable[..., Door]]:
    """Opens kernels; closes them all at the end."""
    with ExitStack() as doors:
        yield lambda *arguments: doors.enter_context(door(*arguments, environment=environment))


@pytest.fixture
def kernels(engine: Engine, layout: Layout) -> Callable[[], list[str]]:
    """The containers of this test's kernels that are still there, after a moment to go."""

    def left() -> list[str]:
        found: list[str] = []
        for _ in range(100):
            containers = engine.api.containers(all=True, filters={"label": "permafrost.notebook"})
            labels = [container["Labels"].get("permafrost.harness", "") for container in containers]
            found = [label for label in labels if Path(label).is_relative_to(layout.local)]
            if not found:
                break
            time.sleep(0.1)
        return found

    return left
