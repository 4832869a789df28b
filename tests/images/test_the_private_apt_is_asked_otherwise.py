"""What apt is asked on a root of its own, and what it is told it holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.images import debian
from tests.core.word_for_word import said
from tests.images.programs import Runs


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> debian.Apt:
    monkeypatch.setattr("harness.images.debian.shutil.which", lambda program: program)
    return debian.Apt(tmp_path / "apt", "bookworm")


@pytest.mark.parametrize(("user", "sandbox"), [(0, "root"), (7, "")])
def test_apt_has_a_state_of_its_own(
    apt: debian.Apt, monkeypatch: pytest.MonkeyPatch, user: int, sandbox: str
) -> None:
    runs = Runs(out="said")
    monkeypatch.setattr("harness.images.debian.subprocess.run", runs)
    monkeypatch.setattr("harness.images.debian.os.geteuid", lambda: user)
    root = apt.root
    assert apt._run("apt-cache", "show", "x") == "said"
    assert runs.command == [
        "apt-cache",
        f"-oDir::State={root}/var/lib/apt",
        f"-oDir::State::status={root}/var/lib/dpkg/status",
        f"-oDir::Cache={root}/var/cache/apt",
        "-oDir::Etc::preferences=/dev/null",
        f"-oDir::Etc::preferencesparts={root}/etc/apt/preferences.d",
        "-oAPT::Architecture=amd64",
        "-oAPT::Architectures=amd64",
        "-oAPT::Install-Recommends=false",
        "-oAPT::Default-Release=",
        f"-oAPT::Sandbox::User={sandbox}",
        "-oAcquire::Languages=none",
        "show",
        "x",
    ]
    assert runs.more == ((), {"capture_output": True, "text": True, "env": {**os.environ, "LC_ALL": "C"}})
    apt.update()
    assert runs.command[0] == "apt-get" and runs.command[-2:] == ["update", "-q"]


def test_the_folders_of_apt_are_made_once_and_its_status_is_empty(apt: debian.Apt) -> None:
    below = sorted(
        path.relative_to(apt.root).as_posix() for path in apt.root.rglob("*") if not any(path.glob("*"))
    )
    assert below == [
        "etc/apt/apt.conf.d",
        "etc/apt/preferences.d",
        "var/cache/apt/archives/partial",
        "var/lib/apt/lists/partial",
        "var/lib/dpkg/status",
    ]
    status = apt.root / "var/lib/dpkg/status"
    status.write_text("old")
    assert debian.Apt(apt.root, "x").suite == "x" and status.read_text() == ""


@pytest.mark.parametrize(("out", "err", "words"), [("out\n", "", "out"), ("out", "\n err \n", "err")])
def test_what_apt_says_is_said(
    apt: debian.Apt, monkeypatch: pytest.MonkeyPatch, out: str, err: str, words: str
) -> None:
    monkeypatch.setattr("harness.images.debian.subprocess.run", Runs(100, out, err))
    with pytest.raises(UsageError) as failed:
        apt._run("apt-get", "update", "-q")
    assert said(failed.value) == (
        f"apt-get update failed:\n{words}",
        f"apt with this system's sources and a private state in {apt.root}",
        "check the package names, and that this system's apt sources hold Debian bookworm",
    )


@pytest.mark.parametrize("missing", ["apt-get", "apt-cache"])
def test_without_apt_nothing_is_locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str) -> None:
    monkeypatch.setattr(
        "harness.images.debian.shutil.which", lambda program: None if program == missing else program
    )
    with pytest.raises(UsageError) as failed:
        debian.Apt(tmp_path, "bookworm")
    assert (failed.value.what, failed.value.todo) == (
        "locking Debian packages needs apt, which this system does not have",
        "run `harness image lock` on a Debian or Ubuntu system; building from a lock works anywhere",
    )


def test_held_packages_are_installed_as_apt_sees_it(apt: debian.Apt, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {
        "Maintainer": "M",
        "Package": "p",
        "Version": "1",
        "Architecture": "all",
        "Multi-Arch": "foreign",
        "Provides": "q",
        "Essential": "yes",
        "Depends": "x",
        "Pre-Depends": "x",
    }
    monkeypatch.setattr(
        debian, "read_control", lambda path: fields if path == Path("a") else {"Package": "r", "Version": "2"}
    )
    apt.hold([Path("a"), Path("b")])
    assert (apt.root / "var/lib/dpkg/status").read_text() == (
        "Package: p\nVersion: 1\nArchitecture: all\nMulti-Arch: foreign\nProvides: q\nEssential: yes\n"
        "Maintainer: M\nStatus: install ok installed\nDescription: held\n"
        "\nPackage: r\nVersion: 2\nStatus: install ok installed\nDescription: held\n"
    )
