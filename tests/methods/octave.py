"""Runs lines of Octave in BNNR's own image: the SDK and the method are on the path, two folders are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.engine import Engine
from tests.methods.frozen import run_in_image

_QUIET = ("--no-init-file", "--no-site-file", "--no-window-system", "--no-history", "--quiet", "--eval")


class OctaveFailed(Exception):
    """Octave ended with a non-zero exit code; the text is what it said."""


@dataclass(frozen=True)
class Octave:
    """`inward` is /in, read-only; `outward` is /out."""

    engine: Engine
    image_id: str
    inward: Path
    outward: Path

    def __call__(self, code: str, arrays: Mapping[str, npt.NDArray[Any]] | None = None) -> str:
        """Write the arrays to /in, run the code, and return what it printed."""
        for name, array in (arrays or {}).items():
            np.save(self.inward / f"{name}.npy", array, allow_pickle=False)
        mounts = {self.inward: ("/in", "ro"), self.outward: ("/out", "rw")}
        done = run_in_image(self.engine, self.image_id, ["octave-cli", *_QUIET, code], mounts)
        if done.returncode:
            raise OctaveFailed(done.stderr)
        return done.stdout

    def written(self, name: str) -> npt.NDArray[Any]:
        """What Octave wrote to /out."""
        array: npt.NDArray[Any] = np.load(self.outward / f"{name}.npy", allow_pickle=False)
        return array
