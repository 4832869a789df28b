"""Numbers of things, in right English: 1 run, 2 runs."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 run`, `2 runs`. `plural` is for nouns that do not just take an s."""
    return f"{count} {form_of(noun, count, plural)}"


def form_of(noun: str, count: int, plural: str = "") -> str:
    """The noun as it stands behind a number."""
    return noun if count == 1 else plural or f"{noun}s"
