"""Each planted tampering breaks the link it is planted at; the audit says what was expected and what was found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.audit import AuditReport, audit_runs, to_json, to_text
from harness.audit.basis import check_dataset, check_originals, check_split
from harness.audit.steps import Audit, Checked, Lack, failed
from harness.base.files import digest_of, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.data.manifest import mirror_path
from harness.data.sources import cache_path
from harness.planning.plan import Plan
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.splits.splits import split_path
from tests.audit.forging import broken, folder_of, forge_record, refresh
from tests.fabricate import planned_of


def audit_first(layout: Layout, plan: Plan) -> Audit:
    """The chain of the first run, read by a process that remembers nothing."""
    refresh()
    return audit_runs(layout, [planned_of(plan.cells[0]).key]).audits[0]


# every link of a run from the record down to its original data, as a reader is told of it
CHAIN = """
record: digest, schema, and key recomputed from its parts
job: what the container was told is what the key says
seed: the seed the container was told
made by: as the record says
plausibility: times, resources, verdict, sizes and names agree
plausibility: limits and order are those of the card
plausibility: log, report and job document agree with the record
predictions: protocol: kind, shape, and every value finite
scores: all 18 metrics recomputed and equal to those kept
image tree: the key's tree is that of environment and code together
code tree: computed from the repository
environment tree: recorded in the repository
lock _base/debian.lock: sha256 against containers/_base/tree.toml
parent of _base: the tree it was built on
tree _base: the listing beside it has this digest
lock _python/debian.lock: sha256 against containers/_python/tree.toml
parent of _python: the tree it was built on
tree _python: the listing beside it has this digest
lock _numpy/wheels.cpu.lock: sha256 against containers/_numpy/tree.toml
parent of _numpy: the tree it was built on
tree _numpy: the listing beside it has this digest
engine image: no engine
input associations: made again from dataset, split and order
input folds: made again from dataset, split and order
dataset: the manifest's digest is the one of the run
dataset: arrays hashed again
dataset: converted again from the original files
split: the recorded checksum is the one of the run
split: the split file hashed again
split: made again from its recipe
split: keeps what its strategy promises
"""


def test_untouched_evidence_passes(evidence: Layout, made_up: Plan) -> None:
    """Each link once, in the order of the chain, each file of the run among them."""
    audit = audit_first(evidence, made_up)
    assert broken(audit) == [] and not audit.superseded
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    files = [(name, f"sha256 of {file.bytes:,} bytes", file.sha256) for name, file in sorted(record.files.items())]
    assert {"log.txt", "predictions.npy"} <= record.files.keys()
    assert [(step.name, step.what, step.found) for step in audit.steps[1 : 1 + len(files)]] == files
    others = [step for step in audit.steps if step.name not in record.files]
    assert [f"{step.name}: {step.what}" for step in others] == CHAIN.strip().splitlines()
    unchecked = [step for step in others if step.checked is not Checked.OK]
    assert [(step.name, step.checked, step.lack) for step in unchecked] == [
        ("engine image", Checked.NOT_CHECKED, Lack.ENGINE)
    ]


def flip(path: Path) -> None:
    """Change one bit in the middle; the size stays."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def edit(name: str) -> Callable[[Layout, Plan], Path]:
    def plant(layout: Layout, plan: Plan) -> Path:
        path = folder_of(layout, plan) / name
        flip(path)
        return path

    return plant


def edit_record(layout: Layout, plan: Plan) -> Path:
    path = folder_of(layout, plan) / "record.json"
    path.write_text(path.read_text().replace('"attempts": 1', '"attempts": 2'))
    return path


def forge_seed(layout: Layout, plan: Plan) -> Path:
    """A record of another seed, with a fresh digest, under the old key."""
    return forge_record(layout, plan, lambda record: record["planned"]["job"]["split"].update(seed=1))


def forge_predictions(layout: Layout, plan: Plan) -> Path:
    """Better predictions, with a record that vouches for them; the kept scores are of the old ones."""
    path = folder_of(layout, plan) / "predictions.npy"
    np.save(path, np.load(path) + 1.0)
    return forge_record(layout, plan, lambda record: None)


def forge_nan(layout: Layout, plan: Plan) -> Path:
    path = folder_of(layout, plan) / "predictions.npy"
    values = np.load(path)
    values[0, 0] = np.nan
    np.save(path, values)
    return forge_record(layout, plan, lambda record: None)


def forge_job(layout: Layout, plan: Plan) -> Path:
    """The container was told other parameters than the key says, and the record vouches for it."""
    path = folder_of(layout, plan) / "job.json"
    write_json(path, {**json.loads(path.read_text()), "parameters": {"score": 2.0}})
    return forge_record(layout, plan, lambda record: None)


def forge_inputs(layout: Layout, plan: Plan) -> Path:
    """The container saw other labels."""
    path = folder_of(layout, plan) / "job.json"
    document = json.loads(path.read_text())
    document["inputs"]["associations"]["sha256"] = "0" * 64
    write_json(path, document)
    return forge_record(layout, plan, lambda record: None)


def forge_image(layout: Layout, plan: Plan) -> Path:
    return forge_record(layout, plan, lambda record: record["image"].update(code_tree="0" * 64))


def forge_schema(layout: Layout, plan: Plan) -> Path:
    """A record with a fresh digest that is no record."""
    return forge_record(layout, plan, lambda record: record.pop("verdict"))


def forge_escape(layout: Layout, plan: Plan) -> Path:
    """A record that claims a file outside its folder: an export would write it there."""

    def change(record: dict[str, Any]) -> None:
        record["files"]["../../escaped.txt"] = {"sha256": "0" * 64, "bytes": 1}

    return forge_record(layout, plan, change)


def drop_predictions(layout: Layout, plan: Plan) -> Path:
    path = folder_of(layout, plan) / "predictions.npy"
    path.unlink()
    return path


def add_file(layout: Layout, plan: Plan) -> Path:
    path = folder_of(layout, plan) / "notes.txt"
    path.write_text("an extra")
    return path


def edit_scores(layout: Layout, plan: Plan) -> Path:
    path = scores_path(layout, planned_of(plan.cells[0]).key)
    content = json.loads(path.read_text())
    content["metrics"]["NS-AUC/as-published"] = 0.99
    write_json(path, content)
    return path


def cut_scores(layout: Layout, plan: Plan) -> Path:
    path = scores_path(layout, planned_of(plan.cells[0]).key)
    path.write_bytes(path.read_bytes()[:50])
    return path


def edit_split(layout: Layout, plan: Plan) -> Path:
    path = split_path(layout, "repurposing", planned_of(plan.cells[0]).split_digest)
    flip(path)
    return path


def edit_recorded_split(layout: Layout, plan: Plan) -> Path:
    path = layout.datasets / "synthetic" / "splits.csv"
    path.write_text(path.read_text().replace(planned_of(plan.cells[0]).split_digest, "0" * 64))
    return path


def edit_data(layout: Layout, plan: Plan) -> Path:
    path = layout.cache / "datasets" / planned_of(plan.cells[0]).dataset_digest / "associations.npy"
    flip(path)
    return path


def edit_lock(layout: Layout, plan: Plan) -> Path:
    path = layout.containers / "_base" / "debian.lock"
    flip(path)
    return path


def edit_listing(layout: Layout, plan: Plan) -> Path:
    path = layout.containers / "_base" / "tree.cpu.txt"
    flip(path)
    return path


# what was planted: the link that breaks first with what is told of it, where, and the links that break with it
PLANTED: list[tuple[Callable[[Layout, Plan], Path], str, str, str, tuple[str, ...]]] = [
    (edit_record, "record", "a record differs from its own digest", "{run}/record.json", ()),
    (forge_seed, "record", "a record lies under another job's key", "{run}/record.json", ()),
    (
        forge_schema,
        "record",
        "a record has other fields than this version writes",
        "{run}/record.json: verdict",
        (),
    ),
    (
        forge_escape,
        "record",
        "a record breaks its schema: Value error, '../../escaped.txt' is not a file of the run's folder",
        "{run}/record.json: files",
        (),
    ),
    (edit("predictions.npy"), "predictions.npy", "sha256 of {bytes} bytes", "{run}/predictions.npy", ("scores",)),
    (edit("validation.npy"), "validation.npy", "sha256 of {bytes} bytes", "{run}/validation.npy", ("scores",)),
    (edit("log.txt"), "log.txt", "sha256 of {bytes} bytes", "{run}/log.txt", ("scores",)),
    (edit("method.json"), "method.json", "sha256 of {bytes} bytes", "{run}/method.json", ("scores",)),
    (edit("job.json"), "job.json", "sha256 of {bytes} bytes", "{run}/job.json", ("scores", "input folds")),
    (forge_predictions, "scores", "the kept scores are of other predictions", "{scores}", ()),
    (
        forge_nan,
        "predictions",
        "predictions.npy: 1 value is not finite, first at model 0, item 0: nan",
        "",
        ("scores",),
    ),
    (forge_job, "job", "what the container was told is what the key says", "{run}/job.json", ()),
    (forge_inputs, "input associations", "made again from dataset, split and order", "", ()),
    (
        forge_image,
        "image tree",
        "the key's tree is that of environment and code together",
        "",
        ("code tree",),
    ),
    (
        drop_predictions,
        "predictions.npy",
        "the file is missing",
        "{run}/predictions.npy",
        ("predictions", "scores"),
    ),
    (add_file, "files", "a file that the record does not name", "{run}/notes.txt", ()),
    (edit_scores, "scores", "NS-AUC/as-published is not what was kept", "{scores}", ()),
    (cut_scores, "scores", "the kept scores can't be read", "{scores}", ()),
    (edit_split, "split", "a split file was changed", "{split}", ("predictions", "scores", "inputs")),
    (
        edit_recorded_split,
        "split",
        "split random-17263407 of dataset 'synthetic' came out different from the published one",
        "{root}/datasets/synthetic/splits.csv: {zeros}, made: {made}",
        ("predictions", "scores", "inputs"),
    ),
    (
        edit_data,
        "dataset",
        "the kept arrays of dataset 'synthetic' were changed",
        "{data}: digest is ",
        ("predictions", "scores", "inputs", "split"),
    ),
    (
        edit_lock,
        "lock _base/debian.lock",
        "sha256 against containers/_base/tree.toml",
        "{root}/containers/_base/debian.lock",
        ("image tree",),
    ),
    (edit_listing, "tree _base", "the listing beside it is another", "{root}/containers/_base/tree.toml", ()),
]


@pytest.mark.parametrize(
    ("plant", "link", "what", "where", "others"), PLANTED, ids=[f"{one[0].__name__}-{one[1]}" for one in PLANTED]
)
def test_tampering_is_found_where_it_was_planted(
    evidence: Layout,
    made_up: Plan,
    plant: Callable[[Layout, Plan], Path],
    link: str,
    what: str,
    where: str,
    others: tuple[str, ...],
) -> None:
    planned = planned_of(made_up.cells[0])
    touched = plant(evidence, made_up)
    audit = audit_first(evidence, made_up)
    broken = [step for step in audit.steps if step.checked is Checked.FAILED]
    (first,) = (step for step in broken if step.name == link)
    places = {
        "run": Store(evidence.runs).path(planned.key),
        "scores": scores_path(evidence, planned.key),
        "split": split_path(evidence, "repurposing", planned.split_digest),
        "root": evidence.root,
        "zeros": "0" * 64,
        "made": planned.split_digest,
        "data": evidence.cache / "datasets" / planned.dataset_digest,
        "bytes": f"{touched.stat().st_size:,}" if touched.exists() else "",
    }
    assert first.what == what.format(**places), f"{touched} was changed"
    assert first.where.startswith(where.format(**places)) and bool(first.where) == bool(where)
    if first.expected:
        assert first.found not in ("", first.expected)
    assert {step.name for step in broken} - {link} == set(others)
    text = to_text(AuditReport((audit,)))
    assert text.endswith("\n1 stored run audited = 0 passed + 1 failed + 0 superseded\n") and "FAILED" in text
    assert f"    {link}: " in text.partition("\nFAILED\n")[2], "the broken link, after its chain"
    assert to_json(AuditReport((audit,)))["failed"] == 1


@pytest.fixture
def no_other_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)


@pytest.mark.usefixtures("no_other_mirror")
def test_a_damaged_copy_of_an_original_file_is_found(evidence: Layout) -> None:
    file = load_manifest(evidence, "hdvd").files[0]
    assert {step.checked for step in check_originals(evidence, "hdvd", ())} == {Checked.NOT_CHECKED}
    path = cache_path(evidence, file)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * file.bytes)
    step = next(step for step in check_originals(evidence, "hdvd", ()) if step.checked is Checked.FAILED)
    assert step.expected == file.sha256 and step.where == str(path)


@pytest.mark.usefixtures("no_other_mirror")
def test_every_copy_of_an_original_file_is_looked_at(evidence: Layout, tmp_path: Path) -> None:
    """In the folder for one's own, in the cache and in every mirror: a sound one does not vouch for another."""
    manifest = load_manifest(evidence, "hdvd")
    file = manifest.files[0].model_copy(update={"sha256": hashlib.sha256(b"whole").hexdigest(), "bytes": 5})
    places = [
        evidence.datasets / "hdvd" / "own" / file.name,
        cache_path(evidence, file),
        *(tmp_path / name / mirror_path(file.urls[0]) for name in ("one", "two")),
    ]
    mirrors = (tmp_path / "one", tmp_path / "two")
    with pytest.MonkeyPatch.context() as patch:
        one = manifest.model_copy(update={"files": [file]})
        patch.setattr("harness.audit.basis.load_manifest", lambda *_: one)
        (step,) = check_originals(evidence, "hdvd", mirrors)
        assert step.checked is Checked.NOT_CHECKED and step.name == f"data {file.name}"
        for path in places:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"whole")
        assert [step.checked for step in check_originals(evidence, "hdvd", mirrors)] == [Checked.OK] * 4
        for number, path in enumerate(places):
            path.write_bytes(b"Whole")
            steps = check_originals(evidence, "hdvd", mirrors)
            assert [step.checked is Checked.FAILED for step in steps] == [at == number for at in range(4)]
            assert (steps[number].where, steps[number].expected) == (str(path), file.sha256)
            path.write_bytes(b"whole")


def test_data_and_split_are_held_against_the_run_twice(evidence: Layout, made_up: Plan) -> None:
    """What is recorded, and what the files give."""
    planned = planned_of(made_up.cells[0])
    found = [(step.name, step.what) for step in check_dataset(evidence, planned, ())[:2]]
    assert found == [
        ("dataset", "the manifest's digest is the one of the run"),
        ("dataset", "arrays hashed again"),
    ]
    for digest in ("0" * 64, "f" * 64):
        other = planned.model_copy(update={"dataset_digest": digest, "split_digest": digest})
        assert check_dataset(evidence, other, ())[:2] == [
            failed("dataset", what, expected=digest, found=planned.dataset_digest) for _, what in found
        ]
        whats = ("the recorded checksum is the one of the run", "the split file hashed again")
        assert check_split(evidence, other, ())[:3] == [
            failed("split", what, expected=digest, found=planned.split_digest)
            for what in (*whats, "made again from its recipe")
        ]
    assert [step.checked for step in check_split(evidence, planned, ())] == [Checked.OK] * 4


def test_a_run_of_changed_code_is_superseded_not_failed(evidence: Layout, made_up: Plan) -> None:
    main_file = evidence.methods / "constant" / "main.py"
    main_file.write_text(main_file.read_text() + "\nchanged = 1\n")
    audit = audit_first(evidence, made_up)
    assert not audit.failed and "the image tree is" in audit.superseded
    report = AuditReport((audit,))
    assert (report.passed, report.superseded) == (0, 1)
    assert "1 superseded" in to_text(report)


def test_a_run_of_a_removed_method_is_superseded(evidence: Layout, made_up: Plan) -> None:
    (evidence.methods / "constant" / "method.toml").unlink()
    audit = audit_first(evidence, made_up)
    assert not audit.failed and "any more" in audit.superseded


def test_a_run_of_another_version_of_the_data_is_superseded(evidence: Layout, made_up: Plan) -> None:
    path = evidence.datasets / "synthetic" / "dataset.toml"
    digest = planned_of(made_up.cells[0]).dataset_digest
    path.write_text(path.read_text().replace(digest, digest_of("another")))
    audit = audit_first(evidence, made_up)
    assert "dataset 'synthetic' changed" in audit.superseded
    assert not audit.failed


def test_a_failed_run_has_evidence_too(evidence: Layout, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[3])
    assert Store(evidence.runs).standing(planned.key).verdict is Verdict.ERROR
    refresh()
    audit = audit_runs(evidence, [planned.key]).audits[0]
    assert not audit.failed
    flip(Store(evidence.runs).path(planned.key) / "log.txt")
    assert broken(audit_runs(evidence, [planned.key]).audits[0]) == ["log.txt", "plausibility"]


def test_the_sum_of_an_audit_is_the_runs(evidence: Layout, made_up: Plan) -> None:
    edit_record(evidence, made_up)
    refresh()
    keys = list(Store(evidence.runs).finished())
    report = audit_runs(evidence, keys)
    assert (report.passed, report.failed, report.superseded) == (3, 1, 0)
    assert "4 stored runs audited = 3 passed + 1 failed + 0 superseded" in to_text(report)
    assert "engine image (3 runs): no engine" in to_text(report)
