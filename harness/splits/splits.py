"""Splits by name: made where needed, kept by checksum, refused when they differ from the recorded one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import CorruptData
from harness.files import digest_of, read_json, sha256_of, write_atomic, write_json
from harness.jobs import SplitSpec
from harness.layout import Layout
from harness.splits.recorded import Recorded, recorded_path, recorded_splits, spec_key

if TYPE_CHECKING:
    from harness.splits.folds import Split


def split_digest(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> str:
    """The sha256 of a split's file: recorded, or of the file once made."""
    line = _recorded(layout, dataset, spec)
    if line:
        return line.sha256
    return _unrecorded(layout, dataset, spec, mirrors)


def load_split(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> Split:
    """A split with the recorded checksum."""
    digest = split_digest(layout, dataset, spec, mirrors)
    path = split_path(layout, digest)
    if not path.is_file():
        made = make_split(layout, dataset, spec, mirrors)
        _keep(layout, dataset, spec, made)
        if made.digest != digest:
            raise CorruptData(
                f"split {spec.label} of dataset '{dataset}' came out different from the one made here before",
                where=f"{path.parent / 'made'}: {digest}, made: {made.digest}",
                todo=f"remove the folder {path.parent}, or use the environment it was made in",
            )
    return _read(path, digest, path.stat().st_mtime_ns)


def make_split(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> Split:
    """Make a split again, whatever is kept; nothing is compared or written."""
    from harness.data import load_dataset
    from harness.splits.folds import Split, digest_of_folds
    from harness.splits.strategies import get_strategy, parameters_of

    strategy, parameters = get_strategy(spec.strategy), parameters_of(spec)
    folds = strategy.make(load_dataset(layout, dataset, mirrors=mirrors), spec.seed, parameters)
    folds.setflags(write=False)
    return Split(folds=folds, digest=digest_of_folds(folds))


def verify_split(
    layout: Layout, dataset: str, spec: SplitSpec, split: Split, mirrors: Sequence[Path] = ()
) -> list[str]:
    """Every promise the split breaks: those of all splits, its strategy's, and its recorded checksum."""
    from harness.data import load_dataset
    from harness.splits.folds import broken_promises
    from harness.splits.strategies import get_strategy, parameters_of

    data = load_dataset(layout, dataset, mirrors=mirrors)
    broken = broken_promises(split.folds, data.associations)
    if split.folds.shape == data.associations.shape:
        broken += get_strategy(spec.strategy).broken_promises(data, split.folds, parameters_of(spec))
    line = _recorded(layout, dataset, spec)
    if line and line.sha256 != split.digest:
        broken.append(f"its sha256 is {split.digest}, recorded is {line.sha256}")
    return broken


def split_path(layout: Layout, digest: str) -> Path:
    """Where a split's file is kept."""
    return layout.cache / "splits" / f"{digest}.npy"


def complete(spec: SplitSpec) -> SplitSpec:
    """The same split with every parameter spelled out."""
    from harness.splits.strategies import parameters_of

    return spec.model_copy(update={"parameters": parameters_of(spec).model_dump(mode="json")})


def as_recorded(spec: SplitSpec, split: Split) -> Recorded:
    """The line to be recorded for a split."""
    return Recorded(complete(spec), int((split.folds >= 0).sum()), int((split.folds == -1).sum()), split.digest)


def _recorded(layout: Layout, dataset: str, spec: SplitSpec) -> Recorded | None:
    full = complete(spec)
    return recorded_splits(layout, dataset).get(spec_key(full.strategy, full.parameters, full.seed))


def _unrecorded(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path]) -> str:
    """A split nobody has published: made once, found again by dataset, strategy, parameters and seed."""
    from harness.data import dataset_digest

    full = complete(spec)
    content: dict[str, Any] = {
        "dataset": dataset_digest(layout, dataset, mirrors=mirrors),
        "split": full.model_dump(mode="json"),
        "strategy": _strategy_source(full.strategy),
    }
    note = layout.cache / "splits" / "made" / f"{digest_of(content)}.json"
    noted = read_json(note)
    if not isinstance(noted, dict) or {**noted, "sha256": ""} != {**content, "sha256": ""}:
        split = make_split(layout, dataset, spec, mirrors)
        _keep(layout, dataset, spec, split)
        noted = {**content, "sha256": split.digest}
        write_json(note, noted)
    return str(noted["sha256"])


def _strategy_source(name: str) -> str:
    return sha256_of(Path(__file__).parent / "strategies" / f"{name}.py")


def _keep(layout: Layout, dataset: str, spec: SplitSpec, split: Split) -> None:
    """Write a split's file, unless it should have been another."""
    from harness.splits.folds import split_bytes

    line = _recorded(layout, dataset, spec)
    if line and line.sha256 != split.digest:
        raise CorruptData(
            f"split {spec.label} of dataset '{dataset}' came out different from the published one",
            where=f"{recorded_path(layout, dataset)}: {line.sha256}, made: {split.digest}",
            todo="use the locked environment of run_all.sh; a published split never changes",
        )
    write_atomic(split_path(layout, split.digest), split_bytes(split.folds))


@lru_cache(maxsize=64)
def _read(path: Path, digest: str, _changed: int) -> Split:
    from harness.splits.folds import read_split

    if sha256_of(path) != digest:
        raise CorruptData(
            "a split file was changed", where=str(path), todo="remove it; it will be made again from its recipe"
        )
    return read_split(path)
