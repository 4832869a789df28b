"""The first few of many: a person reads a message, and `--json` has the rest."""

from __future__ import annotations

from collections.abc import Sequence


def few(texts: Sequence[str], most: int) -> list[str]:
    """The first texts; where there are others, how many as the last."""
    others = len(texts) - most
    return [*texts[:most], f"and {others} more"] if others > 0 else list(texts)


def few_in_line(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """`a, b, c and 4 more`."""
    others = len(texts) - most
    return between.join(texts[:most]) + (f" and {others} more" if others > 0 else "")
