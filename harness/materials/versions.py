"""Debian's order of versions (Debian Policy, 5.6.12), as dpkg compares them."""

from __future__ import annotations

import re
from itertools import zip_longest

# A run of other characters, then a run of digits; one of them may be empty.
_PIECE = re.compile(r"([^0-9]*)([0-9]*)")
_EPOCH = re.compile(r"([0-9]+):(.*)", re.DOTALL)


def compare_versions(one: str, other: str) -> int:
    """-1, 0 or 1: whether the first version is older than the second, equal or newer."""
    (epoch, upstream, revision), (epoch_2, upstream_2, revision_2) = _split(one), _split(other)
    if epoch != epoch_2:
        return -1 if epoch < epoch_2 else 1
    return _compare(upstream, upstream_2) or _compare(revision, revision_2)


def _split(version: str) -> tuple[int, str, str]:
    match = _EPOCH.fullmatch(version)
    epoch, rest = (int(match[1]), match[2]) if match else (0, version)
    upstream, dash, revision = rest.rpartition("-")
    return (epoch, upstream, revision) if dash else (epoch, rest, "")


def _compare(one: str, other: str) -> int:
    for (text, digits), (text_2, digits_2) in zip_longest(
        _PIECE.findall(one), _PIECE.findall(other), fillvalue=("", "")
    ):
        if order := _compare_text(text, text_2):
            return order
        number, number_2 = int(digits or "0"), int(digits_2 or "0")
        if number != number_2:
            return -1 if number < number_2 else 1
    return 0


def _compare_text(one: str, other: str) -> int:
    """Letters before all else that is no letter, and a tilde before everything, the end included."""
    for character, character_2 in zip_longest(one, other, fillvalue=""):
        rank, rank_2 = _rank(character), _rank(character_2)
        if rank != rank_2:
            return -1 if rank < rank_2 else 1
    return 0


def _rank(character: str) -> int:
    if character == "~":
        return -1
    if character == "":
        return 0
    return ord(character) if character.isalpha() else ord(character) + 256
