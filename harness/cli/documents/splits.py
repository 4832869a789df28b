"""Splits as answers."""

from __future__ import annotations

from typing import Any

from harness.cli.documents.forms import Answer, Counts, Fields, OpenFields


class StrategyRow(Fields):
    """A split strategy: its parameters with their defaults, and how many splits of each dataset are published."""

    benchmark: str
    name: str
    summary: str
    parameters: dict[str, Any]
    published: Counts


class Strategies(Answer):
    """`harness split list`."""

    rows: list[StrategyRow]


class SplitRow(OpenFields):
    """A split file. Other fields are tables of numbers that describe it, in the words of its benchmark."""

    dataset: str
    split: str
    sha256: str
    file: str


class MadeSplits(Answer):
    """`harness split make`."""

    rows: list[SplitRow]


class VerifiedSplit(Fields):
    """The promises of a split that were examined, and those that are broken."""

    dataset: str
    split: str
    seeds: list[int]
    sha256: str
    examined: list[str]
    broken: list[str]
    known_findings: list[str]


class SplitVerification(Answer):
    """`harness split verify`."""

    rows: list[VerifiedSplit]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "split list": (Strategies,),
    "split make": (MadeSplits,),
    "split verify": (SplitVerification,),
}
