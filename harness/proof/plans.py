"""Plans in the log: what was to be run enters before its first result, so that nobody can leave a cell out later.

A leaf holds a plan's digest. The plan itself, its cells by key and label, lies beside the log in `plans/`.
"""

from __future__ import annotations

import gzip
import hashlib
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData
from harness.base.files import canonical_json, digest_of, write_atomic
from harness.base.openers import without_waiting
from harness.base.plain_json import parse_plain
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, account_of, now
from harness.proof.log import Log

_FOLDER = "plans"
# for zlib: with gzip's header, the window as large as can be
_GZIP = 31
_CHUNK = 1 << 20


@dataclass(frozen=True)
class LoggedCell:
    """A planned cell: its key and its label; without a key the verdict that it has instead of a run."""

    key: str
    label: str
    verdict: str = ""


def enter_plan(log: Log, name: str, cells: Iterable[LoggedCell]) -> None:
    """Let a plan enter the log, unless it is there. No list is made of its cells: there may be a million."""
    digest, count = hashlib.sha256(), 0
    # no time stamp: equal plans are equal files
    packer = zlib.compressobj(wbits=_GZIP)
    with tempfile.TemporaryFile(dir=log.folder) as packed:
        for piece in _canonical_pieces(name, cells):
            count += 1
            digest.update(piece)
            packed.write(packer.compress(piece))
        packed.write(packer.flush())
        text = digest.hexdigest()
        if not any(text.encode() in line for line in log.each_line()):
            packed.seek(0)
            write_atomic(plan_path(log.folder, text), iter(partial(packed.read, _CHUNK), b""))
            # one piece for each cell, one before and one after them
            log.append([Leaf(Event.PLAN, now(), name, plan=text, cells=count - 2)])


def _canonical_pieces(name: str, cells: Iterable[LoggedCell]) -> Iterator[bytes]:
    """The canonical JSON of a plan, in pieces."""
    yield b'{"cells":['
    for number, cell in enumerate(cells):
        yield (b"," if number else b"") + canonical_json([cell.key, cell.label, cell.verdict])
    yield b'],"name":' + canonical_json(name) + b"}"


def plan_path(folder: Path, digest: str) -> Path:
    """Where a plan lies."""
    return folder / _FOLDER / f"{digest}.json.gz"


def load_plan(folder: Path, digest: str) -> list[LoggedCell]:
    """The cells of a plan; `CorruptData` where it is not there, or not what its digest says."""
    return _named_cells(folder, digest)[1]


def _named_cells(folder: Path, digest: str) -> tuple[str, list[LoggedCell]]:
    path = plan_path(folder, digest)
    try:
        with open(path, "rb", opener=without_waiting) as stream:
            content = parse_plain(gzip.decompress(stream.read()))
        cells, name = [LoggedCell(*cell) for cell in content["cells"]], content.get("name", "")
    except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, RecursionError):
        raise CorruptData("a plan is missing, or can't be read", where=str(path), todo="restore it") from None
    if digest_of(content) != digest:
        raise CorruptData("a plan differs from the digest in the log", where=str(path), todo="restore it")
    return name, cells


@dataclass(frozen=True)
class PlanProgress:
    """How far a plan has come: its cells, those of which no run can be planned, and those without a final run."""

    name: str
    cells: int
    without_key: int
    left: int


def progress_of(folder: Path, leaves: Sequence[Leaf], digests: Iterable[str]) -> list[PlanProgress]:
    """How far the plans with these digests have come, as the log tells it."""
    names = {leaf.plan: leaf.scope for leaf in leaves if leaf.kind is Event.PLAN}
    finals = {key for key, result in account_of(leaves).results.items() if Verdict(result.verdict).is_final}
    every = []
    for digest in dict.fromkeys(digests):
        keys = [cell.key for cell in load_plan(folder, digest)]
        left = sum(1 for key in keys if key and key not in finals)
        every.append(PlanProgress(names[digest], len(keys), keys.count(""), left))
    return every


def summary(folder: Path, leaves: Iterable[Leaf]) -> tuple[list[dict[str, Any]], int]:
    """For each plan how many cells have no leaf; and the number of results that no plan had announced.

    A plan that several machines ran, each a part of it, counts once.
    """
    every = list(leaves)
    results = {leaf.key for leaf in every if leaf.record}
    plans: dict[str, dict[str, Any]] = {}
    announced: set[str] = set()
    unplanned: set[str] = set()
    for leaf in every:
        if leaf.kind is Event.PLAN and leaf.plan not in plans:
            name, cells = _named_cells(folder, leaf.plan)
            _held_to_leaf(folder, leaf, name, cells)
            keys = {cell.key for cell in cells if cell.key}
            announced |= keys
            missing = sorted(keys - results)
            plans[leaf.plan] = {
                "name": leaf.scope,
                "plan": leaf.plan,
                "cells": leaf.cells,
                "without_key": sum(1 for cell in cells if not cell.key),
                "missing": len(missing),
                "missing_keys": digest_of(missing),
            }
        elif leaf.kind in (Event.RECORD, Event.FAILURE) and leaf.key not in announced:
            unplanned.add(leaf.key)
    return list(plans.values()), len(unplanned)


def _held_to_leaf(folder: Path, plan: Leaf, name: str, cells: Sequence[LoggedCell]) -> None:
    """`CorruptData` where a plan has another name or number of cells than in its leaf, or one of them twice."""
    keys = [cell.key for cell in cells if cell.key]
    if name != plan.scope:
        what = f"a plan is called {name!r}, and {plan.scope!r} by its leaf"
    elif plan.cells != len(cells):
        what = f"a plan has {len(cells)} cells, of which its leaf says {plan.cells}"
    elif len(set(keys)) < len(keys):
        what = "a plan names a cell twice"
    else:
        return
    raise CorruptData(what, where=str(plan_path(folder, plan.plan)), todo="restore plan and log")
