"""The first few of many: a person reads a message, and `--json` has the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def few(texts: Sequence[str], most: int) -> list[str]:
    """The first texts; where there are others, how many as the last."""
    others = len(texts) - most
    return [*texts[:most], f"and {others} more"] if others > 0 else list(texts)


def few_in_line(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """`a, b, c and 4 more`."""
    others = len(texts) - most
    return between.join(texts[:most]) + (f" and {others} more" if others > 0 else "")


def length_apart(texts: Collection[str]) -> int:
    """How many characters of each tell different texts apart."""
    sizes = range(1, max(map(len, texts), default=0) + 1)
    return next((size for size in sizes if len({text[:size] for text in texts}) == len(texts)), 1)
