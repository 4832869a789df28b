"""Golden splits: made again from their strategy, dataset and seed, and equal to the last pair.

The distances stored with them are compared as well. Those of equal drugs are rounding, which is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from harness.base.errors import DataError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit
from harness.benchmarks.repurposing.splits.separation import separation
from harness.data import load_dataset, manifest_names
from harness.methods.card import Tolerance
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare
from harness.splits import make_split, strategy_names
from harness.splits.spec import SplitSpec

Array = npt.NDArray[Any]

SPLITS = "splits"
_RANDOM = re.compile(r"split_random_(?P<dataset>.+)_(?P<seed>\d+)")
_WEAKLY = re.compile(r"split_weakly_(?P<dataset>.+)_(?P<metric>[a-z]+)_(?P<early_stop>None|\d+)_(?P<seed>\d+)")
_EXACT = Tolerance()
_DISTANCES = Tolerance(absolute=1e-6)


def check_split(layout: Layout, case: str, arrays: Mapping[str, Array], mirrors: Sequence[Path]) -> CaseFinding:
    """The comparison of a golden split with the one that its name describes, made again."""
    spec, dataset = _spec(case)
    if spec is None or spec.strategy not in strategy_names("repurposing"):
        return CaseFinding(
            case, SPLITS, SPLITS, standing=Standing.NOT_IMPLEMENTED, note="no split strategy covers it"
        )
    names = {name.lower(): name for name in manifest_names(layout)}
    if dataset.lower() not in names:
        note = f"no dataset is called '{dataset.lower()}'"
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.NOT_IMPLEMENTED, note=note)
    name = names[dataset.lower()]
    try:
        data = load_dataset(layout, name, RepurposingDataset, mirrors=mirrors)
        folds = cast(FoldSplit, make_split(layout, name, spec, mirrors)).folds
    except UsageError as error:
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.NOT_IMPLEMENTED, note=error.what)
    except MissingData as error:
        note = f"{error.what}; give its originals with --mirror"
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.MISSING_DATA, note=note)
    except DataError as error:
        # the golden is there, so it can be made
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.FAILED, note=error.what)
    findings = [*_masks(arrays, folds == TEST, folds.shape)]
    if "dist" in arrays:
        metric = spec.parameters.get("metric", "euclidean")
        findings.append(compare("dist", separation(data, folds, metric), arrays["dist"], _DISTANCES))
    return CaseFinding(case, SPLITS, f"{spec.strategy} on {name}", arrays=tuple(findings))


def _spec(name: str) -> tuple[SplitSpec | None, str]:
    if match := _RANDOM.fullmatch(name):
        return SplitSpec(strategy="random", seed=int(match["seed"])), match["dataset"]
    if match := _WEAKLY.fullmatch(name):
        early = None if match["early_stop"] == "None" else int(match["early_stop"])
        parameters = {"metric": match["metric"], "early_stop": early}
        spec = SplitSpec(strategy="weakly_correlated", seed=int(match["seed"]), parameters=parameters)
        return spec, match["dataset"]
    return None, ""


def _masks(arrays: Mapping[str, Array], test: Array, shape: tuple[int, ...]) -> Iterator[ArrayFinding]:
    """A golden split is two bit-packed masks, or two sorted lists of drugs."""
    count = int(np.prod(shape))
    drugs = test.all(axis=1)
    ours = {"val_mask": test, "train_mask": ~test}
    our_drugs = {"val_drugs": np.flatnonzero(drugs), "train_drugs": np.flatnonzero(~drugs)}
    for name in sorted(ours.keys() & arrays.keys()):
        golden, filled_up = np.unpackbits(arrays[name]), -count % 8
        # one of a smaller or a larger dataset differs in its shape
        fits = len(golden) == count + filled_up
        yield compare(name, ours[name], golden[:count].reshape(shape) if fits else golden, _EXACT)
    for name in sorted(our_drugs.keys() & arrays.keys()):
        yield compare(name, our_drugs[name], arrays[name], _EXACT)
