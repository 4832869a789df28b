"""The suites of the paper plan exactly its cells, controls beside them, and as many seeds as asked for."""

from __future__ import annotations

from collections import Counter

import pytest
from click.testing import CliRunner

from harness import benchmarks
from harness.base.layout import Layout
from harness.cli import group
from harness.compare import load_names
from harness.compare.paper import load_paper
from harness.data import load_manifest
from harness.methods.card import load_method, load_methods
from harness.planning.request import Request, requested_jobs
from harness.planning.suites import Block, Suite, expansions, jobs_of, load_suite, plan_name, suite_names

PUBLISHED_SEEDS = benchmarks.get("repurposing").form.published_seeds()
OF_THE_PAPER = [name for name in suite_names() if name.startswith("repurposing-")]


def test_there_is_a_suite_per_table_and_figure() -> None:
    wanted = {
        "table5",
        "table6",
        "table7",
        "table8",
        "table9",
        "table10",
        "table14",
        "figure2b",
        "figure3",
        "figure4",
    }
    assert {name.removeprefix("repurposing-") for name in OF_THE_PAPER} == wanted


def test_table_14_has_its_198_cells(repository: Layout) -> None:
    names, paper = load_names(repository, "repurposing"), load_paper(repository, "repurposing")
    jobs = jobs_of(repository, load_suite("repurposing-table14"))
    controls = [job for job in jobs if load_method(repository, job.method).control]
    cells = Counter((job.method, job.dataset, job.split.strategy) for job in jobs if job not in controls)
    assert len(cells) == 198 and set(cells.values()) == {2}
    assert {method for method, _, _ in cells} == {names.methods[name] for name in paper.methods}
    assert {dataset for _, dataset, _ in cells} == {names.datasets[name] for name in paper.datasets}
    assert {job.dataset for job in controls} == {job.dataset for job in jobs}


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_controls_stand_in_every_suite(repository: Layout, name: str) -> None:
    jobs = jobs_of(repository, load_suite(name))
    places = {(job.dataset, job.split.label) for job in jobs}
    assert {(job.dataset, job.split.label) for job in jobs if job.method == "constant"} == places


@pytest.mark.parametrize("name", ["smoke", "ddi-smoke"])
def test_every_method_runs_without_a_model_that_is_to_be_brought(repository: Layout, name: str) -> None:
    jobs = [job for job in jobs_of(repository, load_suite(name)) if job.benchmark == "ddi"]
    assert {job.method for job in jobs} == {card.name for card in load_methods(repository, "ddi")}
    for job in jobs:
        card = load_method(repository, job.method)
        assert not card.variant(job.variant).weights and job.variant == card.runs_everywhere


def test_a_suite_that_reads_weights_keeps_its_variants(repository: Layout) -> None:
    block = Block(
        benchmark="ddi",
        methods=["textddi"],
        variants=["published", "minilm"],
        datasets=["synthetic_ddi"],
        splits=["random"],
        seeds=[1],
    )
    for weights, variants in ((True, ["published", "minilm"]), (False, ["minilm"])):
        jobs = jobs_of(
            repository, Suite(name="x", summary="x", blocks=[block.model_copy(update={"weights": weights})])
        )
        assert [job.variant for job in jobs if job.method == "textddi"] == variants


def test_full_holds_every_job_of_every_other_suite(repository: Layout) -> None:
    full = {job.model_dump_json() for job in jobs_of(repository, load_suite("full"))}
    searched = {"ddi-tuning"}  # points of a search, of which none but the usual one is a result
    for name in set(suite_names()) - searched:
        for job in jobs_of(repository, load_suite(name)):
            # a dataset that a person brings: nobody here has it
            assert job.model_dump_json() in full or load_manifest(repository, job.dataset).bring, (name, job.label)


def test_a_suite_has_its_own_blocks_before_those_it_includes() -> None:
    full = load_suite("full")
    assert [block.benchmark for block in full.blocks[:2]] == ["repurposing", "ddi"]
    included = [block for name in full.includes for block in load_suite(name).blocks]
    assert full.blocks[1:] == included


def test_more_seeds_can_be_asked_for(repository: Layout) -> None:
    suite = load_suite("repurposing-table7")
    few, many = jobs_of(repository, suite, 2), jobs_of(repository, suite, 5)
    assert {job.split.seed for job in many} == set(PUBLISHED_SEEDS[:5])
    assert many[: len(few)] == few, "more seeds continue what fewer began"
    assert plan_name("smoke", None) == "smoke" and plan_name("smoke", 5) == "smoke --published-seeds 5"


def test_seeds_that_are_named_twice_are_refused() -> None:
    named = ["run", "--method", "constant", "--dataset", "synthetic", "--seed", "1"]
    done = CliRunner().invoke(group, [*named, "--published-seeds", "3"])
    assert done.exit_code != 0 and "seeds are named twice" in str(done.exception)
    assert CliRunner().invoke(group, ["plan", "--published-seeds", "101"]).exit_code == 2


def test_published_seeds_and_several_splits_make_every_job(repository: Layout) -> None:
    request = Request(
        methods=("constant",),
        datasets=("synthetic",),
        splits=("random", "weakly_correlated"),
        published_seeds=3,
    )
    jobs = requested_jobs(repository, request)
    assert {(job.split.strategy, job.split.seed) for job in jobs} == {
        (strategy, seed) for strategy in ("random", "weakly_correlated") for seed in PUBLISHED_SEEDS[:3]
    }
    assert len(jobs) == 6


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("cluster", ["cluster"]),
        ("a:x={1,b}", ["a:x=1", "a:x=b"]),
        ("a:x={8..11}", ["a:x=8", "a:x=9", "a:x=10", "a:x=11"]),
        ("{a,b}:x={0..1},y={c,d}", [f"{a}:x={x},y={y}" for a in "ab" for x in "01" for y in "cd"]),
        ("a:x={3..3}", ["a:x=3"]),
    ],
)
def test_braces_stand_for_a_split_each(text: str, texts: list[str]) -> None:
    assert expansions(text) == texts
    block = Block(datasets=["synthetic"], splits=["first", text], seeds=[1])
    assert block.splits == ["first", *texts]
