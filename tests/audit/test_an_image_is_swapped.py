"""The image in the engine is compared with the run's; without an engine nothing is called ok."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import ImageNotFound

from harness.audit import frozen
from harness.audit.frozen import Superseded, check_built
from harness.audit.steps import Checked, Step
from harness.engine import Engine
from harness.images import image_name
from harness.images.held import HeldTrees
from harness.images.receipts import Receipt, receipt_path, write_receipt
from harness.layout import Layout
from harness.plan import Plan
from harness.store import Store
from tests.fabricate import planned_of

RAN, OTHER = "sha256:" + "4" * 64, "sha256:" + "5" * 64


class Images:
    """The part of an engine that knows images."""

    def __init__(self, image: str | None) -> None:
        self._image = image

    def get(self, name: str) -> Any:
        if self._image is None:
            raise ImageNotFound(name)
        return SimpleNamespace(id=self._image)


def engine_with(image: str | None, *, root: str = "/somewhere") -> Engine:
    client = SimpleNamespace(images=Images(image), info=lambda: {"DockerRootDir": root})
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
    ("image", "expected"), [(RAN, Checked.OK), (OTHER, Checked.OK), (None, Checked.NOT_CHECKED)]
)
def test_the_image_of_the_run_is_looked_for(
    evidence: Layout,
    made_up: Plan,
    held: dict[str, tuple[str, str]],
    image: str | None,
    expected: Checked,
) -> None:
    assert checked(evidence, made_up, engine_with(image)).checked is expected


@pytest.mark.parametrize("image", [RAN, OTHER])
@pytest.mark.parametrize("at", [0, 1])
def test_an_image_with_other_files_is_found_whatever_its_receipt_says(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]], image: str, at: int
) -> None:
    right = held[image]
    engine = engine_with(image)
    name = image_name(evidence, "constant")
    receipt = Receipt(
        name=name,
        engine="docker",
        image_id=image,
        environment_tree=right[0],
        code_tree=right[1],
        size_bytes=1,
        built_seconds=1.0,
    )
    write_receipt(receipt_path(evidence, cast(Any, engine), name), receipt)
    held[image] = ("0" * 64, right[1]) if at == 0 else (right[0], "0" * 64)
    step = checked(evidence, made_up, engine)
    assert step.checked is Checked.FAILED
    assert "0" * 16 in step.found and right[at][:16] in step.expected


def test_another_engines_image_is_judged_by_its_files(
    evidence: Layout, made_up: Plan, held: dict[str, tuple[str, str]]
) -> None:
    engine = engine_with(OTHER, root="/elsewhere")
    engine.name = "podman"  # type: ignore[misc]
    assert checked(evidence, made_up, engine).checked is Checked.OK


def test_without_an_engine_nothing_is_called_ok(evidence: Layout, made_up: Plan) -> None:
    step = checked(evidence, made_up, None)
    assert (step.checked, step.what) == (Checked.NOT_CHECKED, "no engine")
