"""Cells kept in columns are those that were planned; asked by kind, by verdict or by place, none is another."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution.campaign import left_to_run
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job
from harness.planning.plan import Plan
from harness.planning.request import Request, requested_jobs
from harness.splits.spec import SplitSpec
from tests.core.factories import planned_job


@st.composite
def cells(draw: st.DrawFn) -> list[Cell]:
    """Cells that differ in one thing or another, of different keys."""
    every: dict[str, Cell] = {}
    for _ in range(draw(st.integers(0, 12))):
        job = Job(
            benchmark="repurposing",
            method=draw(st.sampled_from(["als_wr", "constant"])),
            variant=draw(st.sampled_from(["published", "corrected"])),
            parameters=draw(st.sampled_from([{}, {"score": 1}, {"score": 1.0}, {"score": True}, {"score": "1"}])),
            dataset=draw(st.sampled_from(["synthetic", "hdvd"])),
            split=SplitSpec(
                strategy=draw(st.sampled_from(["random", "cluster"])),
                seed=draw(st.integers(-(2**63), 2**63 - 1)),
                parameters=draw(st.sampled_from([{}, {"gamma": 0.5}])),
            ),
            options=draw(st.sampled_from([{}, {"inner_folds": 5}])),
            upstream=draw(st.sampled_from(["", "ab" * 32])),
            accelerator=draw(st.sampled_from(["cpu", "cuda"])),
        )
        planned = planned_job().model_copy(
            update={
                "job": job,
                "image_tree": draw(st.sampled_from("ab")),
                "split_digest": draw(st.sampled_from("cd")),
                "weights_digest": draw(st.sampled_from(["", "e"])),
            }
        )
        verdict, reason = draw(st.sampled_from(list(Verdict))), draw(st.sampled_from(["", "why", "why not"]))
        cell = Cell(
            job, draw(st.sampled_from([planned, None])), verdict, reason, draw(st.sampled_from([{}, {"a": 1}]))
        )
        every.setdefault(cell.key or str(len(every)), cell)
    return list(every.values())


def told(cell: Cell) -> tuple[Any, ...]:
    """All of a cell, types of values and its key included."""
    # 1, 1.0 and True are equal, and other parameters
    return (
        repr(cell.job),
        cell.planned,
        cell.verdict,
        cell.reason,
        cell.record,
        cell.planned and cell.planned.key,
        cell.key,
    )


def _kind(cell: Cell) -> tuple[Any, ...]:
    """All of a cell but its seed, the digest of its split and what became of it."""
    job = cell.job.model_copy(update={"split": cell.job.split.model_copy(update={"seed": 0})})
    pins = cell.planned and (cell.planned.image_tree, cell.planned.dataset_digest, cell.planned.weights_digest)
    return repr(job), pins


def a_cell(*, image: str = "a", data: str = "d", weights: str = "", **changed: Any) -> Cell:
    split = SplitSpec(strategy=changed.pop("strategy", "random"), seed=1, parameters=changed.pop("at", {}))
    content = {"method": "als_wr", "dataset": "synthetic", "parameters": {}, "split": split, **changed}
    job = Job(**{"benchmark": "repurposing", **content})
    pins = {"job": job, "image_tree": image, "dataset_digest": data, "weights_digest": weights}
    return Cell(job, planned_job().model_copy(update=pins))


@pytest.mark.parametrize(
    "changed",
    [
        {"benchmark": "ddi"},
        {"method": "constant"},
        {"variant": "corrected"},
        {"parameters": {"score": 1}},
        {"parameters": {"score": 1.0}},
        {"options": {"inner_folds": 5}},
        {"dataset": "hdvd"},
        {"strategy": "cluster"},
        {"at": {"gamma": 0.5}},
        {"upstream": "ab" * 32},
        {"accelerator": "cuda"},
        {"image": "b"},
        {"data": "e"},
        {"weights": "f"},
    ],
    ids=str,
)
def test_cells_that_differ_in_one_thing_alone_are_kept_apart(changed: dict[str, Any]) -> None:
    some = [a_cell(), a_cell(**changed), a_cell()]
    assert [told(cell) for cell in Cells(some)] == [told(cell) for cell in some]


def test_a_cell_with_its_record_is_the_cell_without() -> None:
    bare = a_cell()
    carried = replace(bare, record={"resources": {"wall_s": 1.0}})
    assert carried == bare and repr(carried) == repr(bare) and "record" not in repr(bare)
    assert carried.key == bare.key and Cells([carried]) == [bare]
    assert carried != replace(carried, reason="another") and repr(carried) != repr(a_cell(method="constant"))


@given(cells())
def test_each_is_what_it_was(some: list[Cell]) -> None:
    kept = Cells(some)
    assert [told(cell) for cell in kept] == [told(cell) for cell in some]
    assert [told(kept[place]) for place in range(len(kept))] == [told(cell) for cell in some]
    assert kept == some and kept == tuple(some) and kept == Cells(some)
    assert kept != [*some, *some[:1]] or not some
    assert kept[1:-1] == some[1:-1] and kept[::-1][:3] == some[::-1][:3]
    assert Cells.of(kept) is kept
    assert kept.counts == Counter(cell.verdict for cell in some)
    assert [(key, _kind(cell)) for key, cell in kept.keyed()] == [(cell.key or "", _kind(cell)) for cell in some]
    assert [key for key, _ in kept[::-1][1:].keyed()] == [cell.key or "" for cell in some[::-1][1:]]
    if some:
        changed = [*some[:-1], replace(some[-1], reason="another")]
        assert kept != changed


@given(cells(), st.randoms())
def test_cells_are_known_by_the_bytes_of_their_keys(some: list[Cell], random: Random) -> None:
    kept = Cells(some)[::-1]
    keys = [cell.key or "0" * 64 for cell in some[::-1]]
    places = random.choices(range(len(keys)), k=len(keys)) if keys else []
    told_keys = [
        random.choice([keys[place], keys[place][:-1] + "x", "1" * 64]).replace("x", "7") for place in places
    ]
    rows = np.frombuffer(bytes.fromhex("".join(told_keys)), np.uint8).reshape(-1, 32)
    if places:
        assert kept.have_keys(places, rows) == [
            keys[place] == key for place, key in zip(places, told_keys, strict=True)
        ]
    assert [int(head).to_bytes(8, "little").hex() for head in kept.key_heads] == [key[:16] for key in keys]


def test_cells_are_no_text_and_no_number() -> None:
    assert Cells() == [] == Cells([]) and Cells() == ()
    assert Cells() != "" and Cells() != 0 and Cells([a_cell()]) != "a" and Cells([a_cell()]) != [None]


@given(cells())
def test_what_is_asked_of_kinds_is_true_of_cells(some: list[Cell]) -> None:
    kept = Cells(some)[::-1]
    there = [*reversed(some)]

    def is_asked_for(cell: Cell) -> bool:
        return cell.job.method == "constant" and cell.planned is not None

    assert kept.where(is_asked_for) == [cell for cell in there if is_asked_for(cell)]
    assert list(kept.by_kind(is_asked_for)) == [float(is_asked_for(cell)) for cell in there]
    kinds = {repr(cell.job.model_copy(update={"split": None})) for cell in there}
    assert {repr(cell.job.model_copy(update={"split": None})) for cell in kept.of_each_kind()} == kinds
    assert all(cell in there for cell in kept.of_each_kind())
    assert kept.recorded() == [cell for cell in there if cell.record]
    # of those that are here alone, the first of each
    for some_of_them in (kept[: len(kept) // 2], kept[len(kept) // 2 :]):
        firsts = dict[tuple[Any, ...], Cell]()
        for cell in some_of_them:
            firsts.setdefault(_kind(cell), cell)
        assert some_of_them.of_each_kind() == [*firsts.values()]
    waiting = [cell for cell in there if cell.planned is None and cell.verdict is Verdict.PENDING]
    assert kept.waiting() == waiting


@given(cells(), st.sets(st.sampled_from(list(Verdict))))
def test_what_is_left_is_what_was_left_before(some: list[Cell], again: set[Verdict]) -> None:
    left = [
        cell for cell in some if cell.planned is not None and (not cell.verdict.is_final or cell.verdict in again)
    ]
    assert left_to_run(some, again) == sorted(left, key=lambda cell: cell.verdict is Verdict.INFRASTRUCTURE)


@given(cells())
def test_cells_are_judged_in_their_order(some: list[Cell]) -> None:
    kept = Cells(some)[::-1]
    outcomes = [(Verdict.OK, f"well {place}") if place % 2 else None for place in range(len(kept))]
    judged = kept.judged(outcomes, {1: {"digest": "d"}})
    for place, (was, now) in enumerate(zip(reversed(some), judged, strict=True)):
        assert (now.job, now.planned, now.key) == (was.job, was.planned, was.key)
        assert (now.verdict, now.reason) == (outcomes[place] or (was.verdict, was.reason))
        assert now.record == ({"digest": "d"} if place == 1 else {})
    assert [key for key, _ in judged.keyed()] == [cell.key or "" for cell in some[::-1]]
    assert kept == some[::-1], "the others stay as they are"
    with pytest.raises(ValueError, match=r"shorter|longer"):
        kept.judged([*outcomes, None])


def test_a_run_that_is_planned_twice_is_found_among_many() -> None:
    jobs = [planned_job(seed) for seed in (*range(100), 57)]
    with pytest.raises(UsageError, match="planned twice"):
        Plan("many", Cells(Cell(one.job, one) for one in jobs))
    assert len(Plan("many", Cells(Cell(one.job, one) for one in jobs[:-1])).cells) == 100
    # what can't be run has no key to share
    assert len(Plan("none", Cells(Cell(one.job, None) for one in (jobs[0], jobs[0]))).cells) == 2


def test_no_cell_is_made_to_see_that_all_keys_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million that would take a minute."""
    kept = Cells(Cell((one := planned_job(seed)).job, one) for seed in range(20))
    monkeypatch.setattr(Cells, "__getitem__", lambda *_: pytest.fail("a cell was made"))
    assert kept.twice() is None


def test_a_cell_takes_few_bytes() -> None:
    """A million have to fit beside all else that a client needs: 200 MB."""
    tracemalloc.start()
    kept = Cells(Cell((one := planned_job(seed)).job, one) for seed in range(5_000))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == 5_000
    assert size < 5_000 * 100, f"{size / 5_000:.0f} bytes for each"
    # what is only judged anew is not kept a second time
    assert kept.judged([None] * 5_000)._columns is kept._columns
    assert kept[::-1].judged([None] * 5_000)._columns is not kept._columns


def test_jobs_of_many_seeds_are_made_when_they_are_looked_at(repository: Layout) -> None:
    methods, datasets = ("bnnr", "pmf", "constant"), ("synthetic", "hdvd")
    request = Request(methods=methods, datasets=datasets, seeds=tuple(range(1, 5_001)))
    assert len(requested_jobs(repository, request)) == 30_000
    tracemalloc.start()
    jobs = requested_jobs(repository, request)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    last = jobs[-1]
    assert (last.method, last.dataset, last.split.seed) == ("constant", "hdvd", 5_000)
    assert [job.split.seed for job in jobs[:7]] == [1] * 6 + [2]
    assert size < 30_000 * 50, f"{size / 30_000:.0f} bytes for each"
