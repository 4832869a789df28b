"""Which of the processor's kernels NumPy and torch use. Both choose on import, so this imports neither."""

from __future__ import annotations

import json
import os
from pathlib import Path

# NumPy's beyond its baseline, oldest first
_KERNELS = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")


def choose() -> None:
    """NumPy's as the job's parameter says, because they decide which neighbour is left out; torch's are always the
    same on all processors with AVX2, for the sake of the last bit.
    """
    job = json.loads((Path(os.environ.get("PERMAFROST_IN", "/in")) / "job.json").read_bytes())
    newest = job["parameters"]["numpy_kernels"]
    newer = _KERNELS if newest == "baseline" else _KERNELS[_KERNELS.index(newest) + 1 :]
    os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
    if "avx2" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split():
        os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"}
