"""Runs a Python method's main file on this machine instead of in its container: for tests that need no engine.

Methods in other languages run in their containers alone: what a machine happens to have is not what was frozen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import InvalidPredictions
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution.trials import Result, Trial, check_answer, write_trial
from harness.images.identity import code_folders, parity_folders


class OnThisMachine:
    """A runner of trials, by the interpreter that runs the tests."""

    def __init__(self, layout: Layout, work: Path) -> None:
        self._layout = layout
        self._work = work

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        assert trial.card.language == "python", "only its container has what it needs"
        inward, outward = self._work / "in", self._work / "out"
        for folder in (inward, outward):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        write_trial(trial, inward)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-B", str(self._layout.methods / trial.card.name / "main.py")],
            env=self._environment(trial, inward, outward),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        verdict, reason = Verdict.OK, ""
        if done.returncode:
            verdict, reason = Verdict.ERROR, f"exit code {done.returncode}\n{done.stderr}"
        else:
            try:
                check_answer(trial, outward)
            except InvalidPredictions as fault:
                verdict, reason = Verdict.INVALID, str(fault)
        yield Result(verdict, reason, outward, time.perf_counter() - started)

    def _environment(self, trial: Trial, inward: Path, outward: Path) -> dict[str, str]:
        beside = [*code_folders(self._layout, trial.card.name)[1:], *parity_folders(self._layout, trial.card)]
        return {
            **os.environ,
            "PERMAFROST_IN": str(inward),
            "PERMAFROST_OUT": str(outward),
            "PYTHONPATH": os.pathsep.join(map(str, beside)),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OPENBLAS_CORETYPE": "Haswell",
            "LC_ALL": "C.UTF-8",
        }
