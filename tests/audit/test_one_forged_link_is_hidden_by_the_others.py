"""One thing is forged at a time: exactly the link that rests on it breaks, and in no other run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.audit import audit_runs
from harness.audit.basis import check_inputs
from harness.audit.chain import Auditor, check_job
from harness.audit.steps import Audit, Checked, Lack, Step, failed, not_checked, ok
from harness.base import machine
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.order import PUBLISHED
from harness.execution.inputs import make_inputs
from harness.planning.plan import Plan, make_plan
from harness.results.records import RECORD_FILE, Record
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.audit.forging import broken, folder_of, forge_absence, forge_job, forge_plan, forge_record, refresh
from tests.fabricate import job_of, plan_of, planned_of, put_run


def audits(layout: Layout, keys: list[str]) -> list[Audit]:
    """One auditor for all, which remembers what runs share; a process that remembers nothing else."""
    refresh()
    return list(audit_runs(layout, keys).audits)


def first(layout: Layout, plan: Plan) -> Audit:
    return audits(layout, [planned_of(plan.cells[0]).key])[0]


NEEDED = ("job.json", "log.txt", "method.json", "predictions.npy")


@pytest.mark.parametrize("name", NEEDED)
def test_an_ok_run_that_vouches_for_fewer_files_than_it_must_have(
    evidence: Layout, made_up: Plan, name: str
) -> None:
    forge_absence(evidence, made_up, name)
    step = next(one for one in first(evidence, made_up).steps if one.checked is Checked.FAILED)
    assert step == failed("files", f"a run that ended ok has no {name}", where=folder_of(evidence, made_up))


def test_each_of_several_files_that_an_ok_run_must_have_is_named(evidence: Layout, made_up: Plan) -> None:
    for name in ("log.txt", "method.json"):
        forge_absence(evidence, made_up, name)
    told = [
        one.what for one in first(evidence, made_up).steps if one.what.startswith("a run that ended ok has no")
    ]
    assert told == [f"a run that ended ok has no {name}" for name in ("log.txt", "method.json")]


def test_a_run_that_did_not_end_ok_needs_no_answer(evidence: Layout, made_up: Plan) -> None:
    (audit,) = audits(evidence, [planned_of(made_up.cells[3]).key])
    assert broken(audit) == []
    told = {step.name: step for step in audit.steps}
    unlike = not_checked("predictions", "the verdict is 'error': there is no result to believe", lack=None)
    assert told["predictions"] == unlike
    assert told["scores"] == not_checked("scores", "the verdict is 'error': nothing is scored", lack=None)


@pytest.mark.parametrize("name", ["predictions.npy", "log.txt", "method.json"])
def test_a_link_to_equal_bytes_elsewhere_is_no_file_of_the_run(evidence: Layout, made_up: Plan, name: str) -> None:
    path = folder_of(evidence, made_up) / name
    shutil.move(path, evidence.local / name)
    path.symlink_to(evidence.local / name)
    found = broken(first(evidence, made_up))
    # what is read of an answer is no link either
    assert found[0] == name and (name != "log.txt" or len(found) == 1)


def test_a_link_to_the_record_is_no_record(evidence: Layout, made_up: Plan) -> None:
    path = folder_of(evidence, made_up) / RECORD_FILE
    elsewhere = shutil.move(path, evidence.local / RECORD_FILE)
    path.symlink_to(elsewhere)
    (step,) = (one for one in first(evidence, made_up).steps if one.checked is Checked.FAILED)
    assert step == failed("files", "the record is a link to another file", found=str(elsewhere), where=path)


@pytest.mark.parametrize("kind", ["file", "hidden file", "file below", "log below", "link", "link to a folder"])
def test_whatever_the_record_does_not_name_is_found(evidence: Layout, made_up: Plan, kind: str) -> None:
    folder = folder_of(evidence, made_up)
    if kind.endswith(" below"):
        (folder / "trace").mkdir()
    # another one called as one of the record's is none of them
    names = {"hidden file": ".notes", "file below": "trace/notes", "log below": "trace/log.txt"}
    name = names.get(kind, "notes")
    if kind == "link":
        (folder / name).symlink_to(folder / "log.txt")
    elif kind == "link to a folder":
        (folder / name).symlink_to(evidence.local)
    else:
        (folder / name).write_text("an extra")
    audit = first(evidence, made_up)
    assert broken(audit) == ["files"]
    assert next(step for step in audit.steps if step.name == "files").where == str(folder / name)


def test_a_folder_that_is_empty_is_no_file(evidence: Layout, made_up: Plan) -> None:
    (folder_of(evidence, made_up) / "trace").mkdir()
    assert broken(first(evidence, made_up)) == []


def test_a_link_says_what_was_expected_and_what_was_found(evidence: Layout, made_up: Plan) -> None:
    path = folder_of(evidence, made_up) / "log.txt"
    expected = Store(evidence.runs).record(planned_of(made_up.cells[0]).key).files["log.txt"].sha256
    path.write_text(path.read_text().replace("done", "Done"))
    step = next(one for one in first(evidence, made_up).steps if one.name == "log.txt")
    assert step.expected == expected != step.found and step.where == str(path)
    path.unlink()
    step = next(one for one in first(evidence, made_up).steps if one.name == "log.txt")
    assert (step.expected, step.found, step.what) == (expected, "-", "the file is missing")


TOLD: dict[str, Callable[[dict[str, Any]], object]] = {
    "protocol": lambda job: job.update(protocol=job["protocol"] + 1),
    "benchmark": lambda job: job.update(benchmark="ddi"),
    "method": lambda job: job.update(method="als_wr"),
    "variant": lambda job: job.update(variant="corrected"),
    "parameters": lambda job: job["parameters"].update(more=1),
    "inner_folds": lambda job: job.update(inner_folds=job["inner_folds"] - 1),
    "task": lambda job: job.update(task="fit"),
    "trace": lambda job: job.update(trace=True),
    "no method": lambda job: job.pop("method"),
}


@pytest.mark.parametrize("field", TOLD)
def test_a_container_that_was_told_another_job(evidence: Layout, made_up: Plan, field: str) -> None:
    touched = forge_job(evidence, made_up, TOLD[field])
    audit = first(evidence, made_up)
    assert "job" in broken(audit) and "seed" not in broken(audit)
    step = next(step for step in audit.steps if step.name == "job")
    assert (step.what, step.where) == ("what the container was told is what the key says", str(touched))
    expected, found = json.loads(step.expected), json.loads(step.found)
    assert expected["method"] == "constant" and expected["inner_folds"] == found["inner_folds"] + (
        field == "inner_folds"
    )
    assert [name for name in expected if expected[name] != found[name]] == [field.removeprefix("no ")]


@pytest.mark.parametrize("name", ["labels", "weights"])
def test_a_container_that_was_told_more(evidence: Layout, made_up: Plan, name: str) -> None:
    """Weights are told of only where the job was planned with them."""
    touched = forge_job(evidence, made_up, lambda job: job.update({name: {"file": "labels.npy"}}))
    audit = first(evidence, made_up)
    assert broken(audit) == ["job"]
    (step,) = (one for one in audit.steps if one.name == "job" and one.checked is Checked.FAILED)
    told = (step.what, step.found, step.where)
    assert told == ("the container was told what no job document has", name, str(touched))
    forge_job(evidence, made_up, lambda job: job.update({"answers": 1, "truth": 2}))
    more = [one.found for one in first(evidence, made_up).steps if one.what == told[0]]
    assert more == sorted(["answers", "truth", name])


@pytest.mark.parametrize("change", [{"shape": [1, 1]}, {"dtype": "<f8"}, {"file": "x.npy"}, {"more": 1}])
def test_an_input_that_was_described_otherwise(evidence: Layout, made_up: Plan, change: dict[str, Any]) -> None:
    forge_job(evidence, made_up, lambda job: job["inputs"]["folds"].update(change))
    audit = first(evidence, made_up)
    assert broken(audit) == ["input folds"]
    (step,) = (one for one in audit.steps if one.name == "input folds" and one.checked is Checked.FAILED)
    assert step.what == "the container was told another file, shape or type of it than it has"
    assert step.expected != step.found and str(next(iter(change.values()))) in step.found


@pytest.mark.parametrize("of", ["the run's folder", "the folder of the run's folder"])
def test_a_run_that_lies_elsewhere(evidence: Layout, made_up: Plan, tmp_path: Path, of: str) -> None:
    """What a link leads to may be changed by whoever it belongs to."""
    folder = folder_of(evidence, made_up)
    folder = folder.parent if of.startswith("the folder of") else folder
    elsewhere = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(elsewhere)
    audit = first(evidence, made_up)
    assert broken(audit) == ["files"]
    (step,) = (one for one in audit.steps if one.checked is Checked.FAILED)
    assert (step.what, step.found, step.where) == (f"{of} is a link to another", str(elsewhere), str(folder))


@pytest.mark.parametrize("step", [1, -1])
def test_a_container_that_was_told_another_seed(evidence: Layout, made_up: Plan, step: int) -> None:
    touched = forge_job(evidence, made_up, lambda job: job.update(seed=job["seed"] + step))
    audit = first(evidence, made_up)
    assert broken(audit) == ["seed"]
    seed = planned_of(made_up.cells[0]).job.fit_seed
    (told,) = (one for one in audit.steps if one.name == "seed")
    assert (told.what, told.where) == ("the seed the container was told", str(touched))
    assert (told.expected, told.found) == (str(seed), str(seed + step))


def test_a_container_that_was_told_no_seed(evidence: Layout, made_up: Plan) -> None:
    forge_job(evidence, made_up, lambda job: job.pop("seed"))
    assert broken(first(evidence, made_up)) == ["seed"]


@pytest.mark.parametrize("text", ["", "[]", '"a"', "null", "3", "{"])
def test_a_job_document_that_is_none_is_a_broken_link(evidence: Layout, made_up: Plan, text: str) -> None:
    path = folder_of(evidence, made_up) / "job.json"
    path.write_text(text)
    forge_record(evidence, made_up, lambda record: None)
    (step,) = (step for step in first(evidence, made_up).steps if step.name == "job")
    told = (step.checked, step.what, step.where)
    assert told == (Checked.FAILED, "the job document can't be read", str(path))


def test_a_job_document_in_which_a_name_stands_twice_is_a_broken_link(evidence: Layout, made_up: Plan) -> None:
    """The harness reads the last of two, people and other programs the first."""
    path = folder_of(evidence, made_up) / "job.json"
    path.write_text('{"seed": 7, ' + path.read_text().lstrip()[1:])
    forge_record(evidence, made_up, lambda record: None)
    assert broken(first(evidence, made_up)) == ["job"]


def test_a_job_document_of_a_failed_run_is_read_too(evidence: Layout, made_up: Plan) -> None:
    key = planned_of(made_up.cells[3]).key
    (Store(evidence.runs).path(key) / "job.json").write_text("[]")
    forge_record(evidence, made_up, lambda record: None, cell=3)
    (audit,) = audits(evidence, [key])
    assert "job" in broken(audit)


def test_a_run_without_job_document_is_not_called_ok(evidence: Layout, made_up: Plan) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    without = record.model_copy(update={"files": {}})
    assert {step.checked for step in check_job(None, without, Path("job.json"))} == {Checked.NOT_CHECKED}
    (step,) = check_job(None, record, Path("job.json"))
    assert step.checked is Checked.FAILED
    (step,) = check_inputs(evidence, record, None, ())
    assert step.checked is Checked.NOT_CHECKED


@pytest.mark.parametrize("name", ["associations", "folds"])
def test_a_container_that_saw_another_input(evidence: Layout, made_up: Plan, name: str) -> None:
    forge_job(evidence, made_up, lambda job: job["inputs"][name].update(sha256="0" * 64))
    audit = first(evidence, made_up)
    assert broken(audit) == [f"input {name}"]
    step = next(one for one in audit.steps if one.name == f"input {name}")
    assert step.expected == "0" * 64 != step.found


def test_a_container_that_saw_fewer_or_other_inputs(evidence: Layout, made_up: Plan) -> None:
    forge_job(evidence, made_up, lambda job: job["inputs"].pop("folds"))
    assert "input folds" not in {
        step.name for step in first(evidence, made_up).steps if step.checked is Checked.OK
    }
    forge_job(evidence, made_up, lambda job: job.update(inputs={}))
    assert broken(first(evidence, made_up)) == ["input associations", "input folds"]


@pytest.mark.parametrize(
    "odd", [[1], "inputs", {"associations": "told"}, {"associations": {}, "folds": "told"}], ids=str
)
def test_a_list_of_inputs_that_is_none(evidence: Layout, made_up: Plan, odd: Any) -> None:
    forge_job(evidence, made_up, lambda job: job.update(inputs=odd))
    assert broken(first(evidence, made_up)) == ["inputs"]


@pytest.mark.parametrize(
    ("change", "forged"),
    [
        (lambda inputs, _: inputs.pop("drug_similarity"), "drug_similarity"),
        (lambda inputs, more: inputs.update(more), "drug_features"),
    ],
    ids=["one less", "one more"],
)
def test_inputs_that_are_not_those_of_the_card(
    evidence: Layout, change: Callable[[dict[str, Any], dict[str, Any]], object], forged: str
) -> None:
    """Each is as dataset and split give it, so that the list agrees with itself."""
    plan = plan_of(evidence, ["bnnr"], [1])
    record = put_run(evidence, planned_of(plan.cells[0]))
    assert broken(first(evidence, plan)) == []
    given = make_inputs(evidence, record.planned, ["drug_features"], order=record.order).inputs["drug_features"]
    more = {"drug_features": as_file("drug_features", given).description}
    forge_job(evidence, plan, lambda job: change(job["inputs"], more))
    assert broken(first(evidence, plan)) == [f"input {forged}"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"processor": machine.processor()}, Checked.FAILED),
        ({"processor": "another one"}, Checked.NOT_CHECKED),
        ({"flags": ["sve"]}, Checked.NOT_CHECKED),
    ],
)
def test_a_computed_input_that_differs(
    evidence: Layout, made_up: Plan, changes: dict[str, Any], expected: Checked
) -> None:
    """Sums differ in their last bits between processors, on one processor they do not; copies never do."""
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    assert record.made_by is not None
    record = record.model_copy(update={"made_by": record.made_by.model_copy(update=changes)})
    names = ("drug_similarity", "disease_standardised")
    inputs = make_inputs(evidence, record.planned, names, order=record.order).inputs
    true = {name: as_file(name, given).description for name, given in inputs.items()}
    forged = {name: {"sha256": "2" * 64} for name in true}
    assert {step.checked for step in check_inputs(evidence, record, true, ())} == {Checked.OK}
    found = {step.name: step.checked for step in check_inputs(evidence, record, forged, ())}
    assert found == {
        "input associations": Checked.FAILED,
        "input disease_standardised": expected,
        "input drug_similarity": expected,
        "input folds": Checked.FAILED,
    }


@pytest.mark.parametrize("forge", [lambda order: "0" * 32, lambda order: ""], ids=["another", "none"])
def test_a_container_that_saw_another_order(evidence: Layout, made_up: Plan, forge: Callable[[str], str]) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    assert record.order
    other = forge(record.order)
    Store(evidence.runs).amend(record.model_copy(update={"order": other}))
    # the card tells whether there is one
    by_card = [] if other else ["plausibility"]
    assert broken(first(evidence, made_up)) == [*by_card, "input associations", "input folds"]


def test_a_split_of_the_cache_that_is_another_seeds(evidence: Layout, made_up: Plan) -> None:
    """Nobody published it: a note in the user's cache says which file it is."""
    job = planned_of(made_up.cells[0]).job
    jobs = [job.model_copy(update={"split": SplitSpec(strategy="random", seed=seed)}) for seed in (3010, 3011)]
    one, other = (planned_of(cell) for cell in make_plan(evidence, "own", jobs).cells)
    for note in (evidence.cache / "splits" / "made").glob("*.json"):
        text = json.loads(note.read_text())
        if text["sha256"] == other.split_digest:
            note.write_text(json.dumps({**text, "sha256": one.split_digest}))
    (cell,) = make_plan(evidence, "own", jobs[1:]).cells
    assert planned_of(cell).split_digest == one.split_digest
    key = put_run(evidence, planned_of(cell)).key
    assert broken(Auditor(evidence, Store(evidence.runs)).audit(key)) == ["split"]


# what two runs of one method share is looked at once; a forged one among sound ones must still show
IMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "code tree": lambda record: record["image"].update(code_tree="0" * 64),
    "environment tree": lambda record: record["image"].update(environment_tree="0" * 64),
    "no trees": lambda record: record.update(image={"id": record["image"]["id"]}),
}


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize("forged", [0, 1])
def test_a_forged_image_among_runs_of_one_method(evidence: Layout, made_up: Plan, kind: str, forged: int) -> None:
    forge_record(evidence, made_up, IMAGES[kind], cell=forged)
    found = audits(evidence, [planned_of(cell).key for cell in made_up.cells[:2]])
    assert "image tree" in broken(found[forged])
    assert broken(found[1 - forged]) == []


def test_the_image_in_the_engine_is_compared_with_each_run(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(_layout: Layout, _engine: object, record: Record, _superseded: object) -> list[Step]:
        return [ok("engine image", "looked at", record.image["code_tree"])]

    monkeypatch.setattr("harness.audit.chain.check_built", built)
    forge_record(evidence, made_up, IMAGES["code tree"], cell=1)
    one, other = audits(evidence, [planned_of(cell).key for cell in made_up.cells[:2]])
    found = [step.found for audit in (one, other) for step in audit.steps if step.name == "engine image"]
    assert found == [Store(evidence.runs).record(one.key).image["code_tree"], "0" * 64]


def test_locks_for_a_gpu_are_looked_at_after_those_for_a_processor(evidence: Layout) -> None:
    job = job_of(evidence, "fastai_collab", 7)
    plan = make_plan(evidence, "both", [job, job.model_copy(update={"accelerator": "cuda"})])
    keys = [put_run(evidence, planned_of(cell), score=False).key for cell in plan.cells]
    for audit, accelerator in zip(audits(evidence, keys), ("cpu", "cuda"), strict=True):
        locks = {step.name for step in audit.steps if step.name.startswith("lock fastai_collab/wheels")}
        assert locks == {f"lock fastai_collab/wheels.{accelerator}.lock"}


def test_inputs_of_one_order_are_not_taken_for_those_of_another(evidence: Layout, made_up: Plan) -> None:
    """Two runs of one split tell of the same files, in their own order those of the first alone."""
    first_key, key = (planned_of(made_up.cells[cell]).key for cell in (0, 2))
    told = json.loads((folder_of(evidence, made_up) / "job.json").read_text())["inputs"]
    forge_job(evidence, made_up, lambda job: job.update(inputs=told), cell=2)
    one, other = audits(evidence, [first_key, key])
    assert (broken(one), broken(other)) == ([], ["input associations", "input folds"])


@pytest.mark.parametrize("forged", [0, 1])
def test_a_forged_input_among_runs_of_one_split(evidence: Layout, made_up: Plan, forged: int) -> None:
    """The first run of constant and that of als_wr are of one dataset and one split."""
    cells = (0, 2)
    forge_job(
        evidence,
        made_up,
        lambda job: job["inputs"]["associations"].update(sha256="0" * 64),
        cell=cells[forged],
    )
    found = audits(evidence, [planned_of(made_up.cells[cell]).key for cell in cells])
    assert broken(found[forged]) == ["input associations"]
    assert broken(found[1 - forged]) == []


@pytest.mark.parametrize("forged", [0, 1])
def test_a_forged_input_among_runs_of_one_order(evidence: Layout, made_up: Plan, forged: int) -> None:
    """Two runs of one split in the published order saw the same files."""
    cells = (0, 2)
    planned = [planned_of(made_up.cells[cell]) for cell in cells]
    made = make_inputs(evidence, planned[0], ["associations", "folds"], order=PUBLISHED).inputs
    told = {name: dict(as_file(name, one).description) for name, one in made.items()}
    for cell in cells:
        forge_job(evidence, made_up, lambda job: job.update(inputs=told), cell=cell)
        forge_record(evidence, made_up, lambda record: record.update(order=PUBLISHED), cell=cell)
    other = {**told, "folds": {**told["folds"], "sha256": "0" * 64}}
    forge_job(evidence, made_up, lambda job: job.update(inputs=other), cell=cells[forged])
    found = audits(evidence, [one.key for one in planned])
    inputs = [[name for name in broken(audit) if name.startswith("input")] for audit in found]
    assert inputs[forged] == ["input folds"] and inputs[1 - forged] == []


@pytest.mark.parametrize("forged", [0, 1])
def test_a_run_of_another_split_under_the_name_of_a_sound_one(
    evidence: Layout, made_up: Plan, forged: int
) -> None:
    cells = (0, 2)
    keys = [planned_of(made_up.cells[cell]).key for cell in cells]
    keys[forged] = forge_plan(evidence, made_up, cells[forged], split_digest="0" * 64)
    found = audits(evidence, keys)
    assert "split" in broken(found[forged])
    assert broken(found[1 - forged]) == []


@pytest.mark.parametrize("forged", [0, 1])
@pytest.mark.parametrize("field", ["dataset_digest", "image_tree"])
def test_a_superseded_run_among_sound_ones(evidence: Layout, made_up: Plan, field: str, forged: int) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells[:2]]
    keys[forged] = forge_plan(evidence, made_up, forged, **{field: "0" * 64})
    found = audits(evidence, keys)
    assert found[forged].superseded
    assert not found[1 - forged].superseded and broken(found[1 - forged]) == []


def test_a_split_of_the_second_run_that_was_changed(evidence: Layout, made_up: Plan) -> None:
    path = evidence.datasets / "synthetic" / "splits.csv"
    path.write_text(path.read_text().replace(planned_of(made_up.cells[1]).split_digest, "0" * 64))
    one, other = audits(evidence, [planned_of(cell).key for cell in made_up.cells[:2]])
    assert broken(one) == [] and "split" in broken(other)


def test_an_auditor_looks_at_what_runs_share_once(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a hundred thousand runs could not be audited."""
    asked: list[str] = []

    def counted(name: str) -> None:
        check = getattr(__import__("harness.audit.chain", fromlist=[name]), name)

        def again(*given: Any) -> Any:
            asked.append(name)
            return check(*given)

        monkeypatch.setattr(f"harness.audit.chain.{name}", again)

    shared = {"check_environment": 2, "check_dataset": 1, "check_split": 2, "check_image": 2, "find_superseded": 2}
    for name in shared:
        counted(name)
    auditor = Auditor(evidence, Store(evidence.runs))
    for cell in made_up.cells[:3]:
        auditor.audit(planned_of(cell).key)
    assert {name: asked.count(name) for name in shared} == shared


def test_inputs_are_held_against_what_each_card_names(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run that was handed less than it reads hides behind one that was handed as much and reads no more."""
    key = planned_of(made_up.cells[0]).key
    fewer, more = ["associations", "folds"], ["associations", "drug_features", "folds"]
    asked, cards = list[Any](), iter([fewer, more, fewer])

    def check(*given: Any) -> list[Step]:
        asked.append(given[-1])
        return check_inputs(*given)

    monkeypatch.setattr("harness.audit.chain.check_inputs", check)
    monkeypatch.setattr(Auditor, "_inputs_of", lambda *_: next(cards))
    auditor = Auditor(evidence, Store(evidence.runs))
    broke = [broken(auditor.audit(key)) for _ in range(3)]
    assert asked == [fewer, more] and broke == [[], ["input drug_features"], []]


def test_results_of_changed_data_are_not_scored_by_the_present_ones(evidence: Layout, made_up: Plan) -> None:
    key = forge_plan(evidence, made_up, dataset_digest="0" * 64)
    (audit,) = audits(evidence, [key])
    told = {step.name: step for step in audit.steps}
    assert broken(audit) == []
    assert audit.superseded.startswith("dataset 'synthetic' changed")
    for name in ("scores", "dataset"):
        assert told[name] == not_checked(name, f"superseded: {audit.superseded}", Lack.SUPERSEDED)
    assert "predictions" not in told and "split" not in told


def test_a_key_is_that_of_its_record(evidence: Layout, made_up: Plan) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    store.amend(replace_planned(store, key))
    (audit,) = audits(evidence, [key])
    assert broken(audit) == ["record"] and len(audit.steps) == 1 and audit.label == f"the run {key[:12]}"


def replace_planned(store: Store, key: str) -> Any:
    record = store.record(key)
    return record.model_copy(update={"planned": record.planned.model_copy(update={"split_digest": "0" * 64})})


def test_a_verdict_that_was_improved(evidence: Layout, made_up: Plan) -> None:
    """An error that calls itself ok has no predictions to show."""
    store, key = Store(evidence.runs), planned_of(made_up.cells[3]).key
    store.amend(store.record(key).model_copy(update={"verdict": Verdict.OK}))
    (audit,) = audits(evidence, [key])
    assert {"files", "predictions"} <= set(broken(audit))


def test_files_that_can_not_be_read_are_broken_links(evidence: Layout, made_up: Plan) -> None:
    path = folder_of(evidence, made_up) / "log.txt"
    if os.geteuid() == 0:
        path.unlink()
        path.mkdir()
    else:
        path.chmod(0)
    assert any(name in ("log.txt", "files") for name in broken(first(evidence, made_up)))


def test_counts_are_of_the_steps(evidence: Layout, made_up: Plan) -> None:
    audit = first(evidence, made_up)
    assert audit.counts.total() == len(audit.steps) and not audit.failed
    wrong = replace(audit, steps=(*audit.steps, replace(audit.steps[0], checked=Checked.FAILED)))
    assert wrong.failed and wrong.counts[Checked.FAILED] == 1
