"""Numbers of things, in right English: 1 run, 2 runs."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 run`, `2 runs`, `1,818 runs`. `plural` is for nouns that do not just take an s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
