"""Which of the processor's kernels NumPy uses. It chooses on import, so this does not import it."""

from __future__ import annotations

import json
import os
from pathlib import Path

# NumPy's beyond its baseline, oldest first
_KERNELS = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")


def choose() -> None:
    """As the job's parameter says, because they decide which neighbour is left out."""
    job = json.loads((Path(os.environ.get("PERMAFROST_IN", "/in")) / "job.json").read_bytes())
    newest = job["parameters"]["numpy_kernels"]
    newer = _KERNELS if newest == "baseline" else _KERNELS[_KERNELS.index(newest) + 1 :]
    os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
