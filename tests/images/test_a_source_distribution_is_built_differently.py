"""Packages without wheels: fetched by sha256, compiled with the network off, the same on every engine and day."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import CorruptData, ImageError, ManifestError, MissingData
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, ensure_environment
from harness.images.build import record_environment
from harness.images.cards import load_environment
from harness.images.context import require_built
from harness.images.export import image_entries
from harness.images.fetch import PartSources, fetch_parts
from harness.images.identity import environment_image_name
from harness.images.locks import Wheel, format_wheels, read_wheels
from harness.images.parts import part_path
from harness.images.preparation import needed_layers
from harness.images.verify import verify_images
from harness.images.wheels import pip_download
from tests.images.making import Workbench

TOML = """summary = "made by a test"
extends = "_python"
check = ["/opt/venv/bin/python3", "-c", "import toy; assert toy.answer() == 42"]
[wheels]
from_source = ["toy==0.1"]
"""
# tells where and when it was compiled, as careless packages do
CODE = """const char *told = __FILE__ " " __DATE__ " " __TIME__;
int answer(void) { return 42; }
"""
SETUP = """from setuptools import Extension, setup
setup(name="toy", version="0.1", py_modules=["toy"], ext_modules=[Extension("toy_compiled", ["toy.c"])])
"""
MODULE = """import ctypes, pathlib
found = next(pathlib.Path(__file__).parent.glob("toy_compiled*.so"))
answer = ctypes.CDLL(str(found)).answer
"""
# an index's file can be asked for its name without setuptools, which this machine may not have
BACKEND = """import pathlib
def prepare_metadata_for_build_wheel(folder, settings=None):
    facts = pathlib.Path(folder, "toy-0.1.dist-info")
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\\nName: toy\\nVersion: 0.1\\n")
    return facts.name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def sdist(folder: Path, files: dict[str, str]) -> Path:
    """A source distribution made by hand."""
    inside = folder / "toy-0.1"
    inside.mkdir(parents=True)
    for name, text in {"PKG-INFO": "Metadata-Version: 1.0\nName: toy\nVersion: 0.1\n", **files}.items():
        (inside / name).write_text(text)
    path = folder / "toy-0.1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(inside, inside.name)
    return path


def locked(path: Path) -> Wheel:
    return Wheel("toy", "0.1", hashlib.sha256(path.read_bytes()).hexdigest(), path.name, flags="-O2")


@pytest.fixture
def toy(bench: Workbench, tmp_path: Path) -> Workbench:
    """An environment that asks for a package of C code, locked and in the store."""
    source = sdist(tmp_path / "made", {"setup.py": SETUP, "toy.py": MODULE, "toy.c": CODE})
    folder = bench.environment("toy", TOML)
    (pip,) = (wheel for wheel in read_wheels(bench.layout.containers / "libmf/wheels.cpu.lock") if wheel.installer)
    (folder / "wheels.cpu.lock").write_text(format_wheels([pip, locked(source)], name="toy"))
    bench.store(source, part_path(bench.layout, locked(source).part))
    return bench


def test_a_source_line_is_read_as_it_was_written(tmp_path: Path) -> None:
    line = Wheel("libmf", "0.9.2", "a" * 64, "libmf-0.9.2.tar.gz", flags="-O2 -march=x86-64")
    path = tmp_path / "wheels.cpu.lock"
    path.write_text(format_wheels([line], name="x"))
    assert read_wheels(path) == [line]
    assert line.part.kind == "source"


@pytest.mark.parametrize("end", ["", " installer", " built with "])
def test_a_source_without_its_flags_is_refused(tmp_path: Path, end: str) -> None:
    path = tmp_path / "wheels.cpu.lock"
    path.write_text(f"toy==0.1 --hash=sha256:{'a' * 64}  # toy-0.1.tar.gz{end}\n")
    with pytest.raises(ManifestError, match="not a lock line"):
        read_wheels(path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('from_source = ["toy"]', "NAME==VERSION"),
        ('from_source = ["toy>=0.1"]', "NAME==VERSION"),
        ('from_source = ["https://example.org/toy.tar.gz"]', "NAME==VERSION"),
        ('from_source = ["toy==0.1"]\nflags = "-O3 -march=native"', "depend on the machine"),
        ('from_source = ["toy==0.1"]\nflags = ""', "flags"),
    ],
)
def test_a_request_that_is_not_exact_or_not_portable_is_refused(bench: Workbench, wrong: str, said: str) -> None:
    bench.environment("toy", TOML.replace('from_source = ["toy==0.1"]', wrong))
    with pytest.raises(ManifestError, match=said):
        load_environment(bench.layout, "toy")


def test_the_compiler_is_fetched_and_built_only_for_who_needs_it(toy: Workbench) -> None:
    assert "_compiler" in [environment.name for environment, _ in needed_layers(toy.layout, ["toy"])]
    assert "_compiler" not in [environment.name for environment, _ in needed_layers(toy.layout, ["_numpy"])]


def test_a_source_comes_from_the_users_own_index_by_its_sha256(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"pyproject.toml": PYPROJECT, "backend.py": BACKEND}
    part = locked(sdist(tmp_path / "index", files)).part
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    found = pip_download(part, tmp_path / "got")
    assert hashlib.sha256(found.read_bytes()).hexdigest() == part.sha256
    with pytest.raises(MissingData, match="can't download"):
        pip_download(replace(part, sha256="a" * 64), tmp_path / "other")


def copied(requirement: str, folder: Path, *more: Path) -> subprocess.CompletedProcess[str]:
    """What the program that copies a source distribution says, with more folders to import from."""
    command = [sys.executable, "-P", "-m", "harness.images.pip_front", requirement, str(folder)]
    path = os.pathsep.join([*map(str, more), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_program_that_copies_a_source_says_in_a_line_why_it_can_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last line is what a person is told."""
    sdist(tmp_path / "index", {"pyproject.toml": PYPROJECT, "backend.py": BACKEND})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "got").mkdir()
    done = copied("toy==0.1", tmp_path / "got")
    assert (done.returncode, done.stdout) == (0, "toy-0.1.tar.gz\n")
    # a part of pip that is not there any more
    parts = tmp_path / "another" / "pip" / "_internal"
    parts.mkdir(parents=True)
    for file in (parts / "__init__.py", parts.parent / "__init__.py", parts / "commands.py"):
        file.write_text("")
    absent, other = tmp_path / "absent", tmp_path / "another"
    for answer, said in (
        (copied("toy==0.1", absent), f"[Errno 2] No such file or directory: '{absent}/toy-0.1.tar.gz'"),
        (copied("toy==0.2", tmp_path / "got"), "no index has a source distribution of this version"),
        (
            copied("toy==0.1", tmp_path / "got", other),
            "the parts of this pip have other names: module 'pip._internal.commands' has no attribute "
            "'create_command'",
        ),
    ):
        assert (answer.returncode, answer.stdout) == (1, "")
        assert answer.stderr.splitlines()[-1] == said and "Traceback" not in answer.stderr


def test_a_swapped_source_is_refused(toy: Workbench, tmp_path: Path) -> None:
    layout = Layout(root=toy.layout.root, cache=tmp_path / "cache", local=tmp_path)
    (part,) = (
        wheel.part for wheel in read_wheels(layout.containers / "toy/wheels.cpu.lock") if wheel.name == "toy"
    )
    sdist(tmp_path / "swapped", {"setup.py": "raise SystemExit"})
    with pytest.raises(CorruptData, match="not the file that was locked"):
        fetch_parts(layout, [part], PartSources(mirrors=[tmp_path / "swapped"], network=False))


def test_what_was_built_is_required_by_its_own_hash(tmp_path: Path) -> None:
    wheel = tmp_path / "toy-0.1-cp311-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"built")
    (tmp_path / "requirements.txt").write_text("numpy==1.0\n")
    require_built(tmp_path, [wheel])
    sha256 = hashlib.sha256(b"built").hexdigest()
    expected = f"numpy==1.0\ntoy==0.1 --hash=sha256:{sha256}\n"
    assert (tmp_path / "requirements.txt").read_text() == expected


@pytest.mark.thorough
@pytest.mark.engine
def test_both_engines_build_the_same_and_leave_the_compiler_behind(
    docker_engine: Engine, podman_engine: Engine, toy: Workbench
) -> None:
    record = record_environment(docker_engine, toy.layout, "toy")
    name = environment_image_name("toy", record.tree)
    for engine in (docker_engine, podman_engine):
        # the second engine compiles now, and must come to the same tree
        assert ensure_environment(engine, toy.layout, "toy").environment_tree == record.tree
        assert [finding for finding in verify_images(engine, toy.layout, ["toy"]) if finding.fault] == []
        entries = image_entries(engine, name)
        assert not [path for path in entries if path.endswith(("/bin/gcc", "/cc1", "/setuptools"))]
        assert not any(path.startswith("opt/wheels") for path in entries)
        engine.client.images.remove(name, force=True)


@pytest.mark.engine
def test_a_package_that_does_not_compile_says_why(docker_engine: Engine, toy: Workbench, tmp_path: Path) -> None:
    # whose pip the environment takes, and whose compiler
    toy.fetch("libmf")
    lock = toy.layout.containers / "toy" / "wheels.cpu.lock"
    broken = sdist(tmp_path / "broken", {"setup.py": SETUP, "toy.py": MODULE, "toy.c": "int answer(void) {"})
    wheels = [wheel for wheel in read_wheels(lock) if wheel.installer]
    lock.write_text(format_wheels([*wheels, locked(broken)], name="toy"))
    toy.store(broken, part_path(toy.layout, locked(broken).part))
    with pytest.raises(ImageError, match=r"toy\.c"):
        record_environment(docker_engine, toy.layout, "toy", supply=Supply(network=False))
