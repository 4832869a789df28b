"""What pip and uv are asked, argument by argument, and how their answers are read."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.base.download import MOST_BYTES
from harness.base.errors import MissingData, UsageError
from harness.images import wheels
from harness.images.cards import WheelsPart
from harness.images.locks import Part, Wheel
from tests.core.word_for_word import said
from tests.images.programs import SHA, Runs

WHEEL = Part("wheel", "x-1-cp311-abi3.none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", SHA, 5, "x==1")


@pytest.mark.parametrize(
    ("file", "version", "implementation", "more"),
    [
        (
            WHEEL.file,
            "311",
            "cp",
            "--abi abi3 --abi none --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64",
        ),
        ("x-1-py3-none-any.whl", "3.11", "py", "--abi none --platform any"),
        ("x-1-py2.py3-none-any.whl", "3.11", "py", "--abi none --platform any"),
        ("x-1-py38-none-any.whl", "38", "py", "--abi none --platform any"),
        ("x-1-2-cp39-cp39-linux_x86_64.whl", "39", "cp", "--abi cp39 --platform linux_x86_64"),
    ],
)
def test_pip_is_asked_for_the_very_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, version: str, implementation: str, more: str
) -> None:
    required: list[str] = []
    runs = Runs(does=lambda command: required.append(Path(command[-1]).read_text()))
    monkeypatch.setattr(wheels, "run_bounded", runs)
    wheels._pip_download(Part("wheel", file, SHA, 5, "x==1"), tmp_path)
    assert runs.command[:-1] == [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-cache-dir", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(tmp_path)),
        *("--python-version", version, "--implementation", implementation, *more.split(), "--requirement"),
    ]
    assert runs.command[-1].endswith(".txt") and required == [f"x==1 --hash=sha256:{SHA}\n"]
    assert runs.more == ((5,), {})


@pytest.mark.parametrize("part", [None, Part("source", "x-1.tar.gz", SHA, 5, "x==1")])
def test_the_front_of_pip_is_asked_for_a_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: Part | None
) -> None:
    runs = Runs(out=" x-1.tar.gz\n")
    monkeypatch.setattr(wheels, "run_bounded", runs)
    assert wheels._copy_source("x==1", tmp_path, part=part) == tmp_path / "x-1.tar.gz"
    front = str(Path(wheels.__file__).parent / "pip_front.py")
    only = ["--sha256", SHA] if part else []
    assert runs.command == [sys.executable, "-P", front, *only, "x==1", str(tmp_path)]
    assert runs.more == ((5 if part else MOST_BYTES,), {})


@pytest.mark.parametrize(
    ("err", "size", "why"),
    [
        ("first\n  ERROR: no  \n\n", 5, "ERROR: no"),
        (" \n", 5, "no reason was given"),
        (os.strerror(errno.EFBIG), 5, "it is longer than the locked 5 bytes"),
        (os.strerror(errno.EFBIG), None, f"it is longer than the allowed {MOST_BYTES} bytes"),
    ],
)
def test_what_pip_could_not_download_is_said_in_its_last_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, err: str, size: int | None, why: str
) -> None:
    monkeypatch.setattr(wheels, "run_bounded", Runs(1, "out", err))
    with pytest.raises(MissingData) as failed:
        wheels.pip_download(Part("wheel", WHEEL.file, SHA, size, "x==1"), tmp_path)
    assert said(failed.value) == (
        f"pip can't download x==1: {why}",
        "the indexes of this system's pip configuration",
        "check `pip config list` and the network, or give a folder that holds it: --mirror DIR",
    )


@pytest.mark.parametrize("given", ["none", "another name", "another content", "right"])
@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_pips_file_is_the_one_that_is_wanted_or_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, kind: Any
) -> None:
    name = WHEEL.file if kind == "wheel" else "x-1.tar.gz"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # of "test"
    written = f"y{name}" if given == "another name" else name

    def write(_command: object) -> None:
        if given != "none":
            (tmp_path / "got" / written).write_text("text" if given == "another content" else "test")

    monkeypatch.setattr(wheels, "run_bounded", Runs(out=written, does=write))
    part = Part(kind, name, sha256, 4, "x==1")
    if given == "right":
        assert wheels.pip_download(part, tmp_path / "got") == tmp_path / "got" / name
        assert wheels.pip_download(part, tmp_path / "got").is_file(), "the folder may be there"
        return
    with pytest.raises(MissingData) as failed:
        wheels.pip_download(part, tmp_path / "got")
    assert failed.value.what == f"pip can't download {name}: it gives another file"


REQUEST = WheelsPart(
    python="3.12", requirements=["a>1", "b"], installer="pip==25", left_out={"z": "never", "y": "no"}
)
LOCK = """[[packages]]
name = "{name}"
version = "25"
wheels = [{{url = "https://h/p-25-py3-none-any.whl", hashes = {{md5 = "0", sha256 = "{sha}"}}, size = 3}}]
"""


def test_uv_solves_what_is_asked_for_and_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}

    def solve(command: list[str]) -> None:
        folder = Path(command[5]).parent
        given.update({path.name: path.read_text() for path in folder.iterdir()})
        (folder / "pylock.toml").write_text(LOCK.format(name="pip", sha=SHA) + LOCK.format(name="held", sha=SHA))
        assert {str(Path(one).parent) for one in (command[7], command[-1], command[-3])} == {str(folder)}
        command[5], command[7] = Path(command[5]).name, Path(command[7]).name
        command[-1], command[-3] = Path(command[-1]).name, Path(command[-3]).name

    runs = Runs(does=solve)
    monkeypatch.setattr("harness.images.wheels.subprocess.run", runs)
    monkeypatch.setattr(wheels, "find_spec", lambda name: name == "uv" or None)
    held = Wheel("held", "25", SHA, "p-25-py3-none-any.whl")
    found = wheels.lock_wheels(REQUEST, ["c==1"], [held, Wheel("pip", "25", SHA, "x")], where="here")
    assert found == [Wheel("pip", "25", SHA, "p-25-py3-none-any.whl", installer=True)] and found[0].size == 3
    assert runs.command == [
        *(sys.executable, "-m", "uv", "pip", "compile", "requirements.in", "-o", "pylock.toml", "--quiet"),
        *("--format", "pylock.toml", "--only-binary", ":all:", "--no-sources", "--python-version", "3.12"),
        *("--python-platform", "x86_64-manylinux_2_36"),
        *("--constraints", "constraints.txt", "--excludes", "excludes.txt"),
    ]
    assert runs.more == ((), {"capture_output": True, "text": True})
    assert given == {
        "requirements.in": "a>1\nb\nc==1\npip==25\n",
        "constraints.txt": "held==25\npip==25\n",
        "excludes.txt": "z\ny\n",
    }


@pytest.mark.parametrize("installer", ["pip", "pip==25", "pip<26", "pip>=24,<26", "pip >1"])
def test_the_installer_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch, installer: str) -> None:
    package = {"name": "pip", "version": "1", "wheels": [{"path": "p.whl", "hashes": {"sha256": SHA}}]}
    monkeypatch.setattr(wheels, "_solution", lambda *_: [package, {**package, "name": "pipx"}])
    found = wheels.lock_wheels(WheelsPart(installer=installer), [], [], where="")
    assert [(one.name, one.installer, one.file) for one in found] == [
        ("pip", True, "p.whl"),
        ("pipx", False, "p.whl"),
    ]
    # of all that parents hold the installer alone is locked again: every build needs it at hand
    assert wheels.lock_wheels(WheelsPart(installer=installer), [], found, where="") == found[:1]


def test_what_uv_says_and_what_to_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find_spec", lambda _: True)
    monkeypatch.setattr("harness.images.wheels.subprocess.run", Runs(1, "out", "  no way\n"))
    with pytest.raises(UsageError) as failed:
        wheels.lock_wheels(REQUEST, [], [], where="here")
    assert said(failed.value) == (
        "uv finds no set of wheels that meets the requirements:\nno way",
        "here",
        "relax the requirements, or check the network and uv's index settings",
    )
    monkeypatch.setattr(wheels, "find_spec", lambda _: None)
    with pytest.raises(UsageError) as failed:
        wheels.lock_wheels(REQUEST, [], [], where="here")
    assert (failed.value.what, failed.value.todo) == (
        "locking wheels needs uv",
        "install this package's extra: pip install 'permafrost[lock]'",
    )


@pytest.mark.parametrize("found", [{}, {"wheels": []}, {"wheels": "x"}, {"wheels": None}])
def test_a_package_without_wheels_says_for_what(found: dict[str, object]) -> None:
    with pytest.raises(UsageError) as failed:
        wheels._wheel({"name": "n", "version": "2", **found}, "pip", "here")
    assert said(failed.value) == (
        "n 2 has no wheel for x86_64-manylinux_2_36",
        "here",
        "ask for a version that has one",
    )


def test_a_source_is_locked_by_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def copy(requirement: str, folder: Path) -> Path:
        asked.append(requirement)
        file = folder / (f"x{len(asked)}.tar.gz" if len(asked) == 1 else "x.zip")
        file.write_text("test")
        return file

    monkeypatch.setattr(wheels, "_solution", lambda *_: [])
    monkeypatch.setattr(wheels, "_copy_source", copy)
    part = WheelsPart(from_source=["x==1.5"], flags="-O3")
    (wheel,) = wheels.lock_wheels(part, [], [], where="")
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert wheel == Wheel("x", "1.5", sha256, "x1.tar.gz", flags="-O3") and wheel.size == 4
    assert asked == ["x==1.5"]
    with pytest.raises(UsageError) as failed:
        wheels.lock_wheels(part, [], [], where="")
    assert said(failed.value) == (
        "the source distribution of x==1.5 is x.zip",
        "from_source",
        "ask for a version that has a .tar.gz",
    )
