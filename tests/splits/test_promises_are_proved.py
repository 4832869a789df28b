"""A split file that breaks a promise must be found, whichever promise it is; any good one must pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from harness import benchmarks
from harness.base.errors import CorruptData, DataError, UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import Folds, FoldSplit, broken_promises, read_split, split_bytes
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.benchmarks.repurposing.splits.strategies import random, weakly_correlated
from harness.cli.split import command, one_per_split, tell
from harness.results.findings import findings_on
from harness.splits import make_split
from harness.splits.spec import SplitSpec
from harness.splits.splits import verify_split
from harness.splits.strategies import examined_of, get_strategy, strategy_names
from tests.conftest import REPOSITORY
from tests.splits.kinds import as_folds

RANDOM = SplitSpec(strategy="random", seed=17263407)
WEAKLY = SplitSpec(strategy="weakly_correlated", seed=17263407)


def _dataset(drugs: int, diseases: int, positives: int, negatives: int, seed: int) -> RepurposingDataset:
    generator = np.random.default_rng(seed)
    labels = np.zeros(drugs * diseases, dtype=np.int8)
    places = generator.permutation(labels.size)
    labels[places[:positives]] = 1
    labels[places[positives : positives + negatives]] = -1
    return RepurposingDataset(
        name="made",
        associations=labels.reshape(drugs, diseases),
        drug_features=generator.normal(size=(drugs, 4)),
        disease_features=generator.normal(size=(diseases, 3)),
        drug_ids=tuple(f"drug{number}" for number in range(drugs)),
        disease_ids=tuple(f"disease{number}" for number in range(diseases)),
        drug_feature_names=tuple("abcd"),
        disease_feature_names=tuple("abc"),
    )


@settings(max_examples=40, deadline=None)
@given(
    drugs=st.integers(8, 30),
    diseases=st.integers(5, 15),
    negatives=st.sampled_from([0, 10]),
    seed=st.integers(0, 2**31),
    share=st.sampled_from([0.1, 0.2, 0.5]),
)
def test_made_splits_keep_every_promise(
    drugs: int, diseases: int, negatives: int, seed: int, share: float
) -> None:
    dataset = _dataset(drugs, diseases, positives=12, negatives=negatives, seed=seed)
    told = random.Parameters(test_share=share, inner_folds=3)
    split = random.make(dataset, seed, told)
    assert broken_promises(split.folds, dataset.associations) == []
    assert random.broken_promises(dataset, split, told) == []


@settings(max_examples=25, deadline=None)
@given(drugs=st.integers(8, 40), seed=st.integers(0, 2**31), metric=st.sampled_from(["euclidean", "cosine"]))
def test_weakly_correlated_splits_never_share_a_drug(drugs: int, seed: int, metric: str) -> None:
    dataset = _dataset(drugs, 6, positives=30, negatives=0, seed=seed)
    told = weakly_correlated.Parameters.model_validate({"metric": metric, "inner_folds": 0})
    try:
        split = weakly_correlated.make(dataset, seed, told)
    except DataError:  # rightly refused: no group of these drugs lies apart
        reject()
    test = split.folds == -1
    assert not (test.any(axis=1) & ~test.all(axis=1)).any()
    assert weakly_correlated.broken_promises(dataset, split, told) == []


def test_the_published_search_stops_at_the_last_group_within_the_share_of_the_pairs() -> None:
    """Written out once more; one disease, so that a share of the pairs is hardly ever a whole number."""
    compared = 0
    for seed in range(150):
        drugs, share = 3 + seed % 10, (0.2, 0.3, 0.45)[seed % 3]
        dataset = _dataset(drugs, 1, positives=2, negatives=0, seed=seed)
        tree = linkage(pdist(dataset.drug_features), "average")
        low, high, groups, taken = 2, drugs, np.ones(drugs, dtype=np.int32), 0
        while low < high:
            groups = fcluster(tree, (low + high) // 2, criterion="maxclust")
            held = [int((groups <= number).sum()) for number in range(1, int(groups.max()) + 1)]
            # the share is cut off, not rounded
            fitting = [number for number, pairs in enumerate(held, 1) if pairs <= (1 - share) * drugs]
            taken = fitting[-1] if fitting else -1
            missing = (1 - share) * drugs - (held[taken - 1] if fitting else -1)
            if missing < 1:
                break
            # what is held never exceeds the share, so that only this end moves
            low = (low + high) // 2 + 1
        expected = groups > taken + 1
        told = weakly_correlated.Parameters(test_share=share, inner_folds=0)
        if not expected.any() or expected.all():
            with pytest.raises(DataError, match="no group of drugs lies apart"):
                weakly_correlated.make(dataset, seed, told)
            continue
        compared += 1
        assert (weakly_correlated.make(dataset, seed, told).folds[:, 0] == -1).tolist() == expected.tolist()
    assert compared > 50


def _changed(folds: Folds, change: str) -> Folds:
    folds = folds.copy()
    if change == "test pair moved":
        folds[tuple(np.argwhere(folds == -1)[0])] = 0
    elif change == "training pair left out":
        folds[tuple(np.argwhere(folds == 3)[0])] = -2
    elif change == "fold missing":
        folds[folds == 4] = 3
    elif change == "number skipped":
        folds[folds == 4] = 9
    elif change == "unknown code":
        folds[0, 0] = -7
    elif change == "no test":
        folds[folds == -1] = 0
    elif change == "no training":
        folds[folds >= 0] = -1
    elif change == "positives moved":
        rows = np.argwhere(folds == 0)[:6]
        folds[tuple(rows.T)] = 1
    return folds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("test pair moved", "its sha256 is"),
        ("training pair left out", "neither training nor test"),
        ("fold missing", "differ in size"),
        ("number skipped", "not numbered from 0"),
        ("unknown code", "code -7 has no meaning"),
        ("no test", "there is no test pair"),
        ("no training", "there is no training pair"),
        ("positives moved", "inner folds hold between"),
    ],
)
def test_broken_promise_is_told(layout: Layout, tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "split.npy"
    path.write_bytes(split_bytes(_changed(as_folds(make_split(layout, "synthetic", RANDOM)).folds, change)))
    broken = verify_split(layout, "synthetic", RANDOM, read_split(path))
    assert any(message in promise for promise in broken)
    assert any("recorded is" in promise for promise in broken)


def test_random_split_is_no_weakly_correlated_one(layout: Layout) -> None:
    broken = verify_split(layout, "synthetic", WEAKLY, make_split(layout, "synthetic", RANDOM))
    assert any("drugs have training and test pairs" in promise for promise in broken)


def test_split_of_another_dataset_is_told(layout: Layout) -> None:
    smaller = FoldSplit(as_folds(make_split(layout, "synthetic", RANDOM)).folds[:219, :34], "0" * 64)
    broken = verify_split(layout, "synthetic", RANDOM, smaller)
    assert "the split is (219, 34), the dataset (300, 300)" in broken[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a .npy file"),
        (b"PK\x03\x04 something else", "is not a .npy file"),
        (split_bytes(np.zeros((4, 5), dtype=np.int8))[:-1], "has 147 bytes instead of 148"),
        (split_bytes(np.zeros((4, 5), dtype=np.int8)) + b"x", "has 149 bytes instead of 148"),
        (split_bytes(np.zeros(5, dtype=np.int8)), "has 1 dimensions"),
        (split_bytes(np.zeros((4, 5, 2), dtype=np.int8)), "has 3 dimensions"),
    ],
)
def test_file_that_is_no_split_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "split.npy"
    path.write_bytes(content)
    with pytest.raises(CorruptData, match=message):
        read_split(path)


def test_split_files_are_byte_for_byte_stable() -> None:
    folds = np.array([[-1, 0], [1, -2]], dtype=np.int8)
    content = split_bytes(folds)
    assert content[:10] == b"\x93NUMPY\x01\x00\x76\x00"
    assert content[10:128] == b"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }".ljust(117) + b"\n"
    assert content[128:] == b"\xff\x00\x01\xfe"
    assert split_bytes(np.asfortranarray(folds)) == content


def test_command_line_proves_published_splits(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layout.root)
    seeds = [f"--seed={seed}" for seed in published_seeds()[:2]]
    result = CliRunner().invoke(command, ["verify", "synthetic", "random", *seeds])
    assert "promises kept: 2 of 2 splits" in result.output
    assert "examined: Every pair is used" in result.output and "examined: the recorded checksum" in result.output
    assert result.output.count("  proved\n") == 2
    assert result.exception is None


def test_what_is_proved_is_said_of_every_strategy() -> None:
    for benchmark in benchmarks.names():
        for name in strategy_names(benchmark):
            of_all, *of_its_own = examined_of(benchmark, name)
            assert of_all == examined_of(benchmark, "random")[0]
            strategy = get_strategy(benchmark, name)
            more = sum(hasattr(strategy, check) for check in ("wrong_drugs", "broken_draws"))
            assert len(of_its_own) == 1 + more
            assert all("\n" not in text and not text.endswith(".") for text in of_its_own)


_ONE_MODULE = """
\"\"\"Every pair of the first drugs is a test pair.\"\"\"

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.repurposing.splits.folds import split_of

SUMMARY = "the first drugs are new"


class Parameters(Strict):
    new: int = 3


def make(dataset, seed, parameters):
    folds = np.zeros(dataset.associations.shape, dtype=np.int8)
    folds[: parameters.new] = -1
    return split_of(folds)


def broken_promises(dataset, split, parameters):
    \"\"\"The first drugs and no others have
    test pairs.

    More is not asked.
    \"\"\"
    return [] if (split.folds[: parameters.new] == -1).all() else ["a new drug has a training pair"]
"""


def test_a_strategy_is_added_as_one_module(tmp_path: Path, layout: Layout) -> None:
    """In a copy of the harness, by a process of its own: what is found is kept as long as a process lives."""
    shutil.copytree(REPOSITORY / "harness", tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("methods", "datasets", "containers"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / "run_all.sh").touch()
    strategies = tmp_path / "harness" / "benchmarks" / "repurposing" / "splits" / "strategies"
    (strategies / "first_drugs.py").write_text(_ONE_MODULE)

    def split(*arguments: str) -> str:
        command = [sys.executable, "-m", "harness", "split", *arguments]
        environment = {**os.environ, "PERMAFROST_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "first_drugs: the first drugs are new" in split("list")
    assert "test" in split("make", "synthetic", "first_drugs", "--seed", "1", "--set", "new=5")
    told = split("verify", "synthetic", "first_drugs", "--seed", "1")
    assert "  examined: The first drugs and no others have test pairs\n" in told
    assert "promises kept: 1 of 1 split" in told


def test_a_known_finding_is_not_told_as_a_new_one(layout: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    known = [one.title for one in findings_on(layout, "ddi", "drugbank released:which=cluster")]
    assert len(known) == 1 and not findings_on(layout, "ddi", "drugbank released:which=random")
    row = {
        "dataset": "drugbank",
        "split": "released:which=cluster",
        "sha256": "4" * 64,
        "examined": ["all"],
        "broken": ["five items"],
    }
    tell(one_per_split([{**row, "seeds": [seed], "known_findings": known} for seed in (124, 125)]))
    told = capsys.readouterr().out
    assert "seeds 124, 125 (one split)" in told and "promises kept: 0 of 1 split" in told
    assert f"broken: five items\n    known finding: {known[0]}" in told


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--gamma", "0.55", "--set", "gamma=0.6"), "gamma is set twice: 0.6 and 0.55"),
        (("--set", "gamma=0.5", "--set", "gamma=0.6"), "gamma is set twice: 0.5 and 0.6"),
        (("--gamma", "1.5"), "gamma: has to be less than 1.0, not 1.5"),
    ],
)
def test_a_parameter_is_refused_and_not_dropped(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(layout.root)
    result = CliRunner().invoke(command, ["make", "synthetic_ddi", "cluster", *given])
    assert isinstance(result.exception, UsageError) and message in str(result.exception)
