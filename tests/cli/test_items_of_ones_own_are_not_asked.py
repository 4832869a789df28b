"""`harness predict` must ask about what a person brings, in every benchmark, and refuse what can't be asked."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks import ddi, names
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.ddi.checks import checked_remarks as check_ddi
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.extension import with_new as with_new_drugs
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.benchmarks.ddi.splits.strategies import new_drugs
from harness.benchmarks.new_item import NewItem, extension_of
from harness.benchmarks.repurposing.checks import checked_remarks as check_repurposing
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.extension import with_new as with_new_rows
from harness.benchmarks.repurposing.input_arrays import similarity
from harness.data import load_dataset, load_manifest
from harness.data.extension import extended
from harness.methods.card import load_method
from harness.prediction import known_name
from tests.conftest import REPOSITORY

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
Harness = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose datasets may be added to."""
    root = tmp_path_factory.mktemp("door")
    (root / "datasets").mkdir()
    for path in REPOSITORY.iterdir():
        if path.name in ("containers", "methods", "results", "run_all.sh", "Dockerfile", "pyproject.toml"):
            (root / path.name).symlink_to(path)
    for name in (
        "synthetic",
        "synthetic_ddi",
        "dti_world",
        "combos_corpus",
        "fdataset",
        "drugbank",
        "davis",
        "combos",
    ):
        (root / "datasets" / name).symlink_to(REPOSITORY / "datasets" / name)
    return root


@pytest.fixture(scope="module")
def harness(root: Path) -> Harness:
    """`harness predict` in that repository."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "PERMAFROST_RESULTS": str(root / "local"),
        "PERMAFROST_MIRROR": "",
    }

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness", "predict", *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    return run


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    """The rows that were printed."""
    return [*csv.DictReader(done.stdout.splitlines())]


@pytest.mark.thorough
@pytest.mark.engine
def test_a_pair_of_a_new_drug_and_a_known_one(harness: Harness, engine: object) -> None:
    done = harness("ddi", "--dataset", "synthetic_ddi", "--drug", f"mine={ASPIRIN}", "--drug", "syn36")
    assert "method mlp, learning from synthetic_ddi (Synthetic drugs: 74 made-up drugs, " in done.stderr
    assert {frozenset((row["head"], row["tail"])) for row in rows(done)} == {frozenset(("mine", "SYN36"))}
    assert len(rows(done)) == 1
    both = harness(
        *("ddi", "--dataset", "synthetic_ddi", "--drug", f"mine={ASPIRIN}", "--drug", "syn36", "--both-orders")
    )
    assert [row["known"] for row in rows(both)] == ["", ""]


@pytest.mark.engine
@pytest.mark.thorough
def test_rows_of_a_new_drug_alone(harness: Harness, engine: object) -> None:
    own = ["--dataset", "synthetic", "--method", "lrssl", "--drug", "mine=feature1=0.5; feature2=-1"]
    listed = rows(harness("repurposing", *own))
    assert {row["drug"] for row in listed} == {"mine"} and len(listed) == 300
    assert rows(harness("repurposing", *own, "--top", "3")) == listed[:3]


@pytest.mark.engine
@pytest.mark.thorough
def test_a_new_drug_and_a_new_target(harness: Harness, engine: object, root: Path) -> None:
    done = harness(
        "--dataset", "dti_world", "--method", "nearest_neighbour", "--drug", f"mine={ASPIRIN}", "--top", "2"
    )
    assert [row["drug"] for row in rows(done)] == ["mine", "mine"]
    (root / "kin.fasta").write_text(">P1 a kinase\nMKV\n\nLAA\n")
    refused = harness(
        "dti", "--dataset", "dti_world", "--method", "nearest_neighbour", "--target", "kin=@kin.fasta", code=2
    )
    assert "reads nothing of a new target" in refused.stderr and "deepdta" in refused.stderr


@pytest.mark.engine
def test_a_sentence_of_ones_own(harness: Harness, engine: object) -> None:
    text = ["--text", "Aspirin (with clopidogrel) was synergistic.", "--drug", "aspirin", "--drug", "clopidogrel"]
    done = harness("combos", "--dataset", "combos_corpus", "--method", "all_drugs", *text)
    (row,) = rows(done)
    assert (row["document"], row["drugs"], row["label"]) == ("text 1", "Aspirin + clopidogrel", "POS")
    assert "evidence: harness audit" in done.stderr and done.stderr.endswith("\n1 row\n")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "nothing says what to learn from"),
        (["dti", "--dataset", "synthetic_ddi"], "dataset synthetic_ddi is one of benchmark ddi"),
        (["ddi", "--target", "x=MKV", "--dataset", "synthetic_ddi"], "no items of the kind 'target'"),
        (["ddi", "--drug", "x=c1cc", "--dataset", "synthetic_ddi"], "'c1cc' is no structure"),
        (["ddi", "--drug", "x=CCO ethanol", "--dataset", "synthetic_ddi"], "'CCO ethanol' is no structure"),
        (["ddi", "--drug", "SYN36=CC", "--dataset", "synthetic_ddi"], "there is a 'SYN36' already"),
        (
            ["ddi", "--drug", "SYN3", "--dataset", "synthetic_ddi"],
            "nothing in dataset synthetic_ddi is called 'SYN3'",
        ),
        (
            ["ddi", "--drug", "x=CC", "--dataset", "synthetic_ddi", "--method", "mste"],
            "MSTE reads nothing of a new drug",
        ),
        (["repurposing", "--drug", "x=size=1", "--dataset", "synthetic"], "no feature is called 'size'"),
        (["repurposing", "--drug", "x=feature1=big", "--dataset", "synthetic"], "'big' is no finite number"),
        (["repurposing", "--disease", "x=", "--dataset", "synthetic"], "is no list of features"),
        (
            ["repurposing", "--drug", "x=feature1=1", "--dataset", "synthetic", "--method", "pmf"],
            "PMF reads nothing",
        ),
        (["combos", "--text", "aspirin", "--drug", "aspirin", "--dataset", "combos_corpus"], "1 drug marked"),
        (["combos", "--drug", "aspirin", "--dataset", "combos_corpus"], "there is no sentence"),
        (["ddi", "--drug", "x=@nowhere.smi", "--dataset", "synthetic_ddi"], "the file can't be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_asked_is_refused_before_anything_is_made(
    harness: Harness, root: Path, arguments: list[str], what: str
) -> None:
    before = {*(root / "datasets").iterdir()}
    assert what in harness(*arguments, code=2).stderr
    assert {*(root / "datasets").iterdir()} == before


def test_items_are_added_to_an_extended_dataset(root: Path, repository: Layout) -> None:
    own = Layout(root=root, cache=repository.cache, local=root / "local")
    first, second = (NewItem(kind="drug", name=name, text="CCO") for name in ("one", "two"))
    larger = extended(own, "synthetic_ddi", [first])
    both = extended(own, larger, [second])
    assert both == extended(own, "synthetic_ddi", [first, second]) == extended(own, both, [first])
    assert load_manifest(own, both).extends == "synthetic_ddi"
    with pytest.raises(UsageError, match="there is a 'One' already"):
        extended(own, larger, [NewItem(kind="drug", name="One", text="C")])


def test_a_sentence_of_any_characters_is_kept(root: Path, repository: Layout) -> None:
    """Its manifest is read back: an emoji, a control character, quotes."""
    layout = Layout(root=root, cache=repository.cache, local=root / "local")
    text = 'the "\U0001f48a" \x7f \\u0041 nai\u0308ve one : aspirin plus heparin helped .'
    drugs = (NewItem(kind="drug", name=name) for name in ("aspirin", "heparin"))
    name = extended(layout, "combos_corpus", [NewItem(kind="text", name="text 1", text=text), *drugs])
    assert load_manifest(layout, name).new[0].text == text
    assert load_dataset(layout, name, CombosDataset).documents[-1].drugs[0].text == "aspirin"


def test_a_text_that_is_no_utf_8_is_refused(root: Path, repository: Layout) -> None:
    layout = Layout(root=root, cache=repository.cache, local=root / "local")
    text = b"\xff aspirin plus heparin".decode("utf-8", "surrogateescape")
    with pytest.raises(UsageError, match="is not UTF-8"):
        extended(layout, "combos_corpus", [NewItem(kind="text", name="text 1", text=text)])


def test_a_new_drug_changes_nothing_that_is_known(repository: Layout) -> None:
    known = load_dataset(repository, "synthetic_ddi", DdiDataset)
    larger = with_new_drugs(known, [NewItem(kind="drug", name=name, text=ASPIRIN) for name in ("one", "two")])
    check_ddi(larger)

    def edges(dataset: DdiDataset) -> list[tuple[str, str, int]]:
        return [
            (dataset.entity_names[head], dataset.entity_names[tail], kind)
            for head, tail, kind in dataset.knowledge
        ]

    assert edges(larger) == edges(known) and larger.entities == known.entities + 2
    np.testing.assert_array_equal(larger.fingerprints[:-2], known.fingerprints)
    expected = count_fingerprints(molecules_of([ASPIRIN], [""]), 1024)
    np.testing.assert_array_equal(larger.fingerprints[-2:], np.repeat(expected, 2, axis=0))
    split = new_drugs.make(larger, 0, new_drugs.Parameters())
    assert [larger.drug_ids[drug] for drug in split.drugs_in(2)] == ["one", "two"]


HOLDS = "list of features (FEATURE=NUMBER, separated by semicolons or lines)"


def _similar(count: int) -> RepurposingDataset:
    ids = tuple(f"d{number}" for number in range(count))
    values = np.arange(count * count, dtype=np.float64).reshape(count, count)
    return RepurposingDataset(
        "made", np.eye(count, 2, dtype=np.int8), values + values.T, np.eye(2), ids, ("x", "y"), ids, ("a", "b")
    )


def test_a_new_row_of_similarities_is_a_new_column(repository: Layout) -> None:
    known = _similar(3)
    items = [
        NewItem(kind="drug", name="p", text="d0=0.25;d2=0.5"),
        NewItem(kind="drug", name="q", text="d1=1e-1\n;p=0.75;"),
    ]
    larger = with_new_rows(known, items)
    check_repurposing(larger)
    features, unknown = larger.drug_features, np.nan
    np.testing.assert_array_equal(features, features.T)
    np.testing.assert_array_equal(features[:3, :3], known.drug_features)
    np.testing.assert_array_equal(features[3], [0.25, unknown, 0.5, 1.0, 0.75])
    np.testing.assert_array_equal(features[4], [unknown, 0.1, unknown, 0.75, 1.0])
    assert larger.drug_feature_names == larger.drug_ids == ("d0", "d1", "d2", "p", "q")
    # square as before, so that it is prepared as similarities are
    assert similarity(features).shape == (5, 5) and not larger.associations[3:].any()
    np.testing.assert_array_equal(larger.disease_features, known.disease_features)


@pytest.mark.parametrize(
    ("first", "second", "what", "where"),
    [
        ("q=0.2", "p=0.9", "'q' is said to be 0.2 and 0.9 similar", "new drug 'p'"),
        ("p=0.2", "d0=1", "'p' is said to be 0.2 and 1 similar", "new drug 'p'"),
        ("d0=0.2;d0=0.3", "d0=1", "'d0' is given twice", "new drug 'p': d0=0.3"),
        ("d0=0.2;d1 0.3", "d0=1", f"'d0=0.2;d1 0.3' is no {HOLDS}", "new drug 'p'"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(first: str, second: str, what: str, where: str) -> None:
    items = [NewItem(kind="drug", name=name, text=text) for name, text in (("p", first), ("q", second))]
    with pytest.raises(UsageError) as refused:
        with_new_rows(_similar(3), items)
    assert (refused.value.what, refused.value.where) == (what, where)


def test_numbers_that_agree_may_be_given_twice() -> None:
    items = [NewItem(kind="drug", name="p", text="q=0.2;p=1"), NewItem(kind="drug", name="q", text="p=0.2")]
    features = with_new_rows(_similar(3), items).drug_features
    np.testing.assert_array_equal(features[3:, 3:], [[1, 0.2], [0.2, 1]])


def test_similarities_to_others_are_not_guessed() -> None:
    known = _similar(3)
    renamed = with_new_rows(known, [NewItem(kind="drug", name="p", text="d0=1")])
    assert np.isnan(renamed.drug_features[3, 1:3]).all()
    with pytest.raises(UsageError, match="similarities whose columns are not named as its rows are"):
        with_new_rows(known, [NewItem(kind="disease", name="z", text="a=1")])


def test_a_drug_of_the_dataset_goes_by_its_name_too(repository: Layout) -> None:
    known = load_dataset(repository, "synthetic_ddi", DdiDataset)
    name = next(name for name, own in zip(known.drug_names, known.drug_ids, strict=True) if name and name != own)
    number = known.drug_ids[known.drug_names.index(name)]
    assert {known_name("ddi", known, one) for one in (name.upper(), number.lower())} == {number}


def test_what_is_usual_is_there(repository: Layout) -> None:
    assert ddi.BENCHMARK.name in names()
    for benchmark in names():
        usual = extension_of(benchmark).USUAL
        card = load_method(repository, usual.method)
        manifests = [load_manifest(repository, name) for name in usual.datasets]
        assert benchmark in card.benchmarks and {one.benchmark for one in manifests} == {benchmark}
        # the last is embedded, so that the door opens everywhere
        assert manifests[-1].own_files == manifests[-1].files
