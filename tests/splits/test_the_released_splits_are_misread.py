"""The splits the authors released: what they promise, what they break, and how near they come to real time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.consistency import consistency
from harness.benchmarks.ddi.splits.parts import KNOWN, PartSplit
from harness.cli.split import command
from harness.data import load_dataset
from harness.splits import load_split, make_split
from harness.splits.checksums import Recorded, recorded_splits
from harness.splits.spec import SplitSpec
from harness.splits.splits import split_path, verify_split
from harness.splits.strategies import get_strategy
from tests.splits.kinds import as_parts


@pytest.fixture(scope="module")
def mirror(shared: Path) -> Path:
    return shared / "mirror"


@pytest.fixture(scope="module")
def drugbank(repository: Layout, mirror: Path) -> DdiDataset:
    dataset = load_dataset(repository, "drugbank", mirrors=[mirror])
    assert isinstance(dataset, DdiDataset)
    return dataset


def _released(layout: Layout, which: str, mirror: Path) -> PartSplit:
    spec = SplitSpec(strategy="released", seed=1, parameters={"which": which})
    return as_parts(load_split(layout, "drugbank", spec, [mirror]))


def test_the_cluster_structure_is_the_released_one(layout: Layout, drugbank: DdiDataset, mirror: Path) -> None:
    split = _released(layout, "cluster", mirror)
    strategy = get_strategy("ddi", "cluster")
    clusters = strategy.groups(drugbank, strategy.Parameters())  # type: ignore[attr-defined]
    assert clusters.max() + 1 == 305
    assert len(np.unique(np.column_stack([clusters, split.drugs]), axis=0)) == 305
    ours = as_parts(strategy.make(drugbank, 1, strategy.Parameters()))
    assert [(ours.drugs == role).sum() for role in range(3)] == [(split.drugs == role).sum() for role in range(3)]
    giant = clusters == np.argmax(np.bincount(clusters))
    assert (split.drugs[giant] == KNOWN).all()
    assert (ours.drugs[giant] == KNOWN).all()


def test_its_five_misplaced_rows_are_named(layout: Layout, mirror: Path) -> None:
    path = split_path(layout, "ddi", _released(layout, "cluster", mirror).digest)
    place = ["--mirror", str(mirror), "--file", str(path)]
    shown = CliRunner().invoke(command, ["verify", "drugbank", "cluster", *place], standalone_mode=False)
    assert shown.return_value == 4, shown.output
    assert "5 items of part test S1 join other drugs, for one item" in shown.output
    assert "a test-new drug" in shown.output
    assert "a valid-new drug" in shown.output
    # nothing else is broken
    assert shown.output.count(";") == 0


def test_the_random_split_keeps_its_promises_but_not_the_cluster_splits(layout: Layout, mirror: Path) -> None:
    path = split_path(layout, "ddi", _released(layout, "random", mirror).digest)
    place = ["drugbank", "--mirror", str(mirror), "--file", str(path)]
    shown = CliRunner().invoke(command, ["verify", *place, "--strategy", "random"], standalone_mode=False)
    assert shown.return_value == 0, shown.output
    shown = CliRunner().invoke(command, ["verify", *place, "--strategy", "cluster"], standalone_mode=False)
    assert shown.return_value == 4
    assert "25 clusters have drugs of several roles" in shown.output
    assert "9255 pairs of a known and a new drug are more similar than 0.55" in shown.output


def test_the_command_of_the_paper_tells_what_it_made(mirror: Path) -> None:
    told = ["--strategy", "cluster", "--gamma", "0.55", "--dataset", "drugbank", "--mirror", str(mirror)]
    shown = CliRunner().invoke(command, ["make", *told], standalone_mode=False)
    assert shown.exit_code == 0, shown.output
    for words in (
        "in all 305, largest 1,286, singletons 249, of several roles 0",
        "known 1,368, valid-new 171, test-new 171, discarded 0",
        "known to new 0.54902",
        "0.55: 0",
    ):
        assert words in shown.output
    shown = CliRunner().invoke(command, ["measure", *told, "--json"], standalone_mode=False)
    assert json.loads(shown.stdout)["rows"][0]["largest similarity"]["known to new"] == pytest.approx(
        0.54902, abs=1e-5
    )


def test_penalties_of_the_released_splits(
    drugbank: DdiDataset, layout: Layout, mirror: Path, shared: Path
) -> None:
    """Card figures, from other code. Theirs and our controls are draws: their means agree to their errors."""
    known = json.loads((shared / "derived" / "ddi" / "consistency_released.json").read_text())
    splits = {which: _released(layout, which, mirror).drugs for which in ("random", "cluster")}
    splits["all_known"] = np.zeros_like(splits["random"])
    rows = consistency(splits, drugbank.years, thresholds=[int(year) for year in known])
    for row in rows:
        expected = known[str(row.year)]
        assert row.penalty == expected[row.split]
        if row.split == "random":
            assert row.control_mean == pytest.approx(expected["control_mean"], abs=4 * expected["control_sd"] / 20)
            assert row.control_sd == pytest.approx(expected["control_sd"], rel=0.2)
    assert {row.drugs for row in rows} == {886}
    in_1985 = {row.split: row for row in rows if row.year == 1985}
    assert in_1985["cluster"].worse < 0.02 < in_1985["random"].worse


@pytest.mark.parametrize("dataset", ["synthetic_ddi", "synthetic_ddi_multilabel", "drugbank"])
def test_published_splits_are_made_again(repository: Layout, dataset: str, request: pytest.FixtureRequest) -> None:
    """All but DataSAIL's, which take a container, and of each strategy one of its seeds."""
    mirrors = [request.getfixturevalue("mirror")] if dataset == "drugbank" else []
    found: dict[tuple[str, str], Recorded] = {}
    for line in recorded_splits(repository, dataset).values():
        if line.spec.strategy != "datasail":
            found.setdefault((line.spec.strategy, str(line.spec.parameters)), line)
    assert len(found) >= 7
    for line in found.values():
        split = make_split(repository, dataset, line.spec, mirrors)
        assert (split.training, split.test, split.digest) == (line.training, line.test, line.sha256), (
            line.spec.label
        )
        broken = verify_split(repository, dataset, line.spec, split, mirrors)
        cluster = line.spec.strategy == "released" and line.spec.parameters["which"] == "cluster"
        assert len(broken) == int(cluster), (line.spec.label, broken)
