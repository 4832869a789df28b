"""What a run rests on, each link recomputed from what lies below it.

It was made with code, locks and environment of the repository, and an image in the engine. It saw inputs that come
from a dataset and a split.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.audit.remake import remake_dataset, remake_split
from harness.audit.steps import Lack, Step, equal, failed, guarded, not_checked, ok
from harness.base.errors import HarnessError
from harness.base.few import few_in_line
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.base.machine import hardware
from harness.base.vocabulary import Accelerator
from harness.data import dataset_digest, load_dataset, load_manifest, recorded_digest
from harness.data.datasets import is_here
from harness.data.manifest import has_manifest, manifest_path
from harness.data.sources import check_file, local_copies
from harness.engine import Engine
from harness.execution.inputs import make_inputs
from harness.images import code_tree, image_name, image_tree
from harness.images.cards import Environment, environment_chain, layers_of
from harness.images.context import parts_of
from harness.images.export import held_trees, id_of
from harness.images.identity import combined
from harness.images.receipts import BuiltImage, read_receipt, receipt_path
from harness.images.record import (
    RECORD,
    lock_digests,
    read_record,
    recorded_listing,
    recorded_tree,
    variant_of,
    wheels_not_in,
)
from harness.materials.notices import NOTICES, unlike_notices
from harness.methods.card import load_method, method_names
from harness.planning.jobs import Job, PlannedJob
from harness.results.records import Record
from harness.splits import load_split, recorded_split, split_digest
from harness.splits.checksums import recorded_path

# So many packages are named.
_NAMED = 3
# Inputs that are computed with floating-point sums, which may differ in their last bits on another CPU: there a
# difference counts as not checked. All other inputs are copied.
_COMPUTED = frozenset({"drug_standardised", "disease_standardised", "drug_similarity", "disease_similarity"})
_NONE = "no {} of it is recorded, and a committed result needs one"


@dataclass(frozen=True)
class Superseded:
    """Why a sound run may rest on something that the repository no longer holds. Empty: it does not."""

    image: str = ""
    data: str = ""
    # of a committed result alone: who runs a method otherwise for themselves may
    card: str = ""

    def __str__(self) -> str:
        return "; ".join(reason for reason in (self.image, self.data, self.card) if reason)


def find_superseded(layout: Layout, record: Record, mirrors: Sequence[Path] = ()) -> Superseded:
    """Why a run is superseded: its image or data have changed since. That is reported, and is no failure."""
    planned = record.planned
    method, dataset = planned.job.method, planned.job.dataset
    image = data = ""
    if method not in method_names(layout):
        image = f"there is no method '{method}' in this repository any more"
    else:
        try:
            tree = image_tree(layout, method, planned.job.accelerator)
        except HarnessError:
            tree = planned.image_tree  # the environment's own step tells what is broken
        if tree != planned.image_tree:
            image = f"code or environment of '{method}' changed: the image tree is {tree[:12]} now"
    if not has_manifest(layout, dataset):
        data = f"there is no dataset '{dataset}' in this repository any more"
    else:
        digest = _digest_now(layout, dataset, mirrors) or planned.dataset_digest
        if digest != planned.dataset_digest:
            data = f"dataset '{dataset}' changed: its digest is {digest[:12]} now"
    return Superseded(image, data)


def _digest_now(layout: Layout, dataset: str, mirrors: Sequence[Path]) -> str:
    """The dataset's digest. Where its files were edited that of its manifest; empty where there is none.

    Then the dataset's own step tells what is broken, if the run is of these data at all.
    """
    try:
        return dataset_digest(layout, dataset, mirrors=mirrors)
    except HarnessError:
        with suppress(HarnessError):
            return recorded_digest(layout, dataset)
    return ""


def outgrown_by_card(layout: Layout, job: Job) -> str:
    """Why a committed result is superseded by the card of its method; empty where it is not."""
    try:
        usual = load_method(layout, job.method).variant(job.variant).parameters
    except HarnessError as error:
        return error.what
    given = f"the card of '{job.method}' gives variant '{job.variant}' other parameters now"
    return "" if job.parameters == usual else given


def check_image(layout: Layout, record: Record, superseded: Superseded) -> list[Step]:
    """The image tree of the key from its two trees, and each of these from the repository."""
    image, job = record.image, record.planned.job
    environment, code = image.get("environment_tree", ""), image.get("code_tree", "")
    steps = [
        equal(
            "image tree",
            "the key's tree is that of environment and code together",
            record.planned.image_tree,
            combined(environment, code),
        )
    ]
    if superseded.image:
        return [*steps, not_checked("code tree", f"superseded: {superseded.image}", Lack.SUPERSEDED)]
    code_now = code_tree(layout, job.method)
    environment_now = recorded_tree(layout, job.method, job.accelerator)
    return [
        *steps,
        equal("code tree", "computed from the repository", code, code_now, layout.methods / job.method),
        equal("environment tree", "recorded in the repository", environment, environment_now),
    ]


def check_environment(layout: Layout, method: str, accelerator: Accelerator) -> list[Step]:
    """Every lock file against the sha256 that the recorded tree was built from, layer by layer."""
    if method not in method_names(layout):
        return [not_checked("lock", f"there is no method '{method}' in this repository any more", Lack.SUPERSEDED)]
    steps: list[Step] = []
    parent = ""
    for environment in layers_of(environment_chain(layout, method)):
        variant = variant_of(environment, accelerator)
        record, where = read_record(environment, variant), environment.folder / RECORD
        if record is None:
            steps.append(failed("lock", f"environment '{environment.name}' has no recorded tree", where=where))
            break
        digests = lock_digests(environment, variant)
        for name in sorted({*record.locks, *digests}):
            what = f"sha256 against {str(where).removeprefix(f'{layout.root}/')}"
            step_name = f"lock {environment.name}/{name}"
            steps.append(
                equal(
                    step_name, what, record.locks.get(name, "-"), digests.get(name, "-"), environment.folder / name
                )
            )
        steps.append(
            equal(f"parent of {environment.name}", "the tree it was built on", record.parent, parent, where)
        )
        listing, tree = recorded_listing(environment, variant, record), f"tree {environment.name}"
        if not listing:
            steps.append(failed(tree, "the listing beside it is another", where=where))
        elif fault := _strange_parts(listing, environment, variant):
            # a lock is held against a note beside it, which whoever changes one changes, too
            steps.append(failed(tree, fault, where=where))
        else:
            steps.append(ok(tree, "the listing beside it has this digest", record.tree))
        parent = record.tree
    return steps


def _strange_parts(listing: str, environment: Environment, accelerator: Accelerator) -> str:
    """What is locked and was not installed, in words. Of a lock that can't be read its own sha256 tells."""
    try:
        absent, parts = wheels_not_in(listing, environment, accelerator), parts_of(environment, accelerator)
    except HarnessError:
        return ""
    if absent:
        return f"what is locked is not in the listing beside it: {few_in_line(absent, _NAMED)}"
    if others := unlike_notices(environment, parts):
        return f"{NOTICES} tells of other files with these names that are locked: {few_in_line(others, _NAMED)}"
    return ""


def check_built(layout: Layout, engine: Engine | None, record: Record, superseded: Superseded) -> list[Step]:
    """The image that the engine holds under the method's name."""
    if engine is None:
        return [not_checked("engine image", "no engine", Lack.ENGINE)]
    if superseded.image:
        return [not_checked("engine image", f"superseded: {superseded.image}", Lack.SUPERSEDED)]
    job, run_image_id = record.planned.job, record.image.get("id", "")
    name = image_name(layout, job.method, job.accelerator)
    if (image_id := id_of(engine, name)) is None:
        return [not_checked("engine image", f"{name} is not built in this engine", Lack.ENGINE)]
    expected = (record.image.get("environment_tree", ""), record.image.get("code_tree", ""))
    trees = held_trees(engine, layout, image_id)
    contents = (trees.environment_tree, trees.code_tree)
    if contents != expected:
        return [_another_image(name, expected, contents)]
    if run_image_id != image_id and run_image_id and id_of(engine, run_image_id) == run_image_id:
        # built again since: the one that ran is here as well, and no image is another under its id
        ran = held_trees(engine, layout, run_image_id)
        if (that_ran := (ran.environment_tree, ran.code_tree)) != expected:
            return [_another_image(f"{run_image_id}, which the record names,", expected, that_ran)]
    which = "has the id of the run" if image_id == run_image_id else "was built again since, with another id"
    told = ok("engine image", f"{name} {which}; its files, read back whole, are the trees of the run", image_id)
    return [told, *_receipt_faults(layout, engine, name, image_id, contents)]


def _another_image(image: str, expected: tuple[str, str], found: tuple[str, str]) -> Step:
    what = f"{image} does not hold the trees of the run: read back whole, it is another"
    return failed("engine image", what, expected=_trees(expected), found=_trees(found))


def _receipt_faults(
    layout: Layout, engine: Engine, name: str, image_id: str, trees: tuple[str, str]
) -> list[Step]:
    """What the receipt of this image says wrongly. No result rests on it, but `harness image list` shows it.

    How long a build took nothing else tells.
    """
    path = receipt_path(layout, engine, name)
    receipt = read_receipt(path, of_anybody=True)
    if receipt is None:
        return []
    what = f"the receipt of {name} tells of another image; remove it, and the image is read back"
    if receipt.name != name:
        return [failed("receipt", what, where=path, expected=name, found=receipt.name)]
    if receipt.image_id != image_id:
        return []  # it is about no image that is here
    found = receipt.model_copy(
        update={
            "environment_tree": trees[0],
            "code_tree": trees[1],
            "size_bytes": int(engine.client.images.get(name).attrs["Size"]),
        }
    )
    if found == receipt:
        return []
    return [failed("receipt", what, where=path, expected=_of_receipt(found), found=_of_receipt(receipt))]


def _of_receipt(image: BuiltImage) -> str:
    return f"{_trees((image.environment_tree, image.code_tree))}, {image.size_bytes:,} bytes"


def _trees(trees: tuple[str, str]) -> str:
    environment, code = trees
    return f"environment tree {environment[:16]}, code tree {code[:16]}"


def check_dataset(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> list[Step]:
    """The original files against their sha256, the arrays against their digest, both against the key."""
    name = planned.job.dataset
    digest = dataset_digest(layout, name, mirrors=mirrors)
    what = "the manifest's digest is the one of the run"
    if not recorded_digest(layout, name):
        what = "the manifest records no digest; that of the arrays as they are here is the one of the run"
    steps = [equal("dataset", what, planned.dataset_digest, digest)]
    if not is_here(layout, load_manifest(layout, name), mirrors):
        return [*steps, not_checked("dataset", f"the data of '{name}' are not on this machine", Lack.DATA)]
    dataset = load_dataset(layout, name, mirrors=mirrors)
    steps.append(equal("dataset", "arrays hashed again", planned.dataset_digest, dataset.digest))
    steps.append(remake_dataset(layout, planned, mirrors))
    return [*steps, *check_originals(layout, name, mirrors)]


def check_originals(layout: Layout, name: str, mirrors: Sequence[Path]) -> list[Step]:
    """Every local copy of every original file against its sha256; nothing is downloaded for an audit."""
    steps = []
    for file in load_manifest(layout, name).files:
        copies = local_copies(layout, name, file, mirrors)
        if not copies:
            steps.append(
                not_checked(f"data {file.name}", "no copy on this machine; the arrays were checked", Lack.DATA)
            )
        for path in copies:
            fault = check_file(path, file)
            what = f"sha256 of {file.bytes:,} bytes"
            if fault is None:
                steps.append(ok(f"data {file.name}", what, file.sha256))
            else:
                steps.append(failed(f"data {file.name}", fault, expected=file.sha256, where=path))
    return steps


def check_split(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> list[Step]:
    """The split file against the recorded checksum and the key."""
    job = planned.job
    line = recorded_split(layout, job.dataset, job.split)
    what = "the recorded checksum is the one of the run"
    if not is_here(layout, load_manifest(layout, job.dataset), mirrors):
        # nothing is fetched for an audit
        steps = [equal("split", what, planned.split_digest, line.sha256)] if line else []
        return [*steps, not_checked("split", f"the data of '{job.dataset}' are not on this machine", Lack.DATA)]
    if line is None:
        what = "no checksum is recorded; that of the split as it is made here is the one of the run"
    digest = split_digest(layout, job.dataset, job.split, mirrors)
    steps = [equal("split", what, planned.split_digest, digest)]
    split = load_split(layout, job.dataset, job.split, mirrors)
    steps.append(equal("split", "the split file hashed again", planned.split_digest, split.digest))
    return [*steps, *guarded("split", lambda: remake_split(layout, planned, mirrors))]


def check_recorded(layout: Layout, planned: PlannedJob) -> list[Step]:
    """Broken links where no digest of a committed result's dataset is recorded, or no checksum of its split.

    No result is saved without a recorded checksum. Of files that nobody could record there need be no digest:
    what is first seen of them counts.
    """
    job, steps = planned.job, []
    manifest = load_manifest(layout, job.dataset)
    is_recorded = bool(manifest.files) and all(file.recorded for file in manifest.files) and not manifest.brought
    if manifest.converted is None and is_recorded:
        what, where = _NONE.format("digest"), manifest_path(layout, job.dataset)
        steps.append(failed("dataset", what, expected=planned.dataset_digest, found="-", where=where))
    if recorded_split(layout, job.dataset, job.split) is None:
        what, where = _NONE.format("checksum"), recorded_path(layout, job.dataset)
        steps.append(failed("split", what, expected=planned.split_digest, found="-", where=where))
    return steps


def check_inputs(
    layout: Layout, record: Record, descriptions: Any, mirrors: Sequence[Path], names: Sequence[str] | None = None
) -> list[Step]:
    """The files the container saw, made again from dataset, split and order.

    They are those that the card `names`, no more and no less; where no card is held against the run, what it had.
    """
    if descriptions is None:
        return [not_checked("inputs", "the run kept no job document")]
    if not isinstance(descriptions, dict) or not all(isinstance(one, dict) for one in descriptions.values()):
        return [failed("inputs", "the list of inputs in the run's job document is none")]
    wanted = list(descriptions) if names is None else names
    inputs = make_inputs(layout, record.planned, wanted, mirrors, order=record.order).inputs
    steps = []
    for name in sorted({*descriptions, *inputs}):
        told = descriptions.get(name, {})
        description = as_file(name, inputs[name]).description if name in inputs else {}
        expected, found = str(told.get("sha256", "-")), description.get("sha256", "-")
        if description and expected == found and told != description:
            what = "the container was told another file, shape or type of it than it has"
            steps.append(failed(f"input {name}", what, expected=str(description), found=str(told)))
            continue
        if name not in _COMPUTED or expected == found or record.hardware == hardware():
            steps.append(equal(f"input {name}", "made again from dataset, split and order", expected, found))
        else:
            steps.append(
                not_checked(
                    f"input {name}",
                    f"is computed, and comes out as {found[:12]} on this processor, not {expected[:12]}: last "
                    "bits differ between processors; --replay decides",
                    Lack.MACHINE,
                )
            )
    return steps
