"""Inputs as the files that a container would find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import benchmarks as benchmark
from harness.base.given import write_given


def write_inputs(
    name: str, dataset: Any, split: Any, inputs: Sequence[str], folder: Path, *, inner_folds: int
) -> dict[str, dict[str, Any]]:
    """Write every input of a benchmark's problem to `folder`; their descriptions by name."""
    made = benchmark.get(name).inputs(dataset, split, inputs, inner_folds=inner_folds)
    return {name: write_given(folder, name, given) for name, given in made.items()}
