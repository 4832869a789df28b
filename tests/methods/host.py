"""Runs a method's main file on this machine instead of in its container: for tests that need no engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import InvalidPredictions
from harness.layout import Layout
from harness.trials import Result, Trial, check_answer, write_trial
from harness.vocabulary import Verdict

PROGRAMS = {"python": sys.executable, "r": "Rscript", "octave": "octave-cli"}
_OCTAVE = ("--no-init-file", "--no-site-file", "--no-window-system", "--no-history", "--quiet")


class OnThisMachine:
    """Skips the test where the language is not installed."""

    def __init__(self, layout: Layout, work: Path) -> None:
        self._layout = layout
        self._work = work

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        program = shutil.which(PROGRAMS[trial.card.language])
        if program is None:
            pytest.skip(f"{PROGRAMS[trial.card.language]} is not installed here")
        inward, outward = self._work / "in", self._work / "out"
        for folder in (inward, outward):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        write_trial(trial, inward)
        started = time.perf_counter()
        done = subprocess.run(
            [program, *self._arguments(trial)],
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

    def _arguments(self, trial: Trial) -> list[str]:
        folder = self._layout.methods / trial.card.name
        return {
            "python": ["-B", str(folder / "main.py")],
            "r": ["--vanilla", str(folder / "main.R")],
            "octave": [*_OCTAVE, str(folder / "main.m")],
        }[trial.card.language]

    def _environment(self, trial: Trial, inward: Path, outward: Path) -> dict[str, str]:
        sdk = str(self._layout.methods / "_sdk" / trial.card.language)
        beside = [str(self._layout.methods / "_shared" / name) for name in trial.card.uses]
        return {
            **os.environ,
            "PERMAFROST_IN": str(inward),
            "PERMAFROST_OUT": str(outward),
            "PERMAFROST_SDK": sdk,
            "PYTHONPATH": os.pathsep.join([sdk, *beside]),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OPENBLAS_CORETYPE": "Haswell",
            "LC_ALL": "C.UTF-8",
        }
