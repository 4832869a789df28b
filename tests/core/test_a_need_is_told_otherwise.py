"""What a plan would take, and what machines, shards and obstacles say of it, word for word."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.download import MIRROR_VARIABLE
from harness.base.errors import (
    EngineError,
    UsageError,
)
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator, Verdict
from harness.data import load_manifest
from harness.data.sources import cache_path
from harness.images import recorded_size
from harness.methods.card import Resources
from harness.planning import needs, shards
from harness.planning.budget import Budget, Share, this_machine
from harness.planning.cells import Cell, Cells, wanted_again
from harness.planning.jobs import (
    Job,
    card_of,
)
from harness.planning.needs import Needs, _most_unbuilt_bytes, check_disk, needs_of, run_kind
from harness.planning.obstacles import Obstacles
from harness.splits.spec import parse_split
from tests.core.factories import job_like, planned_job
from tests.core.word_for_word import said

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
    assert (
        Needs(**FIELDS)
        .text(options="--accelerator cuda")
        .endswith(f"{START}./run_all.sh --suite smoke --accelerator cuda")
    )
    assert Needs(**other).text(options="--accelerator cuda").endswith(f"{START}harness run with the same options")
    for plan in ("smoke", "smoke, only shard 1/3", "request"):
        told = Needs(**{**FIELDS, "plan": plan}).text(start="this, and no other")
        assert told.endswith(f"\n{START}this, and no other")
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
        (
            {"estimated": 3, "estimated_cpu_hours": 0.0, "longest_hours": 5.5, "scale": 0.0},
            "time: about 5.5 h on 2 CPUs for 4 of 4 runs; 3 estimated from the reference results, times 0: so "
            "much longer this machine took for the same",
        ),
        (
            {"measured": 0, "longest_limit_hours": 18.0},
            "time: not measured here yet; at most 18 h by the limits of the method cards",
        ),
        (
            {"measured": 0, "longest_limit_hours": 9.0},
            "time: not measured here yet; at most 10 h by the limits of the method cards",
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


def recorded(job: Job, verdict: Verdict = Verdict.OK, **resources: float | str | None) -> Cell:
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
    reference = {run_kind(two): 3600.0, run_kind(on_gpu): 1.0, run_kind(one): 1.0}
    for given in (cells, Cells(cells)):
        found = needs_of(layout, "some", given, reference)
        assert (found.plan, found.planned, found.left) == ("some", 12, 6)
        assert found.cannot_run == {"missing-data": 2, "not-applicable": 1}
        assert found.measured == 2 and found.cpu_hours == pytest.approx(2 * 540 / 3600)
        assert (found.estimated, found.scale) == (3, None)
        assert found.estimated_cpu_hours == pytest.approx(3.0)
        assert found.longest_hours == pytest.approx(1.0)
        # the longest may be one that was run here
        short = needs_of(layout, "some", given, {run_kind(two): 60.0})
        assert short.estimated == 3 and short.longest_hours == pytest.approx(540 / 3600)
        left = [one, one, two, two, two, on_gpu]
        limits = [card_of(layout, job).resources for job in left]
        assert found.most_cpu_hours == pytest.approx(sum(own.seconds * own.cpus for own in limits) / 3600)
        assert found.longest_limit_hours == pytest.approx(max(own.seconds for own in limits) / 3600)
        manifest = load_manifest(layout, "synthetic")
        assert found.result_bytes == 6 * (manifest.statistics.result_bytes(one.options) + 65_536)
        assert found.data_bytes == sum(file.bytes for file in manifest.files)
        assert found.image_bytes == recorded_size(layout, {"pmf", "bnnr"}, "cpu") + recorded_size(
            layout, {"han"}, "cuda"
        )


def test_what_can_not_be_run_is_not_run_again(layout: Layout) -> None:
    job = job_like()
    verdicts = (Verdict.MISSING_DATA, Verdict.NOT_APPLICABLE)
    cells = [*(Cell(job, None, one, "why") for one in verdicts), recorded(job, Verdict.TIMEOUT)]
    assert wanted_again(cells, ()) is cells
    again = wanted_again(cells, [*verdicts, Verdict.TIMEOUT])
    assert list(again[:2]) == cells[:2] and again[2].verdict is Verdict.PENDING
    found = needs_of(layout, "some", again)
    assert (found.left, found.cannot_run) == (1, {"missing-data": 1, "not-applicable": 1})


def test_what_could_not_be_measured_of_a_run_is_not_taken_for_a_time(layout: Layout) -> None:
    """A record says None where neither the kernel nor the method told how long the processor was used."""
    methods = ("pmf", "bnnr", "constant", "als_wr")
    cells = [
        recorded(job_like(method=method), wall_s=4.0, cpu_s=cpu_s)
        for method in methods
        for cpu_s in ((None, 8.0, "soon") if method != "als_wr" else (None,))
    ]
    left = recorded(job_like(method="lrssl"), Verdict.PENDING)
    reference = {run_kind(cell.job): 4.0 for cell in (*cells, left)}
    found = needs_of(layout, "some", [*cells, left], reference)
    assert (found.measured, found.estimated, found.scale) == (0, 1, 2.0)


def test_what_was_never_run_anywhere_takes_no_known_time(layout: Layout) -> None:
    """A run of which no record is kept tells nothing; the folder of results is made, to see how much is free."""
    elsewhere = Layout(layout.root, layout.cache, layout.local / "not" / "yet")
    done = Cell(job_like(), planned_job(), Verdict.OK)
    found = needs_of(elsewhere, "some", [done, recorded(job_like(method="pmf"), Verdict.PENDING)])
    assert (found.left, found.measured, found.estimated) == (1, 0, 0)
    assert (found.cpu_hours, found.estimated_cpu_hours, found.longest_hours) == (0.0, 0.0, 0.0)
    assert elsewhere.local.is_dir() and found.scale is None


def test_what_jobs_of_a_kind_have_in_common_is_counted_for_each(layout: Layout) -> None:
    """Results take room by dataset and options, and runs take time by method."""
    jobs = [
        job_like(method="han", dataset=dataset, options={**job_like().options, "inner_folds": folds}, **more)
        for dataset, folds, more in (
            ("synthetic", 5, {}),
            ("hdvd", 5, {}),
            ("synthetic", 0, {}),
            ("synthetic", 5, {"accelerator": "cuda"}),
        )
    ]
    jobs.append(job_like(method="pmf"))
    found = needs_of(layout, "some", [recorded(job, Verdict.PENDING) for job in jobs])
    sizes = [load_manifest(layout, job.dataset).statistics.result_bytes(job.options) for job in jobs]
    assert len({*sizes}) == 3 and found.result_bytes == sum(sizes) + 5 * 65_536
    limits = [card_of(layout, job).resources for job in jobs]
    seconds = [own.seconds * own.cpus for own in limits]
    assert len({*seconds}) > 1 and found.most_cpu_hours == pytest.approx(sum(seconds) / 3600)


def test_a_run_of_several_processors_takes_the_time_of_each(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No method of ours has such a limit; one of a person's own may."""

    def with_three(layout: Layout, job: Job) -> Any:
        card = card_of(layout, job)
        own = {"cpus": 3, "seconds": 7200 if job.method == "pmf" else 3600}
        return card.model_copy(update={"resources": card.resources.model_copy(update=own)})

    monkeypatch.setattr(needs, "card_of", with_three)
    jobs = [job_like(method=method) for method in ("pmf", "pmf", "han")]
    found = needs_of(layout, "some", [recorded(job, Verdict.PENDING) for job in jobs])
    assert (found.most_cpu_hours, found.longest_limit_hours) == (15.0, 2.0)


@pytest.mark.parametrize(
    ("here", "there", "scale"),
    [
        ((4.0, 6.0, 10.0), (2.0, 2.0, 2.0), 3.0),
        ((4.0, 6.0, 10.0), (2.0, 2.0, 1.99), None),
        ((4.0, 6.0), (2.0, 2.0), None),
        ((20.0, 30.0, 100.0, 80.0), (10.0, 10.0, 10.0, 10.0), 5.5),
        # runs so short that the kernel counted nothing
        ((0.0, 0.0, 9.0), (2.0, 2.0, 2.0), 0.0),
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
    reference = {run_kind(cell.job): one for cell, one in zip(done, there, strict=False)}
    reference |= {run_kind(waiting.job): 7200.0, run_kind(failed.job): 100.0}
    hours = 2.0 if scale is None else 2.0 * scale
    for cells in ([*done, failed, on_gpu, waiting], Cells([*done, failed, on_gpu, waiting])):
        found = needs_of(layout, "some", cells, reference)
        assert found.scale == (None if scale is None else pytest.approx(scale))
        assert found.estimated_cpu_hours == pytest.approx(hours)
        assert found.longest_hours == pytest.approx(hours)
    # without anything to estimate there is nothing to scale
    assert needs_of(layout, "some", done, reference).scale is None


def test_a_disk_that_is_too_small_is_told(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = replace(layout, cache=layout.local / "cache")
    layout.local.mkdir()
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


def test_each_disk_must_have_room_for_what_comes_there(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of 0.05 GB on a small disk, beside a cache that has one of its own."""
    layout.local.mkdir()
    room = {layout.local: 149_999_999, Path("/proc"): 2_200_000_000}
    layout = replace(layout, cache=Path("/proc/no/such folder"))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(total=0, free=room[folder]))
    monkeypatch.setattr(needs, "reserve_of", lambda total: 100_000_000)
    results = 49_999_999
    sizes = {"image_bytes": 2_000_000_000, "data_bytes": 100_000_000, "result_bytes": results}
    found = Needs(**{**FIELDS, **sizes, "free_bytes": results + 100_000_000})
    monkeypatch.setattr(needs, "needs_of", lambda *_: found)
    assert check_disk(layout, "some", []) is found
    found = replace(found, free_bytes=results + 99_999_999)
    with pytest.raises(EngineError, match=r"^smoke needs 50 MB of disk; 0\.1 GB are free") as refused:
        check_disk(layout, "some", [])
    assert refused.value.where == str(layout.local)
    # no image lies there
    assert refused.value.todo == "free some (harness clean), or move results with $PERMAFROST_RESULTS"
    found = replace(found, free_bytes=results + 100_000_000, data_bytes=100_000_001)
    with pytest.raises(EngineError, match=r"^smoke needs 2\.1 GB of disk; 2\.2 GB are free") as refused:
        check_disk(layout, "some", [])
    assert refused.value.where == "/proc" and "move images and data with $PERMAFROST_CACHE" in refused.value.todo


def test_one_method_at_a_time_needs_room_for_the_largest_alone(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [recorded(job_like(method=method), Verdict.PENDING) for method in ("pmf", "bnnr")]
    ended = recorded(job_like(method="han"), Verdict.OK)
    sizes = [recorded_size(layout, [method], "cpu") for method in ("pmf", "bnnr")]
    together = recorded_size(layout, ["pmf", "bnnr"], "cpu")
    assert max(sizes) < together < recorded_size(layout, ["pmf", "bnnr", "han"], "cpu")
    monkeypatch.setattr(needs, "reserve_of", lambda total: 0)
    known = replace(needs_of(layout, "some", [*cells, ended]), data_bytes=0, result_bytes=0)
    layout = replace(layout, cache=layout.local / "cache")
    for free, one_method_at_a_time, fits in (
        (together, False, True),
        (together - 1, False, False),
        (max(sizes), True, True),
        (max(sizes) - 1, True, False),
    ):
        monkeypatch.setattr(needs, "needs_of", lambda *_, free=free: replace(known, free_bytes=free))
        with nullcontext() if fits else pytest.raises(EngineError) as refused:
            check_disk(layout, "some", [*cells, ended], one_method_at_a_time=one_method_at_a_time)
        # whoever does what was advised is not told to do it
        if refused is not None:
            assert ("--remove-images" in refused.value.todo) != one_method_at_a_time


def test_images_that_are_here_need_no_more_room(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [recorded(job_like(method=method), Verdict.PENDING) for method in ("pmf", "bnnr")]
    sizes = {"pmf": 500, "bnnr": 800}
    here = {"pmf": 0, "bnnr": 700}
    monkeypatch.setattr(needs, "recorded_size", lambda _, names, accelerator: sum(sizes[name] for name in names))
    monkeypatch.setattr(needs, "built_size", lambda _, names, accelerator: sum(here[name] for name in names))
    monkeypatch.setattr(needs, "reserve_of", lambda total: 0)
    layout = replace(layout, cache=layout.local / "cache")
    known = replace(needs_of(layout, "some", cells), data_bytes=0, result_bytes=0)
    # what the plan is told to take stays the whole
    assert (known.image_bytes, known.here_bytes) == (1300, 700)
    for free, one_method_at_a_time, fits in (
        (600, False, True),
        (599, False, False),
        (500, True, True),
        (499, True, False),
    ):
        monkeypatch.setattr(needs, "needs_of", lambda *_, free=free: replace(known, free_bytes=free))
        with nullcontext() if fits else pytest.raises(EngineError):
            check_disk(layout, "some", cells, one_method_at_a_time=one_method_at_a_time)


def test_a_method_needs_its_images_in_all_variants_at_a_time(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a variant on a GPU are others."""
    jobs = [
        job_like(method="pmf"),
        job_like(method="pmf", variant="x", accelerator="cuda"),
        job_like(method="bnnr"),
    ]
    sizes = {("pmf", "cpu"): 500, ("pmf", "cuda"): 400, ("bnnr", "cpu"): 800}
    monkeypatch.setattr(
        needs, "recorded_size", lambda _, names, accelerator: sum(sizes[name, accelerator] for name in names)
    )
    monkeypatch.setattr(needs, "built_size", lambda *_: 0)
    assert _most_unbuilt_bytes(layout, [recorded(job, Verdict.PENDING) for job in jobs]) == 900


def test_data_that_are_here_need_no_more_room(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    cells = [recorded(job_like(method="pmf", dataset="fdataset"), Verdict.PENDING)]
    layout = replace(layout, cache=layout.local / "cache")
    monkeypatch.setattr(needs, "reserve_of", lambda total: 0)
    known = replace(needs_of(layout, "some", cells), image_bytes=0, result_bytes=0)
    files = load_manifest(layout, "fdataset").files
    assert known.data_bytes == sum(file.bytes for file in files) > 0 == known.here_bytes
    monkeypatch.setattr(needs, "needs_of", lambda *_: replace(known, free_bytes=known.data_bytes - 1))
    with pytest.raises(EngineError):
        check_disk(layout, "some", cells)
    path = cache_path(layout, files[0])
    path.parent.mkdir(parents=True)
    path.touch()
    os.truncate(path, files[0].bytes)
    assert needs_of(layout, "some", cells).here_bytes == files[0].bytes
    check_disk(layout, "some", cells)
    monkeypatch.setattr(
        needs, "needs_of", lambda *_: replace(known, free_bytes=known.data_bytes - files[0].bytes - 1)
    )
    with pytest.raises(EngineError):
        check_disk(layout, "some", cells)


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
