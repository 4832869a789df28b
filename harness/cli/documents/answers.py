"""What every command answers as JSON, as types: the schemas in docs/schemas/ are generated from these.

Whatever any test makes a command print is validated against them, so a field that is not here fails a test.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import BaseModel, ConfigDict, TypeAdapter

from harness import benchmarks
from harness.audit import Lack
from harness.audit.steps import Checked, Step
from harness.base.vocabulary import Accelerator, Verdict
from harness.compare import ClaimVerdict
from harness.compare.judge import Recomputed
from harness.handles.removal import Forgotten
from harness.images.receipts import BuiltImage
from harness.materials.updates import NewerPackage
from harness.planning.jobs import Job
from harness.planning.needs import Needs
from harness.proof.leaves import Event
from harness.proof.verification import ProofStep
from harness.results.findings import Finding
from harness.splits.spec import SplitSpec
from harness.upkeep.clean import Removal
from harness.upkeep.doctor import Examination

Metrics = dict[str, float | None]
Counts = dict[str, int]


class Fields(BaseModel):
    """Fields by name. One that is not named here is a fault of this file."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OpenFields(BaseModel):
    """Fields by name, and others that its description tells where to find."""

    model_config = ConfigDict(extra="allow", strict=True)


class Answer(Fields):
    """The envelope of all answers."""

    permafrost: Literal[1]
    command: str


class Failure(Fields):
    """What went wrong: what, where, and what to do; `exit_code` is the command's."""

    kind: str
    what: str
    where: str
    todo: str
    exit_code: int


class ErrorAnswer(Answer):
    """What is printed in place of an answer where a command fails."""

    error: Failure


# -- what there is


class Listed(Fields):
    """A name with what it is."""

    name: str
    summary: str


class FaultyDataset(Listed):
    """A dataset whose manifest can't be read has a `fault`."""

    fault: str = ""


class ListedMethod(OpenFields):
    """A method. Other fields are those of its card (`method.toml`)."""

    name: str
    summary: str
    title: str
    category: str
    language: str
    benchmarks: list[str]
    control: bool
    variants: dict[str, Any]


class ListedFinding(Finding):
    """A finding of the benchmark `name`."""

    name: str
    summary: str


class Listing(Answer):
    """`harness list`: what kind the rows are of is what was asked for."""

    rows: list[ListedMethod | ListedFinding | FaultyDataset]


class FaultyManifest(Fields):
    """A manifest that can't be read."""

    name: str
    fault: str


class DatasetRow(OpenFields):
    """A dataset, and whether its files are here. Other fields are those of its manifest (`dataset.toml`)."""

    name: str
    title: str
    benchmark: str
    state: str


class Datasets(Answer):
    """`harness data list`."""

    rows: list[DatasetRow | FaultyManifest]


class LoadedDataset(Fields):
    """A dataset that was converted: the digest of its arrays; None where a person has to bring it."""

    name: str
    digest: str | None
    remarks: list[str]


class LoadedDatasets(Answer):
    """`harness data get`."""

    rows: list[LoadedDataset]


class VerifiedDataset(Fields):
    """Whether a dataset is what its manifest says."""

    name: str
    verdict: Literal["ok", "corrupt", "not here"]
    reason: str


class VerifiedDatasets(Answer):
    """`harness data verify`."""

    rows: list[VerifiedDataset]


class ForgottenFiles(Answer):
    """`harness data forget`."""

    name: str
    forgotten: list[str]


class WeightsRow(OpenFields):
    """A pretrained model, and whether it is here. Other fields are those of its `weights.toml`."""

    method: str
    title: str
    state: str


class WeightsListing(Answer):
    """`harness weights list`."""

    rows: list[WeightsRow]


class WeightsAnswer(Answer):
    """`harness weights get` and `adapt`: the digest of what is here now."""

    method: str
    title: str
    digest: str


class VerifiedWeights(Fields):
    """Whether a model is here and unchanged."""

    method: str
    verdict: Literal["ok", "not here"]


class WeightsVerification(Answer):
    """`harness weights verify`."""

    rows: list[VerifiedWeights]


# -- splits


class StrategyRow(Fields):
    """A split strategy: its parameters with their defaults, and how many splits of each dataset are published."""

    benchmark: str
    name: str
    summary: str
    parameters: dict[str, Any]
    published: Counts


class Strategies(Answer):
    """`harness split list`."""

    rows: list[StrategyRow]


class SplitRow(OpenFields):
    """A split file. Other fields are tables of numbers that describe it, in the words of its benchmark."""

    dataset: str
    split: str
    sha256: str
    file: str


class MadeSplits(Answer):
    """`harness split make`."""

    rows: list[SplitRow]


class VerifiedSplit(Fields):
    """The promises of a split that were examined, and those that are broken."""

    dataset: str
    split: str
    seeds: list[int]
    sha256: str
    examined: list[str]
    broken: list[str]
    known_findings: list[str]


class SplitVerification(Answer):
    """`harness split verify`."""

    rows: list[VerifiedSplit]


# -- images


class ImageRow(Fields):
    """What is recorded of an environment or a method's image, and what was built here."""

    name: str
    kind: Literal["environment", "method"]
    variant: str
    extends: str | None
    tree: str
    why: str
    image: str
    bytes: int
    added_bytes: int
    built: list[BuiltImage]


class Images(Answer):
    """`harness image list`."""

    rows: list[ImageRow]


class LockRow(Fields):
    """The lock files of an environment."""

    name: str
    locks: list[str]


class Locks(Answer):
    """`harness image lock`."""

    rows: list[LockRow]


class Parts(Answer):
    """`harness image fetch` and `export`: how many parts are in a folder, and how many of them are new."""

    folder: str
    parts: int
    new: int


class Builds(Answer):
    """`harness image build`."""

    rows: list[BuiltImage]


class ImageCheck(Fields):
    """One thing that was checked of an image; `fault` is empty where it holds."""

    image: str
    check: str
    detail: str
    fault: str
    seconds: float
    ok: bool


class ImageVerification(Answer):
    """`harness image verify`."""

    rows: list[ImageCheck]


class Outdated(Answer):
    """`harness image outdated`: locked packages that an archive has newer, or not at all."""

    packages: int
    newer: list[NewerPackage]
    absent: list[str]
    suites: list[str]


# -- runs


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
    """A planned job with its verdict and its metrics; undefined ones are null, and `notes` say why."""

    key: str | None
    control: bool
    published_order: bool
    verdict: Verdict
    reason: str
    metrics: Metrics
    notes: dict[str, str]
    scored: bool


class StatusAnswer(Answer):
    """`harness status`."""

    plan: str
    planned: int
    in_view: int
    verdicts: dict[Verdict, int]
    meanings: dict[Verdict, str]
    runs_of_other_plans: int
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


# -- evidence


class ReferenceGroup(Fields):
    """The reference results of a method on a dataset and a split."""

    label: str
    verdicts: dict[Verdict, int]
    stale: int
    cpu_hours: float


class ReferenceKey(JobFields):
    """A reference result."""

    key: str
    verdict: Verdict
    label: str


class ReferenceListing(Answer):
    """`harness reference list`; with --keys each run."""

    rows: list[ReferenceGroup | ReferenceKey]


class SavedReference(Answer):
    """`harness reference save`."""

    runs: int
    files: int
    bytes: int
    folder: str


class StepRow(Fields):
    """A link of the chain from a number to what it rests on."""

    name: str
    checked: Checked
    what: str
    expected: str
    found: str
    where: str
    lack: str


class AuditedRun(Fields):
    """The chain of one run."""

    key: str
    label: str
    verdict: str
    # why it is no run of the present code, images or data; why it did not end by itself
    superseded: str
    unfinished: str
    steps: list[StepRow]


class GapRow(Fields):
    """How often something was lacking, and why."""

    count: int
    reasons: list[str]


class AuditAnswer(Answer):
    """`harness audit`."""

    audited: int
    not_audited: int
    passed: int
    failed: int
    superseded: int
    cells_without_run: int
    lacking: dict[Lack, GapRow]
    repository: list[StepRow]
    runs: list[AuditedRun]
    waived: list[Lack]


class ProofAnswer(Answer):
    """`harness audit --signed`."""

    about: str
    failed: int
    steps: list[ProofStep]


class SignerRow(Fields):
    """Who signed."""

    name: str
    key: str


class StatementAnswer(Answer):
    """`harness attest`: the file, who signed it, its digest, and what it says."""

    path: str
    signed_by: SignerRow | None
    sha256: str
    about: str
    made: str
    git: dict[str, Any]
    log: dict[str, Any]
    harness: str
    leaves: Counts
    results: int
    verdicts: dict[Verdict, int]
    removals: dict[str, Any]
    imported: int
    plans: list[dict[str, Any]]
    unplanned: int
    digests: dict[str, str]


class LeafRow(Fields):
    """A leaf of the log. Fields that are empty in it are left out."""

    leaf: int
    hash: str
    kind: Event
    at: str
    scope: str = ""
    key: str = ""
    record: str = ""
    verdict: str = ""
    score: str = ""
    plan: str = ""
    cells: int = 0
    note: str = ""
    proof: list[str] = []


class LogAnswer(Answer):
    """`harness log`."""

    size: int
    root: str
    leaves: list[LeafRow]


class ArrayRow(Fields):
    """An array of a golden case beside ours."""

    array: str
    verdict: str
    largest_error: float | str | None
    tolerance: float
    note: str


class CaseRow(Fields):
    """A golden case; its verdict is that of its worst array."""

    case: str
    kind: str
    subject: str
    verdict: str
    note: str
    seconds: float | None
    arrays: list[ArrayRow]


class ParityAnswer(Answer):
    """`harness parity`."""

    golden: str
    cases: int
    ok: bool
    findings: list[CaseRow]


class SelfTestRow(Fields):
    """A check of the self-test of a method."""

    method: str
    check: str
    passed: bool
    reason: str


class SelfTestAnswer(Answer):
    """`harness new check`."""

    rows: list[SelfTestRow]


class CrateRun(Fields):
    """A run of a crate, recomputed."""

    key: str
    label: str
    outcome: Checked
    steps: list[Step]


class CrateVerification(Answer):
    """`harness export --verify`."""

    failed: int
    runs: dict[Checked, int]
    cells_without_run: int
    crate: CrateRun
    audits: list[CrateRun]


# -- what was written


class ExportAnswer(Answer):
    """`harness export`: what was written; of a crate also its runs, and the reason for each that was left out."""

    file: str
    runs: int = 0
    left_out: dict[str, str] = {}


class ReportAnswer(Answer):
    """`harness report`: the page, or the index of the site, and the bytes of all that was written."""

    file: str
    bytes: int
    site: bool


class NewMethod(Answer):
    """`harness new method`."""

    method: str
    files: list[str]


class KernelAnswer(Answer):
    """`harness notebook`: printed when the kernel listens, so that a program can connect to it."""

    key: str
    label: str
    connection_file: str


class RegisteredKernel(Answer):
    """`harness notebook --register`."""

    registered: str


# -- upkeep


class Examinations(Answer):
    """`harness doctor`."""

    ready: bool
    checks: list[Examination]


class Removals(Answer):
    """`harness clean`: what was removed, or with --dry-run would be."""

    rows: list[Removal]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "attest": (StatementAnswer,),
    "audit": (AuditAnswer, ProofAnswer),
    "clean": (Removals,),
    "compare": (Comparisons,),
    "data forget": (ForgottenFiles,),
    "data get": (LoadedDatasets,),
    "data list": (Datasets,),
    "data verify": (VerifiedDatasets,),
    "diff": (DifferenceListing,),
    "doctor": (Examinations,),
    "export": (ExportAnswer, CrateVerification),
    "forget": (ForgetAnswer,),
    "image build": (Builds,),
    "image export": (Parts,),
    "image fetch": (Parts,),
    "image list": (Images,),
    "image lock": (Locks,),
    "image outdated": (Outdated,),
    "image verify": (ImageVerification,),
    "list": (Listing,),
    "log": (LogAnswer,),
    "new check": (SelfTestAnswer,),
    "new method": (NewMethod,),
    "notebook": (KernelAnswer, RegisteredKernel),
    "parity": (ParityAnswer,),
    "plan": (PlanAnswer,),
    "reference list": (ReferenceListing,),
    "reference save": (SavedReference,),
    "report": (ReportAnswer,),
    "run": (RunAnswer, PlanAnswer),
    "score": (ScoresAnswer,),
    "show": (RunPage, RunLog),
    "split list": (Strategies,),
    "split make": (MadeSplits,),
    "split verify": (SplitVerification,),
    "status": (StatusAnswer,),
    "study": (StudyAnswer,),
    "table": (ContestAnswer,),
    "weights adapt": (WeightsAnswer,),
    "weights get": (WeightsAnswer,),
    "weights list": (WeightsListing,),
    "weights verify": (WeightsVerification,),
}


def answers() -> dict[str, tuple[type[Answer], ...]]:
    """By the words of a command what it may answer, benchmarks' own commands included."""
    every = dict(ANSWERS)
    for name in benchmarks.names():
        every |= getattr(benchmarks.part(name, "documents"), "ANSWERS", {})
    return dict(sorted(every.items()))


def form_of(words: str) -> TypeAdapter[Any]:
    """What a command prints with `--json`: one of its answers, or an error."""
    forms = (*answers()[words], ErrorAnswer)
    union: Any = Union[forms]  # noqa: UP007 made at run time
    return TypeAdapter(union)


def schema_of(words: str) -> dict[str, Any]:
    """The JSON schema of what a command prints with `--json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"harness {words} --json",
        **form_of(words).json_schema(mode="serialization"),
    }
