"""What a method for notes sees of the harness: texts come in, a subject for each that is asked goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from permafrost_sdk import Job, perform, write_jsonl

__all__ = ["Problem", "run"]


@dataclass(frozen=True)
class Problem:
    """Texts; the subject of each or an empty text; the places of those that are asked."""

    documents: Sequence[str]
    subjects: Sequence[str]
    asked: Sequence[int]
    parameters: Mapping[str, Any]


Answer = list[tuple[str, float]]


def run(fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job."""
    perform(_Model, fit_predict)


class _Model:
    def __init__(self, job: Job) -> None:
        self._job = job
        given = job.inputs
        asked = [int(place) for place in given["asked"]]
        self._problem = Problem(given["documents"], given["subjects"], asked, job.parameters)

    def problems(self) -> Iterator[Problem]:
        yield self._problem

    def keep(self, answer: Answer) -> None:
        rows = [{"subject": subject, "certainty": certainty} for subject, certainty in answer]
        write_jsonl(self._job.out / "answers.jsonl", rows)

    def report(self) -> dict[str, Any]:
        return {"iterations": None}
