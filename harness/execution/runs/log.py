"""A run's log, bounded: its beginning and its end are kept byte for byte, the middle is counted."""

from __future__ import annotations

import re
import struct
from collections import deque
from pathlib import Path

from harness.base.foreign_text import printable

# a line of the list of calls that Octave prints below an error
_OCTAVE_CALL = re.compile(r"\bat line [0-9]+( column [0-9]+)?$")
# what it prints below the place in a line that it can't parse
_OCTAVE_PLACE = "^"
_HEADER = struct.Struct(">BxxxL")
_LAST_LINE = 200
_RECENT = 4096


def _error_line(lines: list[str]) -> str:
    """The last line, but where R or Octave end with something else than the error: the line that says it."""
    last = lines[-1]
    if last == "Execution halted":
        for number in reversed(range(len(lines))):
            if lines[number].startswith("Error"):
                # a long call is followed by its message on a line of its own
                return " ".join(lines[number : number + 1 + lines[number].endswith(":")])
    elif last == _OCTAVE_PLACE or _OCTAVE_CALL.search(last):
        for line in reversed(lines):
            if line.startswith(("error: ", "parse error")) and line != "error: called from":
                return line
    return last


class BoundedLog:
    """Writes at most about `limit` bytes to `path`, however much is given; memory is bounded likewise."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.total = 0
        self.cut = 0
        self._head_room = limit // 2
        self._tail_room = limit - self._head_room
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._stream = path.open("wb")
        self._recent = b""

    def write(self, data: bytes) -> None:
        """Take some more of the log."""
        self.total += len(data)
        self._recent = (self._recent + data[-_RECENT:])[-_RECENT:]
        if self._head_room:
            self._stream.write(data[: self._head_room])
            data, self._head_room = data[self._head_room :], max(0, self._head_room - len(data))
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_room:
            size = len(self._tail.popleft())
            self._tail_size -= size
            self.cut += size

    @property
    def last_line(self) -> str:
        """The last line that says something, or the error that it belongs to, for reasons and tables."""
        lines = [line.strip() for line in self._recent.decode(errors="replace").splitlines()]
        words = [line for line in lines if line]
        return printable(_error_line(words))[:_LAST_LINE] if words else ""

    def close(self) -> None:
        """Write the end, preceded by how much is missing."""
        if self._stream.closed:
            return
        tail = b"".join(self._tail)
        surplus = max(0, len(tail) - self._tail_room)
        self.cut += surplus
        if self.cut:
            self._stream.write(f"\n[{self.cut} of {self.total} bytes of this log were cut here]\n".encode())
        self._stream.write(tail[surplus:])
        self._stream.close()
        self._tail.clear()

    def __enter__(self) -> BoundedLog:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Frames:
    """Takes the engine's framing off: every piece of output comes behind eight bytes of stream and length."""

    def __init__(self) -> None:
        self._header = b""
        self._left = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The output in `data`, which may begin and end anywhere."""
        pieces = []
        view = memoryview(data)
        while view:
            if self._left:
                piece = view[: self._left]
                pieces.append(bytes(piece))
                self._left -= len(piece)
                view = view[len(piece) :]
                continue
            count = _HEADER.size - len(self._header)
            self._header += bytes(view[:count])
            view = view[count:]
            if len(self._header) == _HEADER.size:
                self._left = _HEADER.unpack(self._header)[1]
                self._header = b""
        return pieces
