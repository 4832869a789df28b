"""Runs statements of Java in a method's own image: SDK and method are on the path, two folders are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.engine import Engine
from tests.methods.frozen import run_in_image

Array = npt.NDArray[Any]
_COMPILE = (
    "java -m jdk.compiler/com.sun.tools.javac.Main -d /tmp/classes -proc:none "
    "-sourcepath /in:/opt/method:/opt/sdk /in/Probe.java; java Probe"
)
_PROGRAM = """
import java.nio.file.*;
import java.util.*;
import com.google.gson.*;
final class Probe {
    static Npy in(String name) throws Exception { return Npy.read(Path.of("/in", name + ".npy")); }
    static void out(String name, Object values, int... shape) throws Exception {
        Npy.of(values, shape).write(Path.of("/out", name + ".npy"));
    }
    static float[][] vectors(String name) throws Exception {
        Npy array = in(name);
        float[][] rows = new float[array.shape[0]][];
        for (int row = 0; row < rows.length; row++) {
            int start = row * array.shape[1];
            rows[row] = Arrays.copyOfRange((float[]) array.values, start, start + array.shape[1]);
        }
        return rows;
    }
    static double[][] rows(String name) throws Exception {
        Npy array = in(name);
        double[][] rows = new double[array.shape[0]][];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = Arrays.copyOfRange(array.doubles(), row * array.shape[1], (row + 1) * array.shape[1]);
        }
        return rows;
    }
    static void outRows(String name, double[][] rows) throws Exception {
        out(name, Arrays.stream(rows).flatMapToDouble(Arrays::stream).toArray(), rows.length, rows[0].length);
    }
    public static void main(String[] arguments) throws Exception {
        @CODE@
    }
}
"""


class JavaFailed(Exception):
    """Java ended with a non-zero exit code; the text is what it said."""


@dataclass(frozen=True)
class Java:
    """`inward` is /in, read-only; `outward` is /out."""

    engine: Engine
    image_id: str
    inward: Path
    outward: Path

    def __call__(self, code: str, arrays: Mapping[str, Array] | None = None) -> str:
        """Write the arrays to /in, run the statements, and return what they printed."""
        for name, array in (arrays or {}).items():
            np.save(self.inward / f"{name}.npy", array, allow_pickle=False)
        (self.inward / "Probe.java").write_text(_PROGRAM.replace("@CODE@", code), encoding="utf-8")
        mounts = {self.inward: ("/in", "ro"), self.outward: ("/out", "rw")}
        done = run_in_image(self.engine, self.image_id, ["sh", "-ec", _COMPILE], mounts)
        if done.returncode:
            raise JavaFailed(done.stderr)
        return done.stdout

    def written(self, name: str) -> Array:
        """What Java wrote to /out."""
        array: Array = np.load(self.outward / f"{name}.npy", allow_pickle=False)
        return array
