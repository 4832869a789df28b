"""An engine of the tests' own, that may be killed, stopped and paused, and the processes behind it."""

from __future__ import annotations

import gc
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.engine import Engine
from harness.engine.find import serve_docker
from harness.engine.programs import find_program, is_root
from harness.engine.service import mounts_below, service_folder
from harness.engine.sockets import silence

# the client library does not close the socket of a refused connection, as there is when an engine dies
UNCLOSED = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module")
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of our own, so that the served engine is nobody else's."""
    if not (is_root() and find_program("dockerd")):
        pytest.skip("needs root and the program dockerd, to serve an engine that may be killed")
    cache = tmp_path_factory.mktemp("cache")
    yield cache
    folder = service_folder("docker", cache, {})
    assert silence(folder / "engine.sock"), "the last one out must have stopped the engine"
    assert mounts_below(cache) == [], "nothing may stay mounted, or the cache could not be removed"
    shutil.rmtree(folder.parent)


@pytest.fixture
def served(private_cache: Path) -> Iterator[Engine]:
    """The engine of that cache."""
    engine = serve_docker(private_cache, {})
    assert engine is not None
    with engine:
        yield engine
    # what the client library left unclosed is to be noticed here and not in a later test
    gc.collect()


def pid_of(engine: Engine) -> int:
    """The engine's own process."""
    return int((engine.socket.parent / "pid").read_text())


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    children = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                children.append(int(status.parent.name))
        except (OSError, IndexError):
            continue
    return children


def containerd_of(engine: Engine) -> int | None:
    """The process of containerd that serves this engine alone; None while there is none."""
    return next((pid for pid in children_of(pid_of(engine)) if _name_of(pid) == "containerd"), None)


def shims_of(engine: Engine) -> list[int]:
    """The processes that watch this engine's containers."""
    folder = str(engine.socket.parent).encode()
    shims = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes()
        except OSError:
            continue
        if b"containerd-shim" in words.split(b"\0")[0] and folder in words:
            shims.append(int(command.parent.name))
    return shims


def when_running(engine: Engine, act: Callable[[str], object], after: float = 0.5) -> threading.Thread:
    """Act on a container of ours once it has run for a moment."""

    def wait_and_act() -> None:
        for _ in range(400):
            if found := engine.client.api.containers(filters={"label": "permafrost.run"}):
                time.sleep(after)
                act(found[0]["Id"])
                return
            time.sleep(0.05)

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


def main_process(engine: Engine, container: str) -> int:
    """The first process of a container."""
    return int(engine.client.api.inspect_container(container)["State"]["Pid"])


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
