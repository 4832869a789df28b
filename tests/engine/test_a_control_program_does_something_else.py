"""The few machine instructions of the control run, executed here where they are harmless."""

from __future__ import annotations

import io
import os
import platform
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.errors import ImageError
from harness.engine.probe import _PAUSE, exiting_archive, imported_id, static_program
from harness.engine.prohibitions import FORBIDDEN, Forbidden, _try_call, _try_file

here = pytest.mark.skipif(platform.machine() != "x86_64", reason="the instructions are those of x86-64")
NOBODY = 65534


@contextmanager
def program(instructions: bytes) -> Iterator[tuple[str, int]]:
    """A program without a place, so that another user need not be let into a folder: its path, and the handle."""
    writing = os.memfd_create("program")
    os.write(writing, static_program(instructions))
    os.fchmod(writing, 0o755)
    handle = os.open(f"/proc/self/fd/{writing}", os.O_RDONLY)
    # what is open for writing can't be executed
    os.close(writing)
    yield f"/proc/self/fd/{handle}", handle
    os.close(handle)


def code_of(instructions: bytes, *, user: int | None = None) -> int:
    """The exit code of instructions, 77 where they go on to their end."""
    end = bytes.fromhex("bf 4d 00 00 00  b8 3c 00 00 00  0f 05")
    with program(instructions + end) as (path, handle):
        return subprocess.run([path], user=user, pass_fds=[handle], stdin=subprocess.DEVNULL).returncode


@here
def test_the_smallest_image_ends_at_once_and_well(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(exiting_archive())) as archive:
        entries = {entry.name: entry for entry in archive}
        assert {name: entry.mode for name, entry in entries.items()} == dict.fromkeys(entries, 0o755)
        assert [name for name, entry in entries.items() if entry.isdir()] == ["proc", "sys", "dev", "etc", "tmp"]
        assert [name for name, entry in entries.items() if entry.isfile()] == ["end"]
        archive.extract("end", tmp_path, filter="fully_trusted")
    assert subprocess.run([tmp_path / "end"], timeout=60).returncode == 0


@here
def test_the_waiting_program_waits_until_it_is_killed() -> None:
    with program(_PAUSE) as (path, handle), subprocess.Popen([path], pass_fds=[handle]) as process:
        # a signal that is handled by nobody and ignored does not wake it for good
        process.send_signal(signal.SIGCONT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
        wait = Path(f"/proc/{process.pid}/syscall")
        if wait.exists() and os.geteuid() == 0:
            assert wait.read_text().split()[0] in ("34", "running")
        process.kill()
    assert process.returncode == -signal.SIGKILL


@here
@pytest.mark.parametrize(
    ("number", "arguments", "user", "code"),
    [
        # getpid is let through everywhere
        (39, (), None, 5),
        # there is no such call
        (9999, (), None, 77),
        # tgkill(1, 1, 0): nobody may ask about the first process; but nonsense is looked at before
        (234, (1, 1, 0), NOBODY, 77),
        (234, (1, 1, 999), NOBODY, 5),
        (234, (0xFFFFFFFF, 1, 0), NOBODY, 5),
        (234, (1, 0xFFFFFFFF, 0), NOBODY, 5),
        # what is not named is 0: signal 0 to the group of the process
        (62, (), None, 5),
    ],
)
def test_a_call_counts_unless_it_is_refused(
    number: int, arguments: tuple[int, ...], user: int | None, code: int
) -> None:
    if user is not None and os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    assert code_of(_try_call(Forbidden("a call", number, arguments), 5), user=user) == code


@here
def test_a_hidden_file_is_missing_refused_empty_or_a_folder(tmp_path: Path) -> None:
    """Any other is let through; several attempts follow each other, and the first that works is the code."""
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.write_text("x")
    empty.touch()
    hidden = [tmp_path / "missing", empty, tmp_path]
    attempts = b"".join(_try_file(str(path), number) for number, path in enumerate(hidden, 1))
    assert code_of(attempts) == 77
    assert code_of(attempts + _try_file(str(full), 4) + _try_file(str(full), 5)) == 4
    if os.geteuid() == 0:
        full.chmod(0o600)
        assert code_of(_try_file(str(full), 4), user=NOBODY) == 77


def test_every_attempt_has_a_code_and_a_name_of_its_own() -> None:
    """The code of a killed container, 137, is none of them."""
    assert len({entry.name for entry in FORBIDDEN}) == len(FORBIDDEN) < 100
    assert all(bool(entry.path) != bool(entry.number) for entry in FORBIDDEN)


def test_the_id_of_an_imported_image_is_the_engines_last_word() -> None:
    assert imported_id('{"status":"Loading"}\n{"status":"sha256:12"}\n') == "sha256:12"
    assert imported_id('{"status":"sha256:12"}\n{"status":"done"}\n{}\n') == "sha256:12"
    with pytest.raises(ImageError, match="the engine could not import an image: no space"):
        imported_id('{"status":"sha256:12"}\n{"error":"no space"}')
    with pytest.raises(ImageError, match="the engine did not name the image it imported"):
        imported_id('{"status":"12"}')
