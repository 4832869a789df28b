"""What a run was made with: code, locks and environment of the repository, and the image in the engine."""

from __future__ import annotations

from dataclasses import dataclass

from harness.audit.steps import Step, equal, failed, not_checked, ok
from harness.base.errors import HarnessError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.data import dataset_digest, manifest_names
from harness.engine import Engine
from harness.images import code_tree, environment_tree, image_name, image_tree
from harness.images.cards import environment_chain, layers_of
from harness.images.content import held_trees
from harness.images.identity import combined
from harness.images.record import RECORD, lock_digests, read_record, recorded_listing, variant_of
from harness.methods.card import method_names
from harness.results.records import Record


@dataclass(frozen=True)
class Superseded:
    """Why a sound run may rest on something that the repository no longer holds. Empty: it does not."""

    image: str = ""
    data: str = ""

    def __str__(self) -> str:
        return "; ".join(reason for reason in (self.image, self.data) if reason)


def find_superseded(layout: Layout, record: Record) -> Superseded:
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
    if dataset not in manifest_names(layout):
        data = f"there is no dataset '{dataset}' in this repository any more"
    else:
        try:
            digest = dataset_digest(layout, dataset)
        except HarnessError:
            digest = planned.dataset_digest  # the dataset's own step tells what is broken
        if digest != planned.dataset_digest:
            data = f"dataset '{dataset}' changed: its digest is {digest[:12]} now"
    return Superseded(image, data)


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
        return [*steps, not_checked("code tree", f"superseded: {superseded.image}")]
    code_now = code_tree(layout, job.method)
    environment_now = environment_tree(layout, job.method, job.accelerator)
    return [
        *steps,
        equal("code tree", "computed from the repository", code, code_now, layout.methods / job.method),
        equal("environment tree", "recorded in the repository", environment, environment_now),
    ]


def check_environment(layout: Layout, method: str, accelerator: Accelerator) -> list[Step]:
    """Every lock file against the sha256 that the recorded tree was built from, layer by layer."""
    if method not in method_names(layout):
        return [not_checked("lock", f"there is no method '{method}' in this repository any more")]
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
        if recorded_listing(environment, variant, record):
            steps.append(ok(f"tree {environment.name}", "the listing beside it has this digest", record.tree))
        else:
            steps.append(failed(f"tree {environment.name}", "the listing beside it is another", where=where))
        parent = record.tree
    return steps


def check_built(layout: Layout, engine: Engine | None, record: Record, superseded: Superseded) -> list[Step]:
    """The image that the engine holds under the method's name."""
    if engine is None:
        return [not_checked("engine image", "no engine")]
    if superseded.image:
        return [not_checked("engine image", f"superseded: {superseded.image}")]
    from docker.errors import ImageNotFound

    job, run_image_id = record.planned.job, record.image.get("id", "")
    name = image_name(layout, job.method, job.accelerator)
    try:
        image_id = str(engine.client.images.get(name).id)
    except ImageNotFound:
        return [not_checked("engine image", f"{name} is not built in this engine")]
    expected = (record.image.get("environment_tree", ""), record.image.get("code_tree", ""))
    trees = held_trees(engine, layout, image_id)
    contents = (trees.environment_tree, trees.code_tree)
    if contents != expected:
        what = f"{name} does not hold the trees of the run: read back whole, it is another"
        return [failed("engine image", what, expected=_trees(expected), found=_trees(contents))]
    which = "has the id of the run" if image_id == run_image_id else "was built again since, with another id"
    return [ok("engine image", f"{name} {which}; its files, read back whole, are the trees of the run", image_id)]


def _trees(trees: tuple[str, str]) -> str:
    environment, code = trees
    return f"environment tree {environment[:16]}, code tree {code[:16]}"
