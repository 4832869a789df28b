"""Recorded checksums of split files: `datasets/NAME/splits.csv`, a line per split, never changed later."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData
from harness.base.files import canonical_json, write_atomic
from harness.base.layout import Layout
from harness.data.manifest import manifest_path
from harness.splits.spec import SplitSpec

_COLUMNS = ["strategy", "parameters", "seed", "training", "test", "sha256"]


@dataclass(frozen=True)
class Recorded:
    """One line: a split, its numbers of pairs, the sha256 of its file."""

    spec: SplitSpec
    training: int
    test: int
    sha256: str


def recorded_path(layout: Layout, dataset: str) -> Path:
    """The file of recorded checksums of one dataset."""
    return manifest_path(layout, dataset).with_name("splits.csv")


def recorded_splits(layout: Layout, dataset: str) -> dict[str, Recorded]:
    """All recorded splits of a dataset, by `spec_key`."""
    path = recorded_path(layout, dataset)
    return _read_once(path, path.stat().st_mtime_ns) if path.is_file() else {}


def spec_key(strategy: str, parameters: dict[str, Any], seed: int) -> str:
    """One text per split; `parameters` with all defaults filled in."""
    return f"{strategy} {canonical_json(parameters).decode()} {seed}"


def record_splits(layout: Layout, dataset: str, lines: Iterable[Recorded]) -> None:
    """Add lines to the recorded ones; a line that would change a recorded one is refused."""
    path = recorded_path(layout, dataset)
    with _alone(path.parent):
        # what another process recorded a moment ago, whatever was read here before
        known = _read(path) if path.is_file() else {}
        for line in lines:
            key = spec_key(line.spec.strategy, line.spec.parameters, line.spec.seed)
            if known.setdefault(key, line) != line:
                raise CorruptData(
                    f"split {line.spec.label} is published with another checksum",
                    where=str(path),
                    todo="a published split never changes: give the changed strategy or dataset a new name",
                )
        write_atomic(path, _text(known.values()))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else records splits of this folder's dataset until the block ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _text(lines: Iterable[Recorded]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for line in lines:
        parameters = canonical_json(line.spec.parameters).decode()
        writer.writerow([line.spec.strategy, parameters, line.spec.seed, line.training, line.test, line.sha256])
    return stream.getvalue()


@cache
def _read_once(path: Path, _changed: int) -> dict[str, Recorded]:
    return _read(path)


def _read(path: Path) -> dict[str, Recorded]:
    splits, where = {}, str(path)
    try:
        reader = csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""))
        for row in reader:
            where = f"{path}: line {reader.line_num}"
            spec = SplitSpec(
                strategy=row["strategy"], seed=int(row["seed"]), parameters=json.loads(row["parameters"])
            )
            line = Recorded(spec, int(row["training"]), int(row["test"]), row["sha256"])
            splits[spec_key(spec.strategy, spec.parameters, spec.seed)] = line
    except (KeyError, TypeError, ValueError):
        todo = "restore the file from the repository"
        raise CorruptData("a recorded split can't be read", where=where, todo=todo) from None
    return splits
