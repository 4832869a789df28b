"""The scripts that made up the embedded datasets, as modules."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from harness.base.layout import Layout


def generator_of(repository: Layout, dataset: str) -> ModuleType:
    """The script `make.py` of a dataset."""
    spec = spec_from_file_location(f"make_{dataset}", repository.datasets / dataset / "make.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
