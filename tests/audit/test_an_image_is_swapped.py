"""The image in the engine is compared with the run's; without an engine nothing is called ok."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import ImageNotFound

from harness.audit import basis as frozen
from harness.audit.basis import Superseded, check_built, check_environment, check_image
from harness.audit.steps import Checked, Step, failed
from harness.base.layout import Layout
from harness.base.seal import only_new_notes
from harness.engine import Engine
from harness.images import image_name
from harness.images.export import HeldTrees
from harness.images.identity import combined
from harness.images.receipts import BuiltImage, receipt_path, write_receipt
from harness.planning.plan import Plan
from harness.results.store import Store
from tests.fabricate import planned_of

RAN, OTHER = "sha256:" + "4" * 64, "sha256:" + "5" * 64


class Images:
    """The part of an engine that knows images."""

    def __init__(self, image: str | None, others: Collection[str]) -> None:
        self._image, self._others = image, others

    def get(self, name: str) -> Any:
        found = name if name in self._others else self._image
        if found is None:
            raise ImageNotFound(name)
        return SimpleNamespace(id=found, attrs={"Size": 7_000})


def engine_with(image: str | None, *, root: str = "/somewhere", others: Collection[str] = ()) -> Engine:
    """An engine with one image under every name, and others by their ids alone."""
    client = SimpleNamespace(images=Images(image, others), info=lambda: {"DockerRootDir": root})
    facts = SimpleNamespace(root_folder=root)
    return cast(Engine, SimpleNamespace(name="docker", client=client, socket="/a/socket", facts=facts))


def checked(layout: Layout, plan: Plan, engine: Engine | None) -> Step:
    record = Store(layout.runs).record(planned_of(plan.cells[0]).key)
    (step,) = check_built(layout, engine, record, Superseded())
    return step


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, evidence: Layout, made_up: Plan) -> dict[str, tuple[str, str]]:
    """What the files of each image are when they are read back: at first, those of the run."""
    image = Store(evidence.runs).record(planned_of(made_up.cells[0]).key).image
    right = (image["environment_tree"], image["code_tree"])
    trees = {RAN: right, OTHER: right}

    def read(_engine: Engine, _layout: Layout, image_id: str) -> HeldTrees:
        environment, code = trees[image_id]
        return HeldTrees(image_id=image_id, environment_tree=environment, code_tree=code)

    monkeypatch.setattr(frozen, "held_trees", read)
    return trees


@pytest.mark.parametrize(
    ("image", "expected", "said"),
    [
        (RAN, Checked.OK, "{} has the id of the run; its files, read back whole, are the trees of the run"),
        (
            OTHER,
            Checked.OK,
            "{} was built again since, with another id; its files, read back whole, are the trees of the run",
        ),
        (None, Checked.NOT_CHECKED, "{} is not built in this engine"),
    ],
)
def test_the_image_of_the_run_is_looked_for(
    evidence: Layout,
    made_up: Plan,
    held: dict[str, tuple[str, str]],
    image: str | None,
    expected: Checked,
    said: str,
) -> None:
    step = checked(evidence, made_up, engine_with(image))
    assert (step.name, step.checked, step.what) == (
        "engine image",
        expected,
        said.format(image_name(evidence, "constant")),
    )
    assert step.found == (image or "")


@pytest.mark.parametrize("image", [RAN, OTHER])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("tree", ["0" * 64, "f" * 64])
def test_an_image_with_other_files_is_found_whatever_its_receipt_says(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]], image: str, tree: str, at: int
) -> None:
    right = held[image]
    engine = engine_with(image)
    name = image_name(evidence, "constant")
    receipt = BuiltImage(
        name=name,
        engine="docker",
        image_id=image,
        environment_tree=right[0],
        code_tree=right[1],
        size_bytes=1,
        built_seconds=1.0,
    )
    write_receipt(receipt_path(evidence, cast(Any, engine), name), receipt)
    held[image] = (tree, right[1]) if at == 0 else (right[0], tree)
    trees = [f"environment tree {one[:16]}, code tree {other[:16]}" for one, other in (right, held[image])]
    what = f"{name} does not hold the trees of the run: read back whole, it is another"
    assert checked(evidence, made_up, engine) == failed("engine image", what, expected=trees[0], found=trees[1])


@pytest.mark.parametrize("is_here", [True, False])
@pytest.mark.parametrize("at", [None, 0, 1])
def test_a_record_that_names_the_image_of_another_method_is_found(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]], at: int | None, is_here: bool
) -> None:
    """An image is never another under its id: where the engine has the one that ran, it tells what ran."""
    right, name = held[RAN], image_name(evidence, "constant")
    strange = tuple("f" * 64 if place == at else tree for place, tree in enumerate(right))
    held[RAN] = (strange[0], strange[1])
    step = checked(evidence, made_up, engine_with(OTHER, others=[RAN] if is_here else []))
    if at is None or not is_here:
        what = "was built again since, with another id; its files, read back whole, are the trees of the run"
        assert (step.checked, step.what, step.found) == (Checked.OK, f"{name} {what}", OTHER)
        return
    what = f"{RAN}, which the record names, does not hold the trees of the run: read back whole, it is another"
    trees = [f"environment tree {one[:16]}, code tree {other[:16]}" for one, other in (right, held[RAN])]
    assert step == failed("engine image", what, expected=trees[0], found=trees[1])


def test_a_receipt_that_took_the_place_of_another_images_is_found(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]]
) -> None:
    """Two that were exchanged tell of two images that are here, each in the wrong place."""
    engine, name = engine_with(RAN), image_name(evidence, "constant")
    path = receipt_path(evidence, cast(Any, engine), name)
    other = BuiltImage(
        engine="docker",
        name="localhost/permafrost/other:1",
        image_id=OTHER,
        environment_tree=held[OTHER][0],
        code_tree=held[OTHER][1],
        size_bytes=7_000,
        built_seconds=9.0,
    )
    write_receipt(path, other)
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    first, fault = check_built(evidence, engine, record, Superseded())
    assert first.checked is Checked.OK
    what = f"the receipt of {name} tells of another image; remove it, and the image is read back"
    assert fault == failed("receipt", what, where=path, expected=name, found=other.name)


@pytest.mark.parametrize(
    ("change", "is_found"),
    [
        ({}, False),
        # nothing else tells
        ({"built_seconds": 0.1}, False),
        # about an image that is not here
        ({"image_id": OTHER, "size_bytes": 1}, False),
        ({"size_bytes": 6_999}, True),
        ({"environment_tree": "f" * 64}, True),
        ({"code_tree": "f" * 64}, True),
    ],
)
def test_a_receipt_that_tells_of_another_image_is_found(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]], change: dict[str, Any], is_found: bool
) -> None:
    """Also where no earlier note is believed, and whoever wrote it."""
    engine, name = engine_with(RAN), image_name(evidence, "constant")
    environment, code = held[RAN]
    right = BuiltImage(
        engine="docker",
        name=name,
        image_id=RAN,
        environment_tree=environment,
        code_tree=code,
        size_bytes=7_000,
        built_seconds=9.0,
    )
    path = receipt_path(evidence, cast(Any, engine), name)
    write_receipt(path, right.model_copy(update=change))
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    with only_new_notes():
        first, *faults = check_built(evidence, engine, record, Superseded())
    assert first.checked is Checked.OK
    trees = f"environment tree {environment[:16]}, code tree {code[:16]}"
    assert [(one.name, one.checked, one.where, one.expected) for one in faults] == [
        ("receipt", Checked.FAILED, str(path), f"{trees}, 7,000 bytes")
    ] * is_found
    assert all(one.found and one.found != one.expected for one in faults)


def test_a_record_without_trees_is_of_no_image(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]]
) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    (step,) = check_built(evidence, engine_with(RAN), record.model_copy(update={"image": {}}), Superseded())
    assert (step.checked, step.expected) == (Checked.FAILED, "environment tree , code tree ")
    whole, code, environment = check_image(evidence, record.model_copy(update={"image": {}}), Superseded())
    assert (whole.checked, whole.found) == (Checked.FAILED, combined("", ""))
    assert (code.expected, environment.expected) == ("", "")


def test_another_engines_image_is_judged_by_its_files(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]]
) -> None:
    engine = engine_with(OTHER, root="/elsewhere")
    engine.name = "podman"  # type: ignore[misc]
    assert checked(evidence, made_up, engine).checked is Checked.OK


def test_without_an_engine_nothing_is_called_ok(evidence: Layout, made_up: Plan) -> None:
    step = checked(evidence, made_up, None)
    assert (step.checked, step.what) == (Checked.NOT_CHECKED, "no engine")


def test_the_image_of_changed_code_is_not_looked_for(evidence: Layout, made_up: Plan) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    superseded = Superseded(image="code changed", data="data changed")
    (step,) = check_built(evidence, engine_with(OTHER), record, superseded)
    assert (step.checked, step.what) == (Checked.NOT_CHECKED, "superseded: code changed")
    steps = check_image(evidence, record, superseded)
    assert [(step.name, step.checked) for step in steps] == [
        ("image tree", Checked.OK),
        ("code tree", Checked.NOT_CHECKED),
    ]
    # other data leave the image what it was
    assert {step.checked for step in check_image(evidence, record, Superseded(data="changed"))} == {Checked.OK}


def environment(layout: Layout) -> dict[str, Step]:
    return {step.name: step for step in check_environment(layout, "lrssl", "cpu")}


def failing(layout: Layout) -> list[str]:
    return [name for name, step in environment(layout).items() if step.checked is Checked.FAILED]


def edited(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def test_every_layer_of_an_environment_is_looked_at(evidence: Layout) -> None:
    found = environment(evidence)
    assert {step.checked for step in found.values()} == {Checked.OK}
    layers = [name.removeprefix("tree ") for name in found if name.startswith("tree ")]
    assert layers[0] == "_base" and len(layers) > 1
    assert [name for name in found if name.startswith("parent of ")] == [f"parent of {name}" for name in layers]
    for layer in layers:
        locks = {path.name for path in (evidence.containers / layer).glob("*.lock")}
        assert {name for name in found if name.startswith(f"lock {layer}/")} <= {
            f"lock {layer}/{lock}" for lock in locks
        }
        (evidence.containers / layer / "tree.cpu.txt").write_text("another listing\n")
        assert failing(evidence)[-1] == f"tree {layer}"


def test_each_layer_is_held_to_what_it_was_recorded_with(evidence: Layout) -> None:
    layers = [name.removeprefix("tree ") for name in environment(evidence) if name.startswith("tree ")]
    upper = evidence.containers / layers[1]
    (lock, *_) = upper.glob("*.lock")
    edited(lock, lock.read_text()[:8], "# edited")
    assert failing(evidence) == [f"lock {layers[1]}/{lock.name}"]
    lock.unlink()
    step = environment(evidence)[f"lock {layers[1]}/{lock.name}"]
    assert (step.checked, step.found) == (Checked.FAILED, "-") and step.where == str(lock)


def test_a_layer_on_another_one_than_it_was_built_on(evidence: Layout) -> None:
    layers = [name.removeprefix("tree ") for name in environment(evidence) if name.startswith("tree ")]
    record = evidence.containers / layers[1] / "tree.toml"
    parent = next(line for line in record.read_text().splitlines() if line.startswith("parent = "))
    edited(record, parent, f'parent = "{"0" * 64}"')
    assert failing(evidence) == [f"parent of {layers[1]}"]


def test_an_environment_that_was_never_recorded_is_broken(evidence: Layout) -> None:
    (evidence.containers / "_base" / "tree.toml").unlink()
    (step,) = check_environment(evidence, "lrssl", "cpu")
    assert step.checked is Checked.FAILED and "'_base' has no recorded tree" in step.what
    (step,) = check_environment(evidence, "of_old", "cpu")
    assert step.checked is Checked.NOT_CHECKED
