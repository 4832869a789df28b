"""What requests and suites ask for and say: names, bounds and messages, word for word."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import benchmarks
from harness.base.errors import (
    CorruptData,
    DataError,
    ManifestError,
    MissingData,
    UsageError,
)
from harness.base.layout import Layout
from harness.data import load_manifest
from harness.images import folder_tree
from harness.methods.card import MethodCard, load_method, load_methods
from harness.planning import request, suites
from harness.planning.jobs import (
    Job,
    complete_options,
    make_job,
)
from harness.planning.request import Request, refuse_impossible_splits, requested_jobs, upstream_tree
from harness.planning.suites import (
    Block,
    Suite,
    expansions,
    jobs_of,
    load_suite,
    named_plan,
    plan_name,
    suite_names,
)
from harness.splits.spec import SplitSpec, parse_split
from tests.core.factories import job_like
from tests.core.word_for_word import said


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


def test_more_published_seeds_than_there_are_are_refused(repository: Layout) -> None:
    together: dict[str, Any] = {"methods": ("pmf", "all_pairs"), "datasets": ("synthetic", "combos"), "seeds": ()}
    assert len(requested_jobs(repository, asked(**together, published_seeds=4))) == 16
    with pytest.raises(UsageError) as found:
        requested_jobs(repository, asked(**together, published_seeds=5))
    assert said(found.value) == ("benchmark combos has 4 published seeds", "--published-seeds 5", "give 1 to 4")
    with pytest.raises(UsageError, match="has 100 published seeds"):
        requested_jobs(repository, asked(seeds=(), published_seeds=-1))


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
    fitting = "random:inner_folds=3"
    # whichever of several splits it is that does not fit
    for splits in (("random",), (fitting, "random"), ("random", fitting)):
        with pytest.raises(UsageError) as found:
            requested_jobs(repository, asked(options={"inner_folds": 3}, splits=splits))
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
    given.clear()
    twice = [split("random"), split("random").model_copy(update={"dataset": "hdvd"}), split("random")]
    refuse_impossible_splits(layout, twice)
    assert [words[1] for words in given] == ["synthetic", "hdvd"], "each split of each dataset, once"
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
    assert Block(datasets=["synthetic"], splits=["first", text], seeds=[1]).splits == ["first", *texts]


def test_a_plan_is_named_as_a_person_types_it() -> None:
    assert plan_name("full", None) == "full" and plan_name("full", 3) == "full --published-seeds 3"
    assert plan_name("full", 0) == "full --published-seeds 0"
    for asked in (("full", None), ("full", 3), ("full", 0)):
        assert named_plan(plan_name(*asked)) == asked
    # a name that somebody else wrote
    assert named_plan("full --published-seeds x") == ("full", None)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Benchmarks whose suites lie here."""
    monkeypatch.setattr(benchmarks, "folder", lambda name: tmp_path / name)
    suite_names.cache_clear()
    for benchmark, name, dataset, includes, options in (
        ("repurposing", "both", "synthetic", ["more"], "{ inner_folds = 3 }"),
        ("ddi", "both", "synthetic_ddi", ["last"], "{}"),
        ("repurposing", "more", "hdvd", [], "{}"),
        ("ddi", "last", "twosides", [], "{}"),
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
    assert yield_names == ["both", "last", "more"]
    return tmp_path


def test_a_suite_is_of_all_benchmarks_in_their_order_with_what_it_includes(folders: Path) -> None:
    try:
        suite = load_suite("both")
        assert (suite.name, suite.summary) == ("both", "both of repurposing. both of ddi.")
        assert suite.includes == ["more", "last"]
        assert [(block.benchmark, block.datasets) for block in suite.blocks] == [
            ("repurposing", ["synthetic"]),
            ("repurposing", ["hdvd"]),
            ("ddi", ["synthetic_ddi"]),
            ("ddi", ["twosides"]),
        ]
        usual = complete_options("repurposing", {})
        assert [block.options for block in suite.blocks] == [
            {**usual, "inner_folds": 3},
            usual,
            *[complete_options("ddi", {})] * 2,
        ]
        assert suite.blocks[0].splits == [f"random:share=0.{one}" for one in ("1a", "1b", "2a", "2b")]
        with pytest.raises(UsageError) as found:
            load_suite("bot")
        assert found.value.what == "no suite is called 'bot'" and "did you mean 'both'?" in found.value.todo
        assert found.value.where == "suites/ of every benchmark"
        path = folders / "ddi" / "suites" / "both.toml"
        whole = path.read_text()
        path.write_text(whole.replace('name = "both"', 'name = "bath"'))
        with pytest.raises(ManifestError) as misnamed:
            load_suite("both")
        assert misnamed.value.what == "the name is 'bath', the file is 'both.toml'"
        assert misnamed.value.where == f"{path}: name"
        path.write_text(whole)
        path = folders / "repurposing" / "suites" / "both.toml"
        path.write_text(path.read_text().replace("inner_folds", "inner_fold"))
        with pytest.raises(UsageError) as found:
            load_suite("both")
        assert found.value.where == f"{path}: blocks.options.inner_fold"
    finally:
        suite_names.cache_clear()


def block_of(**changed: Any) -> Block:
    whole = {
        "benchmark": "repurposing",
        "datasets": ["synthetic"],
        "splits": ["random"],
        **({} if "published_seeds" in changed else {"seeds": [1]}),
        **changed,
    }
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


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"seeds": []}, "seeds: name some, or give published_seeds; without a seed nothing is asked"),
        ({"seeds": [], "published_seeds": 0}, "seeds: name some, or give published_seeds"),
        ({"search": {"reg": [0.1]}}, "draws: say how many combinations of `search` are drawn"),
        ({"datasets": []}, "datasets\n"),
        ({"splits": []}, "splits\n"),
        ({"variants": []}, "variants\n"),
    ],
)
def test_a_block_that_asks_for_nothing_is_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=re.escape(field)):
        block_of(**changed)


def test_a_suite_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks: write one, or include another suite"):
        Suite(name="made-up", summary="")
    assert Suite(name="made-up", summary="", includes=["smoke"]).blocks == []


def test_a_variant_that_no_method_of_a_block_has_is_a_slip(repository: Layout) -> None:
    cards = load_methods(repository, "repurposing")
    having = {card.name for card in cards if "corrected" in card.variants}
    assert having and len(having) < len(cards)
    jobs = made(repository, block_of(variants=["corrected"]))
    assert {job.method for job in jobs} == having, "what one method lacks is skipped"
    with pytest.raises(UsageError) as caught:
        made(repository, block_of(methods=["pmf"], variants=["published", "publishd"]))
    assert caught.value.what == "no variant is called 'publishd'" and "'published'" in caught.value.todo
    assert caught.value.where == "suites/ of repurposing"


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


def test_an_input_that_the_benchmark_does_not_have_is_refused_before_anything_runs(layout: Layout) -> None:
    card = load_method(layout, "pmf")
    misspelt = card.model_copy(update={"inputs": [*card.inputs, "drug_similarities"]})
    manifest = load_manifest(layout, "synthetic")
    with pytest.raises(UsageError) as caught:
        make_job(misspelt, manifest, parse_split("random", 1))
    assert caught.value.what == "no input is called 'drug_similarities'"
    assert caught.value.where == "methods/pmf/method.toml: inputs"
    assert "did you mean 'drug_similarity'?" in caught.value.todo
    # of another benchmark's method nothing is said: its cell tells that it does not belong here
    stranger = misspelt.model_copy(update={"benchmarks": ["ddi"]})
    assert make_job(stranger, manifest, parse_split("random", 1)).method == "pmf"
