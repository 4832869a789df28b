"""What runs share is looked at once: a run that differs in one thing from a sound one has a look of its own.

Where inputs and order of the second run are forged to be those of the first, only what else is asked about tells.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.audit import basis
from harness.audit.chain import Auditor, check_entry, check_files, check_job, check_place
from harness.audit.steps import Audit, Checked, Lack, Step, failed, not_checked, ok
from harness.base.errors import EngineError
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.data import dataset_digest
from harness.images.export import HeldTrees
from harness.planning.plan import Plan, make_plan
from harness.results.reference import load_reference, reference_file, save_reference
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.audit.forging import broken, forge_job, forge_plan, forge_record, refresh
from tests.audit.test_an_image_is_swapped import RAN, engine_with
from tests.fabricate import job_of, planned_of, put_run


def audits(layout: Layout, *keys: str, **engine: Any) -> list[Audit]:
    refresh()
    auditor = Auditor(layout, Store(layout.runs), **engine)
    return [auditor.audit(key) for key in keys]


def same_inputs(layout: Layout, plan: Plan, *, order: bool) -> None:
    """The third run, of the same dataset and split as the first, saw what the first saw, and in its order."""
    store = Store(layout.runs)
    first, third = (planned_of(plan.cells[cell]).key for cell in (0, 2))
    inputs = json.loads((store.path(first) / "job.json").read_text())["inputs"]
    forge_job(layout, plan, lambda job: job.update(inputs=inputs), cell=2)
    if order:
        store.amend(store.record(third).model_copy(update={"order": store.record(first).order}))


def test_inputs_in_another_order_are_looked_at_again(evidence: Layout, made_up: Plan) -> None:
    same_inputs(evidence, made_up, order=False)
    one, other = audits(evidence, *(planned_of(made_up.cells[cell]).key for cell in (0, 2)))
    assert broken(one) == [] and {"input associations", "input folds"} <= set(broken(other))


def test_the_same_inputs_in_the_same_order_are_sound_of_both(evidence: Layout, made_up: Plan) -> None:
    same_inputs(evidence, made_up, order=True)
    for audit in audits(evidence, *(planned_of(made_up.cells[cell]).key for cell in (0, 2))):
        assert not [name for name in broken(audit) if name.startswith("input")]


SPLIT = SplitSpec(strategy="random", seed=22928437)


@pytest.mark.parametrize(
    ("changed", "links"),
    [
        ({"split_digest": "0" * 64}, {"inputs", "split"}),
        ({"job": {"split": SPLIT}}, {"inputs", "split"}),
        ({"job": {"options": {"inner_folds": 2}}}, {"inputs"}),
    ],
)
def test_inputs_of_another_split_or_other_options_are_looked_at_again(
    evidence: Layout, made_up: Plan, changed: dict[str, Any], links: set[str]
) -> None:
    same_inputs(evidence, made_up, order=True)
    job = planned_of(made_up.cells[2]).job
    fields = {name: job.model_copy(update=value) if name == "job" else value for name, value in changed.items()}
    key = forge_plan(evidence, made_up, 2, **fields)
    one, other = audits(evidence, planned_of(made_up.cells[0]).key, key)
    assert broken(one) == [] and links <= set(broken(other))


@pytest.mark.parametrize(("field", "lack"), [("method", "image"), ("dataset", "data")])
def test_a_run_of_something_that_is_gone_is_not_taken_for_a_present_one(
    evidence: Layout, made_up: Plan, field: str, lack: str
) -> None:
    """Though all its digests are those of the other."""
    job = planned_of(made_up.cells[2]).job.model_copy(update={field: "of_old"})
    one = planned_of(made_up.cells[0])
    key = forge_plan(evidence, made_up, 2, job=job, image_tree=one.image_tree)
    first, second = audits(evidence, one.key, key)
    assert first.superseded == ""
    assert f"there is no {field} 'of_old' in this repository any more" in second.superseded


def test_a_run_of_other_data_is_not_taken_for_one_of_the_present(evidence: Layout, made_up: Plan) -> None:
    """Though its method, its image and the name of its dataset are those of the other."""
    key = forge_plan(evidence, made_up, 1, dataset_digest="0" * 64)
    first, second = audits(evidence, planned_of(made_up.cells[0]).key, key)
    assert first.superseded == "" and "dataset" in second.superseded


def test_a_run_of_other_data_is_no_sound_one_where_the_digest_is_found_in_a_mirror_alone(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There nothing says beforehand that the data have changed."""
    monkeypatch.setattr(basis, "_digest_now", lambda *_: "")
    key = forge_plan(evidence, made_up, 1, dataset_digest="0" * 64)
    first, second = audits(evidence, planned_of(made_up.cells[0]).key, key)
    assert first.superseded == second.superseded == ""
    assert broken(first) == [] and "dataset" in broken(second)


def held(monkeypatch: pytest.MonkeyPatch, trees: tuple[str, str]) -> None:
    """What the engine's image holds."""

    def read(*_: object) -> HeldTrees:
        return HeldTrees(image_id=RAN, environment_tree=trees[0], code_tree=trees[1])

    monkeypatch.setattr(basis, "held_trees", read)


@pytest.mark.parametrize("forged", ["image", "plan"])
def test_the_engines_image_is_looked_at_for_each_kind_of_run(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, forged: str
) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells[:2]]
    image = Store(evidence.runs).record(keys[0]).image
    held(monkeypatch, (image["environment_tree"], image["code_tree"]))
    if forged == "image":
        forge_record(evidence, made_up, lambda record: record["image"].update(code_tree="0" * 64), cell=1)
    else:
        keys[1] = forge_plan(evidence, made_up, 1, image_tree="0" * 64)
    steps = [
        next(step for step in audit.steps if step.name == "engine image")
        for audit in audits(evidence, *keys, engine=engine_with(RAN))
    ]
    assert steps[0].checked is Checked.OK
    expected = (Checked.FAILED, None) if forged == "image" else (Checked.NOT_CHECKED, Lack.SUPERSEDED)
    assert (steps[1].checked, steps[1].lack) == expected


def test_the_locks_of_each_method_and_accelerator_are_looked_at(evidence: Layout, made_up: Plan) -> None:
    job = job_of(evidence, "fastai_collab", 7)
    keys = [planned_of(made_up.cells[0]).key]
    for accelerator in ("cpu", "cuda"):
        (cell,) = make_plan(evidence, "both", [job.model_copy(update={"accelerator": accelerator})]).cells
        keys.append(put_run(evidence, planned_of(cell), score=False).key)
    other, *both = audits(evidence, *keys)
    assert not [step.name for step in other.steps if "fastai_collab/" in step.name]
    for accelerator, audit in zip(("cpu", "cuda"), both, strict=True):
        names = {step.name for step in audit.steps if step.name.startswith("lock fastai_collab/")}
        assert names == {f"lock fastai_collab/wheels.{accelerator}.lock"}


def test_each_dataset_is_looked_at(evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    planned = planned_of(made_up.cells[1])
    job = planned.job.model_copy(update={"dataset": "hdvd"})
    key = forge_plan(evidence, made_up, 1, job=job, dataset_digest=dataset_digest(evidence, "hdvd"))
    one, other = audits(evidence, planned_of(made_up.cells[0]).key, key)
    assert broken(one) == []
    assert not_checked("dataset", "the data of 'hdvd' are not on this machine", Lack.DATA) in other.steps


def changed_code(layout: Layout) -> None:
    path = layout.methods / "constant" / "main.py"
    path.write_text(path.read_text() + "\nchanged = 1\n")


def other_numpy(layout: Layout, plan: Plan) -> None:
    """The first run's report, of another version of a library than is locked; all else agrees."""
    report = Store(layout.runs).path(planned_of(plan.cells[0]).key) / "method.json"
    size = report.stat().st_size
    write_json(report, {**json.loads(report.read_text()), "versions": {"numpy": "1.0"}})
    grown = report.stat().st_size - size

    def larger(record: dict[str, Any]) -> None:
        record["resources"]["output_bytes"] += grown

    forge_record(layout, plan, larger)


def test_a_run_of_changed_code_is_not_held_against_the_present_card_and_locks(
    evidence: Layout, made_up: Plan
) -> None:
    """Its limits were those of the card of its time, and its libraries those of the locks."""
    card = evidence.methods / "constant" / "method.toml"
    text = card.read_text()
    card.write_text(text.replace("seconds = ", "seconds = 1"))
    assert card.read_text() != text
    other_numpy(evidence, made_up)
    (before,) = audits(evidence, planned_of(made_up.cells[0]).key)
    assert broken(before) == ["plausibility", "plausibility"]
    changed_code(evidence)
    (after,) = audits(evidence, planned_of(made_up.cells[0]).key)
    assert broken(after) == [] and after.superseded


def test_a_check_that_can_not_be_made_is_told_under_its_name(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = planned_of(made_up.cells[0]).key
    save_reference(evidence, Store(evidence.runs))
    reference = next((evidence.reference / "repurposing" / "constant").glob("*.gz"))
    card = evidence.methods / "constant" / "method.toml"
    tree = evidence.containers / "_base" / "tree.toml"
    for path, names in (
        (reference, ["reference"]),
        (card, ["plausibility", "image tree"]),
        (tree, ["image tree", "lock"]),
    ):
        honest = path.read_bytes()
        path.write_bytes(b"[nonsense")
        (audit,) = audits(evidence, key)
        path.write_bytes(honest)
        assert broken(audit) == names, path.name

    def gone(*_: object) -> HeldTrees:
        raise EngineError("the engine is gone", where="a socket", todo="start it")

    monkeypatch.setattr(basis, "held_trees", gone)
    (audit,) = audits(evidence, key, engine=engine_with(RAN))
    assert not_checked("engine image", "the engine is gone (a socket)", Lack.ENGINE) in audit.steps


def test_a_lock_that_can_not_be_read_leaves_the_versions_open(evidence: Layout, made_up: Plan) -> None:
    lock = evidence.containers / "_numpy" / "wheels.cpu.lock"
    other_numpy(evidence, made_up)
    lock.write_text("nonsense\n")
    (audit,) = audits(evidence, planned_of(made_up.cells[0]).key)
    assert broken(audit) == ["plausibility", "image tree", "lock _numpy/wheels.cpu.lock"]


def test_what_is_known_of_a_run_is_handed_on(evidence: Layout, made_up: Plan) -> None:
    for cell in (0, 3):
        planned = planned_of(made_up.cells[cell])
        (audit,) = audits(evidence, planned.key)
        assert (audit.key, audit.label, audit.benchmark) == (planned.key, planned.job.label, "repurposing")
        assert audit.verdict == ("ok" if cell == 0 else "error") and audit.unfinished == ""
        assert audit.steps[0] == ok("record", "digest, schema, and key recomputed from its parts", planned.key)


def test_a_committed_result_has_the_steps_of_its_reading(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_reference(evidence, Store(evidence.runs))
    entries = load_reference(evidence)
    sound, wrong = (planned_of(made_up.cells[cell]).key for cell in (0, 3))
    read = "digest, schema, and key recomputed from its parts"
    made = ok("scores", "digest, and made from the files that the record names")
    assert check_entry(entries[sound]) == [ok("record", read, sound), made]
    assert check_entry(entries[wrong]) == [ok("record", read, wrong)]
    audit = Auditor(evidence, Store(evidence.runs)).audit_reference(entries[sound])
    why = "a reference result keeps their sha256 only; --replay makes them again"
    assert not_checked("predictions", why, Lack.REPLAY) in audit.steps
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    stale = not_checked("scores", "of another scorer than the present one", Lack.STALE)
    assert check_entry(entries[sound]) == [ok("record", read, sound), stale]


def test_a_committed_result_that_lies_where_nobody_looks_for_it_is_a_broken_link(
    evidence: Layout, made_up: Plan
) -> None:
    """Found by its key, it would be held against no run of its own job."""
    save_reference(evidence, Store(evidence.runs))
    before = load_reference(evidence)
    key = planned_of(made_up.cells[0]).key
    path = reference_file(evidence, before[key].planned)
    assert check_place(evidence, before[key]) == []
    astray = evidence.reference / "zz" / path.relative_to(evidence.reference)
    astray.parent.mkdir(parents=True)
    path.rename(astray)
    entry = load_reference(evidence)[key]
    (step,) = check_place(evidence, entry)
    expected = path.relative_to(evidence.root).as_posix()
    assert (step.checked, step.expected) == (Checked.FAILED, expected)
    assert step.found == astray.relative_to(evidence.root).as_posix() and step.where == entry.where
    audit = Auditor(evidence, Store(evidence.runs)).audit_reference(entry)
    assert audit.failed and step in audit.steps


def test_a_committed_result_of_other_parameters_than_the_cards_is_superseded(
    evidence: Layout, made_up: Plan
) -> None:
    """A person's own run of them is not: who runs a method otherwise for themselves may."""
    key = planned_of(made_up.cells[2]).key
    save_reference(evidence, Store(evidence.runs))
    entry = load_reference(evidence)[key]
    card = evidence.methods / "als_wr" / "method.toml"
    card.write_text(card.read_text().replace("n_factors = 15", "n_factors = 16"))
    refresh()
    auditor = Auditor(evidence, Store(evidence.runs))
    given = "the card of 'als_wr' gives variant 'published' other parameters now"
    assert auditor.audit_reference(entry).superseded == given
    assert (
        auditor.audit(key).superseded
        == ""
        == auditor.audit_reference(load_reference(evidence)[planned_of(made_up.cells[0]).key]).superseded
    )


def test_a_file_too_many_is_told_by_name_and_place(evidence: Layout, made_up: Plan) -> None:
    """In the order of their names."""
    folder = Store(evidence.runs).path(planned_of(made_up.cells[0]).key)
    names = ["z", "k", "b", "x", "a", "m"]
    for name in names:
        (folder / name).write_text("an extra")
    (audit,) = audits(evidence, planned_of(made_up.cells[0]).key)
    assert [step for step in audit.steps if step.name == "files"] == [
        failed("files", "a file that the record does not name", found=name, where=folder / name)
        for name in sorted(names)
    ]


def test_files_are_told_in_the_order_of_their_names(evidence: Layout, made_up: Plan) -> None:
    """Whatever the order of the record is."""
    store = Store(evidence.runs)
    record = store.record(planned_of(made_up.cells[0]).key)
    turned = record.model_copy(update={"files": dict(sorted(record.files.items(), reverse=True))})
    assert [step.name for step in check_files(store, turned)] == sorted(record.files)


def test_what_the_container_was_told_has_no_order(evidence: Layout, made_up: Plan) -> None:
    """A document with its parameters the other way round tells the same."""
    key = planned_of(made_up.cells[2]).key
    record = Store(evidence.runs).record(key)
    document = json.loads((Store(evidence.runs).path(key) / "job.json").read_text())
    assert len(document["parameters"]) > 1
    turned = {**document, "parameters": dict(reversed(document["parameters"].items()))}
    told = check_job(turned, record, Path("job.json"))
    assert [(step.name, step.checked) for step in told] == [("job", Checked.OK), ("seed", Checked.OK)]
    seed = Step("seed", Checked.OK, "the seed the container was told", found=str(record.planned.job.fit_seed))
    assert told[1] == seed
    without = record.model_copy(update={"files": {}})
    assert check_job(None, without, Path("job.json")) == [
        not_checked("job", "the run kept no job document", lack=None),
        not_checked("seed", "no job document", lack=None),
    ]
    assert check_job(None, record, Path("job.json")) == [
        failed("job", "the job document can't be read", where="job.json")
    ]
    other = replace(seed, checked=Checked.FAILED, expected=seed.found, found="None", where="job.json")
    assert check_job({**document, "seed": None}, record, Path("job.json"))[1] == other
