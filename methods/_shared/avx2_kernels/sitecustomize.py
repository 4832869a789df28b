"""What Python does in these images before anything else: choose torch's kernels, the same on all processors.

Torch and its libraries choose them once, by the environment. The images' own choice is the oldest kernels, which
any processor has; with those of AVX2, which nearly all have, training takes a fifth less time. The last bits of an
answer depend on the choice.
"""

from __future__ import annotations

import os
from pathlib import Path

if "avx2" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split():
    os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"}
