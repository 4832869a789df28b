"""Claims are held against present runs of our own code, as its card says, on the CPU; one departure is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import benchmarks, compare
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import compare_claims, load_names
from harness.compare.claims import STATISTICS
from harness.compare.names import PublishedNames, Target, target_of
from harness.compare.runs import Obtained, is_like, obtain, of_tasks
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Plan, make_plan
from harness.results.reference import ReferenceResult, load_reference, save_reference
from harness.results.scoring import Scores, read_scores, score_run, scores_path
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.audit.forging import forge_plan
from tests.fabricate import SEEDS, job_of, plan_of, planned_of, put_run

PLACE = Target("als_wr", "synthetic", "random")


def names_of(layout: Layout, **changed: Any) -> PublishedNames:
    return load_names(layout, "repurposing").model_copy(update={"beside": ["corrected"], **changed})


def obtained(layout: Layout, **changed: Any) -> dict[str, dict[int, Obtained]]:
    """The runs of als_wr by variant and seed."""
    found = obtain(layout, Store(layout.runs), names_of(layout, **changed))
    return {variant: runs.get(PLACE, {}) for variant, runs in found.items()}


DEPARTURES: dict[str, Callable[[Job], dict[str, Any]]] = {
    "tuned": lambda job: {"parameters": {**job.parameters, "alpha": 1.0}},
    "fewer inner models": lambda job: {"options": {"inner_folds": 3}},
    "a person's own checkout": lambda job: {"upstream": "a" * 64},
    "a GPU": lambda job: {"accelerator": "cuda"},
    "nobody's truth": lambda job: {
        "split": job.split.model_copy(update={"strategy": benchmarks.get("repurposing").scoring.predicting})
    },
    "no variant of the card": lambda job: {"variant": "of_old"},
    "another benchmark": lambda job: {"benchmark": "ddi"},
}


@pytest.mark.parametrize("departure", DEPARTURES)
def test_a_run_of_another_kind_is_held_against_no_claim(evidence: Layout, made_up: Plan, departure: str) -> None:
    assert sorted(obtained(evidence)["published"]) == sorted(SEEDS)
    job = planned_of(made_up.cells[2]).job
    forge_plan(evidence, made_up, 2, job=job.model_copy(update=DEPARTURES[departure](job)))
    found = obtain(evidence, Store(evidence.runs), names_of(evidence))
    assert list(found["published"][PLACE]) == [SEEDS[1]]
    assert not any(target.method == "als_wr" for target in found["corrected"])
    assert {target for target in found["published"] if target.method == "als_wr"} == {PLACE}


def test_what_was_asked_without_a_truth_is_neither_scored_nor_shown(evidence: Layout) -> None:
    """A prediction of today is whole, of the card's own parameters and of the claims' options."""
    benchmark = benchmarks.get("repurposing")
    options, asking = dict(benchmark.options_to_predict), SplitSpec(strategy=benchmark.scoring.predicting, seed=0)
    job = job_of(evidence, "als_wr", SEEDS[0]).model_copy(update={"split": asking, "options": options})
    planned = planned_of(make_plan(evidence, "one", [job]).cells[0])
    put_run(evidence, planned, score=False)
    found = obtain(evidence, Store(evidence.runs), names_of(evidence, options=options))
    assert not any(found.values()) and not scores_path(evidence, planned.key).exists()


@pytest.mark.parametrize("field", ["image_tree", "dataset_digest", "split_digest", "weights_digest"])
def test_a_run_that_rests_on_something_else_is_held_against_no_claim(
    evidence: Layout, made_up: Plan, field: str
) -> None:
    forge_plan(evidence, made_up, 2, **{field: "0" * 64})
    assert list(obtained(evidence)["published"]) == [SEEDS[1]]


def test_a_run_under_a_key_of_old_is_held_against_no_claim(evidence: Layout, made_up: Plan) -> None:
    """Keys tell how inputs were prepared: the record is whole, and another version of the harness wrote it."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[2])
    record, key = store.record(planned.key), "e" * 64
    store.path(key).parent.mkdir(parents=True, exist_ok=True)
    store.path(planned.key).rename(store.path(key))
    store.amend(record.model_copy(update={"key": key}))
    assert store.standing(key).verdict is Verdict.OK
    assert list(obtained(evidence)["published"]) == [SEEDS[1]]


def test_variants_are_told_apart(evidence: Layout) -> None:
    (cell,) = make_plan(evidence, "one", [job_of(evidence, "als_wr", SEEDS[0], variant="corrected")]).cells
    key = put_run(evidence, planned_of(cell)).key
    found = obtained(evidence)
    assert [one.key for one in found["corrected"].values()] == [key]
    assert key not in {one.key for one in found["published"].values()}
    assert obtained(evidence, beside=[]).keys() == {"published"}


def test_a_published_name_may_be_that_of_another_variant(evidence: Layout) -> None:
    (cell,) = make_plan(evidence, "one", [job_of(evidence, "als_wr", SEEDS[0], variant="corrected")]).cells
    key, named = put_run(evidence, planned_of(cell)).key, replace(PLACE, variant="corrected")
    names = names_of(evidence, beside=[], methods={"ALSWR": "als_wr", "ALSWR, repaired": "als_wr/corrected"})
    runs = obtain(evidence, Store(evidence.runs), names)["published"]
    assert [one.key for one in runs[named].values()] == [key]
    assert key not in {one.key for one in runs[PLACE].values()} and sorted(runs[PLACE]) == sorted(SEEDS)
    assert target_of(names, "ALSWR, repaired", "Synthetic", "random").row == "als_wr/corrected"
    assert target_of(names, "ALSWR", "Synthetic", "random").row == "als_wr"
    # another method of that variant has no such name
    other = names_of(evidence, beside=[], methods={"ALSWR": "als_wr", "PMF, repaired": "pmf/corrected"})
    assert named not in obtain(evidence, Store(evidence.runs), other)["published"]


def test_a_method_of_our_own_stands_beside(evidence: Layout) -> None:
    names = names_of(evidence, methods={}, own_methods=["als_wr"])
    assert PLACE in obtain(evidence, Store(evidence.runs), names)["published"]
    assert PLACE not in obtain(evidence, Store(evidence.runs), names_of(evidence, methods={}))["published"]


def test_a_control_stands_beside_and_a_method_nobody_published_does_not(evidence: Layout) -> None:
    names = names_of(evidence)
    found = obtain(evidence, Store(evidence.runs), names)["published"]
    assert {target.method for target in found} == {"constant", "als_wr"}
    without = {published: ours for published, ours in names.methods.items() if ours != "als_wr"}
    found = obtain(evidence, Store(evidence.runs), names_of(evidence, methods=without))["published"]
    assert {target.method for target in found} == {"constant"}


def test_a_run_tells_its_scores_and_what_it_used(evidence: Layout, made_up: Plan) -> None:
    runs, key = obtained(evidence)["published"], planned_of(made_up.cells[2]).key
    ok, failed = (runs[seed] for seed in SEEDS)
    assert (ok.key, ok.verdict, ok.reference, ok.unscored) == (key, Verdict.OK, False, "")
    assert ok.metrics is not None and ok.metrics["AUC/as-published"] is not None
    assert (ok.cpu_s, ok.memory) == (1.25, 52_428_800)
    assert (failed.verdict, failed.metrics) == (Verdict.ERROR, None)
    assert failed.reason == "exit code 3: no such matrix"
    # scores that are not kept are made
    scores_path(evidence, key).unlink()
    assert obtained(evidence)["published"][SEEDS[0]] == ok


def test_a_run_is_scored_with_data_of_mirrors(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scores_path(evidence, planned_of(made_up.cells[2]).key).unlink()
    asked = []

    def noticed(layout: Layout, store: Store, planned: PlannedJob, mirrors: object) -> Scores:
        asked.append(mirrors)
        return score_run(layout, store, planned)

    monkeypatch.setattr("harness.compare.runs.score_run", noticed)
    obtain(evidence, Store(evidence.runs), names_of(evidence), [tmp_path])
    assert asked == [[tmp_path]]


def test_values_of_a_series_are_held_against_claims_each_by_its_place(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one per type of interaction; of runs of this machine, and of committed ones."""
    store, fresh = Store(evidence.runs), vars(ReferenceResult)["fresh_scores"].fget
    save_reference(evidence, store)

    def with_series(scores: Scores | None) -> Scores | None:
        return scores and replace(scores, series={"accuracy of type": [0.25, None]})

    monkeypatch.setattr("harness.compare.runs.read_scores", lambda *given: with_series(read_scores(*given)))
    monkeypatch.setattr(ReferenceResult, "fresh_scores", property(lambda self: with_series(fresh(self))))
    for is_committed in (False, True):
        one = obtained(evidence)["published"][SEEDS[0]]
        assert one.reference is is_committed and one.metrics is not None
        assert one.metrics["AUC/as-published"] is not None
        assert (one.metrics["accuracy of type 0"], one.metrics["accuracy of type 1"]) == (0.25, None)
        store.remove(planned_of(made_up.cells[2]).key)


def test_a_run_that_can_not_be_scored_says_why(evidence: Layout, made_up: Plan) -> None:
    key = planned_of(made_up.cells[2]).key
    scores_path(evidence, key).unlink()
    path = Store(evidence.runs).path(key) / "validation.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    one = obtained(evidence)["published"][SEEDS[0]]
    assert one.metrics is None and one.verdict is Verdict.OK
    assert "differs from its record" in one.unscored and str(path) in one.unscored


def test_records_that_were_just_read_are_not_read_again(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(evidence.runs)
    read = {key: store.standing(key).content for key in store.finished()}
    expected = obtain(evidence, store, names_of(evidence))
    monkeypatch.setattr(Store, "standing", lambda *_: pytest.fail("a record was read again"))
    assert obtain(evidence, store, names_of(evidence), (), read) == expected


def test_reference_results_stand_in_where_nothing_was_run(evidence: Layout, made_up: Plan) -> None:
    store, planned = Store(evidence.runs), planned_of(made_up.cells[2])
    here = obtained(evidence)["published"]
    save_reference(evidence, store)
    store.remove(planned.key)
    found = obtained(evidence)["published"]
    assert found[SEEDS[0]].reference and not found[SEEDS[1]].reference
    assert (found[SEEDS[0]].metrics, found[SEEDS[0]].cpu_s) == (here[SEEDS[0]].metrics, 1.25)
    store.remove(planned_of(made_up.cells[3]).key)
    failed = obtained(evidence)["published"][SEEDS[1]]
    assert (failed.reference, failed.verdict, failed.metrics) == (True, Verdict.ERROR, None)
    assert failed.reason == here[SEEDS[1]].reason


@pytest.mark.parametrize(
    ("split", "pattern", "is_one"),
    [
        ("random", "random", True),
        ("scaffold", "random", False),
        ("cluster:gamma=0.6", "cluster:gamma=*", True),
        ("cluster:gamma=0.6", "cluster:gamma=0.7", False),
        ("cluster:gamma=0.6", "lohi:gamma=*", False),
        ("cluster", "cluster:gamma=*", False),
        ("cluster:gamma=0.6,test_share=0.2", "cluster:gamma=*", False),
        ("cluster:gamma=0.6,test_share=0.2", "cluster:test_share=0.?,gamma=*", True),
        # no word of a dataset is another one in capitals
        ("drug_classes:group=ATC", "drug_classes:group=atc", False),
        ("drug_classes:group=ATC", "drug_classes:group=A*", True),
    ],
)
def test_a_pattern_is_of_a_strategy_and_all_its_parameters(split: str, pattern: str, is_one: bool) -> None:
    assert is_like(split, pattern) is is_one


@pytest.mark.parametrize("is_committed", [False, True])
def test_what_is_about_one_method_reads_no_run_of_another(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    store = Store(evidence.runs)
    if is_committed:
        save_reference(evidence, store)
        for cell in made_up.cells:
            store.remove(planned_of(cell).key)
    whole = {one.claim: one for one in compare_claims(evidence, store, "repurposing").comparisons}
    read = list[str]()
    has = compare.runs._Current.has

    def noted(self: Any, planned: PlannedJob) -> bool:
        read.append(planned.job.method)
        return has(self, planned)

    monkeypatch.setattr(compare.runs._Current, "has", noted)
    if is_committed:
        (other,) = evidence.reference.glob("*/constant/*.jsonl.gz")
        kept, _ = other.read_bytes(), other.write_bytes(b"nobody reads this")
    about: dict[str, Any] = {"methods": ["als_wr"], "datasets": ["synthetic"]}
    own = compare_claims(evidence, store, "repurposing", **about, seeds=SEEDS).comparisons
    assert {*read} == {"als_wr"} and any(one.keys for one in own)
    assert all(one == whole[one.claim] for one in own)
    if is_committed:
        other.write_bytes(kept)
    # beside a mean stand the controls that are as near
    read.clear()
    means = compare_claims(evidence, store, "repurposing", **about).comparisons
    assert {*read} == {"als_wr", "constant"} and len(means) > len(own)
    assert all(one == whole[one.claim] for one in means)
    # what is about several methods reads the runs of all
    read.clear()
    statistic = next(claim for claim in whole if claim.statistic in STATISTICS)
    some = compare_claims(evidence, store, "repurposing", methods=[statistic.method]).comparisons
    assert {*read} == {"als_wr", "constant"} and all(one == whole[one.claim] for one in some)


def test_reference_results_of_other_metrics_are_not_scored(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_reference(evidence, Store(evidence.runs))
    Store(evidence.runs).remove(planned_of(made_up.cells[2]).key)
    assert len(load_reference(evidence)) == 4
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    one = obtained(evidence)["published"][SEEDS[0]]
    assert one.metrics is None and "scored by other metrics" in one.unscored and one.reference


def test_reference_results_of_changed_code_are_held_against_no_claim(evidence: Layout) -> None:
    save_reference(evidence, Store(evidence.runs))
    for cell in plan_of(evidence).cells:
        Store(evidence.runs).remove(planned_of(cell).key)
    assert sorted(obtained(evidence)["published"]) == sorted(SEEDS)
    main_file = evidence.methods / "als_wr" / "main.py"
    main_file.write_text(main_file.read_text() + "\nchanged = 1\n")
    assert obtained(evidence)["published"] == {}


def test_a_pattern_of_splits_stands_for_all_runs_of_its_tasks(repository: Layout) -> None:
    """Folds are tasks of one claim; a split with another value, or with other parameters, is not among them."""
    splits = {"random:fold=0,space=TT": [1, 2], "random:fold=1,space=TA": [1], "random:fold=0,space=CC": [1]}
    splits |= {"random:fold=0": [1], "weakly_correlated:fold=0,space=TT": [1]}
    splits |= {"random:fold=0,rest=1,space=TT": [1], "random:fold=0,space=CT": [1]}
    # a store gives runs in the order of their keys, which is any order of splits and seeds
    runs = {
        Target("als_wr", "synthetic", split): {
            seed: Obtained(f"{split} {seed}", Verdict.OK, "", None, {}) for seed in reversed(seeds)
        }
        for split, seeds in reversed(splits.items())
    }
    pattern = "random:fold=*,space=T*"
    tasks = of_tasks(runs, names_of(repository, splits={"all": pattern, "none": "random:fold=*,rest=*"}))
    assert tasks.keys() == {Target("als_wr", "synthetic", pattern)}
    assert [run.key for run in tasks[Target("als_wr", "synthetic", pattern)].values()] == [
        "random:fold=0,space=TT 1",
        "random:fold=0,space=TT 2",
        "random:fold=1,space=TA 1",
    ]
    # each knows its task and seed, so that seeds of one task stand for no other task
    assert [run.task for run in tasks[Target("als_wr", "synthetic", pattern)].values()] == [
        ("random:fold=0,space=TT", 1),
        ("random:fold=0,space=TT", 2),
        ("random:fold=1,space=TA", 1),
    ]
    inner = of_tasks(runs, names_of(repository, splits={"middle": "random:fold=*,space=*T*"}))
    assert [len(own) for own in inner.values()] == [4]
    ends = of_tasks(runs, names_of(repository, splits={"end": "random:fold=*,space=*A"}))
    assert [[run.key for run in own.values()] for own in ends.values()] == [["random:fold=1,space=TA 1"]]
