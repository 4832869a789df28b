"""Plans, runs and their numbers as answers."""

from __future__ import annotations

from typing import Any, Literal

from harness.base.vocabulary import Accelerator, Verdict
from harness.cli.documents.claims import ClaimRow
from harness.cli.documents.forms import Answer, Counts, Fields, Metrics
from harness.execution.bulletins import Bulletin
from harness.handles.removal import Forgotten
from harness.planning.jobs import Job
from harness.planning.needs import Needs
from harness.proof.plans import PlanProgress
from harness.results.merge import MergedRun
from harness.splits.spec import SplitSpec


class JobFields(Fields):
    """The job of a row. `accelerator` is there where it is not the CPU."""

    benchmark: str
    method: str
    variant: str
    parameters: dict[str, Any]
    dataset: str
    split: SplitSpec
    options: Counts
    upstream: str
    accelerator: Accelerator = "cpu"


class PlanCell(JobFields):
    """A planned job, and what is known of it; without a key it can't be run, and the reason says why."""

    key: str | None
    verdict: Verdict
    reason: str


class PlanAnswer(Answer):
    """`harness plan`, and `harness run --dry-run`."""

    suite: str
    cells: list[PlanCell]
    needs: Needs


class MetricSummary(Fields):
    """A metric over the seeds of a group."""

    mean: float
    sd: float | None
    n: int


class GroupRow(Fields):
    """A row of the status table: a method on a dataset and a split, over its seeds."""

    benchmark: str
    row: str
    method: str
    control: bool
    published_order: bool
    dataset: str
    split: str
    planned: int
    verdicts: dict[Verdict, int]
    metrics: dict[str, MetricSummary]


class CellRow(JobFields):
    """A planned job with its verdict and its metrics; undefined ones are null, and `notes` say why.

    `reference`: whether a committed result is shown, because it was not run on this machine.
    """

    key: str | None
    control: bool
    published_order: bool
    reference: bool
    verdict: Verdict
    reason: str
    metrics: Metrics
    notes: dict[str, str]
    scored: bool


class StatusAnswer(Answer):
    """`harness status`; `stand_ins` are datasets that no claim rests on, each with the reason."""

    plan: str
    planned: int
    in_view: int
    verdicts: dict[Verdict, int]
    meanings: dict[Verdict, str]
    runs_of_other_plans: int
    stand_ins: dict[str, str]
    groups: list[GroupRow]
    cells: list[CellRow]


class RunAnswer(StatusAnswer):
    """`harness run`: the table, and of at most four runs the published numbers about them, by key."""

    published: dict[str, list[ClaimRow]]


class ScoresRow(Fields):
    """The scores of one run."""

    label: str
    key: str
    scorer: str
    evidence: dict[str, str]
    metrics: Metrics
    notes: dict[str, str]
    series: dict[str, list[float | None]] = {}
    digest: str


class ScoresAnswer(Answer):
    """`harness score`."""

    rows: list[ScoresRow]


class ShownScores(Fields):
    """The scores that `harness show` has."""

    metrics: Metrics
    notes: dict[str, str]
    series: dict[str, list[float | None]]


class ShownFile(Fields):
    """A file of a run, and whether it is on this machine."""

    name: str
    bytes: int
    sha256: str
    here: bool


class RunPage(Answer):
    """`harness show`: `image`, `inputs`, `resources`, `limits` and `made` are those of the run's record."""

    key: str
    label: str
    kind: Literal["run of this machine", "reference result"]
    where: str
    committed: bool
    current: bool
    verdict: Verdict
    reason: str
    job: Job
    image: dict[str, Any]
    inputs: dict[str, Any]
    resources: dict[str, Any]
    limits: dict[str, Any]
    made: dict[str, Any]
    scores: ShownScores | None
    published: list[ClaimRow]
    files: list[ShownFile]
    warnings: list[str]


class RunLog(Answer):
    """`harness show --log`: what a container printed, and whether it is what was recorded."""

    key: str
    bytes: int
    log: str
    recorded: bool


class DifferenceRow(Fields):
    """One thing that differs between two runs; of numbers `by` is second minus first."""

    section: str
    name: str
    first: str
    second: str
    by: float | None
    decides: bool


class DifferenceListing(Answer):
    """`harness diff`."""

    rows: list[DifferenceRow]


class ForgetAnswer(Answer):
    """`harness forget`: the runs that were removed, or with --dry-run would be."""

    removed: bool
    runs: list[Forgotten]


class ContestRow(Fields):
    """A method in a setting: its values, and its tests against the first method."""

    metric: str
    dataset: str
    split: str
    method: str
    control: bool
    mean: float | None
    sd: float | None
    n: int
    planned: int
    failed: int
    reference: int
    rank: float | None
    mean_rank: float | None
    against: str | None
    common_seeds: int | None
    difference: float | None
    p: float | None
    p_holm: float | None
    dominance: float | None
    dz: float | None
    marks: str
    remark: str


class SeedValues(Fields):
    """The values of a method in a setting, by seed."""

    method: str
    setting: str
    seeds: dict[str, float]


class RankTestOfSettings(Fields):
    """Friedman's test over the settings `blocks`, and Nemenyi's critical difference."""

    ranks: list[float]
    blocks: list[str]
    statistic: float
    p: float
    exact: bool
    critical_difference: float


class ContestAnswer(Answer):
    """`harness table`."""

    metric: str
    better: str
    first: str
    significance: float
    rows: list[ContestRow]
    values: list[SeedValues]
    rank_test: RankTestOfSettings | None
    problems: list[str]
    notes: list[str]


class StudyAnswer(Answer):
    """`harness study`: tables and figures by number, each of its own form."""

    benchmark: str
    sources: list[str]
    tables: dict[str, Any]
    figures: dict[str, Any]


class WrittenJob(Answer):
    """`harness job write`: the words of the line that starts the container; `remarks`: what it does not limit."""

    key: str
    folder: str
    image: str
    image_id: str
    line: list[str]
    remarks: list[str]


class CheckedJob(Answer):
    """`harness job check`: files by sha256; `equal` is null where there is no run of this key."""

    key: str
    fault: str
    files: dict[str, str]
    equal: bool | None


class PredictingRow(Fields):
    """A method that answers, why in this variant, and what a person should know of it."""

    method: str
    variant: str
    reason: str
    remarks: list[str]
    key: str
    finished: str
    harness: str


class AskedItem(Fields):
    """Something of one's own that was asked about."""

    kind: str
    name: str
    text: str


class AskedName(Fields):
    """Something of the dataset: only rows with it were asked for."""

    kind: str
    name: str


class PredictionAnswer(Answer):
    """`harness predict`: rows have the fields that `columns` names, ranked ones first."""

    benchmark: str
    dataset: str
    summary: str
    new: list[AskedItem]
    only: list[AskedName]
    pairs: list[list[str]]
    seed: int
    methods: list[PredictingRow]
    meaning: list[str]
    columns: list[str]
    ranked: int
    asked: int
    among: int
    rows: list[dict[str, str | int | float | None]]


class MergedFolder(Fields):
    """What came of a folder: runs that were taken by verdict, and how many had nothing to be taken."""

    folder: str
    taken: Counts
    known: int
    equal: int
    in_other_order: int
    refused: list[MergedRun]
    disagreements: list[MergedRun]
    plans: list[str]


class MergeAnswer(Answer):
    """`harness store merge`, with how far the plans have come."""

    folders: list[MergedFolder]
    plans: list[PlanProgress]


class CampaignsAnswer(Answer):
    """`harness status --watch`: the campaigns at work at this moment."""

    campaigns: list[Bulletin]


class StopAnswer(Answer):
    """`harness stop`: which campaign was asked to end, and whether at once."""

    campaign: str
    plan: str
    now: bool


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "diff": (DifferenceListing,),
    "forget": (ForgetAnswer,),
    "job check": (CheckedJob,),
    "job write": (WrittenJob,),
    "plan": (PlanAnswer,),
    "predict": (PredictionAnswer,),
    "run": (RunAnswer, PlanAnswer),
    "score": (ScoresAnswer,),
    "show": (RunPage, RunLog),
    "status": (StatusAnswer, CampaignsAnswer),
    "stop": (StopAnswer,),
    "store merge": (MergeAnswer,),
    "study": (StudyAnswer,),
    "table": (ContestAnswer,),
}
