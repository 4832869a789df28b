"""A prediction has no truth: no later command may break on it, show a score of it, or hold it against a claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.layout import Layout
from harness.cli import group
from harness.compare.names import load_names
from harness.compare.runs import obtain
from harness.engine import Engine
from harness.results.scoring import read_scores, scored_files
from harness.results.store import Store
from tests.data.own_pairs import DRUGS, STATISTICS, write_pairs
from tests.fabricate import copy_repository

pytestmark = pytest.mark.engine

_REASON = "asks for what is not known: there is no truth to score by"


@pytest.fixture
def own(repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """The repository with three known drugs of one's own, and two of which nothing is known."""
    copied = copy_repository(repository, tmp_path)
    tables = {"drugs.csv": DRUGS + "D,CCN,,,,\nE,CCC,,,,\n"}
    write_pairs(copied, tables=tables, statistics={**STATISTICS, "drugs": 5, "entities": 7})
    monkeypatch.chdir(copied.root)
    monkeypatch.setenv("PERMAFROST_CACHE", str(repository.cache))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(copied.local))
    return Layout(root=copied.root, cache=repository.cache, local=copied.local)


def harness(*arguments: str) -> Result:
    """A command as a person types it; whatever it raises fails the test."""
    return CliRunner().invoke(group, list(arguments), standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize(
    ("benchmark", "method", "dataset", "asked"),
    [("ddi", "drug_frequency", "mine", "new_drugs"), ("repurposing", "constant", "synthetic", "unknown_pairs")],
)
def test_every_later_command_works(
    own: Layout, engine: Engine, benchmark: str, method: str, dataset: str, asked: str
) -> None:
    assert harness("predict", "--method", method, "--dataset", dataset, "--top", "3").stdout.startswith("rank,")
    (key,) = Store(own.runs).finished()
    audited = harness("audit", key)
    assert audited.return_value == 0 and f"split {asked} {_REASON}" in " ".join(audited.output.split())
    for command in (
        ("audit", "--all"),
        ("score",),
        ("score", key),
        ("status", "--suite", "stored"),
        ("report", "--suite", "stored"),
        ("compare", "--benchmark", benchmark),
        ("study", "--benchmark", benchmark),
    ):
        assert harness(*command).return_value == 0, command
    assert _REASON in harness("score").output
    scores = read_scores(
        own, key, benchmark, scored_files(benchmark, Store(own.runs).standing(key).content["files"])
    )
    assert scores is not None and set(scores.every.values()) == {None} and set(scores.notes) == set(scores.metrics)
    runs = obtain(own, Store(own.runs), load_names(own, benchmark))
    assert not any(target.dataset == dataset for found in runs.values() for target in found)
