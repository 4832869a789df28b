"""Published numbers beside ours, and a GPU's numbers beside a CPU's, as answers."""

from __future__ import annotations

from harness.cli.documents.forms import Answer, Fields
from harness.compare import ClaimVerdict
from harness.compare.comparison import Recomputed


class ClaimRow(Fields):
    """A published number beside ours. Names are ours, None where this artifact has no such thing."""

    source: str
    statistic: str
    published_names: dict[str, str]
    method: str | None
    dataset: str | None
    split: str | None
    variant: str
    seed: int | None
    metric: str | None
    # as printed: a number, or an outcome in words, such as "memory error"
    published: str
    published_sd: float | None
    published_n: int
    authors_files: Recomputed | None
    ours: float | None
    n: int
    difference: float | None
    interval_low: float | None
    interval_high: float | None
    margin: float | None
    needed: int | None
    test: str
    verdict: ClaimVerdict
    reason: str
    keys: list[str]


class Comparisons(Answer):
    """`harness compare`."""

    benchmark: str
    sources: list[str]
    claims: int
    verdicts: dict[ClaimVerdict, int]
    comparisons: list[ClaimRow]


class AcceleratorPair(Fields):
    """A metric of a run on a GPU beside that of the same run on the CPU; `keys` are the CPU's and the GPU's."""

    label: str
    metric: str
    cpu: float | None
    gpu: float | None
    difference: float | None
    allowed: float
    agrees: bool
    keys: list[str]


class AcceleratorAnswer(Answer):
    """`harness compare --gpu`; `alone` are runs on a GPU without one on the CPU."""

    differing: int
    pairs: list[AcceleratorPair]
    alone: list[str]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {"compare": (Comparisons, AcceleratorAnswer)}
