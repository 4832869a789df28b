"""Inputs as the files that a container would find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness import benchmarks
from harness.base.input_files import write_given

NO_OPTIONS: Mapping[str, int] = MappingProxyType({})


def write_inputs(
    name: str,
    dataset: Any,
    split: Any,
    inputs: Sequence[str],
    folder: Path,
    options: Mapping[str, int] = NO_OPTIONS,
) -> dict[str, dict[str, Any]]:
    """Write every input of a benchmark's problem to `folder`; their descriptions by name."""
    made = benchmarks.get(name).inputs(dataset, split, inputs, options)
    return {name: write_given(folder, name, given) for name, given in made.items()}
