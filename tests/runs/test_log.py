"""A log is bounded on disk, keeps its beginning and end, and counts what is cut."""

from __future__ import annotations

import re
import struct
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as some

from harness.runs.log import BoundedLog, Frames

pieces = some.lists(some.binary(max_size=40), max_size=30)


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
    head, found, tail = kept.partition(note)
    assert found and head == whole[: limit // 2] and (not tail or whole.endswith(tail))
    assert len(head) + len(tail) + log.cut == len(whole) and len(head) + len(tail) <= limit


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
