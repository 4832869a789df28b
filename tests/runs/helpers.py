"""Short programs for real containers, and how a test runs one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.engine import Engine
from harness.execution.runs import Limits, Outcome, RunRequest, answer_files, execute
from harness.execution.runs.request import AnswerFiles
from tests.engines import ProbeImage

MIB = 1 << 20
# writes arrays without any library: a version 1 header, then the values
NPY = """
import os, struct, sys, time
def npy(path, values, shape=None):
    shape = shape or (len(values),)
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + ','.join(map(str, shape)) + ",)}"
    head += ' ' * (-(len(head) + 11) % 64) + chr(10)
    with open(path, 'wb') as f:
        f.write(b'\\x93NUMPY\\x01\\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack(f'<{len(values)}d', *values))
"""
GOOD = NPY + "npy('/out/predictions.npy', [0.5] * 4, (1, 4))\n"


# programs of tests need not write more than predictions; whatever a method may write is taken
ANSWER: AnswerFiles = {**answer_files("repurposing"), "required": ("predictions.npy",)}


@dataclass(frozen=True)
class Bench:
    """An engine with the probe image, and folders of the test's own."""

    engine: Engine
    image: ProbeImage
    folder: Path

    def request(
        self,
        program: str,
        *,
        required: tuple[str, ...] = ANSWER["required"],
        traces: bool = False,
        **limits: Any,
    ) -> RunRequest:
        """A run of a Python program."""
        inputs = self.folder / "in"
        inputs.mkdir(exist_ok=True)
        (inputs / "job.json").write_text('{"protocol": 1}')
        bounds: dict[str, Any] = {"seconds": 30.0, "memory_bytes": 256 * MIB, "grace_seconds": 0.5, **limits}
        return RunRequest(
            image=self.image.name,
            image_id=self.image.image_id,
            in_folder=inputs,
            work=self.folder / "work",
            limits=Limits(**bounds),
            entrypoint=self.image.entrypoint,
            command=(program,),
            required=required,
            expected=ANSWER["expected"],
            traces=traces,
        )

    def run(
        self,
        program: str,
        *,
        check: Callable[[Path], object] | None = None,
        stop: threading.Event | None = None,
        **limits: Any,
    ) -> Outcome:
        """Run a Python program in a container."""
        return execute(self.engine, self.request(program, **limits), check=check, stop=stop)
