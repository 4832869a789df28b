"""A log is bounded on disk, keeps its beginning and end, and counts what is cut."""

from __future__ import annotations

import re
import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from harness.base.foreign_text import shortened
from harness.execution.runs.log import BoundedLog, Frames

# much of what programs print is blanks and ends of lines
blanks = some.text(" \n\t.", max_size=40).map(str.encode)
pieces = some.lists(some.binary(max_size=40) | blanks, max_size=30)


@given(pieces, some.integers(0, 200))
def test_head_and_tail_are_kept_and_the_rest_is_counted(given_pieces: list[bytes], limit: int) -> None:
    whole = b"".join(given_pieces)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        with BoundedLog(path, limit) as log:
            for piece in given_pieces:
                log.write(piece)
        kept = path.read_bytes()
    assert log.total == len(whole)
    if len(whole) <= limit:
        assert kept == whole and log.cut == 0
        return
    note = f"\n[{log.cut} of {len(whole)} bytes of this log were cut here]\n".encode()
    room = limit - limit // 2
    assert kept == whole[: limit // 2] + note + whole[len(whole) - room :] and log.cut == len(whole) - limit


def test_a_log_that_is_closed_stays_what_it_was(tmp_path: Path) -> None:
    with BoundedLog(tmp_path / "log", 10) as log:
        log.write(b"0123456789 and more")
        log.close()
        whole = (tmp_path / "log").read_bytes()
    log.close()
    assert (tmp_path / "log").read_bytes() == whole and log.cut == 9


@pytest.mark.parametrize(("length", "told"), [(999, "x" * 999), (1000, "x" * 1000), (1001, "x" * 1000 + " ...")])
def test_a_reason_is_told_up_to_its_bound(length: int, told: str) -> None:
    assert shortened("x" * length) == told


@given(pieces, some.integers(1, 50))
def test_frames_survive_being_cut_anywhere(given_pieces: list[bytes], step: int) -> None:
    stream = b"".join(struct.pack(">BxxxL", 1, len(piece)) + piece for piece in given_pieces)
    frames = Frames()
    taken = [piece for start in range(0, len(stream), step) for piece in frames.feed(stream[start : start + step])]
    assert b"".join(taken) == b"".join(given_pieces)


def test_the_last_line_is_found_behind_empty_ones_and_odd_bytes(tmp_path: Path) -> None:
    with BoundedLog(tmp_path / "log", 1000) as log:
        log.write(b"first\n")
        log.write(b"Error: \xff no\n\n  \n")
        assert re.fullmatch("Error: . no", log.last_line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Error in fit(x) : no such matrix\nCalls: permafrost -> fit\nExecution halted\n",
            "Error in fit(x) : no such matrix",
        ),
        (
            "Error in fit(problem$associations, problem$inputs$drugs) : \n  no such matrix\nExecution halted\n",
            "Error in fit(problem$associations, problem$inputs$drugs) : no such matrix",
        ),
        (
            "Error: no such matrix\nIn addition: Warning message:\nNaNs produced \nExecution halted\n",
            "Error: no such matrix",
        ),
        (
            "Error: no such matrix\nIn addition: Warning message:\nno Error was met before \nExecution halted\n",
            "Error: no such matrix",
        ),
        (
            "error: no such matrix\nerror: called from\n    fit at line 12 column 5\n    main at line 2\n",
            "error: no such matrix",
        ),
        ("error: no such matrix\nerror: called from\n    main at line 2\n", "error: no such matrix"),
        (
            "error: parse error near line 7 of file /opt/method/main.m\n\n  syntax error\n\n>>> a = (1;\n ^\n",
            "error: parse error near line 7 of file /opt/method/main.m",
        ),
        ("parse error:\n\n  syntax error\n\n>>> a = (1;\n          ^\n", "parse error:"),
        ("x\n^\n", "^"),
        # the last one ended the run
        (
            "Error in a(x) : was met and overcome\nError in fit(x) : no such matrix\nExecution halted\n",
            "Error in fit(x) : no such matrix",
        ),
        (
            "error: was met and overcome\nerror: no such matrix\nerror: called from\n    main at line 2\n",
            "error: no such matrix",
        ),
        ("Traceback (most recent call last):\nValueError: no such matrix\n", "ValueError: no such matrix"),
        ("Execution halted\n", "Execution halted"),
        ("epoch 3 at line 12\n", "epoch 3 at line 12"),
        ("error: was met and overcome\ndone\n", "done"),
    ],
)
def test_the_line_that_says_the_error_is_quoted(tmp_path: Path, text: str, line: str) -> None:
    with BoundedLog(tmp_path / "log", 1000) as log:
        log.write(b"starting\n" * 1000 + text.encode())
        assert log.last_line == line


def test_an_error_far_from_the_end_is_found_below_a_long_list_of_calls(tmp_path: Path) -> None:
    calls = "".join(f"    part_{number} at line {number} column 9\n" for number in range(60))
    with BoundedLog(tmp_path / "log", 1000) as log:
        for piece in (f"error: no such matrix\nerror: called from\n{calls}").splitlines(keepends=True):
            log.write(piece.encode())
        assert log.last_line == "error: no such matrix"


@pytest.mark.parametrize(("behind", "line"), [(4090, "first"), (4091, "irst"), (4096, "")])
def test_of_much_that_says_nothing_little_is_remembered(tmp_path: Path, behind: int, line: str) -> None:
    with BoundedLog(tmp_path / "log", 10) as log:
        log.write(b"first\n")
        for _ in range(behind):
            log.write(b"\n")
        assert log.last_line == line


def test_a_last_line_is_bounded(tmp_path: Path) -> None:
    with BoundedLog(tmp_path / "log", 10) as log:
        log.write(b"x" * 150 + b"y" * 150)
        assert log.last_line == "x" * 150 + "y" * 50
