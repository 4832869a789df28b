"""What HAN must know beyond its problem: which of NumPy's kernels select neighbours, and which pairs are training.

Imports neither NumPy nor torch: both choose their kernels when they are imported.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from permafrost_sdk import Problem

# NumPy's kernels beyond its baseline, oldest first
_KERNELS = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")


def choose_kernels() -> None:
    """NumPy's as the job says: no newer ones than `numpy_kernels`; torch's the same on all with AVX2."""
    wanted = _job()["parameters"]["numpy_kernels"]
    allowed = 0 if wanted == "baseline" else _KERNELS.index(wanted) + 1
    os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(_KERNELS[allowed:])
    if "avx2" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split():
        os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"}


def training_pairs(problem: Problem) -> npt.NDArray[np.bool_]:
    """The pairs that this inner model is fitted on, zeros included; a golden case names them itself."""
    from permafrost_sdk import read_npy

    if "train_mask" in problem.inputs:
        return problem.inputs["train_mask"] == 1
    folds, inner_folds = read_npy(_inward() / "folds.npy"), _job()["inner_folds"]
    return (folds >= 0) & ((folds != problem.model) | (inner_folds == 0))


def _job() -> dict[str, Any]:
    job: dict[str, Any] = json.loads((_inward() / "job.json").read_bytes())
    return job


def _inward() -> Path:
    return Path(os.environ.get("PERMAFROST_IN", "/in"))
