"""What a plan, a request and a suite are made of and say: names, numbers, bounds and messages, word for word."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from harness import benchmarks
from harness.base.errors import (
    CorruptData,
    DataError,
    EngineError,
    HarnessError,
    ImageError,
    MissingData,
    UsageError,
)
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator, Verdict
from harness.data import load_manifest
from harness.images import folder_tree, recorded_size
from harness.methods.card import MethodCard, Resources, load_method, load_methods
from harness.planning import needs, plan, request, shards, suites
from harness.planning.budget import Budget, Share, this_machine
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import (
    Job,
    PlannedJob,
    card_of,
    complete_options,
    make_job,
    on_accelerator,
    unusual_options,
)
from harness.planning.needs import Needs, check_disk, kind_of, needs_of
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan, Present, make_plan, pinned
from harness.planning.request import Request, refuse_impossible_splits, requested_jobs, upstream_tree
from harness.planning.suites import Block, Suite, expansions, jobs_of, load_suite, plan_name, suite_names
from harness.splits.spec import SplitSpec, parse_split
from tests.core.factories import planned_job


def said(error: HarnessError) -> tuple[str, str, str]:
    return error.what, error.where, error.todo


def job_like(**changed: Any) -> Job:
    return planned_job().job.model_copy(update=changed)


# Jobs.


def test_a_job_is_named_with_all_that_sets_it_apart() -> None:
    assert job_like().label == "constant/published on synthetic, random-1" and job_like().marks == ""
    changed = job_like(variant="fast", upstream="a" * 64, accelerator="cuda")
    assert changed.marks == f" [upstream {'a' * 12}] [cuda]"
    assert changed.label == f"constant/fast [upstream {'a' * 12}] [cuda] on synthetic, random-1"
    assert job_like(accelerator="cuda").marks == " [cuda]"
    assert "accelerator" not in job_like().model_dump() and "accelerator" in changed.model_dump()


def test_a_job_has_what_was_asked_for_and_the_rest_as_usual(repository: Layout) -> None:
    card, manifest = load_method(repository, "pmf"), load_manifest(repository, "synthetic")
    split = parse_split("random", 7)
    usual = make_job(card, manifest, split)
    own = card.variant("published").parameters
    assert usual == Job(
        benchmark="repurposing",
        method="pmf",
        variant="published",
        parameters=own,
        dataset="synthetic",
        split=split,
        options=complete_options("repurposing", {}),
        upstream="",
    )
    name = next(name for name, value in own.items() if type(value) is int)
    chosen = make_job(
        card, manifest, split, chosen={name: 77}, options={"inner_folds": 3}, upstream="u", variant="published"
    )
    assert chosen.parameters == {**own, name: 77} and chosen.upstream == "u"
    assert chosen.options == {**usual.options, "inner_folds": 3}
    assert unusual_options(chosen) == {"inner_folds": 3} and unusual_options(usual) == {}


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner_folds: int = Field(default=5, ge=0)
    other: int = 1


@pytest.fixture
def two_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "get", lambda name: SimpleNamespace(options=_Options))


@pytest.mark.parametrize(
    ("where", "place"), [("", "--{}"), ("a.toml: blocks.options", "a.toml: blocks.options.{}")]
)
def test_an_option_that_is_none_is_told(two_options: None, where: str, place: str) -> None:
    assert complete_options("toy", {"other": 2}) == {"inner_folds": 5, "other": 2}
    name = "inner_folds" if where else "inner-folds"
    with pytest.raises(UsageError) as found:
        complete_options("toy", {"inner_folds": -1, "other": 3}, where=where)
    assert said(found.value) == (
        "inner folds has to be 0 or more, not -1",
        f"{place.format(name)} -1",
        "give another number, or leave it out",
    )
    with pytest.raises(UsageError) as found:
        complete_options("toy", {"other": 1, "in_folds": 1, "no": 1}, where=where)
    assert said(found.value) == (
        "benchmark toy has no in folds",
        place.format("in_folds" if where else "in-folds"),
        "leave it out; it has inner_folds, other",
    )


def test_a_benchmark_without_options_says_only_to_leave_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing(BaseModel):
        pass

    monkeypatch.setattr(benchmarks, "get", lambda name: SimpleNamespace(options=Nothing))
    with pytest.raises(UsageError) as found:
        complete_options("toy", {"folds": 1})
    assert said(found.value) == ("benchmark toy has no folds", "--folds", "leave it out")


def test_only_methods_that_can_are_computed_on_a_gpu(repository: Layout) -> None:
    gpu = next(card.name for card in load_methods(repository) if card.cuda)
    jobs = [job_like(), job_like(method=gpu), job_like(method=gpu, variant="x")]
    assert on_accelerator(repository, jobs, "cpu") is jobs
    found = [*on_accelerator(repository, iter(jobs), "cuda")]
    assert [one.accelerator for one in found] == ["cpu", "cuda", "cuda"]
    assert [one.model_copy(update={"accelerator": "cpu"}) for one in found] == jobs
    with pytest.raises(UsageError) as refused:
        on_accelerator(repository, [job_like(), job_like(method="bnnr"), job_like()], "cuda")
    assert said(refused.value) == (
        "bnnr, constant: no method of these computes on a GPU",
        "--accelerator cuda",
        "leave it out",
    )


def test_the_card_of_a_job_has_the_limits_of_its_run(repository: Layout) -> None:
    card = next(card for card in load_methods(repository) if card.cuda)
    for accelerator in ("cpu", "cuda"):
        job = job_like(method=card.name, accelerator=accelerator)
        assert card_of(repository, job) == card.of_variant("published", accelerator)
    assert card_of(repository, job_like(method=card.name, accelerator="cuda")).resources.gpus == 1


def test_a_key_is_of_everything_and_stays_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Committed results lie under these keys."""
    one = planned_job()
    fields = {
        "protocol": 1,
        "image": "1" * 64,
        "dataset": "2" * 64,
        "split": "3" * 64,
        "benchmark": "repurposing",
        "method": "constant",
        "variant": "published",
        "parameters": {},
        **complete_options("repurposing", {}),
        "upstream": "",
        "seed": 1,
    }
    version = benchmarks.get("repurposing").inputs_version
    whole = {**fields, **({"materialisation": version} if version > 1 else {})}
    assert one.key == digest_of(whole)
    more = one.model_copy(update={"weights_digest": "w", "job": job_like(accelerator="cuda")})
    assert more.key == digest_of({**whole, "weights": "w", "accelerator": "cuda"})
    for number, expected in ((1, fields), (2, {**fields, "materialisation": 2})):
        own = SimpleNamespace(inputs_version=number)
        monkeypatch.setattr(benchmarks, "get", lambda name, own=own: own)
        assert one.key == digest_of(expected)


# Plans.


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        (Verdict.NOT_APPLICABLE, UsageError),
        (Verdict.MISSING_DATA, MissingData),
        (Verdict.INFRASTRUCTURE, ImageError),
        (Verdict.PENDING, HarnessError),
    ],
)
def test_a_cell_that_can_not_be_run_is_an_error_of_its_kind(verdict: Verdict, kind: type[HarnessError]) -> None:
    with pytest.raises(kind) as found:
        pinned(Cell(job_like(), None, verdict, "why"))
    assert type(found.value) is kind
    assert said(found.value) == (
        f"{verdict}: why",
        "constant/published on synthetic, random-1",
        "choose another job, or see `harness list`",
    )


def test_a_run_that_is_planned_twice_is_told_by_both_names() -> None:
    one = planned_job()
    other = one.model_copy(update={"job": job_like(dataset="copy")})
    for first, second, where in (
        (one, one, one.job.label),
        (one, other, f"{one.job.label} and {other.job.label}"),
    ):
        with pytest.raises(UsageError) as found:
            Plan("twice", tuple(Cell(each.job, each) for each in (first, planned_job(2), second)))
        assert said(found.value) == (
            "one run is planned twice",
            where,
            "name every method, dataset and seed once; two names of the same data are the same run",
        )


class _Answers:
    """What a planner asks for; `fail` makes one of the answers an error."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.fail: dict[str, Exception] = {}
        self.asked: list[tuple[Any, ...]] = []
        names = ("image_tree", "dataset_digest", "split_digest", "known_split_digest", "split_digest_offline")
        for name in (*names, "weights_digest"):
            patch.setattr(plan, name, self.answer(name))

    def answer(self, name: str) -> Callable[..., str]:
        def answer(_: Layout, *about: Any, **named: Any) -> str:
            self.asked.append((name, *about, *named.items()))
            if name in self.fail:
                raise self.fail[name]
            return name

        return answer


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> _Answers:
    return _Answers(monkeypatch)


def test_a_plan_asks_for_each_checksum_once(layout: Layout, answers: _Answers) -> None:
    jobs = [
        job_like(method=method, split=parse_split("random", seed)) for seed in (1, 2) for method in ("pmf", "bnnr")
    ]
    cells = make_plan(layout, "some", jobs, mirrors=[Path("m")]).cells
    assert [cell.planned for cell in cells] == [
        PlannedJob(job=job, image_tree="image_tree", dataset_digest="dataset_digest", split_digest="split_digest")
        for job in jobs
    ]
    here = ("mirrors", [Path("m")])
    assert sorted(answers.asked, key=str) == sorted(
        [
            ("image_tree", "bnnr", "cpu"),
            ("image_tree", "pmf", "cpu"),
            ("dataset_digest", "synthetic", here),
            ("split_digest", "synthetic", parse_split("random", 1), here),
            ("split_digest", "synthetic", parse_split("random", 2), here),
        ],
        key=str,
    )
    answers.asked.clear()
    make_plan(layout, "some", jobs[:1], make_splits=False)
    assert ("known_split_digest", "synthetic", parse_split("random", 1)) in answers.asked


@pytest.mark.parametrize(
    ("name", "error", "verdict", "reason"),
    [
        ("dataset_digest", MissingData("gone", where="", todo="look"), Verdict.MISSING_DATA, "gone; to do: look"),
        ("dataset_digest", CorruptData("cut", where="", todo="look"), Verdict.MISSING_DATA, "cut"),
        (
            "split_digest",
            MissingData("no split", where="", todo="do"),
            Verdict.MISSING_DATA,
            "no split; to do: do",
        ),
        ("split_digest", DataError("odd", where="", todo="do"), Verdict.MISSING_DATA, "odd"),
        ("image_tree", ImageError("no lock", where="", todo="do"), Verdict.INFRASTRUCTURE, "no lock"),
    ],
)
def test_what_can_not_be_pinned_says_why(
    layout: Layout, answers: _Answers, name: str, error: Exception, verdict: Verdict, reason: str
) -> None:
    answers.fail[name] = error
    cells = make_plan(layout, "some", [job_like(), job_like(method="pmf")]).cells
    assert [(cell.verdict, cell.reason, cell.planned) for cell in cells] == [(verdict, reason, None)] * 2
    assert len([one for one in answers.asked if one[0] == "split_digest"]) == 1, "it was looked for again"


def test_a_method_of_another_benchmark_or_that_refuses_is_not_applicable(
    layout: Layout, answers: _Answers
) -> None:
    (cell,) = make_plan(layout, "some", [job_like(method="mlp")]).cells
    title = load_method(layout, "mlp").title
    assert (cell.verdict, cell.planned) == (Verdict.NOT_APPLICABLE, None)
    assert cell.reason == f"{title} does not belong to benchmark repurposing" and not cell.can_run
    card = next(card for card in load_methods(layout) if card.refuses)
    refused = card.refuses[0]
    variant = refused.variant or "published"
    job = job_like(benchmark=card.benchmarks[0], method=card.name, variant=variant, dataset=refused.dataset)
    (cell,) = make_plan(layout, "some", [job]).cells
    assert (cell.verdict, cell.reason, cell.planned) == (Verdict.NOT_APPLICABLE, refused.reason, None)


def test_a_split_that_nobody_made_waits(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, answers: _Answers
) -> None:
    monkeypatch.setattr(plan, "known_split_digest", lambda *_: None)
    (cell,) = make_plan(layout, "some", [job_like()], make_splits=False).cells
    assert (cell.verdict, cell.reason, cell.planned) == (
        Verdict.PENDING,
        "its split was never made here",
        None,
    )
    assert cell.can_run and cell.key is None


def test_splits_are_forgotten_before_they_fill_the_memory(
    layout: Layout, answers: _Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plan._MOST_SPLITS == 10_000
    monkeypatch.setattr(plan, "_MOST_SPLITS", 2)
    asked_for = [("pmf", 1), ("pmf", 2), ("bnnr", 1), ("bnnr", 2), ("pmf", 3), ("constant", 1)]
    jobs = [job_like(method=method, split=parse_split("random", seed)) for method, seed in asked_for]
    make_plan(layout, "some", jobs)
    seeds = [one[2].seed for one in answers.asked if one[0] == "split_digest"]
    assert seeds == [1, 2, 3, 1]


def test_what_holds_today_is_pinned_alike_and_as_usual(layout: Layout, answers: _Answers) -> None:
    present, card = Present(layout), load_method(layout, "pmf")
    own = card.variant("published").parameters
    job = job_like(method="pmf", parameters=own)
    planned = PlannedJob(
        job=job, image_tree="image_tree", dataset_digest="dataset_digest", split_digest="split_digest_offline"
    )
    assert present.holds(planned) and present.holds_as_usual(planned) and present.knows(job)
    assert present.tree("pmf") == "image_tree"
    for changed in ({"image_tree": "x"}, {"dataset_digest": "x"}, {"split_digest": "x"}, {"weights_digest": "x"}):
        other = planned.model_copy(update=changed)
        assert not present.holds(other) and not present.holds_as_usual(other)
    for one in ({"upstream": "u"}, {"accelerator": "cuda"}, {"parameters": {**own, "more": 1}}):
        other = planned.model_copy(update={"job": job.model_copy(update=one)})
        assert present.holds(other) and not present.holds_as_usual(other)
    for gone in (job_like(method="nobody"), job_like(method="pmf", variant="nothing")):
        assert not present.knows(gone) and not present.holds(planned.model_copy(update={"job": gone}))


# Needs.

FIELDS: dict[str, Any] = {
    "plan": "smoke",
    "planned": 9,
    "left": 4,
    "cannot_run": {"missing-data": 2, "infrastructure": 1},
    "image_bytes": 2_000_000_000,
    "data_bytes": 50_000_000,
    "result_bytes": 99_999_999,
    "free_bytes": 3_000_000_000,
    "cpu_hours": 8.0,
    "measured": 1,
    "most_cpu_hours": 20.0,
    "cpus": 2,
}
HEAD = "smoke: 9 cells planned, 4 left, 1 infrastructure and 2 missing-data"
DISK = "  disk: 2.1 GB (images 2.0 GB, data 50 MB, results 100 MB); free here: 3.0 GB"
START = "  start or resume it with: "


def test_needs_as_a_person_reads_them() -> None:
    assert Needs(**FIELDS).text() == (
        f"{HEAD}\n{DISK}\n"
        "  time: about 4.0 h on 2 CPUs for 1 of 4 runs, the other 3 not measured here yet; at most 10 h by\n"
        "    the limits of the method cards\n"
        f"{START}./run_all.sh --suite smoke"
    )
    other = {**FIELDS, "measured": 0, "plan": "request", "planned": 1, "cannot_run": {}}
    assert Needs(**other).text() == (
        f"request: 1 cell planned, 4 left\n{DISK}\n"
        "  time: not measured here yet; at most 10 h by the limits of the method cards\n"
        f"{START}harness run with the same options"
    )
    part = Needs(**{**FIELDS, "plan": "smoke, only bnnr"}).text()
    assert START not in part and part.startswith("smoke, only bnnr: 9 cells")
    none = Needs(**{**FIELDS, "left": 0})
    assert none.text() == f"{HEAD.replace('4 left', '0 left')}\n{DISK}"
    assert (needs.REQUEST, needs.PART) == ("request", ", only ")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"estimated": 2, "estimated_cpu_hours": 4.0, "scale": 2.345},
            "time: about 6.0 h on 2 CPUs for 3 of 4 runs; 2 estimated from the reference results, times 2.3: so "
            "much longer this machine took for the same, the other 1 not measured here yet; at most 10 h by the "
            "limits of the method cards",
        ),
        (
            {"estimated": 3, "estimated_cpu_hours": 0.0, "longest_hours": 5.5},
            "time: about 5.5 h on 2 CPUs for 4 of 4 runs; 3 estimated from the reference results, as if this "
            "machine were as fast as the one that made them",
        ),
        ({"measured": 4}, "time: about 4.0 h on 2 CPUs for 4 of 4 runs"),
        ({"measured": 1, "left": 1}, "time: about 4.0 h on 2 CPUs for 1 of 1 run"),
    ],
)
def test_time_is_told_with_where_it_is_known_from(changed: dict[str, Any], told: str) -> None:
    assert Needs(**{**FIELDS, **changed}).time() == told


@pytest.mark.parametrize(
    ("hours", "told"),
    [
        (0.0, "a minute"),
        (0.0166, "a minute"),
        (1 / 60, "1 min"),
        (0.5, "30 min"),
        (0.99, "59 min"),
        (1.0, "1.0 h"),
        (9.94, "9.9 h"),
        (10.0, "10 h"),
        (123.4, "123 h"),
    ],
)
def test_hours_are_told_with_few_digits(hours: float, told: str) -> None:
    assert needs._duration(hours) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 MB"), (1_600_000, "2 MB"), (99_999_999, "100 MB"), (100_000_000, "0.1 GB"), (2_160_000_000, "2.2 GB")],
)
def test_bytes_are_told_in_decimal_units(count: int, told: str) -> None:
    assert needs._gigabytes(count) == told


def recorded(job: Job, verdict: Verdict = Verdict.OK, **resources: float) -> Cell:
    planned = planned_job().model_copy(update={"job": job})
    return Cell(job, planned, verdict, "", {"resources": resources} if resources else {})


def test_needs_are_sums_over_what_is_left(layout: Layout) -> None:
    one, two = job_like(method="pmf"), job_like(method="bnnr")
    on_gpu = job_like(method="han", accelerator="cuda")
    seeds = iter(range(1, 99))

    def seeded(job: Job) -> Job:
        return job.model_copy(update={"split": parse_split("random", next(seeds))})

    cells = [
        recorded(seeded(one), wall_s=360.0, cpu_s=1.0),
        recorded(seeded(one), wall_s=720.0, cpu_s=1.0),
        recorded(seeded(one), Verdict.ERROR, wall_s=7200.0),
        recorded(seeded(one), Verdict.INTERRUPTED, wall_s=9999.0),
        recorded(seeded(one), Verdict.PENDING),
        recorded(seeded(two), Verdict.PENDING),
        recorded(seeded(two), Verdict.PENDING),
        recorded(seeded(on_gpu), Verdict.PENDING),
        Cell(seeded(two), None, Verdict.PENDING, "its split"),
        Cell(seeded(two), None, Verdict.MISSING_DATA, "no data"),
        Cell(seeded(two), None, Verdict.MISSING_DATA, "no data"),
        Cell(seeded(two), None, Verdict.NOT_APPLICABLE, "never"),
    ]
    reference = {kind_of(two): 3600.0, kind_of(on_gpu): 1.0, kind_of(one): 1.0}
    for given in (cells, Cells(cells)):
        found = needs_of(layout, "some", given, reference)
        assert (found.plan, found.planned, found.left) == ("some", 12, 6)
        assert found.cannot_run == {"missing-data": 2, "not-applicable": 1}
        assert found.measured == 2 and found.cpu_hours == pytest.approx(2 * 540 / 3600)
        assert (found.estimated, found.scale) == (3, None)
        assert found.estimated_cpu_hours == pytest.approx(3.0)
        assert found.longest_hours == pytest.approx(1.0)
        left = [one, one, two, two, two, on_gpu]
        limits = [card_of(layout, job).resources for job in left]
        assert found.most_cpu_hours == pytest.approx(sum(own.seconds * own.cpus for own in limits) / 3600)
        manifest = load_manifest(layout, "synthetic")
        assert found.result_bytes == 6 * (manifest.statistics.result_bytes(one.options) + 65_536)
        assert found.data_bytes == sum(file.bytes for file in manifest.files)
        assert found.image_bytes == recorded_size(layout, {"pmf", "bnnr"}, "cpu") + recorded_size(
            layout, {"han"}, "cuda"
        )


@pytest.mark.parametrize(
    ("here", "there", "scale"),
    [
        ((4.0, 6.0, 10.0), (2.0, 2.0, 2.0), 3.0),
        ((4.0, 6.0, 10.0), (2.0, 2.0, 1.99), None),
        ((4.0, 6.0), (2.0, 2.0), None),
        ((20.0, 30.0, 100.0, 80.0), (10.0, 10.0, 10.0, 10.0), 5.5),
    ],
)
def test_machines_are_compared_by_three_kinds_that_take_two_seconds(
    layout: Layout, here: tuple[float, ...], there: tuple[float, ...], scale: float | None
) -> None:
    names = ("synthetic", "fdataset", "cdataset", "hdvd")
    done = [recorded(job_like(dataset=name), cpu_s=one) for name, one in zip(names, here, strict=False)]
    failed = recorded(job_like(dataset="synthetic", variant="x"), Verdict.TIMEOUT, cpu_s=1e6)
    on_gpu = recorded(job_like(dataset="synthetic", accelerator="cuda"), cpu_s=1e6)
    waiting = recorded(job_like(method="pmf"), Verdict.PENDING)
    reference = {kind_of(cell.job): one for cell, one in zip(done, there, strict=False)}
    reference |= {kind_of(waiting.job): 7200.0, kind_of(failed.job): 100.0}
    for cells in ([*done, failed, on_gpu, waiting], Cells([*done, failed, on_gpu, waiting])):
        found = needs_of(layout, "some", cells, reference)
        assert found.scale == (None if scale is None else pytest.approx(scale))
        assert found.estimated_cpu_hours == pytest.approx(2.0 * (scale or 1.0))
        assert found.longest_hours == pytest.approx(2.0 * (scale or 1.0))
    # without anything to estimate there is nothing to scale
    assert needs_of(layout, "some", done, reference).scale is None


def test_a_disk_that_is_too_small_is_told(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(total=0, free=0))
    monkeypatch.setattr(needs, "reserve_of", lambda total: 1_500_000_000)
    given: list[tuple[object, ...]] = []

    def answer(*some: object) -> Needs:
        given.append(some)
        return found

    monkeypatch.setattr(needs, "needs_of", answer)
    exact = 2_149_999_999 + 1_500_000_000
    found = Needs(**{**FIELDS, "free_bytes": exact - 1})
    with pytest.raises(EngineError) as refused:
        check_disk(layout, "some", [], {("a", "b", "c"): 1.0})
    assert said(refused.value) == (
        "smoke needs 2.1 GB of disk; 3.6 GB are free, of which 1.5 GB must stay free",
        str(layout.local),
        "free some (harness clean), move results with $PERMAFROST_RESULTS, or run one method at a time with "
        "--remove-images",
    )
    assert given == [(layout, "some", [], {("a", "b", "c"): 1.0})]
    for changed in ({"free_bytes": exact}, {"free_bytes": 0, "left": 0}):
        found = Needs(**{**FIELDS, **changed})
        assert check_disk(layout, "some", []) is found


# Requests.


def asked(**changed: Any) -> Request:
    return Request(**{"methods": ("pmf",), "datasets": ("synthetic",), "seeds": (1,), **changed})


MISSING = "name a --suite, or --method, --dataset and --seed (or --published-seeds)"


@pytest.mark.parametrize(
    ("changed", "what", "where", "todo"),
    [
        ({"methods": ()}, "--method is missing", "", MISSING),
        ({"datasets": ()}, "--dataset is missing", "", MISSING),
        ({"seeds": ()}, "--seed is missing", "", MISSING),
        ({"seeds": (), "published_seeds": 0}, "--seed is missing", "", MISSING),
        (
            {"published_seeds": 2},
            "seeds are named twice",
            "--seed and --published-seeds",
            "give one of the two",
        ),
    ],
)
def test_a_request_that_lacks_something_is_told(
    repository: Layout, changed: dict[str, Any], what: str, where: str, todo: str
) -> None:
    with pytest.raises(UsageError) as found:
        requested_jobs(repository, asked(**changed))
    assert said(found.value) == (what, where, todo)


def test_a_benchmark_without_published_seeds_says_so(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    form = SimpleNamespace(published_seeds=lambda: ())
    monkeypatch.setattr(benchmarks, "get", lambda name: SimpleNamespace(form=form))
    with pytest.raises(UsageError) as found:
        request._seeds("toy", asked(seeds=(), published_seeds=3))
    assert said(found.value) == ("benchmark toy has no published seeds", "--published-seeds", "give --seed N")


def test_methods_that_can_run_on_none_of_the_datasets_are_refused(repository: Layout) -> None:
    datasets = ("synthetic_ddi", "synthetic")
    assert len(requested_jobs(repository, asked(methods=("mlp", "pmf"), datasets=datasets))) == 4
    other = next(one.name for one in load_methods(repository, "combos"))
    with pytest.raises(UsageError) as found:
        requested_jobs(repository, asked(methods=("pmf", other), datasets=datasets))
    names = [one.name for name in ("ddi", "repurposing") for one in load_methods(repository, name)]
    assert said(found.value) == (
        f"{load_method(repository, other).title} does not belong to benchmark ddi or repurposing",
        f"--method {other} --dataset synthetic_ddi synthetic",
        f"choose one of its methods: {', '.join(names)}",
    )


def test_a_request_is_a_product_seed_by_seed(repository: Layout) -> None:
    whole = asked(
        methods=("pmf", "constant"),
        datasets=("synthetic", "hdvd"),
        splits=("random", "weakly_correlated"),
        seeds=(4, 2, 9),
        options={"inner_folds": 0},
    )
    jobs = requested_jobs(repository, whole)
    expected = [
        (seed, dataset, split, method)
        for seed in (4, 2, 9)
        for dataset in ("synthetic", "hdvd")
        for split in ("random", "weakly_correlated")
        for method in ("pmf", "constant")
    ]

    def told(job: Job) -> tuple[int, str, str, str]:
        return job.split.seed, job.dataset, job.split.strategy, job.method

    assert len(jobs) == 24 and [told(job) for job in jobs] == expected
    assert [told(job) for job in jobs[3:9:2]] == expected[3:9:2] and told(jobs[-1]) == expected[-1]
    assert {job.options["inner_folds"] for job in jobs} == {0} and {job.variant for job in jobs} == {"published"}
    with pytest.raises(IndexError):
        _ = jobs[24]
    seeds = benchmarks.get("repurposing").form.published_seeds()
    published = requested_jobs(repository, asked(seeds=(), published_seeds=2))
    assert [job.split.seed for job in published] == [*seeds[:2]]


def test_what_a_benchmark_can_not_do_is_refused_by_its_own_check(repository: Layout) -> None:
    with pytest.raises(UsageError) as found:
        requested_jobs(repository, asked(options={"inner_folds": 3}))
    assert said(found.value)[:2] == ("the split has 5 inner folds, and the run wants 3", "--inner-folds 3")
    (job,) = requested_jobs(repository, asked(options={"inner_folds": 3}, splits=("random:inner_folds=3",)))
    assert job.options["inner_folds"] == 3


def test_what_a_request_chooses_is_in_its_jobs(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load_method(repository, "pmf").variant("published").parameters
    name = next(name for name, value in own.items() if type(value) is int)
    monkeypatch.setattr(request, "upstream_tree", lambda *given: f"tree of {given[1:]}")
    (job,) = requested_jobs(repository, asked(parameters={name: 99}, upstream=Path("x")))
    assert job.parameters == {**own, name: 99} and job.upstream == f"tree of {(Path('x'), ('pmf',))}"
    (job,) = requested_jobs(repository, asked())
    assert job.upstream == "" and job.parameters == own


def test_a_split_that_can_not_be_made_is_refused_once(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Any, ...]] = []
    errors: dict[str, Exception] = {
        "cluster": DataError("too small", where="there", todo="do"),
        "usage": MissingData("gone", where="", todo=""),
        "scaffold": CorruptData("cut", where="", todo=""),
    }

    def digest(*some: Any) -> str:
        given.append(some)
        if error := errors.get(some[2].strategy):
            raise error
        return "d"

    monkeypatch.setattr(request, "split_digest", digest)

    def split(strategy: str, **parameters: Any) -> Job:
        return job_like(split=SplitSpec(strategy=strategy, seed=1, parameters=parameters))

    fine = [split("random"), split("random"), split("usage"), split("scaffold"), split("random", share=0.5)]
    refuse_impossible_splits(layout, fine, [Path("m")])
    assert given == [(layout, "synthetic", job.split, [Path("m")]) for at, job in enumerate(fine) if at != 1]
    with pytest.raises(UsageError) as found:
        refuse_impossible_splits(layout, [*fine, split("cluster", gamma=0.5)])
    assert said(found.value) == ("too small", "there", "do")
    with pytest.raises(DataError) as fault:
        refuse_impossible_splits(layout, [split("cluster")])
    assert fault.value is errors["cluster"]


def test_a_checkout_that_replaces_nothing_is_told(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request, "replaceable", lambda _, method: {"a": ["one.py", "two.py"], "b": []}[method])
    for method, todo in (
        ("a", "give the folder that itself holds one of these files: one.py, two.py"),
        ("b", "leave --upstream out: this method has no file beside its main one"),
    ):
        with pytest.raises(UsageError) as found:
            upstream_tree(repository, tmp_path, [method])
        assert said(found.value) == (
            f"the checkout replaces nothing of '{method}', so that our own code would run",
            f"--upstream {tmp_path}",
            todo,
        )
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "__init__.py").write_text("")
    assert upstream_tree(repository, tmp_path, ["a"]) == folder_tree(tmp_path)


# Suites.

SUITE = """
name = "{name}"
summary = "{summary}"
includes = {includes}
[[blocks]]
methods = ["pmf"]
datasets = ["{dataset}"]
splits = ["random:share=0.{{1..2}}{{a,b}}"]
seeds = [3, 1]
options = {options}
"""


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("random", ["random"]),
        ("a{b,c}", ["ab", "ac"]),
        ("{a,b}{0..2}", ["a0", "a1", "a2", "b0", "b1", "b2"]),
        ("x{9..11}y", ["x9y", "x10y", "x11y"]),
        ("{1..1}", ["1"]),
        ("{a}", ["a"]),
        ("{2..1}", []),
        ("{}", ["{}"]),
        ("{}x{a,b}", ["{}xa", "{}xb"]),
        ("{a", ["{a"]),
        ("{1..}", ["1.."]),
    ],
)
def test_braces_stand_for_several_texts(text: str, texts: list[str]) -> None:
    assert expansions(text) == texts
    assert Block(datasets=[], splits=["first", text]).splits == ["first", *texts]


def test_a_plan_is_named_as_a_person_types_it() -> None:
    assert plan_name("full", None) == "full" and plan_name("full", 3) == "full --published-seeds 3"
    assert plan_name("full", 0) == "full --published-seeds 0"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Benchmarks whose suites lie here."""
    monkeypatch.setattr(benchmarks, "folder", lambda name: tmp_path / name)
    suite_names.cache_clear()
    for benchmark, name, dataset, includes, options in (
        ("repurposing", "both", "synthetic", ["more"], "{ inner_folds = 3 }"),
        ("ddi", "both", "synthetic_ddi", [], "{}"),
        ("repurposing", "more", "hdvd", [], "{}"),
    ):
        path = tmp_path / benchmark / "suites" / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        summary = f"{name} of {benchmark}."
        included = str(includes).replace("'", '"')
        path.write_text(
            SUITE.format(name=name, summary=summary, includes=included, dataset=dataset, options=options)
        )
    yield_names = suite_names()
    suite_names.cache_clear()
    assert yield_names == ["both", "more"]
    return tmp_path


def test_a_suite_is_of_all_benchmarks_in_their_order_with_what_it_includes(folders: Path) -> None:
    try:
        suite = load_suite("both")
        assert (suite.name, suite.summary) == ("both", "both of repurposing. both of ddi.")
        assert suite.includes == ["more"]
        assert [(block.benchmark, block.datasets) for block in suite.blocks] == [
            ("repurposing", ["synthetic"]),
            ("repurposing", ["hdvd"]),
            ("ddi", ["synthetic_ddi"]),
        ]
        usual = complete_options("repurposing", {})
        assert [block.options for block in suite.blocks] == [
            {**usual, "inner_folds": 3},
            usual,
            complete_options("ddi", {}),
        ]
        assert suite.blocks[0].splits == [f"random:share=0.{one}" for one in ("1a", "1b", "2a", "2b")]
        with pytest.raises(UsageError) as found:
            load_suite("bot")
        assert found.value.what == "no suite is called 'bot'" and "did you mean 'both'?" in found.value.todo
        assert found.value.where == "suites/ of every benchmark"
        path = folders / "repurposing" / "suites" / "both.toml"
        path.write_text(path.read_text().replace("inner_folds", "inner_fold"))
        with pytest.raises(UsageError) as found:
            load_suite("both")
        assert found.value.where == f"{path}: blocks.options.inner_fold"
    finally:
        suite_names.cache_clear()


def block_of(**changed: Any) -> Block:
    whole = {"benchmark": "repurposing", "datasets": ["synthetic"], "splits": ["random"], **changed}
    return Block(**whole)


def made(repository: Layout, *blocks: Block, published_seeds: int | None = None) -> list[Job]:
    return jobs_of(repository, Suite(name="made-up", summary="", blocks=[*blocks]), published_seeds)


def test_a_block_is_a_product_seed_by_seed_with_every_control(repository: Layout) -> None:
    block = block_of(
        methods=["pmf", "bnnr"],
        datasets=["hdvd", "synthetic"],
        splits=["weakly_correlated", "random"],
        seeds=[5, 2],
    )
    controls = [card.name for card in load_methods(repository, "repurposing") if card.control]
    assert [(job.split.seed, job.dataset, job.split.strategy, job.method) for job in made(repository, block)] == [
        (seed, dataset, split, method)
        for seed in (5, 2)
        for dataset in ("hdvd", "synthetic")
        for split in ("weakly_correlated", "random")
        for method in ("pmf", "bnnr", *controls)
    ]
    every = made(repository, block_of(seeds=[1]))
    assert [job.method for job in every] == [card.name for card in load_methods(repository, "repurposing")]
    named = made(repository, block_of(methods=[controls[0], "pmf"], seeds=[1]))
    assert [job.method for job in named] == [controls[0], "pmf", *controls[1:]]
    assert made(repository, block_of(methods=["pmf"])) == [], "no seed, no job"


def test_seeds_of_a_block_are_published_ones_and_then_its_own(repository: Layout) -> None:
    seeds = [*benchmarks.get("repurposing").form.published_seeds()]

    def seeds_of(block: Block, published_seeds: int | None = None) -> list[int]:
        jobs = made(repository, block, published_seeds=published_seeds)
        return [job.split.seed for job in jobs if job.method == "pmf"]

    both = block_of(methods=["pmf"], seeds=[5], published_seeds=2)
    assert seeds_of(both) == [*seeds[:2], 5] and seeds_of(both, 3) == [*seeds[:3], 5]
    assert seeds_of(both, 0) == [5]
    own = block_of(methods=["pmf"], seeds=[5, 6])
    assert seeds_of(own) == seeds_of(own, 3) == [5, 6]
    assert made(repository, own, own) == made(repository, own), "a job of two blocks is one"


@pytest.mark.parametrize("count", [-1, 101])
def test_there_are_a_hundred_published_seeds_at_most(count: int) -> None:
    with pytest.raises(ValueError, match="published_seeds"):
        block_of(published_seeds=count)
    assert block_of(published_seeds=100).published_seeds == 100
    with pytest.raises(ValueError, match="draws"):
        block_of(draws=-1)


def test_variants_that_a_method_lacks_are_skipped_and_those_with_weights_replaced(repository: Layout) -> None:
    card = next(
        card
        for card in load_methods(repository)
        if any(one.weights for one in card.variants.values())
        and not all(one.weights for one in card.variants.values())
    )
    with_weights = [name for name, one in card.variants.items() if one.weights]
    free = next(name for name, one in card.variants.items() if not one.weights)

    def variants(**changed: Any) -> list[str]:
        return suites._variants(block_of(**changed), card)

    names = [with_weights[0], "nothing", free]
    assert variants(variants=names) == [with_weights[0], free]
    assert variants(variants=names, weights=False) == [free]
    assert variants(variants=[*with_weights], weights=False) == [free]
    assert variants(variants=[free, *with_weights]) == [free, *with_weights]
    pmf = load_method(repository, "pmf")
    assert suites._variants(block_of(), pmf) == ["published"]
    assert block_of().weights and block_of().variants == ["published"]


def test_of_many_combinations_those_are_drawn_that_the_method_and_variant_draw(repository: Layout) -> None:
    card: MethodCard = load_method(repository, "pmf")
    search: dict[str, list[Any]] = {"n_factors": [5, 10, 20], "reg": [0.1, 0.01]}
    every = [{"n_factors": n, "reg": one} for n in search["n_factors"] for one in search["reg"]]
    places = random.Random("pmf published").sample(range(6), 5)
    block = block_of(search=search, draws=5)
    assert suites._combinations(block, card, "published") == [every[place] for place in places]
    assert suites._combinations(block_of(search=search, draws=6), card, "published") == every


# Shards, budgets, obstacles.


def test_a_shard_is_told_by_its_text() -> None:
    assert str(shards.Shard(3, 10)) == "3/10" and shards.parse_shard("3/10") == shards.Shard(3, 10)
    assert shards.parse_shard("999999/999999").of == 999_999
    for text in ("2/1", "x", "1000000/1000000"):
        with pytest.raises(UsageError) as found:
            shards.parse_shard(text)
        assert said(found.value) == (
            f"'{text}' names no shard",
            "--shard",
            "write the third of ten as 3/10; the first is 1/10, the last 10/10",
        )


def test_no_workers_are_told() -> None:
    for workers, words in ((0, "0 workers"), (-1, "-1 workers")):
        with pytest.raises(UsageError) as found:
            this_machine(workers=workers)
        assert said(found.value) == (f"{words} can't do anything", "", "give --workers 1 or more")


def test_shares_have_disk_too_and_devices_have_numbers() -> None:
    one, other = Share(5, 50, 2, 7), Share(2, 20, 1, 3)
    assert one + other == Share(7, 70, 3, 10) and one - other == Share(3, 30, 1, 4)
    assert Share.of(Resources(cpus=2, memory="1GiB", gpus=3, output="5MiB")) == Share(2, 1 << 30, 3, 5 << 20)
    budget = Budget(Share(4, 4, gpus=3, disk=100), room=lambda: 60)
    assert budget.gpus == ("0", "1", "2")
    with budget.lend(Share(1, 1, 2, disk=40), lambda: False) as first:
        assert first.gpus == ("0", "1")
        # 60 are free, 40 of which are set aside
        assert budget._can_lend(Share(1, 1, 1, disk=20)) and not budget._can_lend(Share(1, 1, 1, disk=21))
        assert not budget._can_lend(Share(1, 1, 2, disk=0)) and not budget._can_lend(Share(1, 4, 0, disk=0))
    assert budget._can_lend(Share(4, 4, 3, disk=10**9)), "alone it may write whatever it likes"
    with budget.lend(Share(1, 1, 3), lambda: False) as lent:
        assert lent.gpus == ("2", "0", "1")


def test_notes_of_obstacles_are_read_by_kind_in_order(tmp_path: Path) -> None:
    obstacles = Obstacles(tmp_path / "runs")
    for name in ("b", "a"):
        obstacles.note("dataset", name, f"no {name}")
    obstacles.note("run", "k", "why", trace="line")
    assert [*obstacles.all("dataset").items()] == [("a", "no a"), ("b", "no b")]
    assert obstacles.trace_path("run", "k") == tmp_path / "runs" / ".obstacles" / "run" / "k.trace"
    assert obstacles.all("run") == {"k": "why (trace: runs/.obstacles/run/k.trace)"}
    assert obstacles.all("method") == obstacles.all("variant") == {}


def test_equal_parameters_are_one_kind_whoever_made_them() -> None:
    """One text that stands twice, and two equal texts."""

    def text() -> str:
        return "".join(["long ", "text"])

    one = text()
    pairs: list[dict[str, Any]] = [{"a": one, "b": one}, {"a": text(), "b": text()}]
    cells = [Cell(job_like(parameters=own, split=parse_split("random", at)), None) for at, own in enumerate(pairs)]
    assert len(Cells(cells).of_each_kind()) == 1
    other = Cell(job_like(parameters={"a": one, "b": "another"}), None)
    assert len(Cells([*cells, other]).of_each_kind()) == 2


ACCELERATED: tuple[Accelerator, ...] = ("cpu", "cuda")


@pytest.mark.parametrize("accelerator", ACCELERATED)
def test_a_cell_is_found_by_its_key(accelerator: Accelerator) -> None:
    planned = planned_job().model_copy(update={"job": job_like(accelerator=accelerator)})
    cell = Cell(planned.job, planned)
    assert cell.key == planned.key and cell.can_run and cell.with_key("k").key == "k"
    kept = Cells([Cell(planned.job, planned), Cell(planned.job, None, Verdict.MISSING_DATA, "gone")])
    assert [key for key, _ in kept.keyed()] == [planned.key, ""]
    assert kept[1].reason == "gone" and kept[1].planned is None and not kept[1].can_run
    assert [int(head).to_bytes(8, "little").hex() for head in kept.key_heads] == [planned.key[:16], "0" * 16]
    assert kept.having(lambda verdict: verdict is Verdict.PENDING).tolist() == [True, False]
    with pytest.raises(IndexError):
        _ = kept[2]
