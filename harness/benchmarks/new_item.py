"""Items of one's own that a dataset is extended by, such as a drug: what `harness predict` then asks about.

A benchmark whose datasets can be extended has a module `extension` with `with_new(dataset, items)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.manifests import Strict

D = TypeVar("D")


class NewItem(Strict):
    """Something of one's own that a dataset is extended by."""

    # what it is, in a word of the benchmark: `drug`
    kind: str
    # what it is called in a ranking
    name: str
    # what is known of it, such as a structure
    text: str


def with_new(benchmark: str, dataset: D, items: Sequence[NewItem]) -> D:
    """The dataset with items of one's own."""
    extension = benchmarks.part(benchmark, "extension")
    if extension is None:
        raise UsageError(
            f"benchmark {benchmark} can't add items to a dataset",
            where="--new",
            todo="list them in tables of your own (docs/predicting.md)",
        )
    return cast(D, extension.with_new(dataset, items))
