"""What `harness split measure` and `consistency` answer as JSON."""

from __future__ import annotations

from harness.cli.documents.forms import Answer, Fields, OpenFields


class MeasuredSplit(OpenFields):
    """A split. Other fields are tables of numbers: sizes, and how similar known and new drugs are."""

    dataset: str
    split: str


class Measurements(Answer):
    """`harness split measure`."""

    rows: list[MeasuredSplit]


class ConsistencyRow(Fields):
    """One split at one threshold: its penalty, and the shares of controls that do as well, and as badly."""

    split: str
    year: int
    drugs: int
    penalty: int
    index: float | None
    control_mean: float
    control_sd: float
    better: float
    worse: float
    differs: float


class ConsistencyAnswer(Answer):
    """`harness split consistency`: `left_out` says why a split is not among the rows."""

    rows: list[ConsistencyRow]
    left_out: dict[str, str]


ANSWERS = {"split measure": (Measurements,), "split consistency": (ConsistencyAnswer,)}
