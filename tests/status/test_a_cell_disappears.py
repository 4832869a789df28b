"""Every planned cell is in every rendering with exactly one verdict, and the sums hold."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from harness import api, benchmarks
from harness.base.files import write_atomic, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.data import load_manifest, manifest_names
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.plan import Plan, make_plan
from harness.planning.suites import jobs_of, load_suite
from harness.results.publications import published_datasets
from harness.results.reference import load_reference, save_reference
from harness.results.scoring import scores_path
from harness.results.store import Store, join
from harness.splits.spec import SplitSpec
from harness.status import Table, build_table, to_json, to_markdown, to_text
from harness.status.table import key_metrics, known_sets, metric_sets, row_name, summarise
from tests.audit.forging import forge_record
from tests.evidence import go_to
from tests.fabricate import drug_cell, plan_of, planned_of, put_run, table_of


def stored_plan(layout: Layout) -> Plan:
    return api.plan(suite="stored", repository=api.Repository(layout))


def test_the_sum_of_the_verdicts_is_the_plan(evidence: Layout, made_up: Plan) -> None:
    table = table_of(evidence, made_up)
    assert table.planned == len(made_up.cells) == 6
    assert table.counts == {Verdict.OK: 3, Verdict.ERROR: 1, Verdict.PENDING: 2}
    assert not table.is_good
    text = to_text(table)
    assert "made-up: 6 cells planned = 3 ok + 1 error + 2 pending" in text
    for verdict in (Verdict.OK, Verdict.ERROR, Verdict.PENDING):
        assert verdict.meaning in text


def test_every_rendering_names_every_cell(evidence: Layout, made_up: Plan) -> None:
    table = table_of(evidence, made_up)
    keys = {planned_of(cell).key for cell in made_up.cells}
    assert {cell["key"] for cell in to_json(table)["cells"]} == keys
    for text in (to_text(table, cells=True), to_markdown(table, cells=True)):
        assert all(key[:12] in text for key in keys)
    planned = sum(group["planned"] for group in to_json(table)["groups"])
    assert planned == 6
    json.dumps(to_json(table), allow_nan=False)


def test_plain_text_fits_80_columns(evidence: Layout, made_up: Plan) -> None:
    for cells in (False, True):
        lines = to_text(table_of(evidence, made_up), cells=cells).splitlines()
        assert max(map(len, lines)) <= 80


def test_means_say_over_how_many_seeds_and_controls_are_marked(evidence: Layout, made_up: Plan) -> None:
    table = table_of(evidence, made_up)
    groups = {group.method: group for group in table.groups}
    assert [group.method for group in table.groups][-1] == "constant", "controls come last"
    metric = "NS-AUC/as-published"
    both, one, none = (groups[name].summary(metric) for name in ("constant", "als_wr", "lrssl"))
    assert both is not None and both.n == 2 and both.sd is not None
    assert one is not None and one.n == 1 and one.sd is None
    assert none is None
    assert "constant [control]" in to_text(table)
    assert "constant *(control)*" in to_markdown(table)
    assert groups["als_wr"].verdict_text == "ok 1/2, error 1"


S1, S2 = "S1 F1/as-published", "S2 F1/as-published"


def test_numbers_of_different_items_say_so() -> None:
    notes = {"S1 items/as-published": "128 of 208 are in whole batches of 128", S2: "no item is scored"}
    notes["S1 items/as-defined"] = "of another kind"
    cells = (drug_cell("mlp", {S1: 0.426, S2: None}, notes), drug_cell("sagan", {S1: 0.5, S2: 0.25}, {}))
    table = Table("drugs", 2, cells, 0)
    for text in (to_text(table), to_markdown(table)):
        assert "0.4260 (1) [1]" in text and "- [2]" in text and "0.2500 (1)" in text
        assert "[1] S1 items: 128 of 208 are in whole batches of 128\n" in text
        assert "[2] S2 F1: no item is scored\n" in text
        assert "of another kind" not in text


def test_the_harder_setting_stands_in_every_table() -> None:
    scores: dict[str, float | None] = {S1: 0.5, S2: 0.25, "S1 ROC-AUC/as-published": None}
    row = "a_method/of_a_long_name (with=parameters)"
    cells = tuple(drug_cell("sagan", scores, {}, seed=seed, row=row) for seed in (1, 2, 3))
    text = to_text(Table("drugs", 3, cells, 0))
    assert "S1 F1 (n)" in text and "S2 F1 (n)" in text and "0.2500 ± 0.0000 (3)" in text
    assert "ROC-AUC" not in text and max(map(len, text.splitlines())) <= 80
    assert "0.5000 ± 0.0000 (3)<br>0.2500 ± 0.0000 (3)" in to_markdown(Table("drugs", 3, cells, 0))


def test_reasons_are_told(evidence: Layout, made_up: Plan) -> None:
    for text in (to_text(table_of(evidence, made_up)), to_markdown(table_of(evidence, made_up))):
        assert "exit code 3: no such matrix" in text


def test_a_truncated_record_is_infrastructure_not_ok(evidence: Layout, made_up: Plan) -> None:
    path = Store(evidence.runs).path(planned_of(made_up.cells[0]).key) / "record.json"
    path.write_bytes(path.read_bytes()[:-40])
    table = table_of(evidence, made_up)
    assert table.counts == {Verdict.OK: 2, Verdict.ERROR: 1, Verdict.PENDING: 2, Verdict.INFRASTRUCTURE: 1}
    assert table.cells[0].metrics == {}
    assert "evidence is damaged" in to_text(table)


@pytest.mark.parametrize("field", ["verdict", "reason", "files", "key"])
def test_a_forged_record_without_its_fields_is_infrastructure(evidence: Layout, made_up: Plan, field: str) -> None:
    forge_record(evidence, made_up, lambda record: record.pop(field))
    table = table_of(evidence, made_up)
    assert table.counts[Verdict.INFRASTRUCTURE] == 1 and len(table.cells) == 6


def test_stale_scores_are_not_shown(evidence: Layout, made_up: Plan) -> None:
    key = planned_of(made_up.cells[0]).key
    path = scores_path(evidence, key)
    write_json(path, {**json.loads(path.read_text()), "scorer": "0" * 64})
    table = table_of(evidence, made_up)
    assert not table.cells[0].scored and table.cells[1].scored
    assert "1 cell ok without fresh scores: run `harness score`." in to_text(table)


def test_runs_of_other_plans_are_counted(evidence: Layout, made_up: Plan) -> None:
    smaller = plan_of(evidence, methods=("constant",))
    table = table_of(evidence, smaller)
    assert table.others == 2
    assert "2 stored runs belong to no cell of this plan" in " ".join(to_text(table).split())
    assert table_of(evidence, made_up).others == 0


def test_a_run_of_a_changed_method_is_pending_again(evidence: Layout) -> None:
    main_file = evidence.methods / "constant" / "main.py"
    main_file.write_text(main_file.read_text() + "\nchanged = 1\n")
    table = table_of(evidence, plan_of(evidence))
    assert table.counts[Verdict.PENDING] == 4
    assert table.others == 2


def test_a_selection_says_that_it_is_one(evidence: Layout, made_up: Plan) -> None:
    table = table_of(evidence, made_up).select(methods=["als_wr"], verdicts=[Verdict.OK])
    assert len(table.cells) == 1 and table.planned == 6 and table.is_good
    assert "1 of 6 cells planned in view = 1 ok" in to_text(table)


def test_what_was_ever_run_can_be_asked_for(evidence: Layout) -> None:
    plan = stored_plan(evidence)
    assert len(plan.cells) == 4


def test_other_parameters_are_another_row(evidence: Layout, made_up: Plan) -> None:
    cell = made_up.cells[0]
    job = Job(**{**cell.job.model_dump(), "parameters": {"score": 2.0}})
    table = table_of(evidence, make_plan(evidence, "two", [cell.job, job]))
    assert [group.row for group in table.groups] == ["constant", "constant (score=2.0)"]


def test_the_exit_code_tells_whether_all_is_well(
    evidence: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    go_to(evidence, monkeypatch)
    with pytest.raises(SystemExit) as good:
        main(["status", "--suite", "stored", "--verdict", "ok"])
    assert good.value.code == 0
    with pytest.raises(SystemExit) as bad:
        main(["status", "--suite", "stored", "--json"])
    assert bad.value.code == 1
    told = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert told["verdicts"] == {"ok": 3, "error": 1}
    with pytest.raises(SystemExit):
        main(["status", "--suite", "stored", "--write", str(tmp_path / "status.md")])
    assert (tmp_path / "status.md").read_text().startswith("# Status of `stored`")


def test_a_stored_run_of_a_split_that_is_no_more_does_not_hide_the_others(evidence: Layout) -> None:
    store = Store(evidence.runs)
    before = stored_plan(evidence)
    key = next(store.finished())
    record = store.record(key)
    split = record.planned.job.split.model_copy(update={"strategy": "of_old"})
    planned = record.planned.model_copy(update={"job": record.planned.job.model_copy(update={"split": split})})
    store.amend(record.model_copy(update={"planned": planned}))
    table = table_of(evidence, stored_plan(evidence))
    assert (table.planned, table.others) == (len(before.cells) - 1, 1)


def test_scores_that_a_run_had_before_it_turned_out_bad_are_not_shown(evidence: Layout, made_up: Plan) -> None:
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    assert next(one for one in table_of(evidence, made_up).cells if one.key == planned.key).scored
    store.amend(store.record(planned.key).model_copy(update={"verdict": Verdict.UNSTABLE, "reason": "twice"}))
    (cell,) = (one for one in table_of(evidence, made_up).cells if one.key == planned.key)
    assert (cell.cell.verdict, cell.scored, cell.metrics) == (Verdict.UNSTABLE, False, {})


def test_an_empty_store_is_a_table_of_pending_cells(evidence: Layout, made_up: Plan) -> None:
    shutil.rmtree(evidence.runs)
    table = table_of(evidence, made_up)
    assert table.counts == {Verdict.PENDING: 6}
    to_text(table), to_markdown(table), to_json(table)


@pytest.mark.parametrize("verdict", [one for one in Verdict if one.is_final and one is not Verdict.OK])
def test_every_failure_is_a_verdict_with_its_reason(evidence: Layout, verdict: Verdict) -> None:
    plan = plan_of(evidence, methods=("lrssl",))
    put_run(evidence, planned_of(plan.cells[0]), verdict=verdict, reason="for a | reason\nof two lines")
    table = table_of(evidence, plan)
    assert table.counts[verdict] == 1
    assert "for a | reason of two lines" in to_text(table)
    assert r"for a \| reason of two lines" in to_markdown(table)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_summaries_agree_with_their_definition(values: list[float]) -> None:
    import statistics

    summary = summarise(values)
    assert summary is not None and summary.n == len(values)
    assert summary.mean == pytest.approx(statistics.fmean(values))
    if len(values) > 1:
        assert summary.sd == pytest.approx(statistics.stdev(values), abs=1e-12)
    # the same numbers in another order have the same mean, to the last digit
    assert summarise(sorted(values)) == summarise(sorted(values, reverse=True))


def test_the_mean_of_equal_values_is_that_value() -> None:
    summary = summarise([0.1] * 10)
    assert summary is not None and (summary.mean, summary.sd) == (0.1, 0.0)


def referred(layout: Layout, plan: Plan) -> Layout:
    """The runs are committed as reference results, and nothing was run here."""
    store = Store(layout.runs)
    save_reference(layout, store)
    for cell in plan.cells[:4]:
        store.remove(planned_of(cell).key)
    return layout


def test_reference_results_stand_where_nothing_was_run(evidence: Layout, made_up: Plan) -> None:
    honest = table_of(evidence, made_up)
    layout = referred(evidence, made_up)
    table = table_of(layout, made_up, load_reference(layout))
    assert table.counts == {Verdict.OK: 3, Verdict.ERROR: 1, Verdict.PENDING: 2}
    for cell, before in zip(table.cells, honest.cells, strict=True):
        assert (cell.metrics, cell.notes, cell.scored) == (before.metrics, before.notes, before.scored)
        assert cell.reference is (before.cell.verdict is not Verdict.PENDING)
        told = f"reference result: {before.cell.reason}" if cell.reference else before.cell.reason
        assert cell.cell.reason == told and cell.cell.record.keys() == before.cell.record.keys()
    assert table_of(layout, made_up).counts == {Verdict.PENDING: 6}


def test_what_else_was_run_here_is_no_matter_of_the_committed_results(evidence: Layout, made_up: Plan) -> None:
    """A page of them says the same on every machine."""
    save_reference(evidence, Store(evidence.runs))
    smaller = plan_of(evidence, methods=("constant",))
    assert table_of(evidence, smaller).others == 2
    assert table_of(evidence, smaller, load_reference(evidence)).others == 0


def test_reference_scores_of_outgrown_metrics_are_not_shown(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = referred(evidence, made_up)
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    table = table_of(layout, made_up, load_reference(layout))
    assert [cell.scored for cell in table.cells] == [False] * 6
    assert [cell.metrics for cell in table.cells] == [{}] * 6
    assert [cell.reference for cell in table.cells] == [True] * 4 + [False] * 2
    assert table.cells[0].cell.verdict is Verdict.OK
    assert table.groups[-1].summary("NS-AUC/as-published") is None


def test_a_run_of_this_machine_covers_a_reference_result(evidence: Layout, made_up: Plan) -> None:
    """Whatever became of it."""
    save_reference(evidence, Store(evidence.runs))
    reference = load_reference(evidence)
    mine = table_of(evidence, made_up, reference)
    assert not any(cell.reference for cell in mine.cells)
    log = Store(evidence.runs).path(planned_of(made_up.cells[0]).key) / "log.txt"
    log.write_text("grown by a line\n" * 10)
    damaged = table_of(evidence, made_up, reference)
    assert damaged.cells[0].cell.verdict is Verdict.INFRASTRUCTURE and not damaged.cells[0].reference


def test_scores_are_of_the_files_that_lie_there(evidence: Layout, made_up: Plan) -> None:
    """Scores are read by the record's sha256: those of a run that was made again are not its own."""
    forge_record(evidence, made_up, lambda record: record["files"]["lowest.npy"].update(sha256="0" * 64))
    cells = table_of(evidence, made_up).cells
    assert [cell.scored for cell in cells] == [False, True, True, False, False, False]
    assert cells[0].metrics == {} and cells[0].notes == {}


def test_a_table_is_not_made_of_fewer_cells(evidence: Layout, made_up: Plan) -> None:
    with pytest.raises(AssertionError, match="cells were lost"):
        build_table(evidence, Store(evidence.runs), made_up, made_up.cells[:-1])


def test_cells_with_another_number_of_inner_models_are_another_column(evidence: Layout, made_up: Plan) -> None:
    job = made_up.cells[0].job
    jobs = [
        job,
        job.model_copy(update={"options": {"inner_folds": 3}}),
        job.model_copy(update={"options": {"inner_folds": 0}}),
    ]
    groups = table_of(evidence, make_plan(evidence, "three", jobs)).groups
    assert [group.split for group in groups] == ["random", "random, 3 inner folds", "random, 0 inner folds"]
    assert groups[1].column == "synthetic, random, 3 inner folds"
    assert [len(group.cells) for group in groups] == [1, 1, 1]


def test_rows_are_named_after_what_sets_them_apart(made_up: Plan) -> None:
    job = made_up.cells[2].job
    assert row_name(job, {}) == "als_wr"
    assert row_name(job.model_copy(update={"variant": "corrected"}), {}) == "als_wr/corrected"
    assert row_name(job, {"alpha": 1.0, "rank": 5}) == "als_wr (alpha=1.0, rank=5)"
    chosen = {"alpha": 0.0, "bias": False, "rank": None}
    assert row_name(job, chosen) == "als_wr (alpha=0.0, bias=False, without rank)"
    there = job.model_copy(update={"accelerator": "cuda", "variant": "corrected"})
    assert row_name(there, {"alpha": 1.0}) == "als_wr/corrected [cuda] (alpha=1.0)"


def test_only_what_was_chosen_otherwise_than_the_card_is_named(evidence: Layout, made_up: Plan) -> None:
    job = made_up.cells[2].job
    chosen = job.model_copy(update={"parameters": {**job.parameters, "alpha": 1.5}})
    table = table_of(evidence, make_plan(evidence, "two", [job, chosen]))
    assert [cell.choices for cell in table.cells] == [{}, {"alpha": 1.5}]
    assert [cell.row for cell in table.cells] == ["als_wr", "als_wr (alpha=1.5)"]
    assert not any(cell.control for cell in table.cells)
    assert [cell.control for cell in table_of(evidence, made_up).cells] == [True] * 2 + [False] * 4


CELLS = (
    drug_cell("mlp", {S1: 0.5, S2: 0.1}, {}, seed=1),
    drug_cell("mlp", {S1: 0.7, S2: None}, {}, seed=2),
    drug_cell("sagan", {S1: 0.25, S2: 0.25}, {}, seed=1),
)


@pytest.mark.parametrize("turned", [False, True])
def test_benchmarks_stand_in_their_own_order(evidence: Layout, turned: bool) -> None:
    jobs = [
        job for job in jobs_of(evidence, load_suite("smoke")) if job.method in ("constant", "mlp", "word_ngrams")
    ]
    table = table_of(evidence, make_plan(evidence, "several", jobs[::-1] if turned else jobs))
    assert list(dict.fromkeys(group.benchmark for group in table.groups)) == ["repurposing", "ddi", "combos"]
    assert benchmarks.in_order({"combos", "dti", "ddi", "repurposing"}) == ["repurposing", "ddi", "dti", "combos"]


def test_a_group_is_summed_over_its_own_seeds_that_ended_ok() -> None:
    failed = replace(CELLS[1], cell=replace(CELLS[1].cell, verdict=Verdict.UNSTABLE))
    table = Table("drugs", 4, (*CELLS, failed), 0)
    mlp, sagan = table.groups
    assert [group.row for group in table.groups] == ["mlp", "sagan"]
    assert (mlp.verdict_text, sagan.verdict_text) == ("ok 2/3, unstable 1", "ok 1/1")
    summary = mlp.summary(S1)
    assert summary is not None and summary.n == 2 and summary.mean == pytest.approx(0.6)
    assert summary.text == "0.6000 ± 0.1414"
    one = mlp.summary(S2)
    assert one is not None and one.n == 1 and one.text == "0.1000"
    assert sagan.summary("no such metric") is None
    # worse than by chance is less than nothing, and no chance at all is a value
    (worse,) = Table(
        "drugs", 2, tuple(drug_cell("a", {S1: value, S2: 0.0}, {}) for value in (-0.5, 0.25)), 0
    ).groups
    summaries = worse.summary(S1), worse.summary(S2)
    assert [summary and summary.text for summary in summaries] == ["-0.1250 ± 0.5303", "0.0000 ± 0.0000"]


def test_a_selection_keeps_what_was_named_and_nothing_else() -> None:
    other = replace(CELLS[0], cell=replace(CELLS[0].cell, verdict=Verdict.ERROR))
    table = Table("drugs", 4, (*CELLS, other), 0)
    assert table.select().cells == table.cells
    assert table.select(methods=["sagan"]).cells == (CELLS[2],)
    assert table.select(verdicts=[Verdict.ERROR]).cells == (other,)
    assert table.select(benchmarks=["ddi"]).cells == table.cells
    assert table.select(benchmarks=["repurposing"]).cells == ()
    assert table.select(datasets=["synthetic_ddi"], methods=["mlp"], verdicts=[Verdict.OK]).cells == CELLS[:2]
    assert table.select(datasets=["drugbank"]).cells == ()
    assert table.select(verdicts=[Verdict.ERROR, Verdict.OK]).cells == table.cells
    assert table.select(methods=["sagan", "mlp"]).cells == table.cells
    assert (table.is_good, table.select(verdicts=[Verdict.OK]).is_good) == (False, True)


def test_metrics_of_both_settings_stand_side_by_side() -> None:
    sets = metric_sets("ddi")
    assert (S1, S2) in sets
    assert sorted(metric for one in sets for metric in one) == sorted(key_metrics("ddi"))
    known = known_sets(Table("drugs", 3, CELLS, 0).groups)
    assert known == [(S1, S2)]
    nothing = tuple(replace(cell, metrics={}) for cell in CELLS)
    assert known_sets(Table("drugs", 3, nothing, 0).groups) == sets
    # whichever of the methods has a value
    for some in ((*CELLS[:2], nothing[2]), (*nothing[:2], CELLS[2])):
        assert known_sets(Table("drugs", 3, some, 0).groups) == known


def test_of_data_of_which_nothing_is_published_the_formula_counts(repository: Layout) -> None:
    """A constant has an AUC as published of 0.9 on anybody's data."""
    defined = {name.replace("as-published", "as-defined"): 0.25 for name in (S1, S2)}
    cells = tuple(replace(cell, metrics={**cell.metrics, **defined}) for cell in CELLS)
    own, published = (
        Table("t", 3, cells, 0, unpublished=one) for one in (frozenset({"synthetic_ddi"}), frozenset())
    )
    assert known_sets(own.groups) == [tuple(defined)] and known_sets(published.groups) == [(S1, S2)]
    text = " ".join(to_text(own).split())
    assert "S1 F1/as-defined (n)" in text and "as defined, for nothing is published of these data." in text
    assert "(n of them), as published." in " ".join(to_text(published).split())
    assert {"synthetic", "fdataset", "drugbank"} <= published_datasets(repository)
    assert not {"synthetic_ddi", "combos_corpus", "mine"} & published_datasets(repository)


def test_a_table_knows_of_which_data_nothing_is_published(evidence: Layout, made_up: Plan) -> None:
    table = build_table(evidence, Store(evidence.runs), made_up, join(made_up, Store(evidence.runs), records=True))
    names = {scored.cell.job.dataset for scored in table.cells}
    assert table.unpublished == names - published_datasets(evidence)


def test_items_of_ones_own_leave_a_published_dataset_what_it_is(evidence: Layout) -> None:
    jobs = []
    for base in ("drugbank", "synthetic_ddi"):
        manifest, name = load_manifest(evidence, base), f"{base}_new_1"
        document = manifest.model_dump(include={"citation", "licence", "benchmark"})
        document |= {"name": name, "title": "two", "extends": base, "new": [{"kind": "drug", "name": "mine"}]}
        document["statistics"] = manifest.statistics.model_dump(exclude_none=True)
        write_atomic(evidence.extended / name / "dataset.toml", tomlkit.dumps(document))
        spec = SplitSpec(strategy="new_drugs", seed=1)
        jobs.append(Job(benchmark="ddi", method="mlp", dataset=name, split=spec))
    plan = Plan("two", [Cell(job, None, Verdict.PENDING, "not run yet") for job in jobs])
    table = build_table(evidence, Store(evidence.runs), plan, plan.cells)
    assert table.unpublished == {jobs[1].dataset}


@pytest.mark.parametrize("order", ["", "secret"])
def test_the_order_that_a_run_had_is_told_not_the_one_of_its_card(
    evidence: Layout, made_up: Plan, order: str
) -> None:
    forge_record(evidence, made_up, lambda record: record.update(order=order))
    scored = table_of(evidence, made_up).cells[0]
    assert scored.published_order is not bool(order)


def test_the_order_that_a_run_will_have_is_that_of_its_card(evidence: Layout) -> None:
    """Nothing is known yet of a run that there is not."""
    spec = SplitSpec(strategy="random", seed=1)
    names = ("fastai_collab", "constant")
    jobs = [Job(benchmark="repurposing", method=name, dataset="synthetic", split=spec) for name in names]
    plan = Plan("two", [Cell(job, None, Verdict.PENDING, "not run yet") for job in jobs])
    table = build_table(evidence, Store(evidence.runs), plan, plan.cells)
    orders = {scored.cell.job.method: scored.published_order for scored in table.cells}
    assert orders == {"fastai_collab": True, "constant": False}


def test_remarks_are_of_the_seeds_that_ended_ok_each_once() -> None:
    notes = {S1: "few items", "S2 items/as-published": "whole batches", "S1 items/as-defined": "another kind"}
    cells = tuple(drug_cell("mlp", {S1: 0.5, S2: 0.1}, notes, seed=seed) for seed in (1, 2))
    failed = drug_cell("mlp", {S1: 0.5}, {S1: "of a failure"}, seed=3)
    failed = replace(failed, cell=replace(failed.cell, verdict=Verdict.ERROR))
    (group,) = Table("drugs", 3, (*cells, failed), 0).groups
    assert group.remarks(S1) == ["S1 F1: few items"]
    assert group.remarks(S2) == ["S2 items: whole batches"]
    # one run may have several, and each run others
    both = drug_cell("mlp", {S1: 0.5}, {S1: "few items", "S1 items/as-published": "whole batches"}, seed=4)
    more = drug_cell("mlp", {S1: 0.5}, {S1: "no item"}, seed=5)
    (group,) = Table("drugs", 4, (*cells, both, more), 0).groups
    assert group.remarks(S1) == ["S1 F1: few items", "S1 items: whole batches", "S1 F1: no item"]


@pytest.mark.parametrize("orders", [(True, False), (False, True), (True, True), (False, False)])
def test_a_row_is_marked_where_any_of_its_runs_had_the_published_order(orders: tuple[bool, bool]) -> None:
    cells = tuple(
        replace(drug_cell("mlp", {S1: 0.5}, {}, seed=seed), published_order=order)
        for seed, order in enumerate(orders)
    )
    (group,) = Table("drugs", 2, cells, 0).groups
    assert (group.published_order, group.title) == (any(orders), "mlp °" if any(orders) else "mlp")


def test_a_metric_is_shown_that_has_a_value_in_any_setting_or_row() -> None:
    first, second = metric_sets("ddi")
    assert len(first) == len(second) == 2
    cells = drug_cell("mlp", {second[0]: 0.5}, {}), drug_cell("tiger", {first[1]: 0.25}, {})
    groups = Table("drugs", 2, cells, 0).groups
    assert known_sets(groups) == [first, second]
    assert [known_sets([group]) for group in groups] == [[second], [first]]


def test_a_remark_on_a_metric_of_one_kind_alone_is_told_by_its_whole_name() -> None:
    cell = drug_cell("mlp", {"AUROC": None, "top 5": 0.5}, {"AUROC": "one class alone"})
    (group,) = Table("drugs", 1, (cell,), 0).groups
    assert (group.remarks("AUROC"), group.remarks("top 5")) == (["AUROC: one class alone"], [])


def test_a_remark_on_one_metric_is_none_on_another() -> None:
    """The reason why an AUC has no value is none why an F1 of the same setting has none."""
    other = "S1 ROC-AUC/as-published"
    cell = drug_cell("mlp", {S1: 0.5, other: None}, {other: "one class alone"})
    (group,) = Table("drugs", 1, (cell,), 0).groups
    assert (group.remarks(S1), group.remarks(other)) == ([], ["S1 ROC-AUC: one class alone"])


def test_stand_ins_are_named_with_their_reason(repository: Layout, tmp_path: Path) -> None:
    manifests = [load_manifest(repository, name) for name in manifest_names(repository)]
    stand_in = next(manifest for manifest in manifests if manifest.stand_in)
    jobs = [
        Job(
            benchmark=stand_in.benchmark,
            method="mlp",
            dataset=name,
            split=SplitSpec(strategy="random", seed=1),
        )
        for name in (stand_in.name, "synthetic_ddi")
    ]
    plan = make_plan(repository, "two", jobs)
    table = build_table(
        repository, Store(tmp_path / "runs"), plan, join(plan, Store(tmp_path / "runs"), records=True)
    )
    assert dict(table.stand_ins) == {stand_in.name: stand_in.stand_in}
    assert table.planned == len(table.cells) == 2
