"""conda-lock for real, against a channel made here: lock it, install it by hash, refuse everything else."""

from __future__ import annotations

import asyncio
import bz2
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.base.errors import CorruptData, ManifestError, MissingData, UsageError
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, ensure_environment
from harness.images.build import record_environment
from harness.images.conda import read_conda
from harness.images.conda_front import main as conda_front
from harness.images.fetch import PartSources, fetch_parts
from harness.images.identity import environment_image_name
from harness.images.lock import lock_environment
from harness.images.parts import part_path
from harness.images.verify import verify_images
from tests.images.making import EPOCH, Workbench

pytestmark = pytest.mark.skipif(
    find_spec("conda_lock") is None or find_spec("rattler") is None, reason="needs conda-lock and py-rattler"
)

TOML = """summary = "made by a test"
extends = "_base"
language = "r"
check = ["toytool"]
[conda]
"""
YML = "channels: [toys]\ndependencies: [toytool >=0.2]\n"


def _package(channel: Path, name: str, version: str, files: dict[str, bytes], depends: list[str]) -> Path:
    """A conda package made by hand."""
    index = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": depends}
    index |= {"subdir": "linux-64", "arch": "x86_64", "platform": "linux", "timestamp": EPOCH * 1000}
    paths = [
        {
            "_path": path,
            "path_type": "hardlink",
            "sha256": hashlib.sha256(content).hexdigest(),
            "size_in_bytes": len(content),
            **(
                {"prefix_placeholder": "/where/it/was/built", "file_mode": "text"}
                if b"/where/it" in content
                else {}
            ),
        }
        for path, content in files.items()
    ]
    members = {
        "info/index.json": json.dumps(index).encode(),
        "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}).encode(),
        "info/files": "".join(f"{path}\n" for path in files).encode(),
        "info/about.json": b"{}",
        **files,
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in sorted(members.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime, entry.mode = len(content), EPOCH, 0o755 if path.startswith("bin/") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    target = channel / "linux-64" / f"{name}-{version}-0.tar.bz2"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(bz2.compress(buffer.getvalue()))
    return target


@pytest.fixture(scope="session")
def channels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the channel `toys`: a tool that needs its library, and two versions of the library."""
    root = tmp_path_factory.mktemp("channels")
    tool = b'#!/bin/sh\nread -r line < /where/it/was/built/lib/toy.txt\n[ "$line" = "one point two" ]\n'
    _package(root / "toys", "toylib", "1.0", {"lib/toy.txt": b"one\n"}, [])
    _package(root / "toys", "toylib", "1.2", {"lib/toy.txt": b"one point two\n"}, [])
    _package(root / "toys", "toytool", "0.3", {"bin/toytool": tool}, ["toylib >=1.1,<2"])
    asyncio.run(import_module("rattler.index").index_fs(root / "toys"))
    return root


def _ask(bench: Workbench) -> Path:
    """The environment `toys` as a person asks for it; its folder."""
    folder = bench.environment("toys", TOML)
    (folder / "environment.yml").write_text(YML)
    return folder


@pytest.fixture(scope="module")
def lock(repository: Layout, channels: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of its lock, made once."""
    bench = Workbench(repository, tmp_path_factory.mktemp("locked"))
    folder = _ask(bench)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERMAFROST_CONDA_MIRROR", str(channels))
        lock_environment(bench.layout, "toys", say=lambda line: None)
    return (folder / "conda.lock").read_text()


@pytest.fixture
def toys(bench: Workbench, channels: Path, lock: str, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """An environment asked for as environment.yml and locked."""
    monkeypatch.setenv("PERMAFROST_CONDA_MIRROR", str(channels))
    (_ask(bench) / "conda.lock").write_text(lock)
    return bench


def test_the_lock_is_exact_names_no_machine_and_comes_out_twice_the_same(toys: Workbench, channels: Path) -> None:
    lock = toys.layout.containers / "toys" / "conda.lock"
    text = lock.read_text()
    assert [part.path for part in read_conda(lock)] == [
        "toys/linux-64/toylib-1.2-0.tar.bz2",
        "toys/linux-64/toytool-0.3-0.tar.bz2",
    ]
    for part in read_conda(lock):
        assert hashlib.sha256((channels / part.path).read_bytes()).hexdigest() == part.sha256
    assert str(channels) not in text
    assert "://" not in text
    lock_environment(toys.layout, "toys", say=lambda line: None)
    assert lock.read_text() == text
    # conda-lock still reads it as its own file.
    read = "import sys, pathlib, conda_lock.lockfile as l; print([p.name for p in l.parse_conda_lock_file("
    read += "pathlib.Path(sys.argv[1])).package])"
    done = subprocess.run([sys.executable, "-c", read, str(lock)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['toylib', 'toytool']"


def test_packages_are_fetched_by_sha256_and_others_refused(
    toys: Workbench, channels: Path, tmp_path: Path
) -> None:
    layout = Layout(root=toys.layout.root, cache=tmp_path / "cache", local=tmp_path)
    parts = read_conda(layout.containers / "toys" / "conda.lock")
    assert fetch_parts(layout, parts, PartSources()) == 2
    part_path(layout, parts[0]).unlink()
    swapped = tmp_path / "swapped" / parts[0].path
    swapped.parent.mkdir(parents=True)
    swapped.write_bytes((channels / "toys/linux-64/toylib-1.0-0.tar.bz2").read_bytes())
    with pytest.raises(CorruptData, match="not the file that was locked"):
        fetch_parts(layout, parts, PartSources(mirrors=[tmp_path / "swapped"], network=False))
    with pytest.raises(MissingData, match="none of its sources"):
        fetch_parts(layout, parts, PartSources(mirrors=[tmp_path / "nothing"], network=False))


@pytest.mark.thorough
@pytest.mark.engine
def test_an_image_holds_exactly_the_locked_packages_on_both_engines(
    docker_engine: Engine, podman_engine: Engine, toys: Workbench, channels: Path
) -> None:
    for part in read_conda(toys.layout.containers / "toys" / "conda.lock"):
        toys.store(channels / part.path, part_path(toys.layout, part))
    record = record_environment(docker_engine, toys.layout, "toys")
    name = environment_image_name("toys", record.tree)
    for engine in (docker_engine, podman_engine):
        # The second engine builds it now, and compares with what the first one gave.
        assert ensure_environment(engine, toys.layout, "toys").environment_tree == record.tree
        findings = list(verify_images(engine, toys.layout, ["toys"]))
        assert [finding for finding in findings if finding.fault] == []
        assert "check of toys" in {finding.detail for finding in findings}
        engine.client.images.remove(name, force=True)


@pytest.mark.engine
def test_a_package_that_is_not_the_locked_one_stops_the_build(
    docker_engine: Engine, toys: Workbench, channels: Path
) -> None:
    toys.fetch("_conda")
    parts = read_conda(toys.layout.containers / "toys" / "conda.lock")
    for part in parts:
        toys.store(channels / part.path, part_path(toys.layout, part))
    toys.store(channels / "toys/linux-64/toylib-1.0-0.tar.bz2", part_path(toys.layout, parts[0]))
    with pytest.raises(CorruptData, match="changed after it was fetched"):
        record_environment(docker_engine, toys.layout, "toys", supply=Supply(network=False))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("channels: [toys]\ndependencies: [nothing-like-this]\n", UsageError, "no solution"),
        ("channels: [toys]\ndependencies: [toytool, {pip: [numpy]}]\n", ManifestError, "packages of pip"),
        ("channels: ['https://example.org/toys']\ndependencies: [toytool]\n", ManifestError, "must be names"),
        ("dependencies: [toytool]\n", ManifestError, "must be names"),
    ],
)
def test_a_wrong_request_is_answered_with_what_to_do(
    toys: Workbench, text: str, error: type[Exception], said: str
) -> None:
    path = toys.layout.containers / "toys" / "environment.yml"
    path.write_text(text)
    with pytest.raises(error) as caught:
        lock_environment(toys.layout, "toys", say=lambda line: None)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("change", ['"sha256": "', '"url": "', '"package"'])
def test_a_broken_lock_is_refused(toys: Workbench, change: str) -> None:
    lock = toys.layout.containers / "toys" / "conda.lock"
    lock.write_text(lock.read_text().replace(change, change[:-1] + "x" if change.endswith('"') else change, 1))
    lock.write_text(lock.read_text().replace('"url": "toys', '"url": "file:///toys', 1))
    with pytest.raises(ManifestError, match=r"not a conda\.lock"):
        read_conda(lock)


def test_the_small_conda_answers_only_what_conda_lock_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert conda_front(["--version"]).startswith("conda ")
    assert "conda_version" in conda_front(["info", "--json"])
    with pytest.raises(SystemExit, match="only `create --dry-run`"):
        conda_front(["install", "x"])


@pytest.mark.engine
def test_the_installer_environment_is_named_where_it_is_missing(
    docker_engine: Engine, toys: Workbench, channels: Path
) -> None:
    for part in read_conda(toys.layout.containers / "toys" / "conda.lock"):
        toys.store(channels / part.path, part_path(toys.layout, part))
    path = toys.layout.containers / "toys" / "environment.toml"
    path.write_text(TOML + 'installer = "_nothing"\n')
    with pytest.raises(UsageError, match="_nothing"):
        record_environment(docker_engine, toys.layout, "toys", supply=Supply(network=False))
