"""The end of a log, bounded and harmless: what a container printed is shown, never interpreted."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Terminal control sequences, and every control character but tab and newline.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def last_line(text: str, otherwise: str = "no reason was given") -> str:
    """The last line of a program's output that says something, which most often tells why it failed."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), otherwise)


def log_tail(path: Path, limit: int) -> str:
    """The last `limit` bytes as text, whole lines where possible; empty when there is no log."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - limit))
            data = stream.read(limit)
    except OSError:
        return ""
    text = _CONTROL.sub("", data.decode("utf-8", errors="replace").replace("\r\n", "\n"))
    if size <= limit:
        return text
    first, newline, rest = text.partition("\n")
    tail = rest if newline and rest else first
    return f"[the last {len(data):,} of {size:,} bytes]\n{tail}"
