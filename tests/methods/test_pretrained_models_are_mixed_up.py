"""Pretrained models: missing ones are said to be missing, changed ones refused; what is brought is what runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.base.errors import WeightsError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.engine import Engine
from harness.execution.inputs import planned_weights
from harness.execution.tasks import Task, perform
from harness.images import ensure_image
from harness.methods.card import load_method, merged_parameters
from harness.methods.weights import are_here, bring_weights, kept_weights
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.methods.tiny_models import write_biogpt, write_roberta

WRITERS: dict[str, Callable[[Path, int], None]] = {"textddi": write_roberta, "ddi_gpt": write_biogpt}


@pytest.fixture
def apart(repository: Layout, tmp_path: Path) -> Layout:
    """The repository with a cache of the test's own, in which no weights lie."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


def planned(layout: Layout, method: str, variant: str = "published", **chosen: Any) -> Cell:
    """One cell on the embedded drugs."""
    job = Job(
        benchmark="ddi",
        method=method,
        variant=variant,
        parameters=merged_parameters(load_method(layout, method), variant, chosen),
        dataset="synthetic_ddi",
        split=SplitSpec(strategy="random", seed=124),
    )
    return make_plan(layout, "one", [job]).cells[0]


def bring(layout: Layout, method: str, folder: Path, seed: int = 1) -> list[str]:
    """A made-up model, as a person would bring it; what was said."""
    said: list[str] = []
    WRITERS[method](folder, seed)
    bring_weights(layout, method, given=folder, say=said.append)
    return said


@pytest.mark.parametrize("method", WRITERS)
def test_a_missing_model_is_no_crash(apart: Layout, method: str) -> None:
    cell = planned(apart, method)
    assert cell.verdict is Verdict.MISSING_DATA
    assert f"`harness weights get {method}`" in cell.reason
    assert planned(apart, method, "minilm").planned is not None


def test_another_model_has_the_same_key(apart: Layout, tmp_path: Path) -> None:
    other = Layout(root=apart.root, cache=tmp_path / "other", local=tmp_path / "local")
    bring(apart, "textddi", tmp_path / "one", seed=1)
    bring(other, "textddi", tmp_path / "two", seed=2)
    first, second = planned(apart, "textddi").planned, planned(other, "textddi").planned
    assert first is not None
    assert second is not None
    assert first.key != second.key
    unread = planned(apart, "textddi", "minilm").planned
    assert unread is not None
    assert unread.weights_digest == ""
    with pytest.raises(WeightsError, match="not the one that was planned"):
        planned_weights(other, first)


def test_a_file_is_changed_after_it_was_recorded(apart: Layout, tmp_path: Path) -> None:
    said = bring(apart, "textddi", tmp_path / "brought")
    assert any(line.startswith("model.safetensors: ") and "sha256" in line for line in said)
    cell = planned(apart, "textddi")
    assert cell.planned is not None
    kept = kept_weights(apart, "textddi")
    path = kept.folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + b"else")
    with pytest.raises(WeightsError, match="was changed"):
        planned_weights(apart, cell.planned)


def test_half_a_folder_is_kept(apart: Layout, tmp_path: Path) -> None:
    write_biogpt(tmp_path / "brought", 1)
    (tmp_path / "brought" / "vocab.json").unlink()
    with pytest.raises(WeightsError, match=r"'vocab\.json' of BioGPT"):
        bring_weights(apart, "ddi_gpt", given=tmp_path / "brought", say=print)
    assert not are_here(apart, "ddi_gpt")


def test_the_command_line_brings_what_it_says(
    apart: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_CACHE", str(apart.cache))
    write_roberta(tmp_path / "brought", 1)
    told = CliRunner().invoke(group, ["weights", "get", "textddi", "--from", str(tmp_path / "brought")])
    assert told.exit_code == 0, told.output
    listed = CliRunner().invoke(group, ["weights", "list", "--json"])
    states = {row["method"]: row["state"] for row in json.loads(listed.stdout)["rows"]}
    assert states["textddi"] == f"here, {kept_weights(apart, 'textddi').digest[:16]}"
    assert states["ddi_gpt"].startswith("to be brought")
    lines = CliRunner().invoke(group, ["weights", "verify"]).output.splitlines()
    assert {"ddi_gpt: not here", "textddi: ok", "pure_scibert:dapt: not here"} <= set(lines)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("method", "chosen"), [("textddi", {"longest": 64}), ("ddi_gpt", {"names_only": False})], ids=WRITERS
)
def test_a_brought_model_does_not_reach_the_method(
    repository: Layout, apart: Layout, engine: Engine, tmp_path: Path, method: str, chosen: dict[str, Any]
) -> None:
    """From a folder as it is published to scores of every type, through the container."""
    bring(apart, method, tmp_path / "brought")
    cell = planned(apart, method, epochs=1, **chosen)
    assert cell.planned is not None
    image = ensure_image(engine, repository, method)
    record = perform(Task(apart, cell.planned, image), engine)
    folder = Store(apart.runs).path(record.key)
    assert record.verdict is Verdict.OK, (folder / "log.txt").read_text()
    job = json.loads((folder / "job.json").read_text())
    assert job["weights"]["files"]["model.safetensors"]["file"] == "weights/model.safetensors"
