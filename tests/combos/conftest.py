"""The text side of the methods of combos, as their images hold it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace

import pytest

from harness.base.layout import Layout

FOLDERS = (
    *("methods/_shared/combinations", "methods/_shared/combination_model/parity"),
    *("harness/benchmarks/combos/sdk/python", "methods/_sdk/python"),
)
MODULES = (
    *("combos_sdk", "combination_candidates", "combination_decoding", "combination_orders", "marked_texts"),
    "given_windows",
)


@pytest.fixture(scope="module")
def texts(repository: Layout) -> Iterator[SimpleNamespace]:
    """Its modules, by their last words."""
    folders = [str(repository.root / folder) for folder in FOLDERS]
    sys.path[:0] = folders
    modules = {name.rpartition("_")[2]: import_module(name) for name in MODULES}
    yield SimpleNamespace(**modules)
    for folder in folders:
        sys.path.remove(folder)
    for name in (*MODULES, "permafrost_sdk"):
        sys.modules.pop(name, None)
