"""Runs a function in place of a method: for tests of what the self-test finds, which need no container."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import InvalidPredictions
from harness.base.vocabulary import Verdict
from harness.conformance import self_test
from harness.execution.trials import Result, Trial, check_answer
from harness.methods.card import MethodCard


class InProcess:
    """A runner of trials: `answer` gives the files of an answer. It counts its runs."""

    def __init__(self, folder: Path, answer: Callable[[Trial], Mapping[str, bytes]], extra: str = "") -> None:
        self.folder = folder
        self.answer = answer
        self.extra = extra
        self.runs = 0

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        self.runs += 1
        out = self.folder / str(self.runs)
        out.mkdir(parents=True)
        for name, content in self.answer(trial).items():
            (out / name).write_bytes(content)
        (out / "method.json").write_text(json.dumps({"protocol": 1}))
        verdict, reason = Verdict.OK, ""
        try:
            check_answer(trial, out)
        except InvalidPredictions as fault:
            verdict, reason = Verdict.INVALID, str(fault)
        yield Result(verdict, reason, out, 0.0, (self.extra,) if self.extra else ())


def failed(card: MethodCard, runner: InProcess) -> set[str]:
    """The checks that the method does not pass."""
    return {result.check for result in self_test(card, runner) if not result.passed}
