"""Every planned cell is pinned by its own checksums, however many share one planner; no run is planned twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.base.download import MIRROR_VARIABLE
from harness.base.errors import CorruptData, ImageError, MissingData, UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator, Verdict
from harness.methods.card import load_method
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan, Present, make_plan
from harness.results.store import Store, check_sum, join
from harness.splits import recorded_split
from harness.splits.spec import SplitSpec
from tests.core.factories import planned_job, put_run, record_of

METHODS = ("constant", "als_wr", "emergnn")
DATASETS = ("fdataset", "cdataset")
SPLITS = tuple(
    SplitSpec(strategy=strategy, seed=seed, parameters=parameters)
    for strategy, seed, parameters in (
        ("random", 1, {}),
        ("random", 2, {}),
        ("weakly_correlated", 1, {}),
        ("random", 1, {"share": 0.5}),
    )
)
ACCELERATORS: tuple[Accelerator, ...] = ("cpu", "cuda")


class Checksums:
    """What is asked of the repository, answered by what it is about, and counted."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked: Counter[tuple[Any, ...]] = Counter()
        for name in ("image_tree", "dataset_digest", "split_digest", "split_digest_offline", "weights_digest"):
            patch.setattr(f"harness.planning.plan.{name}", self.answer(name.removesuffix("_offline")))

    def answer(self, kind: str) -> Callable[..., str]:
        def about(_: Layout, *what: Any, **_by_whom: Any) -> str:
            told = tuple(one.label if isinstance(one, SplitSpec) else one for one in what)
            self.asked[kind, *told] += 1
            return self.of(kind, *told)

        return about

    def of(self, kind: str, *what: Any) -> str:
        return digest_of([kind, *what])


@pytest.fixture
def checksums(monkeypatch: pytest.MonkeyPatch) -> Checksums:
    return Checksums(monkeypatch)


def job_of(method: str = "constant", dataset: str = "fdataset", **changed: Any) -> Job:
    fields = {"benchmark": "repurposing", "split": SPLITS[0], **changed}
    return Job(method=method, dataset=dataset, **fields)


@pytest.mark.parametrize(("method", "seed", "told"), [("als_wr", 1, 580534803), ("bnnr", 17263407, 809228507)])
def test_a_container_is_seeded_by_method_and_split_and_by_nothing_else(method: str, seed: int, told: int) -> None:
    """The upper 31 bits of a sha256: what every committed result was seeded with, and any generator can take."""
    split = SplitSpec(strategy="random", seed=seed)
    changes: list[dict[str, Any]] = [
        {},
        {"variant": "corrected"},
        {"dataset": "cdataset"},
        {"parameters": {"rank": 2}},
    ]
    for changed in changes:
        assert job_of(method, **{"split": split, **changed}).fit_seed == told


def test_cells_that_share_a_planner_are_pinned_each_by_its_own_checksums(
    layout: Layout, checksums: Checksums
) -> None:
    jobs = [
        job_of(method, dataset, split=split, accelerator=accelerator)
        for method, dataset, split, accelerator in product(METHODS[:2], DATASETS, SPLITS, ACCELERATORS)
    ]
    for order in (jobs, jobs[::-1]):
        for cell in make_plan(layout, "all", order).cells:
            job = cell.job
            assert cell.planned == PlannedJob(
                job=job,
                image_tree=checksums.of("image_tree", job.method, job.accelerator),
                dataset_digest=checksums.of("dataset_digest", job.dataset),
                split_digest=checksums.of("split_digest", job.dataset, job.split.label),
            )
    # what cells share is asked for once in each of both plans
    assert set(checksums.asked.values()) == {2}
    assert len(checksums.asked) == 2 * 2 + 2 + 2 * 4


def test_only_a_variant_that_reads_weights_is_pinned_by_them(repository: Layout, checksums: Checksums) -> None:
    from harness.methods.card import load_methods

    card = next(
        one for one in load_methods(repository) if {False, True} == {v.weights for v in one.variants.values()}
    )
    jobs = [job_of(card.name, "synthetic_ddi", benchmark="ddi", variant=name) for name in card.variants]
    for cell in make_plan(repository, "weights", jobs).cells:
        assert cell.planned is not None
        reads = card.variants[cell.job.variant].weights
        assert cell.planned.weights_digest == (checksums.of("weights_digest", card.name) if reads else "")


def test_each_of_two_pretrained_models_of_a_method_pins_its_own_variant(
    repository: Layout, checksums: Checksums
) -> None:
    models = {"published": "pure_scibert", "dapt": "pure_scibert:dapt"}
    jobs = [job_of("pure_scibert", "combos", benchmark="combos", variant=name) for name in models]
    plan = make_plan(repository, "weights", jobs)
    assert [cell.planned and cell.planned.weights_digest for cell in plan.cells] == [
        checksums.of("weights_digest", name) for name in models.values()
    ]


def failing(error: Exception) -> Callable[..., str]:
    def fail(*_: object, **__: object) -> str:
        raise error

    return fail


@pytest.mark.parametrize("where", ["image_tree", "dataset_digest", "split_digest"])
@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        (MissingData("no file", where="there", todo="fetch it"), Verdict.MISSING_DATA, "no file; to do: fetch it"),
        (CorruptData("another file", where="there", todo="x"), Verdict.MISSING_DATA, "another file; to do: x"),
        (ImageError("no lock", where="there", todo="lock it"), Verdict.INFRASTRUCTURE, "no lock"),
    ],
)
def test_what_can_not_be_pinned_is_a_cell_with_its_reason(
    layout: Layout,
    checksums: Checksums,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    error: Exception,
    verdict: Verdict,
    reason: str,
) -> None:
    monkeypatch.setattr(f"harness.planning.plan.{where}", failing(error))
    plan = make_plan(layout, "one", [job_of()])
    (cell,) = plan.cells
    assert (cell.planned, cell.verdict, cell.reason) == (None, verdict, reason)
    assert join(plan, Store(layout.runs)) == plan.cells


def test_a_split_that_was_never_made_leaves_its_cell_pending(
    layout: Layout, checksums: Checksums, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.planning.plan.known_split_digest", lambda *_: None)
    (cell,) = make_plan(layout, "one", [job_of()], make_splits=False).cells
    assert (cell.planned, cell.verdict, cell.reason) == (None, Verdict.PENDING, "its split was never made here")


def test_what_a_method_does_not_do_is_not_applicable(repository: Layout, checksums: Checksums) -> None:
    from harness.methods.card import load_methods

    other, *_ = make_plan(repository, "one", [job_of("constant", benchmark="ddi")]).cells
    assert (other.planned, other.verdict) == (
        None,
        Verdict.NOT_APPLICABLE,
    ) and "does not belong to benchmark" in other.reason
    refusing = next(card for card in load_methods(repository) if card.refuses)
    refusal = refusing.refuses[0]
    jobs = [
        job_of(refusing.name, refusal.dataset, benchmark=refusing.benchmarks[0], variant=name)
        for name in refusing.variants
    ]
    for cell in make_plan(repository, "refused", jobs).cells:
        refused = refusal.variant in ("", cell.job.variant)
        assert (cell.planned is None) is refused
        assert cell.reason == (refusal.reason if refused else "")


def test_a_method_may_belong_to_several_benchmarks(
    layout: Layout, checksums: Checksums, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = load_method(layout, "constant").model_copy(update={"benchmarks": ["repurposing", "ddi"]})
    monkeypatch.setattr("harness.planning.plan.load_method", lambda *_: card)
    jobs = [job_of("constant", benchmark=name) for name in ("repurposing", "ddi", "dti")]
    verdicts = [cell.verdict for cell in make_plan(layout, "three", jobs).cells]
    assert verdicts == [Verdict.PENDING, Verdict.PENDING, Verdict.NOT_APPLICABLE]


def cell_of(**changed: Any) -> Cell:
    planned = planned_job()
    planned = planned.model_copy(update={"job": planned.job.model_copy(update=changed)})
    return Cell(planned.job, planned)


def test_a_run_is_not_counted_twice_under_two_names_of_its_data() -> None:
    """The key holds the data's digest, not its name."""
    one, other = cell_of(dataset="synthetic"), cell_of(dataset="my_copy")
    assert one.planned is not None and other.planned is not None and one.planned.key == other.planned.key
    with pytest.raises(UsageError, match="planned twice") as refused:
        Plan("both", (one, other))
    assert "constant/published on synthetic" in refused.value.where and "on my_copy" in refused.value.where
    with pytest.raises(UsageError, match="planned twice"):
        Plan("again", (one, cell_of(dataset="synthetic")))
    assert len(Plan("apart", (one, cell_of(variant="corrected"))).cells) == 2
    # what can't be run has no key to share
    assert len(Plan("none", (Cell(one.job, None), Cell(other.job, None))).cells) == 2


def test_a_plan_is_joined_to_its_runs_cell_by_cell(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    done, failed, waiting = (planned_job(seed) for seed in (1, 2, 3))
    put_run(store, done, tmp_path / "one")
    log = tmp_path / "log.txt"
    log.write_text("")
    store.put(record_of(failed, Verdict.ERROR, "exit code 3"), {"log.txt": log})
    nowhere = Cell(planned_job(4).job, None, Verdict.MISSING_DATA, "nobody has it")
    plan = Plan("four", (*(Cell(one.job, one) for one in (done, failed, waiting)), nowhere))
    bare, full = join(plan, store), join(plan, store, records=True)
    assert [cell.verdict for cell in bare] == [
        Verdict.OK,
        Verdict.ERROR,
        Verdict.PENDING,
        Verdict.MISSING_DATA,
    ]
    assert [cell.reason for cell in bare][1:] == ["exit code 3", Verdict.PENDING.meaning, "nobody has it"]
    assert [cell.record for cell in bare] == [{}] * 4
    assert [cell.record.get("key") for cell in full] == [done.key, failed.key, None, None]
    assert [(cell.job, cell.planned) for cell in full] == [(cell.job, cell.planned) for cell in plan.cells]
    assert check_sum(plan, bare) == Counter(cell.verdict for cell in bare)


def test_an_obstacle_is_told_of_what_was_never_run_alone(tmp_path: Path) -> None:
    store, waiting, failed = Store(tmp_path / "runs"), planned_job(1), planned_job(2)
    put_run(store, failed, tmp_path / "one", Verdict.INTERRUPTED)
    Obstacles(store.folder).note("dataset", "synthetic", "in none of its sources")
    plan = Plan("two", tuple(Cell(one.job, one) for one in (waiting, failed)))
    assert [(cell.verdict, cell.reason) for cell in join(plan, store)] == [
        (Verdict.MISSING_DATA, "in none of its sources"),
        (Verdict.INTERRUPTED, Verdict.INTERRUPTED.meaning),
    ]


def test_a_fault_of_the_harness_is_told_of_what_has_no_result_alone(tmp_path: Path) -> None:
    """Who asks for a run again, in vain, has not lost the one that is stored."""
    store, done, stopped = Store(tmp_path / "runs"), planned_job(1), planned_job(2)
    put_run(store, done, tmp_path / "one")
    put_run(store, stopped, tmp_path / "two", Verdict.INTERRUPTED)
    for one in (done, stopped):
        Obstacles(store.folder).note("run", one.key, "the disk was full")
    plan = Plan("two", tuple(Cell(one.job, one) for one in (done, stopped)))
    assert [(cell.verdict, cell.reason) for cell in join(plan, store)] == [
        (Verdict.OK, Verdict.OK.meaning),
        (Verdict.INFRASTRUCTURE, "the disk was full"),
    ]


def test_a_lost_cell_is_no_table(tmp_path: Path) -> None:
    plan = Plan("two", (cell_of(), cell_of(variant="corrected")))
    with pytest.raises(AssertionError, match="cells were lost"):
        check_sum(plan, plan.cells[:1])


@pytest.mark.parametrize("field", ["image_tree", "dataset_digest", "split_digest", "weights_digest"])
def test_a_run_with_any_other_checksum_is_not_of_the_present_repository(
    layout: Layout, checksums: Checksums, field: str
) -> None:
    planned = make_plan(layout, "one", [job_of()]).cells[0].planned
    assert planned is not None
    present = Present(layout)
    assert present.holds(planned)
    assert not present.holds(planned.model_copy(update={field: "0" * 64}))


def test_what_was_run_is_looked_at_without_a_download(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A split that nobody recorded, of data that are not here, would have to be fetched to know its digest."""

    def fetched(*_: Any, **__: Any) -> Path:
        raise AssertionError("a download was begun")

    monkeypatch.setattr("harness.data.sources.download", fetched)
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    layout = replace(repository, cache=repository.local / "no cache")
    split = SplitSpec(strategy="released", seed=77, parameters={"which": "random"})
    job = job_of("majority_type", "drugbank", benchmark="ddi", split=split)
    assert recorded_split(layout, "drugbank", split) is None
    planned = planned_job().model_copy(update={"job": job})
    assert not Present(layout).holds(planned) and Present(layout).cell(job)
    with pytest.raises(AssertionError, match="begun"):
        make_plan(layout, "one", [job])


def test_what_is_no_more_is_neither_held_nor_known(layout: Layout, checksums: Checksums) -> None:
    present = Present(layout)
    assert present.cell(job_of()) is not None
    for gone in (job_of("of_old"), job_of(variant="of_old")):
        assert present.cell(gone) is None
        assert not present.holds(planned_job().model_copy(update={"job": gone}))
