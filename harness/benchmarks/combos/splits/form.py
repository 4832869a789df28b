"""A split of documents: what is learned from, and what is asked.

The file is `|i1 [documents]`: 0 train, 1 test, -1 outside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset
from harness.benchmarks.combos.documents import LABELS, NO_COMB, abstracts_of
from harness.benchmarks.contract import Form, Strategy

TRAIN, TEST, OUTSIDE = 0, 1, -1
_PARTS = {"train": TRAIN, "test": TEST, "outside": OUTSIDE}

Parts = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class DocumentSplit:
    """The part of every document, read-only, and the sha256 of its file."""

    parts: Parts
    digest: str

    @property
    def training(self) -> int:
        """How many documents train."""
        return int((self.parts == TRAIN).sum())

    @property
    def test(self) -> int:
        """How many are asked of a method."""
        return int((self.parts == TEST).sum())

    @property
    def asked(self) -> npt.NDArray[np.int64]:
        """The documents that are asked, in the order of an answer."""
        return np.flatnonzero(self.parts == TEST)


def split_of(parts: npt.ArrayLike) -> DocumentSplit:
    """A split with its digest."""
    own: Parts = np.ascontiguousarray(parts, dtype="|i1").reshape(-1)
    own.setflags(write=False)
    return DocumentSplit(own, hashlib.sha256(npy_bytes(own)).hexdigest())


class DocumentForm(Form[CombosDataset, DocumentSplit]):
    """Strategies make splits whole. The released split is one; the published seeds are those of the methods."""

    usual_seed = 2021

    def published_seeds(self) -> tuple[int, ...]:
        """The four seeds of the paper."""
        return (2021, 2022, 2023, 2024)

    def content(self, split: DocumentSplit) -> bytes:
        """The split file."""
        return npy_bytes(split.parts)

    def read(self, path: Path, load: Callable[[], CombosDataset]) -> DocumentSplit:
        """A split file from anywhere, checked for its form."""
        try:
            shape = read_header(path)[1]
            if len(shape) != 1:
                raise NotNpy(f"has the shape {shape} instead of one part per document")
            return split_of(read_npy(path, "|i1", shape))
        except OSError as error:
            raise CorruptData(f"the split can't be read: {error.strerror}", where=str(path)) from None
        except NotNpy as error:
            raise CorruptData(f"the split {error}", where=str(path), todo="make it again") from None

    def fits(self, split: DocumentSplit, dataset: CombosDataset) -> bool:
        """Whether there is a part for every document."""
        return len(split.parts) == len(dataset.sentences)

    def broken_promises(self, split: DocumentSplit, dataset: CombosDataset) -> list[str]:
        """A known part for every document, training and test documents, and none to learn from that nobody
        annotated."""
        if not self.fits(split, dataset):
            return [f"{len(split.parts)} parts for {len(dataset.sentences)} documents"]
        broken = [
            f"part {part} has no meaning"
            for part in np.unique(split.parts).tolist()
            if part not in _PARTS.values()
        ]
        if count := int(((split.parts == TRAIN) & (dataset.released == UNANNOTATED)).sum()):
            broken.append(f"{count} documents to learn from are not annotated")
        counts = ("training", split.training), ("test", split.test)
        return broken + [f"there is no {part} document" for part, count in counts if not count]

    def describe(
        self,
        split: DocumentSplit,
        dataset: CombosDataset,
        strategy: Strategy[CombosDataset, DocumentSplit],
        parameters: Strict,
    ) -> dict[str, dict[str, Any]]:
        """Documents, abstracts, drugs and relations of each part."""
        abstracts, counts = np.array(abstracts_of(dataset.documents)), dataset.span_counts
        tables: dict[str, dict[str, Any]] = {}
        for name, part in _PARTS.items():
            rows = split.parts == part
            labels = dataset.relations[rows[dataset.relations[:, 0]], 1]
            kinds = {LABELS[kind]: int((labels == kind).sum()) for kind in range(NO_COMB + 1, len(LABELS))}
            tables[name] = {
                "documents": int(rows.sum()),
                "abstracts": len(np.unique(abstracts[rows])),
                "drugs": int(counts[rows].sum()),
                **kinds,
            }
        both = np.intersect1d(abstracts[split.parts == TRAIN], abstracts[split.parts == TEST])
        tables["test"]["abstracts of train"] = len(both)
        return tables


FORM = DocumentForm()
