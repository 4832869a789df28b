"""The fold matrix: one small integer per pair of a drug and a disease, and what every split must keep.

-2 means neither training nor test, -1 test, and k >= 0 training, held out by inner model k.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData, DataError, UsageError
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy

OUTSIDE, TEST = -2, -1
DTYPE = "|i1"

Folds = npt.NDArray[np.int8]
Labels = npt.NDArray[np.int8]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoldSplit:
    """A fold matrix and the sha256 of its file."""

    folds: Folds
    digest: str

    @property
    def inner_folds(self) -> int:
        """How many inner models the split was made for; 0 for none."""
        count = int(self.folds.max(initial=-1)) + 1
        return 0 if count == 1 else count

    @property
    def training(self) -> int:
        """How many pairs train."""
        return int((self.folds >= 0).sum())

    @property
    def test(self) -> int:
        """How many pairs are asked of a method."""
        return int((self.folds == TEST).sum())

    def for_inner_folds(self, inner_folds: int) -> Folds:
        """The fold matrix for a job: as it is, or with all training pairs in one piece."""
        if inner_folds == self.inner_folds:
            return self.folds
        if inner_folds == 0:
            return np.minimum(self.folds, 0)
        raise UsageError(
            f"the split has {self.inner_folds} inner folds, the job wants {inner_folds}",
            todo=f"ask for 0, for {self.inner_folds}, or for a split with parameter inner_folds={inner_folds}",
        )


def split_of(folds: Folds) -> FoldSplit:
    """The split of a matrix, which is read-only from now on."""
    folds.setflags(write=False)
    return FoldSplit(folds=folds, digest=digest_of_folds(folds))


def split_bytes(folds: Folds) -> bytes:
    """The split file."""
    return npy_bytes(folds.astype(np.int8))


def digest_of_folds(folds: Folds) -> str:
    """sha256 of the split file."""
    return hashlib.sha256(split_bytes(folds)).hexdigest()


def read_split(path: Path) -> FoldSplit:
    """A split file from anywhere, checked for its form."""
    try:
        shape = read_header(path)[1]
        if len(shape) != 2:
            raise NotNpy(f"has {len(shape)} dimensions instead of 2")
        folds: Folds = read_npy(path, DTYPE, shape)
    except OSError as error:
        raise CorruptData(f"the split can't be read: {error.strerror}", where=str(path)) from None
    except NotNpy as error:
        raise CorruptData(
            f"the split file {error}", where=str(path), todo="make it again with `harness split make`"
        ) from None
    return split_of(folds)


def inner_folds_of(training: Integers, labels: Labels, folds: Folds, *, count: int, seed: int) -> None:
    """Deal the training pairs (flat indices, in their order) to `count` inner models, stratified by label.

    As scikit-learn's StratifiedKFold deals them, shuffled: labels are numbered as they first occur; the pairs in
    the order of their labels are dealt in turn, which says how many of each label every fold gets; one stream of
    numpy's legacy generator then shuffles each label's folds.
    """
    flat = folds.reshape(-1)
    if count == 0:
        flat[training] = 0
        return
    classes = labels.reshape(-1)[training]
    present, first = np.unique(classes, return_index=True)
    sizes = [int(np.count_nonzero(classes == label)) for label in present[np.argsort(first)]]
    if max(sizes, default=0) < count:
        raise DataError(
            f"{max(sizes, default=0)} training pairs of the commonest label are too few for {count} inner folds",
            where="the split's parameter inner_folds",
            todo="ask for fewer inner folds, or give more pairs",
        )
    generator, begin = np.random.RandomState(seed), 0
    for label, size in zip(present[np.argsort(first)], sizes, strict=True):
        # of `size` consecutive turns, fold k has every count-th, from the first that is its own
        turns = [len(range((number - begin) % count, size, count)) for number in range(count)]
        dealt = np.repeat(np.arange(count), turns)
        generator.shuffle(dealt)
        flat[training[classes == label]] = dealt
        begin += size


def broken_promises(folds: Folds, labels: Labels) -> list[str]:
    """What every split promises: its shape, known codes, test and training pairs, whole inner folds."""
    if folds.shape != labels.shape:
        return [f"the split is {folds.shape}, the dataset {labels.shape}"]
    codes, counts = np.unique(folds, return_counts=True)
    broken = []
    if codes[0] < OUTSIDE:
        broken.append(f"code {codes[0]} has no meaning")
    if not (codes == TEST).any():
        broken.append("there is no test pair")
    training = codes >= 0
    if not training.any():
        return [*broken, "there is no training pair"]
    if not np.array_equal(codes[training], np.arange(training.sum())):
        broken.append(f"the inner folds are {codes[training].tolist()}, not numbered from 0")
    sizes = counts[training]
    if sizes.max() - sizes.min() > 1:
        broken.append(f"the inner folds differ in size by {sizes.max() - sizes.min()} pairs")
    return [*broken, *_unstratified(folds, labels, codes[training].tolist())]


def _unstratified(folds: Folds, labels: Labels, numbers: list[int]) -> list[str]:
    """Inner folds must share every label out evenly, to one pair."""
    broken = []
    for label in np.unique(labels):
        counts = [int(((folds == number) & (labels == label)).sum()) for number in numbers]
        if max(counts) - min(counts) > 1:
            broken.append(f"inner folds hold between {min(counts)} and {max(counts)} pairs with label {label:+d}")
    return broken
