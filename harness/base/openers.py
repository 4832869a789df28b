"""Ways of opening files that somebody else may have put something else in the place of."""

from __future__ import annotations

import os


def without_waiting(path: str, flags: int) -> int:
    """An opener for `open`: a named pipe reads as empty, and nobody waits for who would write into it."""
    return os.open(path, flags | os.O_NONBLOCK)
