"""Each link is computed from what the run rests on: its variant for a GPU, its layers, the data in its mirrors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import ImageNotFound

from harness.audit import audit_runs
from harness.audit.basis import (
    Superseded,
    check_built,
    check_dataset,
    check_environment,
    check_image,
    check_inputs,
    check_originals,
    check_recorded,
    check_split,
    find_superseded,
    outgrown_by_card,
)
from harness.audit.chain import Auditor
from harness.audit.plausibility import check_card, check_kept
from harness.audit.results import check_predictions, check_scores
from harness.audit.steps import Checked, Lack, Step, failed, guarded, not_checked, ok
from harness.base.errors import CorruptData
from harness.base.files import sha256_of
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.data.sources import cache_path
from harness.engine import Engine
from harness.execution.inputs import make_inputs
from harness.execution.tasks import limits_of
from harness.images import code_tree, image_name, image_tree
from harness.images.identity import combined
from harness.images.record import recorded_tree
from harness.planning.jobs import card_of
from harness.planning.plan import Plan, make_plan
from harness.results.records import Record
from harness.results.reference import load_reference, save_reference
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.audit.conftest import TABLES, Mirrored
from tests.audit.forging import forge_record, refresh
from tests.data.own_data import source
from tests.fabricate import job_of, plan_of, planned_of

GPU = "fastai_collab"


def record_of(layout: Layout, plan: Plan, cell: int = 0) -> Record:
    return Store(layout.runs).record(planned_of(plan.cells[cell]).key)


def changed_plan(record: Record, **fields: Any) -> Record:
    return record.model_copy(update={"planned": record.planned.model_copy(update=fields)})


@pytest.fixture
def on_gpu(evidence: Layout, made_up: Plan) -> Record:
    """A record of the image for a GPU."""
    job = job_of(evidence, GPU, 7).model_copy(update={"accelerator": "cuda"})
    (cell,) = make_plan(evidence, "gpu", [job]).cells
    planned, record = planned_of(cell), record_of(evidence, made_up)
    tree = recorded_tree(evidence, GPU, "cuda")
    code = code_tree(evidence, GPU)
    assert planned.image_tree == combined(tree, code) != image_tree(evidence, GPU)
    limits = limits_of(card_of(evidence, job))
    return record.model_copy(
        update={
            "planned": planned,
            "key": planned.key,
            "image": {"id": "sha256:1", "environment_tree": tree, "code_tree": code},
            "limits": {**record.limits, "gpus": len(limits.gpus), "memory_bytes": limits.memory_bytes},
        }
    )


def test_the_image_for_a_gpu_is_held_against_its_own_environment(evidence: Layout, on_gpu: Record) -> None:
    assert find_superseded(evidence, on_gpu) == Superseded()
    steps = check_image(evidence, on_gpu, Superseded())
    assert [(step.name, step.checked) for step in steps] == [
        ("image tree", Checked.OK),
        ("code tree", Checked.OK),
        ("environment tree", Checked.OK),
    ]
    job = on_gpu.planned.job.model_copy(update={"accelerator": "cpu"})
    assert find_superseded(evidence, changed_plan(on_gpu, job=job)).image.startswith("code or environment of")
    outgrown = find_superseded(evidence, changed_plan(on_gpu, image_tree="0" * 64))
    assert outgrown.image.startswith("code or environment of")


def test_the_locks_for_a_gpu_are_other_ones(evidence: Layout) -> None:
    names = {}
    for accelerator in ("cpu", "cuda"):
        steps = check_environment(evidence, GPU, accelerator)
        assert {step.checked for step in steps} == {Checked.OK}
        names[accelerator] = {step.name for step in steps if "wheels" in step.name}
    for accelerator, found in names.items():
        assert {f"lock {name}/wheels.{accelerator}.lock" for name in ("_torch", GPU)} <= found
    assert names["cpu"] & names["cuda"] == set()


def test_a_library_is_of_the_version_that_is_locked_for_a_gpu(
    evidence: Layout, on_gpu: Record, tmp_path: Path
) -> None:
    (tmp_path / "method.json").write_text('{"versions": {"torch": "2.13.0"}}')
    assert [step.checked for step in check_kept(evidence, on_gpu, tmp_path, None)] == [Checked.OK]
    job = on_gpu.planned.job.model_copy(update={"accelerator": "cpu"})
    (step,) = check_kept(evidence, changed_plan(on_gpu, job=job), tmp_path, None)
    assert (step.what, step.expected, step.found) == (
        "method.json names another version of torch than is locked",
        "2.13.0+cpu",
        "2.13.0",
    )


def test_the_limits_of_a_run_on_a_gpu_have_one(evidence: Layout, on_gpu: Record) -> None:
    gpus = {step.what: (step.expected, step.found) for step in check_card(evidence, on_gpu)}
    assert "the limit of gpus is not that of the card" not in gpus
    other = on_gpu.model_copy(update={"limits": {**on_gpu.limits, "gpus": 0}})
    gpus = {step.what: (step.expected, step.found) for step in check_card(evidence, other)}
    assert gpus["the limit of gpus is not that of the card"] == ("1", "0")


def test_the_image_for_a_gpu_is_looked_for_under_its_name(evidence: Layout, on_gpu: Record) -> None:
    def get(name: str) -> Any:
        raise ImageNotFound(name)

    engine = cast(Engine, SimpleNamespace(client=SimpleNamespace(images=SimpleNamespace(get=get))))
    name = image_name(evidence, GPU, "cuda")
    assert name != image_name(evidence, GPU)
    assert check_built(evidence, engine, on_gpu, Superseded()) == [
        not_checked("engine image", f"{name} is not built in this engine", Lack.ENGINE)
    ]
    assert check_built(evidence, None, on_gpu, Superseded()) == [
        not_checked("engine image", "no engine", Lack.ENGINE)
    ]
    assert check_built(evidence, engine, on_gpu, Superseded(image="code changed")) == [
        not_checked("engine image", "superseded: code changed", Lack.SUPERSEDED)
    ]


@pytest.mark.parametrize("tree", ["0" * 64, "f" * 64])
def test_a_tree_that_is_another_is_told_with_its_place(evidence: Layout, made_up: Plan, tree: str) -> None:
    """And nothing but the sum of both where code or environment changed since."""
    record = record_of(evidence, made_up)
    right = record.image
    changed = record.model_copy(update={"image": {**right, "environment_tree": tree, "code_tree": tree}})
    whole, code, environment = check_image(evidence, changed, Superseded())
    what = "the key's tree is that of environment and code together"
    expected, found = record.planned.image_tree, combined(tree, tree)
    assert whole == failed("image tree", what, expected=expected, found=found)
    assert code == failed(
        "code tree",
        "computed from the repository",
        expected=tree,
        found=right["code_tree"],
        where=evidence.methods / "constant",
    )
    assert environment == failed(
        "environment tree", "recorded in the repository", expected=tree, found=right["environment_tree"]
    )
    unlike = not_checked("code tree", "superseded: code changed", Lack.SUPERSEDED)
    outgrown = Superseded(image="code changed")
    assert check_image(evidence, record, outgrown) == [ok("image tree", what, expected), unlike]
    assert check_image(evidence, changed, outgrown) == [whole, unlike]


def test_why_a_run_is_superseded_is_said_in_words(evidence: Layout, made_up: Plan) -> None:
    record = record_of(evidence, made_up)
    for digest in ("0" * 64, "f" * 64):
        found = find_superseded(evidence, changed_plan(record, image_tree=digest, dataset_digest=digest))
        assert found == Superseded(
            f"code or environment of 'constant' changed: the image tree is {record.planned.image_tree[:12]} now",
            f"dataset 'synthetic' changed: its digest is {record.planned.dataset_digest[:12]} now",
        )
        assert str(found) == f"{found.image}; {found.data}"
    job = record.planned.job.model_copy(update={"method": "of_old", "dataset": "of_old"})
    assert find_superseded(evidence, changed_plan(record, job=job)) == Superseded(
        "there is no method 'of_old' in this repository any more",
        "there is no dataset 'of_old' in this repository any more",
    )


def test_why_a_committed_result_is_outgrown_by_its_card_is_said_in_words(evidence: Layout, made_up: Plan) -> None:
    job = record_of(evidence, made_up, 2).planned.job
    assert outgrown_by_card(evidence, job) == ""
    tuned = job.model_copy(update={"parameters": {**job.parameters, "more": 1}})
    given = f"the card of '{job.method}' gives variant 'published' other parameters now"
    assert outgrown_by_card(evidence, tuned) == given
    name, value = next(iter(job.parameters.items()))
    assert (
        outgrown_by_card(evidence, job.model_copy(update={"parameters": {**job.parameters, name: [value]}}))
        == given
    )
    fewer = {one: kept for one, kept in job.parameters.items() if one != name}
    assert outgrown_by_card(evidence, job.model_copy(update={"parameters": fewer})) == given
    old = job.model_copy(update={"variant": "of_old"})
    assert outgrown_by_card(evidence, old) == f"method '{job.method}' has no variant 'of_old'"


def test_what_is_broken_is_not_called_superseded(evidence: Layout, made_up: Plan) -> None:
    """Its own link says that it is broken."""
    (evidence.containers / "_base" / "tree.toml").unlink()
    manifest = evidence.datasets / "synthetic" / "dataset.toml"
    manifest.write_text(manifest.read_text().replace("name", "nam", 1))
    assert find_superseded(evidence, record_of(evidence, made_up)) == Superseded()


def test_a_run_of_older_data_is_not_blamed_for_files_that_were_edited_since(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its data are not those of the manifest, whatever the files hold by now."""
    record = record_of(evidence, made_up)

    def edited(*_: object, **__: object) -> str:
        raise CorruptData("a file changed since the manifest recorded what it holds")

    monkeypatch.setattr("harness.audit.basis.dataset_digest", edited)
    # of a run of these very data the dataset's own step tells
    assert find_superseded(evidence, record) == Superseded()
    monkeypatch.setattr("harness.audit.basis.recorded_digest", lambda *_: "e" * 64)
    assert find_superseded(evidence, record) == Superseded(
        data=f"dataset 'synthetic' changed: its digest is {'e' * 12} now"
    )
    monkeypatch.setattr("harness.audit.basis.recorded_digest", lambda *_: "")
    assert find_superseded(evidence, record) == Superseded()


def test_data_of_today_are_looked_for_where_the_audit_was_told_to_look(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Data whose digest no manifest records are converted from files that may lie in a mirror alone."""

    def converted(_: Layout, name: str, *, mirrors: Sequence[Path]) -> str:
        assert (name, mirrors) == ("synthetic", (tmp_path,))
        return "e" * 64

    monkeypatch.setattr("harness.audit.basis.dataset_digest", converted)
    record = record_of(evidence, made_up)
    audit = Auditor(evidence, Store(evidence.runs), mirrors=(tmp_path,)).audit(record.key)
    assert audit.superseded == f"dataset 'synthetic' changed: its digest is {'e' * 12} now"


def environment_steps(layout: Layout) -> dict[str, Step]:
    return {step.name: step for step in check_environment(layout, "constant", "cpu")}


def test_a_lock_that_was_never_recorded_is_a_broken_link(evidence: Layout) -> None:
    """As one that was recorded and is gone."""
    record = evidence.containers / "_numpy" / "tree.toml"
    name, path = "lock _numpy/wheels.cpu.lock", evidence.containers / "_numpy" / "wheels.cpu.lock"
    found = environment_steps(evidence)[name].found
    lines = [line for line in record.read_text().splitlines() if not line.startswith('"wheels.cpu.lock"')]
    record.write_text("\n".join(lines) + "\n")
    what = "sha256 against containers/_numpy/tree.toml"
    assert environment_steps(evidence)[name] == failed(name, what, expected="-", found=found, where=path)
    names = ["v.lock", "b.lock", "m.lock", "a.lock", "k.lock"]
    record.write_text(record.read_text() + "".join(f'"{one}" = "{"0" * 64}"\n' for one in names))
    steps = [step for step in environment_steps(evidence).values() if step.name.startswith("lock _numpy/")]
    assert [step.name for step in steps] == [f"lock _numpy/{one}" for one in sorted([*names, "wheels.cpu.lock"])]
    assert {step.found for step in steps[:-1]} == {"-"}


def test_a_lock_of_what_the_tree_does_not_hold_is_a_broken_link(evidence: Layout) -> None:
    """Its own sha256 stands in a note beside it, and was made to fit."""
    folder = evidence.containers / "_numpy"
    lock, record = folder / "wheels.cpu.lock", folder / "tree.toml"
    before, text = sha256_of(lock), lock.read_text()
    (line,) = re.findall(r"^numpy==[\d.]+", text, re.MULTILINE)
    lock.write_text(text.replace(line, "numpy==9.9.9", 1))
    record.write_text(record.read_text().replace(before, sha256_of(lock)))
    steps = environment_steps(evidence)
    assert steps["lock _numpy/wheels.cpu.lock"].checked is Checked.OK
    what = "what is locked is not in the listing beside it: numpy 9.9.9"
    assert steps["tree _numpy"] == failed("tree _numpy", what, where=record)


def test_a_lock_of_another_file_than_was_noticed_is_a_broken_link(evidence: Layout) -> None:
    """Of the same name and version: all that tells is what was recorded of the file itself."""
    folder = evidence.containers / "_numpy"
    lock, record = folder / "wheels.cpu.lock", folder / "tree.toml"
    before, text = sha256_of(lock), lock.read_text()
    (notice,) = [line for line in (folder / "notices.jsonl").read_text().splitlines() if '"file": "numpy-' in line]
    known = json.loads(notice)
    assert known["sha256"] in text
    lock.write_text(text.replace(known["sha256"], "0" * 64))
    record.write_text(record.read_text().replace(before, sha256_of(lock)))
    steps = environment_steps(evidence)
    assert steps["lock _numpy/wheels.cpu.lock"].checked is Checked.OK
    what = f"notices.jsonl tells of other files with these names that are locked: {known['file']}"
    assert steps["tree _numpy"] == failed("tree _numpy", what, where=record)
    # of a part that nobody has fetched nothing was noticed
    (folder / "notices.jsonl").write_text("")
    assert environment_steps(evidence)["tree _numpy"].checked is Checked.OK


@pytest.mark.parametrize("kind", ["wheels_not_in", "unlike_notices"])
def test_of_many_parts_that_are_not_as_they_are_locked_three_are_named(
    evidence: Layout, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name in ("wheels_not_in", "unlike_notices"):
        monkeypatch.setattr(f"harness.audit.basis.{name}", lambda *_: [])
    assert environment_steps(evidence)["tree _numpy"].checked is Checked.OK
    for count, told in ((3, "p0, p1, p2"), (4, "p0, p1, p2 and 1 more")):
        parts = [f"p{number}" for number in range(count)]
        monkeypatch.setattr(f"harness.audit.basis.{kind}", lambda *_, parts=parts: parts)
        assert environment_steps(evidence)["tree _numpy"].what.endswith(f": {told}")


def test_a_layer_is_told_with_its_tree_and_its_place(evidence: Layout) -> None:
    steps = environment_steps(evidence)
    trees = [recorded_tree(evidence, name) for name in ("_base", "_python", "_numpy")]
    for name, tree, parent in zip(("_base", "_python", "_numpy"), trees, ("", *trees), strict=False):
        assert steps[f"tree {name}"] == ok(f"tree {name}", "the listing beside it has this digest", tree)
        assert steps[f"parent of {name}"] == ok(f"parent of {name}", "the tree it was built on", parent)
    lowest = evidence.containers / "_base" / "tree.toml"
    text = lowest.read_text()
    lowest.write_text(text.replace('parent = ""', f'parent = "{"0" * 64}"', 1))
    assert environment_steps(evidence)["parent of _base"] == failed(
        "parent of _base", "the tree it was built on", expected="0" * 64, where=lowest
    )
    lowest.write_text(text)
    record = evidence.containers / "_numpy" / "tree.toml"
    record.write_text(record.read_text().replace(f'parent = "{trees[1]}"', f'parent = "{"0" * 64}"'))
    assert environment_steps(evidence)["parent of _numpy"] == failed(
        "parent of _numpy", "the tree it was built on", expected="0" * 64, found=trees[1], where=record
    )
    (evidence.containers / "_numpy" / "tree.cpu.txt").unlink()
    assert environment_steps(evidence)["tree _numpy"] == failed(
        "tree _numpy", "the listing beside it is another", where=record
    )
    record.unlink()
    (*above, last) = check_environment(evidence, "constant", "cpu")
    assert last == failed("lock", "environment '_numpy' has no recorded tree", where=record)
    assert above[-1].name == "tree _python"
    assert check_environment(evidence, "of_old", "cpu") == [
        not_checked("lock", "there is no method 'of_old' in this repository any more", Lack.SUPERSEDED)
    ]


COMPUTED = ("disease_similarity", "disease_standardised", "drug_similarity", "drug_standardised")


@pytest.mark.parametrize("name", COMPUTED)
def test_an_input_that_is_computed_may_differ_on_another_processor(
    evidence: Layout, made_up: Plan, name: str
) -> None:
    record = record_of(evidence, made_up)
    assert record.made_by is not None
    away = record.model_copy(update={"made_by": record.made_by.model_copy(update={"processor": "another"})})
    inputs = make_inputs(evidence, record.planned, [name], order=record.order).inputs
    true = {one: as_file(one, given).description for one, given in inputs.items()}
    found = str(true[name]["sha256"])
    what = "made again from dataset, split and order"
    assert ok(f"input {name}", what, found) in check_inputs(evidence, away, true, ())
    for digit in "0f":
        forged = {**true, name: {"sha256": digit * 64}}
        assert failed(f"input {name}", what, expected=digit * 64, found=found) in check_inputs(
            evidence, record, forged, ()
        )
        said = (
            f"is computed, and comes out as {found[:12]} on this processor, not {digit * 12}: last bits differ "
            "between processors; --replay decides"
        )
        assert not_checked(f"input {name}", said, Lack.MACHINE) in check_inputs(evidence, away, forged, ())


def test_inputs_are_told_in_the_order_of_their_names(evidence: Layout, made_up: Plan) -> None:
    record = record_of(evidence, made_up)
    steps = check_inputs(evidence, record, {name: {"sha256": ""} for name in reversed(COMPUTED)}, ())
    assert [step.name for step in steps] == [
        f"input {name}" for name in sorted((*COMPUTED, "associations", "folds"))
    ]


def test_an_input_without_a_digest_is_a_broken_link(evidence: Layout, made_up: Plan) -> None:
    """As one that the container was not given."""
    record = record_of(evidence, made_up)
    steps = check_inputs(evidence, record, {"associations": {}}, ())
    assert [(step.name, step.checked, step.expected) for step in steps] == [
        ("input associations", Checked.FAILED, "-"),
        ("input folds", Checked.FAILED, "-"),
    ]
    assert check_inputs(evidence, record, None, ()) == [not_checked("inputs", "the run kept no job document")]
    assert check_inputs(evidence, record, [1], ()) == [
        failed("inputs", "the list of inputs in the run's job document is none")
    ]


def test_data_in_a_mirror_are_data_of_this_machine(mirrored: Mirrored) -> None:
    """Each check asks the mirror; without it nothing is called ok, and nothing is fetched."""
    layout, planned, record, mirrors = mirrored.layout, mirrored.planned, mirrored.record, (mirrored.mirror,)
    steps = check_dataset(layout, planned, mirrors)
    assert [(step.name, step.checked) for step in steps] == [
        *[("dataset", Checked.OK)] * 3,
        *((f"data {name}", Checked.OK) for name in TABLES),
    ]
    for check in (check_dataset, check_split):
        mirrored.forget()
        assert {step.checked for step in check(layout, planned, mirrors)} == {Checked.OK}
    mirrored.forget()
    document = {name: {"sha256": "0" * 64} for name in ("associations", "folds")}
    assert len(check_inputs(layout, record, document, mirrors)) == 2
    store = Store(layout.runs)
    for score in (check_predictions, check_scores):
        mirrored.forget()
        assert [step.checked for step in score(layout, store, record, mirrors)] == [Checked.OK]


def test_an_audit_looks_for_data_in_the_mirrors_it_is_told(
    mirrored: Mirrored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each of its links: none is left to what another one has fetched."""

    def forgetful(name: str, check: Callable[[], Sequence[Step]]) -> list[Step]:
        mirrored.forget()
        return guarded(name, check)

    monkeypatch.setattr("harness.audit.chain.guarded", forgetful)
    (audit,) = audit_runs(mirrored.layout, [mirrored.record.key], mirrors=[mirrored.mirror]).audits
    unlike = [step for step in audit.steps if step.checked is not Checked.OK]
    assert [step.name for step in unlike] == ["engine image"]


def test_without_the_data_it_is_said_of_each_file(mirrored: Mirrored) -> None:
    """Where the arrays are here all the same."""
    audit_runs(mirrored.layout, [mirrored.record.key], mirrors=[mirrored.mirror])
    assert check_originals(mirrored.layout, "mine", ()) == [
        not_checked(f"data {name}", "no copy on this machine; the arrays were checked", Lack.DATA)
        for name in TABLES
    ]
    steps = check_dataset(mirrored.layout, mirrored.planned, ())
    said = "not converted again: associations.csv is not on this machine"
    assert steps[2] == not_checked("dataset", said, Lack.DATA)


def test_a_copy_is_told_with_its_size_and_its_digest(mirrored: Mirrored) -> None:
    """One that was cut does not keep the dataset from being converted again from a whole one."""
    layout, planned, mirrors = mirrored.layout, mirrored.planned, (mirrored.mirror,)
    name, text = next(iter(TABLES.items()))
    file = source(text.encode(), f"https://example.invalid/{name}", name=name)
    cut = cache_path(layout, file)
    cut.parent.mkdir(parents=True)
    cut.write_text(text[:-9])
    steps = check_dataset(layout, planned, mirrors)
    assert [step.checked for step in steps[:3]] == [Checked.OK] * 3
    what = f"{len(text) - 9} bytes instead of {len(text)}: cut or changed"
    assert steps[3:5] == [
        failed(f"data {name}", what, expected=file.sha256, where=cut),
        ok(f"data {name}", f"sha256 of {len(text):,} bytes", file.sha256),
    ]


def test_a_split_that_nobody_published_has_no_checksum_without_the_data(evidence: Layout, made_up: Plan) -> None:
    """One that is published has."""
    planned = planned_of(plan_of(evidence, methods=("constant",), seeds=(1,)).cells[0])
    spec = SplitSpec(strategy="random", seed=17263407)
    here = not_checked("split", "the data of 'hdvd' are not on this machine", Lack.DATA)
    unknown = planned.job.model_copy(update={"dataset": "hdvd", "split": SplitSpec(strategy="random", seed=7)})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PERMAFROST_MIRROR", raising=False)
        assert check_split(evidence, planned.model_copy(update={"job": unknown}), ()) == [here]
        known = planned.job.model_copy(update={"dataset": "hdvd", "split": spec})
        first, second = check_split(evidence, planned.model_copy(update={"job": known}), ())
    what = "the recorded checksum is the one of the run"
    assert (first.name, first.what, first.expected) == ("split", what, planned.split_digest)
    assert first.checked is Checked.FAILED and second == here


def test_a_split_without_a_recorded_checksum_is_not_said_to_have_one(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run of this machine: it is what is made here that the run is held against."""
    planned = planned_of(made_up.cells[0])
    monkeypatch.setattr("harness.splits.splits.recorded_splits", lambda *_: {})
    what = "no checksum is recorded; that of the split as it is made here is the one of the run"
    assert check_split(evidence, planned, ())[0] == ok("split", what, planned.split_digest)


def test_a_dataset_whose_manifest_records_no_digest_is_not_said_to_have_one(
    evidence: Layout, made_up: Plan
) -> None:
    """Nothing is recorded of it then: it is the arrays here that the run is held against."""
    planned = planned_of(made_up.cells[0])
    path = evidence.datasets / planned.job.dataset / "dataset.toml"
    without = re.sub(r"\[converted\]\ndigest = .*\n", "", path.read_text())
    assert without != path.read_text()
    path.write_text(without)
    refresh()
    what = "the manifest records no digest; that of the arrays as they are here is the one of the run"
    assert check_dataset(evidence, planned, ())[0] == ok("dataset", what, planned.dataset_digest)


def test_a_committed_result_on_recorded_files_without_a_digest_of_their_arrays_is_a_broken_link(
    mirrored: Mirrored,
) -> None:
    """Of a file that nobody could record there need be none."""
    layout, planned = mirrored.layout, mirrored.planned
    path = layout.datasets / planned.job.dataset / "dataset.toml"
    text = re.sub(r"\[converted\]\ndigest = .*\n", "", path.read_text())
    path.write_text(text)
    refresh()
    what = "no digest of it is recorded, and a committed result needs one"
    step = failed("dataset", what, expected=planned.dataset_digest, found="-", where=path)
    assert step in check_recorded(layout, planned)
    path.write_text(re.sub(r'\nsha256 = "[0-9a-f]{64}"|\nbytes = \d+', "", text, count=2))
    refresh()
    assert step not in check_recorded(layout, planned)


def test_a_committed_result_on_a_split_without_a_recorded_checksum_is_a_broken_link(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever takes a line out of the recorded ones, or gives it another seed: no result is saved so."""
    save_reference(evidence, Store(evidence.runs))
    planned = planned_of(made_up.cells[0])
    entry = load_reference(evidence)[planned.key]
    assert not Auditor(evidence, Store(evidence.runs)).audit_reference(entry).failed
    monkeypatch.setattr("harness.splits.splits.recorded_splits", lambda *_: {})
    audit = Auditor(evidence, Store(evidence.runs)).audit_reference(entry)
    (step,) = (step for step in audit.steps if step.checked is Checked.FAILED)
    what = "no checksum of it is recorded, and a committed result needs one"
    where = evidence.datasets / planned.job.dataset / "splits.csv"
    assert step == failed("split", what, expected=planned.split_digest, found="-", where=where)


def test_a_file_that_can_not_even_be_named_is_a_broken_link(evidence: Layout, made_up: Plan) -> None:
    """No name of a file is so long: whoever wrote that record did not run anything."""
    file = {"sha256": "0" * 64, "bytes": 1}
    forge_record(evidence, made_up, lambda record: record["files"].update({"x" * 300: file}))
    refresh()
    (audit,) = audit_runs(evidence, [planned_of(made_up.cells[0]).key]).audits
    (step,) = (step for step in audit.steps if step.name == "files")
    assert (step.checked, step.what) == (Checked.FAILED, "can't be read: File name too long")
