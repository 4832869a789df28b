"""Splits of drug-drug interactions give every drug a role and every item a part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.ddi.splits import parts

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit
    from harness.splits.strategies import Strategy

_SPLITS = Path(parts.__file__).parent
SHARED: tuple[Path, ...] = (
    Path(parts.__file__),
    *sorted((_SPLITS / "drugs").glob("*.py")),
)

# The seed of the original code.
USUAL_SEED = 124
_RELEASED_GAMMA = 0.55


def finish(made: PartSplit) -> PartSplit:
    """Strategies make splits whole."""
    return made


def made(split: PartSplit) -> PartSplit:
    """The split itself."""
    return split


def content(split: PartSplit) -> bytes:
    """The split file."""
    return parts.parts_bytes(split)


def read(path: Path, load: Callable[[], DdiDataset]) -> PartSplit:
    """A split file from anywhere, checked for its form."""
    return parts.read_parts(path, load().drugs)


def fits(split: PartSplit, dataset: DdiDataset) -> bool:
    """Whether there is a role for every drug and a part for every item."""
    return (len(split.drugs), len(split.items)) == (dataset.drugs, len(dataset.pairs))


def broken_promises(split: PartSplit, dataset: DdiDataset) -> list[str]:
    """A role for every drug and a part for every item, every item in the part where its drugs belong, none lost,
    places without a gap, training and test drugs."""
    from harness.benchmarks.ddi.splits.drugs.usage import negatives

    return parts.broken_promises(split, dataset.pairs, dataset.drugs, negatives(dataset))


def describe(
    split: PartSplit, dataset: DdiDataset, strategy: Strategy, parameters: Any
) -> dict[str, dict[str, Any]]:
    """Groups the strategy deals, roles, parts, and how similar the drugs of different roles are."""
    from harness.benchmarks.ddi.splits.drugs.measure import describe_groups, measure_split

    groups = getattr(strategy, "groups", None)
    dealt = describe_groups(groups(dataset, parameters), split) if groups else {}
    threshold = getattr(parameters, "gamma", getattr(parameters, "threshold", _RELEASED_GAMMA))
    return {**dealt, **measure_split(dataset, split, threshold)}
