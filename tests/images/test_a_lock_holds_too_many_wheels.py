"""Wheels: what parents hold keeps its version and is not locked again, and what is left out stays out."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.images.cards import environment_names, load_environment
from harness.images.fetch import PartSources, fetch_parts
from harness.images.locks import Part, read_wheels


@pytest.mark.parametrize("name", ["fastai_collab", "graph_libraries"])
def test_an_environment_locks_only_what_it_adds(repository: Layout, name: str) -> None:
    environment, parent = load_environment(repository, name), load_environment(repository, "_torch")
    own = {wheel.name for wheel in read_wheels(environment.lock_path("wheels", "cpu")) if not wheel.installer}
    held = {wheel.name for wheel in read_wheels(parent.lock_path("wheels", "cpu")) if not wheel.installer}
    assert {"torch", "numpy"} <= held
    assert not own & held


def test_left_out_wheels_carry_their_reasons_and_are_not_locked(repository: Layout) -> None:
    looked_at = 0
    for name in environment_names(repository):
        environment = load_environment(repository, name)
        left_out = environment.card.wheels.left_out if environment.card.wheels is not None else {}
        for accelerator, part in environment.card.variants.items() if left_out else ():
            locked = {wheel.name for wheel in read_wheels(environment.lock_path("wheels", accelerator))}
            assert part.not_lockable or not locked & set(left_out)
        for package, reason in left_out.items():
            looked_at += 1
            assert len(reason) > 4, f"{name}: {package}"
    assert looked_at


@pytest.mark.parametrize(("version", "told"), [("2.13.0+cpu", True), ("2.13.0", False)])
def test_a_build_of_its_own_that_is_missing_tells_where_such_builds_are(
    tmp_path: Path, repository: Layout, version: str, told: bool
) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    part = Part("wheel", f"toy-{version}-py3-none-any.whl", "0" * 64, None, f"toy=={version}")
    with pytest.raises(MissingData, match="in none of its sources") as caught:
        fetch_parts(layout, [part], PartSources(network=False))
    assert ("PIP_EXTRA_INDEX_URL" in caught.value.todo) is told
