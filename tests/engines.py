"""Fixtures for real engines, and a small image: this machine's own Python, and the init program of our images."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout, find_layout
from harness.engine import Engine, find_engine
from harness.engine.probe import import_tree
from harness.execution.runs import INIT
from harness.images.deb import open_data
from harness.images.fetch import fetch_parts, find_sources
from harness.images.locks import read_debian
from harness.images.parts import checked_part
from harness.images.receipts import building

_LEFT_OUT = {"__pycache__", "test", "idlelib", "tkinter", "ensurepip", "lib2to3", "pydoc_data", "site-packages"}
_LEFT_OUT |= {"dist-packages", "turtledemo", "unittest", "distutils"}


@dataclass(frozen=True)
class ProbeImage:
    """An image with a Python interpreter, on one engine."""

    name: str
    image_id: str
    entrypoint: tuple[str, ...]


def _find(layout: Layout, only: str | None) -> Engine:
    try:
        found = find_engine(layout, only=only)
    except EngineError as error:
        pytest.skip(f"needs {only or 'a container engine'}: {error.what} ({error.where})")
    if only not in (None, found.name):
        # an engine that the environment names is never overruled
        found.close()
        pytest.skip(f"needs {only}: the environment names {found.name}")
    return found


@pytest.fixture(scope="session")
def engine(repository: Layout) -> Iterator[Engine]:
    """Whatever engine is here; served if only programs exist; nothing is installed."""
    with _find(repository, None) as found:
        yield found


@pytest.fixture(scope="session")
def docker_engine(repository: Layout) -> Iterator[Engine]:
    """Docker, answering or served."""
    with _find(repository, "docker") as found:
        yield found


@pytest.fixture(scope="session")
def podman_engine(repository: Layout) -> Iterator[Engine]:
    """Podman, answering or served."""
    with _find(repository, "podman") as found:
        yield found


@pytest.fixture(scope="session", params=["docker", "podman"])
def any_engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


@pytest.fixture(scope="session")
def probe_image(any_engine: Engine) -> ProbeImage:
    """The probe image on the engine of the test."""
    return make_probe_image(any_engine)


def make_probe_image(engine: Engine) -> ProbeImage:
    """Import the probe image under a name that tells its content, or take the one that is there."""
    program, archive = _python_tree()
    name = f"permafrost-test/probe-{hashlib.sha256(archive).hexdigest()[:16]}"
    full_name = f"localhost/{name}:latest"
    if not (image_id := engine.image_id(full_name)):
        # two that import it at once would take the name from each other
        with building(find_layout()):
            image_id = engine.image_id(full_name) or import_tree(engine, archive, name)
    return ProbeImage(name, image_id, (*INIT, program, "-I", "-c"))


@functools.cache
def _python_tree() -> tuple[str, bytes]:
    """This machine's Python, its standard library and its shared libraries, under their own names."""
    program = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    library = Path(sysconfig.get_path("stdlib"))
    files: dict[str, Path] = {program: Path(program)}
    needed = {program}
    for folder, inner, names in os.walk(library):
        # what is left out is not even looked into: packages installed here can be many times the library
        inner[:] = [name for name in inner if name not in _LEFT_OUT and not name.startswith("config-")]
        for name in names:
            path = Path(folder, name)
            if path.is_file():
                files[str(path)] = path
                if path.suffix == ".so":
                    needed.add(str(path))
    listed = subprocess.run(["ldd", *sorted(needed)], capture_output=True, text=True, check=False).stdout
    for name in sorted(set(re.findall(r"(/\S+\.so\S*) \(0x", listed))):
        files[name] = Path(name)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for place, mode in (
            ("tmp", 0o1777),
            *((name, 0o755) for name in ("in", "out", "proc", "sys", "dev", "etc")),
        ):
            entry = tarfile.TarInfo(place)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        entry = tarfile.TarInfo(INIT[0].lstrip("/"))
        init = _init_program()
        entry.size, entry.mode = len(init), 0o755
        archive.addfile(entry, io.BytesIO(init))
        for name, source in sorted(files.items()):
            content = source.read_bytes()
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return program, buffer.getvalue()


def _init_program() -> bytes:
    """Process 1 of our images, out of the package that their base locks."""
    layout = find_layout()
    path = layout.containers / "_base" / "debian.lock"
    (package,) = (one for one in read_debian(path) if one.name == "tini")
    fetch_parts(layout, [package.part], find_sources(layout, network=True))
    with open_data(checked_part(layout, package.part)) as archive:
        for entry in archive:
            if entry.name.removeprefix(".") == INIT[0] and (stream := archive.extractfile(entry)):
                return stream.read()
    raise AssertionError(f"{package.name} has no {INIT[0]}")
