"""What jobs and plans are made of and say: names, bounds and messages, word for word."""

from __future__ import annotations

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
    HarnessError,
    ImageError,
    MissingData,
    UsageError,
)
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.methods.card import load_method, load_methods
from harness.planning import plan
from harness.planning.cells import Cell
from harness.planning.jobs import (
    Job,
    PlannedJob,
    card_of,
    complete_options,
    make_job,
    on_accelerator,
    unusual_options,
)
from harness.planning.plan import Plan, Present, make_plan, pinned
from harness.planning.published_seeds import first_published
from harness.splits.spec import parse_split
from tests.core.factories import job_like, planned_job
from tests.core.word_for_word import said


def test_published_seeds_are_the_first_of_them_in_their_published_order() -> None:
    """Not in ascending order: a part of a published experiment is the part that its authors ran first."""
    every = benchmarks.get("repurposing").form.published_seeds()
    assert first_published("repurposing", 3) == (17263407, 22928437, 978124)
    assert len(every) == 100
    assert all(first_published("repurposing", count) == every[:count] for count in (1, 50, 100))
    for count in (-1, 0, 101):
        with pytest.raises(UsageError) as refused:
            first_published("repurposing", count)
        what, where = "benchmark repurposing has 100 published seeds", f"--published-seeds {count}"
        assert said(refused.value) == (what, where, "give 1 to 100")
    with pytest.raises(UsageError) as refused:
        first_published("ddi", 1)
    assert said(refused.value) == ("benchmark ddi has no published seeds", "--published-seeds", "give --seed N")


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
        ("dataset_digest", CorruptData("cut", where="", todo="look"), Verdict.MISSING_DATA, "cut; to do: look"),
        (
            "split_digest",
            MissingData("no split", where="", todo="do"),
            Verdict.MISSING_DATA,
            "no split; to do: do",
        ),
        ("split_digest", DataError("odd", where="", todo="do"), Verdict.MISSING_DATA, "odd; to do: do"),
        ("split_digest", DataError("odd", where="", todo=""), Verdict.MISSING_DATA, "odd"),
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


@pytest.mark.parametrize(
    ("asked", "about"),
    [("weights_digest", ("textddi",)), ("dataset_digest", ("drugbank", ("mirrors", ()))), ("split_digest", None)],
)
def test_what_is_not_here_is_looked_for_once(
    layout: Layout, answers: _Answers, asked: str, about: tuple[Any, ...] | None
) -> None:
    """And not for every cell that needs it: each of them says what to do."""
    answers.fail[asked] = MissingData("it is not here", todo="bring it")
    split = parse_split("random", 1)
    methods = ("textddi", "textddi", "mlp")[: 2 if asked == "weights_digest" else 3]
    jobs = [
        job_like(benchmark="ddi", method=method, dataset="drugbank", split=split, parameters={"number": number})
        for number, method in enumerate(methods)
    ]
    cells = make_plan(layout, "some", jobs).cells
    assert {(cell.verdict, cell.reason) for cell in cells} == {
        (Verdict.MISSING_DATA, "it is not here; to do: bring it")
    }
    assert [one[1:] for one in answers.asked if one[0] == asked] == [about or ("drugbank", split, ("mirrors", ()))]


def test_splits_are_forgotten_before_they_fill_the_memory(
    layout: Layout, answers: _Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plan._MOST_DIGESTS == 10_000
    monkeypatch.setattr(plan, "_MOST_DIGESTS", 2)
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
    assert present.holds(planned) and present.holds_as_usual(planned) and present.cell(job)
    assert present.tree("pmf") == "image_tree"
    assert {one for one in answers.asked if one[0] == "image_tree"} == {("image_tree", "pmf", "cpu")}
    for changed in ({"image_tree": "x"}, {"dataset_digest": "x"}, {"split_digest": "x"}, {"weights_digest": "x"}):
        other = planned.model_copy(update=changed)
        assert not present.holds(other) and not present.holds_as_usual(other)
    for one in ({"upstream": "u"}, {"accelerator": "cuda"}, {"parameters": {**own, "more": 1}}):
        other = planned.model_copy(update={"job": job.model_copy(update=one)})
        assert present.holds(other) and not present.holds_as_usual(other)
    # a variant has parameters of its own, which are as usual for it alone
    card, corrected = load_method(layout, "als_wr"), job_like(method="als_wr", variant="corrected")
    for variant, is_usual in (("published", False), ("corrected", True)):
        asked = corrected.model_copy(update={"parameters": card.variant(variant).parameters})
        other = planned.model_copy(update={"job": asked})
        assert present.holds(other) and present.holds_as_usual(other) is is_usual
    for gone in (job_like(method="nobody"), job_like(method="pmf", variant="nothing")):
        assert not present.cell(gone) and not present.holds(planned.model_copy(update={"job": gone}))
