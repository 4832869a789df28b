"""Encoders of the marked classifier, brought ones and those adapted to texts, are planned, made and kept apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.base.errors import DataError, HarnessError, UsageError, WeightsError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.engine import Engine
from harness.execution.adaptation import adapt_weights
from harness.execution.tasks import Task, perform
from harness.images import ensure_image
from harness.methods.card import load_method, merged_parameters
from harness.methods.weights import are_here, bring_weights, kept_weights, weights_names
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.methods.tiny_models import write_bert

METHOD, ADAPTED = "pure_scibert", "pure_scibert:dapt"
QUICK = {"epochs": 1.0, "length": 64.0, "batch_size": 4.0, "learning_rate": 1e-3}


@pytest.fixture
def apart(repository: Layout, tmp_path: Path) -> Layout:
    """The repository with a cache of the test's own, in which no weights lie."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


def planned(layout: Layout, variant: str, **chosen: Any) -> Cell:
    """One cell on the embedded sentences."""
    job = Job(
        benchmark="combos",
        method=METHOD,
        variant=variant,
        parameters=merged_parameters(load_method(layout, METHOD), variant, chosen),
        dataset="combos_corpus",
        split=SplitSpec(strategy="released", seed=2021),
    )
    return make_plan(layout, "one", [job]).cells[0]


def bring(layout: Layout, folder: Path, name: str = METHOD, seed: int = 1) -> None:
    """A made-up encoder, as a person would bring it."""
    write_bert(folder, seed)
    (folder / "model.safetensors").write_bytes(b"unread")
    bring_weights(layout, name, given=folder, say=print)


def corpus(folder: Path) -> Path:
    """Some texts."""
    path = folder / "abstracts.txt"
    path.write_text(
        "\n".join(f"Text {number}: a drug with another, {'x' * (number % 7)}." for number in range(40))
    )
    return path


def test_a_missing_twin_is_no_crash(apart: Layout, tmp_path: Path) -> None:
    cell = planned(apart, "dapt")
    assert cell.verdict is Verdict.MISSING_DATA
    assert f"`harness weights adapt {ADAPTED} --corpus FILE`" in cell.reason
    assert f"`harness weights get {METHOD}`" in planned(apart, "published").reason
    bring(apart, tmp_path / "brought")
    # neither stands for the other
    assert planned(apart, "published").planned is not None
    assert planned(apart, "dapt").verdict is Verdict.MISSING_DATA
    assert not are_here(apart, ADAPTED)
    assert planned(apart, "untrained").planned is not None


def test_a_twin_has_the_same_key(apart: Layout, tmp_path: Path) -> None:
    bring(apart, tmp_path / "one")
    bring(apart, tmp_path / "two", ADAPTED, seed=2)
    cells = {name: planned(apart, name).planned for name in ("published", "dapt", "no_context", "dapt_no_context")}
    digests = {name: one.weights_digest for name, one in cells.items() if one is not None}
    assert digests["published"] == digests["no_context"] != digests["dapt"] == digests["dapt_no_context"]
    assert len({one.key for one in cells.values() if one is not None}) == 4
    assert kept_weights(apart, METHOD).folder != kept_weights(apart, ADAPTED).folder


def test_names_of_further_models_are_lost(apart: Layout) -> None:
    names = weights_names(apart)
    assert names.index(METHOD) + 1 == names.index(ADAPTED)
    assert {name.partition(":")[2] for name in names} == {"", "dapt"}
    with pytest.raises(UsageError, match="no pretrained model is called 'pure_scibert:other'"):
        kept_weights(apart, "pure_scibert:other")
    with pytest.raises(WeightsError, match="published nowhere"):
        bring_weights(apart, ADAPTED, say=print)


def test_the_command_line_adapts_what_is_not_there(
    apart: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_CACHE", str(apart.cache))
    arguments = ["weights", "adapt", METHOD, "--corpus", str(corpus(tmp_path)), "--set", "epochs=one"]
    assert "is no number" in str(CliRunner().invoke(group, arguments).exception)
    listed = CliRunner().invoke(group, ["weights", "list", "--json"])
    states = {row["method"]: row["state"] for row in json.loads(listed.stdout)["rows"]}
    assert states[ADAPTED] == f"to be made: `harness weights adapt {ADAPTED}`"


@pytest.mark.engine
def test_an_encoder_is_not_adapted_or_does_not_reach_the_classifier(
    repository: Layout, apart: Layout, engine: Engine, tmp_path: Path
) -> None:
    """From a folder as it is published, through masked words, to combinations."""
    ensure_image(engine, repository, METHOD)
    apart = Layout(repository.root, apart.cache, apart.local)
    texts, said = corpus(tmp_path), list[str]()

    def adapt(settings: dict[str, float], name: str = ADAPTED) -> None:
        adapt_weights(engine, apart, name, texts, settings, say=said.append)

    with pytest.raises(WeightsError, match="SciBERT"):
        adapt(QUICK)
    bring(apart, tmp_path / "brought")
    with pytest.raises(UsageError, match="is published, and not made here"):
        adapt(QUICK, METHOD)
    with pytest.raises(WeightsError) as refusal:
        adapt({"epoch": 1.0})
    assert "no setting epoch: there are epochs, learning_rate" in str(refusal.value.where)
    with pytest.raises(WeightsError) as refusal:
        adapt({**QUICK, "length": 600.0})
    assert "no block of 600 can be masked: the encoder has 512 places" in str(refusal.value.where)
    adapt(QUICK)
    assert "blocks of 64 word pieces" in said[0] and said[1].startswith("loss ")
    own, other = kept_weights(apart, METHOD), kept_weights(apart, ADAPTED)
    assert (own.folder / "vocab.txt").read_bytes() == (other.folder / "vocab.txt").read_bytes()
    with pytest.raises(UsageError, match="is here already"):
        adapt(QUICK)
    texts.write_bytes(b"good\n\xff\n")
    for variant in ("published", "dapt"):
        cell = planned(apart, variant, epochs=1, most_others=1)
        assert cell.planned is not None
        record = perform(Task(apart, cell.planned, ensure_image(engine, repository, METHOD)), engine)
        folder = Store(apart.runs).path(record.key)
        assert record.verdict is Verdict.OK, (folder / "log.txt").read_text()
        files = json.loads((folder / "job.json").read_text())["weights"]["files"]
        assert ("model.safetensors" in files) == (variant == "dapt")


def test_a_corpus_is_no_text(apart: Layout, tmp_path: Path) -> None:
    from harness.execution.adaptation import readable

    path = tmp_path / "corpus.txt"
    path.write_bytes(b"good\n\xff\n")
    with pytest.raises(DataError) as refusal:
        readable(path)
    assert isinstance(refusal.value, HarnessError) and "line 2" in str(refusal.value.where)
