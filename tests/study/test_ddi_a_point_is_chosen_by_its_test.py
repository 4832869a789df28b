"""Tuning chooses by validation alone; ensembles are means of probabilities, of runs on this machine alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.scoring import SCORING
from harness.benchmarks.ddi.splits.parts import PartSplit
from harness.benchmarks.ddi.study import tuning
from harness.benchmarks.ddi.study.ensemble import ENSEMBLE, ensembles, probabilities
from harness.benchmarks.ddi.study.tuning import Point, added, best, left_out, searched
from harness.benchmarks.order import PUBLISHED
from harness.compare import load_names
from harness.compare.names import Target
from harness.compare.runs import Obtained, Runs
from harness.data import load_dataset, load_manifest
from harness.methods.card import Variant, load_method, load_methods
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob, make_job
from harness.planning.plan import make_plan
from harness.planning.suites import Block, Suite, jobs_of, load_suite, suite_names
from harness.results.store import Store
from harness.splits import load_split
from harness.splits.spec import parse_split
from harness.study.specs import Spec
from tests.fabricate import _record

SUITE = "ddi-tuning"
OF_DDI = [name for name in suite_names() if name.startswith("ddi-")]


def test_the_best_point_is_the_first_of_the_best_validated() -> None:
    points = [
        Point({"hidden": 50}, {"S1": 0.4, "S2": 0.3}),
        Point({"hidden": 100}, {"S1": 0.6}),
        Point({"hidden": 200}, {"S1": 0.6, "S2": 0.2}),
        Point({"hidden": 300}, {}),
    ]
    assert best(points, "S1") is points[1] and best(points, "S2") is points[0]
    assert best(points[3:], "S1") is None and best([], "S1") is None


def test_every_method_tries_twenty_points_of_its_own_space(repository: Layout) -> None:
    suite = load_suite(SUITE)
    points: dict[tuple[str, str], list[str]] = {}
    for job in jobs_of(repository, suite):
        told = json.dumps(job.parameters, sort_keys=True)
        points.setdefault((job.method, job.split.text), []).append(told)
    for block in suite.blocks:
        known = {name for method in block.methods for name in searched(block, load_method(repository, method))}
        assert known == set(block.search), "a name that no method has is never searched"
        for method in block.methods:
            first, *others = [points[method, split] for split in block.splits]
            assert len(first) == len(set(first)) == 20 and all(one == first for one in others)
            for name in searched(block, load_method(repository, method)):
                tried = {json.loads(point)[name] for point in first}
                assert len(tried) > 1 and tried <= set(block.search[name])


def test_every_method_of_the_paper_is_searched(repository: Layout) -> None:
    named = [method for block in load_suite(SUITE).blocks for method in block.methods]
    assert sorted(named) == sorted(load_names(repository, "ddi").methods.values())


def test_a_batch_that_is_left_out_is_as_long_as_the_others(repository: Layout) -> None:
    batches = set()
    for job in jobs_of(repository, load_suite(SUITE)):
        usual = load_method(repository, job.method).variant(job.variant).parameters
        if batch := usual.get("evaluation_batch"):
            assert (
                batch == usual["batch_size"] and job.parameters["evaluation_batch"] == job.parameters["batch_size"]
            )
            batches.add(job.parameters["evaluation_batch"])
        else:
            assert job.parameters.get("evaluation_batch") == batch
    assert batches == {64, 128, 256}


def test_epochs_are_those_of_the_method(repository: Layout) -> None:
    for job in jobs_of(repository, load_suite(SUITE)):
        usual = load_method(repository, job.method).variant(job.variant).parameters
        assert job.parameters.get("epochs") == usual.get("epochs")


def test_what_is_not_searched_is_told(repository: Layout) -> None:
    told = {}
    for block in load_suite(SUITE).blocks:
        for method in block.methods:
            card = load_method(repository, method)
            space = searched(block, card)
            told[method] = (left_out(card, space), [name for name in space if added(card, name)])
            # what is left out can't be searched
            assert not set(told[method][0]) & set(card.variant("published").parameters)
            assert len(told[method][1]) == len(tuning._ADDED.get(method, ()))
    assert told == {
        "mlp": (["layers"], []),
        "mste": ([], []),
        "decagon": (["layers"], []),
        "ssi_ddi": (["dropout"], ["hidden"]),
        "mrcgnn": (["hidden"], ["dropout"]),
        "emergnn": (["dropout"], []),
        "sagan": (["dropout"], ["hidden"]),
        "tiger": ([], ["dropout", "width", "layers"]),
        "textddi": (["dropout"], []),
        "ddi_gpt": (["dropout"], []),
    }


def test_what_the_paper_searches_is_its_table_8(repository: Layout) -> None:
    """Of each method what is left out where nothing is searched, and what the published code has fixed."""
    general = ["learning_rate", "weight_decay", "dropout", "batch_size"]
    own = {
        "mlp": ["layers", "hidden"],
        "mste": ["dimension"],
        "decagon": ["layers", "hidden"],
        "ssi_ddi": ["hidden"],
        "mrcgnn": ["hidden"],
        "emergnn": ["layers", "width"],
        "sagan": ["hidden"],
        "tiger": ["layers", "width"],
        "textddi": [],
        "ddi_gpt": [],
    }
    fixed = {
        "ssi_ddi": {"hidden"},
        "mrcgnn": {"dropout"},
        "sagan": {"hidden"},
        "tiger": {"dropout", "layers", "width"},
    }
    for name, more in own.items():
        card = load_method(repository, name)
        assert left_out(card, []) == [*general, *more]
        assert left_out(card, ["hidden_s1", "dropout_s2", "layers", "odd"]) == [
            one for one in (*general, *more) if one not in ("hidden", "dropout", "layers")
        ]
        parameters = {*general, *(one for each in own.values() for one in each)}
        assert {one for one in parameters if added(card, one)} == fixed.get(name, set())


def test_table_8_reads_word_for_word(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settings of each method and split: what was searched, how much of it was run, and the best point."""
    card = load_method(layout, "ssi_ddi").model_copy(
        update={
            "title": "Made up",
            "variants": {
                "published": Variant(
                    summary="one", parameters={"hidden": 1, "rate_s1": 0.1, "rate_s2": 0.1, "dropout": 0.0}
                )
            },
        }
    )
    block = Block(
        benchmark="ddi",
        methods=["ssi_ddi", "mlp"],
        datasets=["synthetic_ddi"],
        splits=["random", "cluster"],
        seeds=[1],
        draws=3,
        search={"hidden": [1, 2, 3], "rate_s1": [0.1, 0.2], "rate_s2": [0.3, 0.4, 0.5, 0.6], "colour": [1, 2]},
    )
    reports = {
        1: {"validation": {"S1": 0.5, "S2": 0.125}},
        2: {"validation": {"S1": 0.75, "S2": 0.1}},
        3: {"validation": {"S2": 0.25}},
        4: {"validation": {"S1": 0.99}},
    }
    cells, keys, numbers = [], {}, {}
    for number, verdict in ((1, Verdict.OK), (2, Verdict.OK), (3, Verdict.OK), (4, Verdict.TIMEOUT)):
        parameters = {"hidden": number, "rate_s1": number / 10, "rate_s2": number / 100, "dropout": 0.0}
        job = job_of(layout, "ssi_ddi", 1).model_copy(update={"parameters": parameters})
        planned = PlannedJob(job=job, image_tree="", dataset_digest="", split_digest="")
        cells.append(Cell(job, planned, verdict))
        keys[number], numbers[planned.key] = planned.key, number
    checked: list[str] = []
    given: list[object] = []

    def made(*some: object) -> str:
        given.append(some)
        return "plan"

    monkeypatch.setattr(tuning, "load_suite", lambda name: Suite(name=name, summary="", blocks=[block]))
    monkeypatch.setattr(tuning, "jobs_of", lambda _, suite: [suite.name])
    monkeypatch.setattr(tuning, "make_plan", made)
    monkeypatch.setattr(tuning, "join", lambda plan, store: cells if plan == "plan" else [])
    monkeypatch.setattr(tuning, "load_method", lambda _, name: card)
    monkeypatch.setattr(Store, "record", lambda _, key: key)
    monkeypatch.setattr(Store, "check", lambda _, record: checked.append(record))
    monkeypatch.setattr(tuning, "read_json", lambda path: reports[numbers[path.parent.name]])
    spec = Spec(kind="table", number="8", title="Points", made="tuning", suite="some")
    sheet = tuning.tuning(layout, spec)
    assert given == [(layout, "some", ["some"])] and checked == [keys[1], keys[2], keys[3]]
    assert sheet.head == [
        "method",
        "split",
        "setting",
        "searched",
        "left out",
        "points run",
        "best validation",
        "best point",
    ]
    absent = "learning_rate, weight_decay, dropout, batch_size"
    first = ["Made up", "random", "S1", "hidden* (3), rate_s1 (2)", absent, "3 of 4"]
    second = ["Made up", "random", "S2", "hidden* (3), rate_s2 (4)", absent, "3 of 4"]
    assert sheet.rows[:2] == [
        [*first, "75.0", "hidden=2, rate_s1=0.2"],
        [*second, "25.0", "hidden=3, rate_s2=0.03"],
    ]
    assert [[*row[1:3], *row[5:]] for row in sheet.rows[2:]] == [
        [split, setting, "0 of 0", "-", "-"]
        for split in ("cluster", "random", "cluster")
        for setting in ("S1", "S2")
    ]
    own = [keys[1], keys[2], keys[3]]
    assert sheet.runs[:2] == [[(), (), (), (), (), (), own, ()]] * 2
    assert all(keys == [] for row in sheet.runs[2:] for keys in [row[6]])
    assert checked == own, "a report that was not checked was read"
    monkeypatch.setattr(tuning, "left_out", lambda *_: [])
    assert {row[4] for row in tuning.tuning(layout, spec).rows} == {"-"}, "nothing is left out"


def test_a_parameter_follows_only_what_it_is_equal_to(repository: Layout) -> None:
    block = Block(
        benchmark="ddi",
        methods=["mlp", "ssi_ddi"],
        datasets=["synthetic_ddi"],
        splits=["random"],
        seeds=[1],
        draws=2,
        search={"batch_size": [64, 256]},
        follow={
            "evaluation_batch": "batch_size",
            "patience": "batch_size",
            "hidden": "dropout",
            "unknown": "unseen",
        },
    )
    jobs = jobs_of(repository, Suite(name="made-up", summary="", blocks=[block]))
    tried = [(job.method, job.parameters["evaluation_batch"]) for job in jobs if "batch_size" in job.parameters]
    assert tried == [("mlp", 64), ("mlp", 256), ("ssi_ddi", 0), ("ssi_ddi", 0)]
    assert {job.parameters["patience"] for job in jobs if job.method == "mlp"} == {10}


def test_a_search_tries_the_same_points_everywhere(repository: Layout) -> None:
    given = {"benchmark": "ddi", "methods": ["mlp"], "splits": ["random"], "draws": 3}
    search = {"hidden": [50, 100, 200], "dropout": [0.0, 0.1], "dimension": [32]}
    block = Block(**given, datasets=["synthetic_ddi", "synthetic_ddi_multilabel"], seeds=[1, 2], search=search)
    points: dict[tuple[str, int], set[str]] = {}
    for job in jobs_of(repository, Suite(name="made-up", summary="", blocks=[block])):
        if job.method == "mlp":
            assert "dimension" not in job.parameters
            points.setdefault((job.dataset, job.split.seed), set()).add(json.dumps(job.parameters))
    assert len(points) == 4 and all(len(own) == 3 and own == points["synthetic_ddi", 1] for own in points.values())


def test_a_space_smaller_than_its_draws_is_tried_whole(repository: Layout) -> None:
    search = {"hidden": [50, 100]}
    block = Block(
        benchmark="ddi",
        methods=["mlp"],
        datasets=["synthetic_ddi"],
        splits=["random"],
        seeds=[1],
        draws=20,
        search=search,
    )
    jobs = jobs_of(repository, Suite(name="made-up", summary="", blocks=[block]))
    assert [job.parameters["hidden"] for job in jobs if job.method == "mlp"] == [50, 100]


def test_controls_are_run_once_beside_the_search(repository: Layout) -> None:
    counts = Counter((job.method, job.split.text) for job in jobs_of(repository, load_suite(SUITE)))
    controls = {card.name for card in load_methods(repository, "ddi") if card.control}
    assert controls and {count for (method, _), count in counts.items() if method in controls} == {1}


@pytest.mark.parametrize("name", OF_DDI)
def test_controls_stand_in_every_suite(repository: Layout, name: str) -> None:
    jobs = jobs_of(repository, load_suite(name))
    places = {(job.dataset, job.split.label) for job in jobs}
    for card in load_methods(repository, "ddi"):
        if card.control:
            assert {(job.dataset, job.split.label) for job in jobs if job.method == card.name} == places


def test_the_tables_suites_have_three_seeds_of_ten_methods(repository: Layout) -> None:
    names = load_names(repository, "ddi")
    for suite, dataset in (("ddi-drugbank", "drugbank"), ("ddi-twosides", "twosides")):
        cells = Counter(
            (job.method, job.split.text)
            for job in jobs_of(repository, load_suite(suite))
            if job.variant == "published" and job.method in names.methods.values()
        )
        assert {method for method, _ in cells} == set(names.methods.values())
        assert {split for _, split in cells} == set(names.splits.values()) and set(cells.values()) == {3}
        assert {job.dataset for job in jobs_of(repository, load_suite(suite))} == {dataset}


def job_of(layout: Layout, method: str, seed: int) -> Job:
    manifest = load_manifest(layout, "synthetic_ddi")
    return make_job(load_method(layout, method), manifest, parse_split("random", seed))


def test_a_report_without_validation_chooses_nothing(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = make_plan(layout, "one", [job_of(layout, "majority_type", 1)]).cells
    planned = cell.planned
    assert planned is not None
    run_like(layout, "majority_type", np.zeros((1, 1)))
    monkeypatch.setattr(tuning, "read_json", lambda _: {"validation": {"S1": 0.5, "S2": "high"}, "f1": 0.9})
    done = Cell(cell.job, planned, Verdict.OK)
    found = tuning._point(Store(layout.runs), done, {})
    assert found is not None and found.validation == {"S1": 0.5}
    assert tuning._point(Store(layout.runs), Cell(cell.job, planned, Verdict.TIMEOUT), {}) is None
    monkeypatch.setattr(tuning, "read_json", lambda _: None)
    found = tuning._point(Store(layout.runs), done, {})
    assert found is not None and not found.validation
    # a report that is not the one the run wrote chooses nothing either
    report = Store(layout.runs).path(planned.key) / "method.json"
    report.chmod(0o644)
    report.write_text(report.read_text().replace("0.5", "0.7"))
    with pytest.raises(CorruptData):
        tuning._point(Store(layout.runs), done, {})


METHODS = {"One": "majority_type", "Other": "drug_frequency"}
PLACE = Target(ENSEMBLE, "synthetic_ddi", "random")


def run_like(layout: Layout, method: str, answer: np.ndarray) -> tuple[Target, Obtained]:
    """A stored run with these predictions, as the book has it."""
    (cell,) = make_plan(layout, "one", [job_of(layout, method, 1)]).cells
    assert cell.planned is not None
    work = layout.local / "made-up" / method
    work.mkdir(parents=True)
    np.save(work / "predictions.npy", answer.astype("<f4"))
    (work / "method.json").write_text(json.dumps({"protocol": 1, "seconds": {"fit": [0.5], "predict": [0.1]}}))
    for name in ("job.json", "log.txt"):
        (work / name).write_text("{}\n")
    files = {path.name: path for path in work.iterdir()}
    Store(layout.runs).put(_record(layout, cell.planned, Verdict.OK, "ok", PUBLISHED), files)
    return Target(method, "synthetic_ddi", "random"), Obtained(cell.planned.key, Verdict.OK, "", {}, {})


def test_an_ensemble_is_scored_as_the_mean_of_probabilities(layout: Layout) -> None:
    dataset = load_dataset(layout, "synthetic_ddi", DdiDataset)
    split = cast(PartSplit, load_split(layout, "synthetic_ddi", parse_split("random", 1)))
    asked = SCORING.question(dataset, split, {})
    draw = np.random.default_rng(1)
    logits = draw.normal(size=(asked.pairs, asked.types)) * 9
    shares = draw.dirichlet(np.ones(asked.types), size=asked.pairs)
    runs: Runs = {}
    for method, answer in (("majority_type", logits), ("drug_frequency", shares)):
        target, run = run_like(layout, method, answer)
        runs[target] = {1: run}
    found = ensembles(layout, runs, METHODS)
    assert set(found) == {PLACE} and set(found[PLACE]) == {1} and found[PLACE][1].reason == "One, Other"
    soft = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected, _ = SCORING.score(dataset, split, ((soft + shares) / 2).astype("f4"), {})
    metrics = found[PLACE][1].metrics
    assert metrics is not None and {name: metrics[name] for name in expected} == expected
    assert "S1 accuracy of type/as-published 0" in metrics
    # under a key of the rule and of what the answers are: `ensemble` of another rule is another one
    evidence = {
        f"{key}/predictions.npy": Store(layout.runs).record(key).files["predictions.npy"].sha256
        for key in sorted(run.key for seeds in runs.values() for run in seeds.values())
    }
    rule = "mean of probabilities; a softmax where rows are none"
    assert found[PLACE][1].key == digest_of({"rule": rule, "evidence": evidence})
    # kept, and found again without data or predictions
    again = ensembles(Layout(layout.root, layout.cache / "nowhere", layout.local), runs, METHODS)
    assert again == found


def test_an_ensemble_of_one_is_none(layout: Layout) -> None:
    target, run = run_like(layout, "majority_type", np.zeros((3, 3)))
    other = Target("drug_frequency", "synthetic_ddi", "random")
    failed = Obtained("a" * 64, Verdict.ERROR, "", None, {})
    for second in ({}, {2: run}, {1: failed}):
        assert not ensembles(layout, {target: {1: run}, other: second}, METHODS)


def test_the_ensembles_of_all_seeds_have_the_same_members(layout: Layout) -> None:
    first, run = run_like(layout, "majority_type", np.zeros((3, 3)))
    second, third = (Target(name, "synthetic_ddi", "random") for name in ("drug_frequency", "mlp"))
    methods = {**METHODS, "Third": "mlp"}
    runs: Runs = {first: {1: run, 2: run}, second: {1: run, 2: run}, third: {2: run, 3: run}}
    (made,) = ensembles(layout, runs, methods).values()
    assert {seed: one.reason for seed, one in made.items()} == {1: "One, Other", 2: "One, Other"}
    runs[third] |= {1: run}
    (made,) = ensembles(layout, runs, methods).values()
    assert {seed: one.reason for seed, one in made.items()} == {1: "One, Other, Third", 2: "One, Other, Third"}
    # every seed has two of them, but none, or only one, has all the seeds
    for seeds in (((1, 2), (2, 3), (1, 3)), ((1, 2), (1,), (2,))):
        runs = {target: dict.fromkeys(own, run) for target, own in zip((first, second, third), seeds, strict=True)}
        assert not ensembles(layout, runs, methods)


def test_an_ensemble_that_can_not_be_made_is_told(layout: Layout) -> None:
    target, run = run_like(layout, "majority_type", np.zeros((3, 3)))
    other = Target("drug_frequency", "synthetic_ddi", "random")
    committed = Obtained("a" * 64, Verdict.OK, "", {}, {}, reference=True)
    (made,) = ensembles(layout, {target: {1: run}, other: {1: committed}}, METHODS)[PLACE].values()
    assert made.metrics is None and made.reason == "One, Other"
    told = "the predictions of 1 of 2 members are not on this machine (Other); `harness run` makes them"
    assert made.unscored == told
    (made,) = ensembles(layout, {one: {1: committed} for one in (target, other)}, METHODS)[PLACE].values()
    told = "the predictions of 2 of 2 members are not on this machine (One, Other); `harness run` makes them"
    assert made.unscored == told
    # predictions of another shape, as of another split
    other, second = run_like(layout, "drug_frequency", np.zeros((3, 3)))
    (made,) = ensembles(layout, {target: {1: run}, other: {1: second}}, METHODS)[PLACE].values()
    assert made.metrics is None and "not what the protocol asks for" in made.unscored


def test_an_ensemble_finds_its_data_in_a_mirror(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[Path]] = []

    def away(*_: object, mirrors: Sequence[Path]) -> None:
        asked.append([*mirrors])
        raise MissingData("the data are not here", where="anywhere", todo="bring them")

    runs: Runs = {}
    for method in METHODS.values():
        target, run = run_like(layout, method, np.zeros((3, 3)))
        runs[target] = {1: run}
    monkeypatch.setattr("harness.results.truth.load_dataset", away)
    (made,) = ensembles(layout, runs, METHODS, [layout.local])[PLACE].values()
    assert asked == [[layout.local]] and made.unscored == "the data are not here (anywhere); bring them"


def test_probabilities_are_made_of_logits_alone() -> None:
    shares = np.array([[0.25, 0.75]], dtype="f4")
    assert probabilities(shares, multilabel=False).tolist() == [[0.25, 0.75]]
    assert probabilities(np.array([[0.9, 0.9]], dtype="f4"), multilabel=True)[0] == pytest.approx([0.9, 0.9])
    assert probabilities(np.array([[0.9, 0.9]], dtype="f4"), multilabel=False).tolist() == [[0.5, 0.5]]
    assert probabilities(np.array([[1e4, 0.0]], dtype="f4"), multilabel=False).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("first", [[2.0, -1.0], [2.0, 1.0]])
def test_logits_that_happen_to_add_up_to_one_are_logits(first: list[float]) -> None:
    logits = np.array([first, [0.25, 0.75]], dtype=np.float32)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert probabilities(logits, multilabel=False) == pytest.approx(expected)


def test_no_pairs_asked_have_no_probabilities() -> None:
    assert probabilities(np.zeros((0, 2), dtype="f4"), multilabel=False).shape == (0, 2)
