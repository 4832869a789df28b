"""What apt and a bounded program are asked, argument by argument, and how what they say is read."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.base.download import ATTEMPTS, MOST_BYTES, Refused
from harness.base.errors import MissingData
from harness.images import archives, bounds
from harness.images.locks import Part
from tests.images.programs import SHA, Runs


def test_a_bounded_program_writes_up_to_its_bound_and_no_byte_more(tmp_path: Path) -> None:
    file = tmp_path / "x"
    script = 'head -c "$1" /dev/zero > "$2" && echo "$LC_ALL $HOME"'
    command = ["/bin/sh", "-c", script, "sh"]
    well = bounds.run_bounded([*command, "4", str(file)], 4)
    assert (well.returncode, well.stderr, file.stat().st_size) == (0, "", 4)
    assert well.stdout == f"C.UTF-8 {os.environ['HOME']}\n"
    over = bounds.run_bounded([*command, "5", str(file)], 4)
    assert over.returncode != 0 and file.stat().st_size == 4 and bounds.outgrew(over)
    assert not bounds.outgrew(well)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_full_file_is_told_by_either_stream(stream: str) -> None:
    said = {"stdout": "", "stderr": "", stream: f"x: {os.strerror(errno.EFBIG)}!"}
    assert bounds.outgrew(subprocess.CompletedProcess([], 1, **said))
    assert not bounds.outgrew(subprocess.CompletedProcess([], 1, stdout="x", stderr="y"))


def test_what_is_too_long_is_said_with_whose_bound_it_is() -> None:
    assert bounds.too_long(7, locked=True) == "it is longer than the locked 7 bytes"
    assert bounds.too_long(7, locked=False) == "it is longer than the allowed 7 bytes"


def test_the_bound_is_set_by_an_interpreter_without_this_machines_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    monkeypatch.setattr("harness.images.bounds.subprocess.run", runs)
    bounds.run_bounded(["x", "y"], 9)
    assert runs.command[:4] == [sys.executable, "-I", "-S", "-c"] and runs.command[5:] == ["9", "x", "y"]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    assert runs.more == (
        (),
        {"capture_output": True, "text": True, "errors": "replace", "env": environment},
    )


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_helper", lambda: "/a/helper")


DEB = Part("debian", "x_1_all.deb", SHA, 5, "pool/x/x_1_all.deb")


@pytest.mark.parametrize("size", [5, None])
@pytest.mark.parametrize("root", ["https://host/debian", "https://host/debian/", "https://host/debian//"])
def test_apt_downloads_one_file_by_its_sha256(
    helper: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: int | None, root: str
) -> None:
    part = Part("debian", DEB.file, SHA, size, DEB.path)
    runs = Runs(does=lambda command: Path(command[-2]).write_text("12345"))
    monkeypatch.setattr(archives, "run_bounded", runs)
    assert archives.download_by_apt(root, part, tmp_path) == tmp_path / "x_1_all.deb"
    assert runs.command == [
        *("/a/helper", "-o", "APT::Sandbox::User=root", "-o", f"Acquire::Retries={ATTEMPTS}"),
        *("download-file", "https://host/debian/pool/x/x_1_all.deb", str(tmp_path / "x_1_all.deb")),
        f"SHA256:{SHA}",
    ]
    assert runs.more == ((MOST_BYTES if size is None else 5,), {})


@pytest.mark.parametrize(
    ("code", "out", "err", "size", "why"),
    [
        (100, "Get:1 x\nErr:1 x 404", "W: first\n E: indented\nE: last  \nnoise", 5, "Err:1 x 404"),
        (100, "", "E: last  \nnoise", 5, "E: last"),
        (100, "", "W: only a warning\n", 5, "W: only a warning"),
        (100, "noise", "noise", 5, "no reason was given"),
        (0, "", "", 5, "no reason was given"),
        (100, "", os.strerror(errno.EFBIG), 5, "it is longer than the locked 5 bytes"),
        (100, "", os.strerror(errno.EFBIG), None, f"it is longer than the allowed {MOST_BYTES} bytes"),
    ],
)
def test_what_apt_could_not_download_is_said_in_its_last_words(
    helper: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    code: int,
    out: str,
    err: str,
    size: int | None,
    why: str,
) -> None:
    monkeypatch.setattr(archives, "run_bounded", Runs(code, out, err))
    with pytest.raises(MissingData) as failed:
        archives.download_by_apt("x", Part("debian", "f", SHA, size, "f"), tmp_path)
    assert failed.value.what == f"apt can't download it: {why}"


def test_a_file_that_apt_left_while_it_failed_is_not_taken(
    helper: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / DEB.file).write_text("half")
    monkeypatch.setattr(archives, "run_bounded", Runs(1, "", "E: no"))
    with pytest.raises(MissingData, match="E: no"):
        archives.download_by_apt("x", DEB, tmp_path)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (
            "Other https://other/x\nDebian https://b/debian\n\n  Debian https://a/x  \n",
            ["https://b/debian", "https://a/x"],
        ),
        ("Debian https://a/x\nDebian https://a/x\n", ["https://a/x"]),
        ("Ubuntu https://u/x\n https://v/y\n", ["https://u/x", "https://v/y"]),
        ("Mine https://mirror/Debian/\nUbuntu https://u/x\n", ["https://mirror/Debian/"]),
        ("", []),
    ],
)
def test_debians_archives_of_this_systems_apt_come_alone(
    helper: None, monkeypatch: pytest.MonkeyPatch, listed: str, expected: list[str]
) -> None:
    runs = Runs(out=listed)
    monkeypatch.setattr("harness.images.archives.subprocess.run", runs)
    monkeypatch.setattr(
        "harness.images.archives.shutil.which", lambda program: program if program == "apt-get" else None
    )
    assert archives.apt_archives.__wrapped__() == expected
    assert runs.command == ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)"]
    assert runs.more == ((), {"capture_output": True, "text": True})


@pytest.mark.parametrize("missing", ["apt-get", "helper"])
def test_without_apt_there_are_no_archives(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr("harness.images.archives.subprocess.run", lambda *_, **__: pytest.fail("it was asked"))
    monkeypatch.setattr("harness.images.archives.shutil.which", lambda _: None if missing == "apt-get" else "x")
    monkeypatch.setattr(archives, "_helper", lambda: None if missing == "helper" else "x")
    assert archives.apt_archives.__wrapped__() == []


def test_apts_helper_is_looked_for_where_distributions_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    places = ["/usr/lib/apt/apt-helper", "/usr/libexec/apt/apt-helper"]
    for there, expected in ((places, places[0]), (places[1:], places[1]), ([], None)):
        monkeypatch.setattr("harness.images.archives.Path.is_file", lambda path, there=there: str(path) in there)
        assert archives._helper() == expected


def test_a_file_of_an_archive_is_transferred_to_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def transfer(*about: Any, **how: Any) -> Any:
        asked.append((about, how))
        return about[1]

    monkeypatch.setattr(archives, "transfer", transfer)
    for root in ("https://h/d", "https://h/d/"):
        assert archives.download(root, DEB, tmp_path) == tmp_path / DEB.file
    wanted = (("https://h/d/pool/x/x_1_all.deb", tmp_path / DEB.file), {"size": 5, "resume": True})
    assert asked == [wanted, wanted]

    def refuse(*_: object, **__: object) -> None:
        raise Refused("not today")

    monkeypatch.setattr(archives, "transfer", refuse)
    with pytest.raises(MissingData) as failed:
        archives.download("https://h/d", DEB, tmp_path)
    assert failed.value.what == "not today"
