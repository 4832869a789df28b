"""What a campaign leaves behind is run again or told, and a frame has the rows of what it was made of."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import api as typed_api
from harness.api import claims, runs, stores
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Accelerators, Book
from harness.compare.accelerators import MetricPair
from harness.execution.bulletins import Wish
from harness.planning.cells import Cells
from harness.planning.plan import Plan
from harness.prediction import Prediction
from harness.prediction.request import PredictionRequest
from harness.prediction.rows import RankedRows
from harness.results.merge import Merged
from harness.results.remainder import Told
from harness.results.store import Store
from tests.api.conftest import Listener, Machine, Put
from tests.fabricate import planned_of, put_run
from tests.report.made_up import claim

# what answers is stood in for: its answers are of no type
api: Any = typed_api


def _told(plan: Plan) -> Told:
    """All cells as if they were finished."""
    cells = Cells.of(plan.cells).judged([(Verdict.OK, "by the log")] * len(plan.cells))
    return Told(cells, ["a note"])


def test_what_the_log_calls_finished_and_is_not_is_run(machine: Machine, put: Put, made_up: Plan) -> None:
    here, listener, ran = machine.repository, Listener(), put(runs, "run_cells", True)
    asked = put(runs, "what_is_told", _told(made_up))
    campaign = api.run(made_up, progress=listener, again=["error"], verify=True, repository=here)
    assert asked == [((made_up, here.store), {"verify": True})]
    # the failed run is finished, and nobody asks a second time for it
    assert (campaign.left, campaign.stopped) == (2, True) and len(ran) == 1
    assert ran[0][1]["choices"].again == frozenset()
    assert [cell.verdict for cell in ran[0][0][1]][3:] == [Verdict.ERROR, Verdict.PENDING, Verdict.PENDING]
    assert listener.notes[0] == "2 runs that the log calls finished can't be believed, and are run again"
    # the table is of the records, whatever the log says
    assert campaign.table.cells[0].cell.record["verdict"] == "ok"
    assert [one.cell.verdict for one in campaign.table.cells][3:] == [
        Verdict.ERROR,
        Verdict.PENDING,
        Verdict.PENDING,
    ]


def test_who_was_stopped_runs_nothing_again(machine: Machine, put: Put, made_up: Plan) -> None:
    told = _told(made_up)
    outcomes = [(Verdict.PENDING, "not run yet"), *[(Verdict.OK, "by the log")] * 5]
    told = replace(told, cells=told.cells.judged(outcomes))
    asked = put(runs, "what_is_told", told)
    listener, ran = Listener(), put(runs, "run_cells", True)
    campaign = api.run(made_up, progress=listener, repository=machine.repository)
    # the log is believed unless all records are asked for
    assert asked == [((made_up, machine.repository.store), {"verify": False})]
    assert (campaign.left, campaign.stopped, len(ran)) == (1, True, 1) and listener.notes[0] == "a note"
    ran.clear()
    put(runs, "run_cells", False)
    again = api.run(made_up, progress=Listener(), repository=machine.repository)
    assert (again.left, again.stopped) == (3, False)


def test_records_that_were_read_are_not_read_again(machine: Machine, put: Put, made_up: Plan) -> None:
    joined, done = put(runs, "join", Cells()), Plan("done", made_up.cells[:4])
    campaign = api.run(done, progress=None, repository=machine.repository)
    assert (campaign.left, campaign.stopped, joined, machine.asked) == (0, False, [], [])


def test_what_was_run_is_in_the_table(
    evidence: Layout, made_up: Plan, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SimpleNamespace(name="docker", facts=SimpleNamespace(version="20.10"))
    shown: list[str] = []

    def ran(layout: Layout, *_: Any, progress: Any, **_named: Any) -> bool:
        shown.append(type(progress).__name__)
        put_run(layout, planned_of(made_up.cells[4]))
        return False

    put(runs, "find_engine", nullcontext(engine))
    monkeypatch.setattr(runs, "run_cells", ran)
    campaign = api.run(Plan("some", made_up.cells[3:5]), repository=api.Repository(evidence))
    assert [one.cell.verdict for one in campaign.table.cells] == [Verdict.ERROR, Verdict.OK]
    assert (campaign.left, campaign.stopped, shown) == (1, False, ["ProgressLines"])


def test_what_was_wanted_again_and_did_not_come_is_no_success(
    evidence: Layout, made_up: Plan, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier results stand, so that the table alone looks as if all had gone well."""
    engine = SimpleNamespace(name="docker", facts=SimpleNamespace(version="20.10"))
    plan, replaced = Plan("some", made_up.cells[:2]), list[int]()

    def ran(layout: Layout, *_: Any, **_named: Any) -> bool:
        for place in replaced:
            planned = planned_of(made_up.cells[place])
            shutil.rmtree(Store(layout.runs).path(planned.key))
            put_run(layout, planned, log="another\n")
        return False

    put(runs, "find_engine", nullcontext(engine))
    monkeypatch.setattr(runs, "run_cells", ran)
    for places, left in (([], 2), ([1], 1), ([0, 1], 0)):
        replaced[:] = places
        campaign = api.run(plan, progress=None, again=["ok"], repository=api.Repository(evidence))
        assert campaign.table.is_good and (campaign.not_again, campaign.is_good) == (left, not left)
    # what nobody wants again is not asked for
    usual = api.run(plan, progress=None, again=["timeout"], repository=api.Repository(evidence))
    assert (usual.left, usual.not_again, usual.is_good) == (0, 0, True)


def test_a_plan_without_its_splits_is_named(machine: Machine, made_up: Plan) -> None:
    cell = replace(made_up.cells[4], planned=None)
    with pytest.raises(UsageError) as refused:
        api.run(Plan("x", (made_up.cells[0], cell)), repository=machine.repository)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "this plan was made without its splits",
        cell.job.label,
        "plan it with make_splits=True",
    )


def test_a_campaign_is_asked_by_its_name_to_end_or_to_stop(machine: Machine, put: Put) -> None:
    asked = put(runs, "ask_to_end", "what it told")
    put(runs, "bulletins", {Path("a"): "one", Path("b"): "other"})
    here, layout = machine.repository, machine.layout
    assert api.stop(repository=here) == api.stop("c1", now=True, repository=here) == "what it told"
    assert asked == [((layout, "", Wish.DRAIN), {}), ((layout, "c1", Wish.STOP), {})]
    assert api.campaigns(repository=here) == ["one", "other"]


def test_what_can_not_be_scored_or_written_says_what_to_do(
    machine: Machine, made_up: Plan, tmp_path: Path
) -> None:
    here, failed = machine.repository, planned_of(made_up.cells[3]).key
    with pytest.raises(UsageError) as refused:
        api.scores(failed[:12], repository=here)
    assert refused.value.what == f"run {failed[:16]} has nothing to score: error"
    assert refused.value.where == "exit code 3: no such matrix"
    with pytest.raises(UsageError) as refused:
        api.write_job(made_up, tmp_path / "kit", repository=here)
    assert refused.value.what == "asked for: 6 cells, and a folder holds one job"
    assert refused.value.where == ", ".join(cell.job.label for cell in made_up.cells[:4])
    assert refused.value.todo == "name one method, dataset, split and seed"


def test_other_code_is_told_by_its_trees(
    machine: Machine, made_up: Plan, monkeypatch: Any, tmp_path: Path
) -> None:
    planned, asked = planned_of(made_up.cells[0]), list[tuple[Any, ...]]()

    def tree(*own: Any) -> str:
        asked.append(own)
        return "f" * 64

    monkeypatch.setattr("harness.api.jobs.image_tree", tree)
    with pytest.raises(UsageError) as refused:
        api.write_job(planned.key[:12], tmp_path / "a kit", repository=machine.repository)
    trees = f"image tree {planned.image_tree[:16]}, now {'f' * 16}"
    assert refused.value.where == f"{planned.job.label}: {trees}"
    assert refused.value.todo == (
        f"check out the code of then, or write the job of today: harness job write '{tmp_path / 'a kit'}' "
        f"--method constant --dataset synthetic --seed {planned.job.split.seed}"
    )
    assert asked == [(machine.layout, "constant", "cpu")]


def test_a_log_that_is_no_text_is_shown(evidence: Layout, made_up: Plan) -> None:
    key = planned_of(made_up.cells[0]).key
    (Store(evidence.runs).path(key) / "log.txt").write_bytes(b"a\xffb")
    assert api.container_log(key, repository=api.Repository(evidence)) == "a\ufffdb"


def test_folders_are_looked_at_before_any_is_merged(
    machine: Machine, put: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, listener, calls = machine.repository, Listener(), list[tuple[str, Any]]()
    one, other = tmp_path / "one", tmp_path / "other"

    def merge(layout: Layout, folder: Path, progress: Any) -> Merged:
        assert (layout, progress) == (here.layout, listener)
        calls.append(("merge", folder))
        if folder == one:
            raise CorruptData("cut", where="its log")
        return Merged(folder)

    monkeypatch.setattr(stores, "check_source", lambda _, folder: calls.append(("check", folder)))
    monkeypatch.setattr(stores, "merge_folder", merge)
    refused, merged = api.merge([one, str(other)], progress=listener, repository=here)
    assert calls == [("check", one), ("check", other), ("merge", one), ("merge", other)]
    (run,) = refused.refused
    assert (run.key, run.label, run.what, run.where) == ("", "all of its runs", "cut", "its log")
    assert (refused.folder, merged) == (one, Merged(other))
    told = put(stores, "merge_folder", Merged(other))
    api.merge(other, repository=here)
    assert type(told[0][0][2]).__name__ == "ProgressLines"


def test_published_names_are_known_where_they_stand(machine: Machine, put: Put, tmp_path: Path) -> None:
    put(claims, "compare_claims", "book")
    here, file = machine.repository, tmp_path / "claims.csv"
    theirs = SimpleNamespace(method="Theirs", dataset="Their data", split="Their split")
    put(claims, "load_claims", [theirs])
    named = {
        "methods": ["Theirs", "als_wr"],
        "datasets": ["Their data", "fdataset"],
        "splits": ["Their split", "random"],
    }
    assert api.compare("repurposing", **named, repository=here) == "book"
    # only splits have parameters: with such an end a name of anything else is unknown
    for kind in ("methods", "datasets"):
        name = {"methods": "als_wr:x", "datasets": "fdataset:x"}[kind]
        for compare in (api.compare, api.compare_accelerators):
            with pytest.raises(UsageError, match=f"is called '{name}'"):
                compare("repurposing", **{kind: name}, repository=here)
    # with its parameters, in whatever order
    asked = put(claims, "compare_claims", "book")
    api.compare("dti", splits=["new_pairs:space=TEO,rank=0", "Their split"], repository=here)
    assert asked[0][1]["splits"] == ("new_pairs:rank=0,space=TEO", "Their split")
    with pytest.raises(UsageError, match="no method of ours or of claims is called 'Other'") as refused:
        api.compare("repurposing", methods="Other", repository=here)
    assert refused.value.where == str(machine.layout.published / "repurposing")
    put(claims, "load_external", [theirs])
    with pytest.raises(UsageError, match="no split of ours or of claims is called 'Other'") as refused:
        api.compare("repurposing", splits="Other", against=file, repository=here)
    assert refused.value.where == str(file)
    with pytest.raises(UsageError, match="no dataset is called 'Their data'") as refused:
        api.compare_accelerators("repurposing", datasets="Their data", repository=here)
    assert refused.value.where == str(machine.layout.root)


def test_a_contest_of_two_kinds_of_seeds_says_which_to_give(machine: Machine) -> None:
    with pytest.raises(UsageError) as refused:
        api.contest("constant", suite="smoke", seeds=[0], repository=machine.repository)
    assert (refused.value.where, refused.value.todo) == ("--seed", "give either --suite or --seed")


def test_a_frame_has_the_rows_of_what_it_was_made_of(machine: Machine, made_up: Plan) -> None:
    ranked = RankedRows(("rank", "drug", "known"), ((1, "a", ""), (None, "c", "yes")), 1, 5, 9)
    request = PredictionRequest(methods=("constant",), dataset="synthetic")
    frame = api.table(Prediction("repurposing", request, "Synthetic", "", (), (), ranked))
    assert list(frame.columns) == ["rank", "drug", "known"] and frame["drug"].tolist() == ["a", "c"]
    pair = MetricPair("a label", "AUC", 0.5, 0.75, 0.25, ("k1", "k2"))
    (row,) = api.table(Accelerators([pair], [])).to_dict("records")
    assert row == {
        **{"label": "a label", "metric": "AUC", "cpu": 0.5, "gpu": 0.75, "difference": 0.25},
        **{"allowed": pair.allowed, "agrees": pair.agrees},
    }
    (row,) = api.table(Book("repurposing", (), (claim(seed=7, metric="M"),))).to_dict("records")
    assert [row[name] for name in ("source", "statistic", "method")] == ["a file", "value", "constant"]
    assert (row["seed"], row["metric"], row["published"], row["ours"]) == (7, "M", "0.75", 0.5)
    contest = api.table(api.contest(["constant", "als_wr"], repository=machine.repository))
    assert contest["method"].tolist() == ["constant", "als_wr"] and contest["n"].tolist() == [2, 1]
    # metrics come after what every cell has, whichever cell has them
    cells = api.status(made_up, repository=machine.repository)
    columns = list(api.table(replace(cells, cells=cells.cells[::-1])).columns)
    assert columns[:14] == list(api.table(made_up, repository=machine.repository).columns[:14])
    assert columns[13] == "peak_bytes" and len(columns) == len(set(columns)) > 14
