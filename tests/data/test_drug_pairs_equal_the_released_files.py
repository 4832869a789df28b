"""DrugBank and TWOSIDES must be what the authors released, line for line, with the card's features and graph."""

from __future__ import annotations

import gzip
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.benchmarks.ddi.converters.ddi_bench.approval import approvals_in
from harness.benchmarks.ddi.converters.ddi_bench.drugs import READERS
from harness.benchmarks.ddi.converters.ddi_bench.knowledge import FULL, read_knowledge
from harness.benchmarks.ddi.converters.ddi_bench.released import read_split, united
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.datasets import convert_dataset, fetch_dataset

PARTS = ("train", "valid_S0", "valid_S1", "valid_S2", "test_S0", "test_S1", "test_S2")
SIZES = {
    "random": [99_283, 12_410, 28_823, 1_606, 12_411, 31_984, 1_992],
    "cluster": [115_838, 14_479, 21_371, 913, 14_481, 22_532, 933],
}
UNSEEN = ("train", "valid_S1", "test_S1")


@pytest.fixture(scope="module")
def drugbank(repository: Layout, shared: Path) -> DdiDataset:
    dataset = convert_dataset(repository, "drugbank", mirrors=[shared / "mirror"])
    assert isinstance(dataset, DdiDataset)
    return dataset


@pytest.fixture(scope="module")
def stand_in(repository: Layout, shared: Path) -> DdiDataset:
    dataset = convert_dataset(repository, "twosides_standin", mirrors=[shared / "mirror"])
    assert isinstance(dataset, DdiDataset)
    return dataset


@pytest.fixture
def private(repository: Layout, tmp_path: Path) -> Layout:
    """Manifests that a test may write beside, and a cache of its own."""
    (tmp_path / "datasets" / "twosides" / "own").mkdir(parents=True)
    shutil.copy(repository.datasets / "twosides" / "dataset.toml", tmp_path / "datasets" / "twosides")
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def _derived(shared: Path, *steps: str) -> bytes:
    return gzip.decompress((shared / "derived" / "ddi").joinpath(*steps).read_bytes())


def _array(shared: Path, name: str) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = np.load(io.BytesIO(_derived(shared, "features", name)))
    return array


def _items(dataset: DdiDataset, split: int, part: int) -> npt.NDArray[np.int64]:
    """The items of a released part, in their places."""
    parts, places = dataset.released[dataset.drugs :, 2 * split : 2 * split + 2].T
    found = np.flatnonzero(parts == part)
    assert sorted(places[found]) == list(range(len(found)))
    return found[np.argsort(places[found])]


def _line(dataset: DdiDataset, item: int) -> str:
    head, tail = dataset.pairs[item]
    label = dataset.labels[item]
    if not dataset.multilabel:
        return f"{head} {tail} {label}"
    return f"{head} {tail} {','.join(str(bit) for bit in abs(label).tolist())} {int(label.max() > 0)}"


def _written(dataset: DdiDataset, split: int, part: int) -> Iterator[str]:
    return (_line(dataset, item) for item in _items(dataset, split, part))


@pytest.mark.parametrize("split", [0, 1])
def test_every_released_triplet_stands_where_it_stood(
    repository: Layout, shared: Path, drugbank: DdiDataset, split: int
) -> None:
    name = drugbank.released_names[split]
    files = fetch_dataset(repository, "drugbank", mirrors=[shared / "mirror"])
    sizes = []
    for part, word in enumerate(PARTS):
        written = list(_written(drugbank, split, part))
        sizes.append(len(written))
        assert written == files[f"{name}_{word}.txt"].read_text().splitlines()
    assert sizes == SIZES[name]
    for role, word in enumerate(("train", "valid", "test")):
        drugs = np.flatnonzero(drugbank.released[: drugbank.drugs, 2 * split] == role)
        assert set(drugs) == set(map(int, files[f"{name}_{word}_set.txt"].read_text().split()))


def test_drugbank_items_are_the_union_in_order(drugbank: DdiDataset) -> None:
    rows = np.column_stack([drugbank.pairs, drugbank.labels])
    np.testing.assert_array_equal(rows, np.unique(rows, axis=0))
    assert len(rows) == 192_244
    assert (drugbank.released[drugbank.drugs :, ::2] >= 0).any(axis=1).all()


@pytest.mark.parametrize(("split", "unlearned", "several", "by_another"), [(0, 65, 96, 48), (1, 155, 48, 24)])
def test_rows_of_pairs_with_several_types_are_more_or_fewer(
    drugbank: DdiDataset, split: int, unlearned: int, several: int, by_another: int
) -> None:
    """The findings: what MSTE never learns in training, and what counts by its pair's lowest type in S1."""
    inside = drugbank.released[drugbank.drugs :, 2 * split] >= 0
    pairs, own = drugbank.pairs[inside], drugbank.labels[inside]
    parts = drugbank.released[drugbank.drugs :, 2 * split][inside]
    train = pairs[parts == PARTS.index("train")]
    assert len(train) - len(np.unique(train, axis=0)) == unlearned
    distinct, place, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    lowest = np.full(len(distinct), own.max())
    np.minimum.at(lowest, place.reshape(-1), own)
    rows = np.flatnonzero(parts == PARTS.index("test_S1"))
    assert (counts[place.reshape(-1)][rows] > 1).sum() == several
    assert (lowest[place.reshape(-1)][rows] != own[rows]).sum() == by_another


def test_drugbank_has_features_graph_and_years_of_the_card(drugbank: DdiDataset, shared: Path) -> None:
    np.testing.assert_array_equal(drugbank.fingerprints, _array(shared, "morgan_count_r2_1024_drugbank.npy.gz"))
    graph = np.loadtxt(io.BytesIO(_derived(shared, "kg", "kg_partial_drugbank.txt.gz")), dtype=np.int32)
    np.testing.assert_array_equal(drugbank.knowledge, np.unique(graph, axis=0))
    assert len(drugbank.knowledge) == 50_203 and drugbank.relation_names[21] == "CcSE"
    lines = _derived(shared, "real_scene", "approval.tsv.gz").decode().splitlines()[1:]
    for drug, accession, name, _, year in (line.split("\t") for line in lines):
        assert drugbank.drug_ids[int(drug)] == accession
        assert drugbank.drug_names[int(drug)] == name
        assert drugbank.years[int(drug)] == int(year or 0)
    assert (drugbank.years > 0).sum() == 886 and drugbank.years[drugbank.years > 0].min() == 1982


def test_known_defects_of_drugbank_are_kept_and_told(drugbank: DdiDataset) -> None:
    assert "released split 'cluster': 5 items of drugs of other roles" in drugbank.remarks
    assert not any("'random'" in remark and "join" in remark for remark in drugbank.remarks)
    assert "10 drugs of a single atom: graphs without an edge" in drugbank.remarks
    assert any(remark.startswith("390 drugs were approved before 1982") for remark in drugbank.remarks)


def test_released_lines_of_twosides_stand_where_they_stood(
    repository: Layout, shared: Path, stand_in: DdiDataset
) -> None:
    files = fetch_dataset(repository, "twosides_standin", mirrors=[shared / "mirror"])
    for split, name in enumerate(stand_in.released_names):
        for part, word in enumerate(PARTS):
            if word not in UNSEEN:
                written = list(_written(stand_in, split, part))
                assert written == files[f"{name}_{word}.txt"].read_text().splitlines()


def test_released_negatives_are_positives_turned_round(repository: Layout, shared: Path) -> None:
    """The finding: none is a positive in its own order of drugs, and many are in the other."""
    files = fetch_dataset(repository, "twosides_standin", mirrors=[shared / "mirror"])
    released = [f"{split}_{part}.txt" for split in SIZES for part in PARTS if part not in UNSEEN]
    assert len(released) == 8
    rows = [line.split() for name in released for line in files[name].read_text().splitlines()]
    bits = [int(types.replace(",", ""), 2) for _, _, types, _ in rows]
    has: dict[tuple[str, str], int] = {}
    for (head, tail, _, sign), types in zip(rows, bits, strict=True):
        if sign == "1":
            has[head, tail] = has.get((head, tail), 0) | types
    negatives = [
        (head, tail, types) for (head, tail, _, sign), types in zip(rows, bits, strict=True) if sign == "0"
    ]
    assert len(negatives) == 17_851
    assert sum((head, tail) in has for head, tail, _ in negatives) == 0
    assert sum((tail, head) in has for head, tail, _ in negatives) == 1_198
    assert sum(bool(has.get((tail, head), 0) & types) for head, tail, types in negatives) == 508
    assert all(int(head) < int(tail) for head, tail in has)


def test_every_type_has_rows_in_the_public_sets_of_twosides(repository: Layout, shared: Path) -> None:
    """The finding: no type counts 0 for want of rows, not even where the last incomplete batch is left out."""
    files = fetch_dataset(repository, "twosides_standin", mirrors=[shared / "mirror"])
    for name in (f"{split}_{part}.txt" for split in SIZES for part in PARTS if part not in UNSEEN):
        lines = files[name].read_text().splitlines()
        types = np.array([line.split()[2].split(",") for line in lines], dtype=np.int8)
        assert types.shape[1] == 209
        assert types[: len(lines) // 128 * 128].any(axis=0).all(), name


def test_stand_in_has_the_positives_of_the_card_and_negatives_of_its_own(
    shared: Path, stand_in: DdiDataset
) -> None:
    np.testing.assert_array_equal(stand_in.fingerprints, _array(shared, "morgan_count_r2_2048_twosides.npy.gz"))
    known = {(*pair,) for pair in stand_in.pairs[(stand_in.labels > 0).any(axis=1)].tolist()}
    for split, name in enumerate(stand_in.released_names):
        roles = stand_in.released[: stand_in.drugs, 2 * split]
        for part, word in ((0, "train"), (2, "valid_S1"), (5, "test_S1")):
            lines = _derived(shared, f"twosides_{name}_partial", f"{word}.txt.gz").decode().splitlines()
            items = _items(stand_in, split, part)
            positives, negatives = items[::2], items[1::2]
            assert {_line(stand_in, item) for item in positives} == {line for line in lines if line[-1] == "1"}
            np.testing.assert_array_equal(stand_in.labels[positives], -stand_in.labels[negatives])
            np.testing.assert_array_equal(roles[stand_in.pairs[positives]], roles[stand_in.pairs[negatives]])
            assert not known & {(*pair,) for pair in stand_in.pairs[negatives].tolist()}


def test_stand_in_says_so(repository: Layout, stand_in: DdiDataset) -> None:
    names = ("drugbank", "twosides", "synthetic_ddi", "twosides_standin")
    assert [bool(load_manifest(repository, name).stand_in) for name in names] == [False, False, False, True]
    assert "1198 negative items of pairs that have some type, in one order or the other" in stand_in.remarks


def test_whole_twosides_converts_as_soon_as_somebody_has_it(private: Layout, shared: Path) -> None:
    own = private.datasets / "twosides" / "own"
    with pytest.raises(MissingData, match=r"is not here[\s\S]*harness data get twosides"):
        dataset_digest(private, "twosides", mirrors=[shared / "mirror"])
    for split in ("random", "cluster"):
        for part in UNSEEN:
            text = _derived(shared, f"twosides_{split}_partial", f"{part}.txt.gz")
            (own / f"{split}_{part}.txt").write_bytes(text)
    dataset = load_dataset(private, "twosides", DdiDataset, mirrors=[shared / "mirror"])
    assert len(_items(dataset, 0, 0)) == 9_318 and len(_items(dataset, 1, 5)) == 2_768
    assert list(_written(dataset, 0, 2)) == (own / "random_valid_S1.txt").read_text().splitlines()
    assert (private.datasets / "twosides" / "first_seen.json").is_file()
    (own / "random_train.txt").write_text("0 1 1,0 1\n")
    with pytest.raises(CorruptData, match=r"no source of 'random_train\.txt'"):
        convert_dataset(private, "twosides", mirrors=[shared / "mirror"])


def test_whole_hetionet_replaces_the_public_part(
    repository: Layout, shared: Path, tmp_path: Path, drugbank: DdiDataset
) -> None:
    edges = [
        "source\tmetaedge\ttarget",
        "Compound::DB00460\tCbG\tGene::801",
        "Gene::801\tGr>G\tGene::7428",
        "Gene::801\tGpBP\tBiological Process::GO:1",
        "Compound::unheard\tCbG\tGene::801",
    ]
    files = fetch_dataset(repository, "drugbank", mirrors=[shared / "mirror"]) | {FULL: tmp_path / FULL}
    files[FULL].write_bytes(gzip.compress("\n".join(edges).encode()))
    drugs = READERS["drugbank"](files)
    graph = read_knowledge(files, drugs, full=True)
    told = [
        (graph.entities[head], graph.relations[kind], graph.entities[tail]) for head, tail, kind in graph.edges
    ]
    assert told == [("DB00460", "CbG", "Gene::801"), ("Gene::801", "Gr>G", "Gene::7428")]
    assert (graph.entities, graph.relations) == (drugbank.entity_names, drugbank.relation_names)
    files[FULL].write_bytes(gzip.compress(b"source\tmetaedge\ttarget\nGene::801\n"))
    with pytest.raises(CorruptData, match=r"1 cells instead of 3\n.*line 2"):
        read_knowledge(files, drugs, full=True)


def test_whole_hetionet_is_asked_for(repository: Layout, shared: Path) -> None:
    wanted = [file for file in load_manifest(repository, "drugbank_hetionet").files if not file.recorded]
    assert [file.name for file in wanted] == [FULL]
    parts = (
        load_manifest(repository, "drugbank").parameters,
        load_manifest(repository, "drugbank_hetionet").parameters,
    )
    assert parts[1] == {**parts[0], "knowledge": "full"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3 9 8", r"type '8' is not one of 0 to 7"),
        ("3 10 7", r"drug '10' is not one of 0 to 9"),
        ("-1 3 7", r"drug '-1' is not one of 0 to 9"),
        ("3 9", "2 cells instead of 3"),
    ],
)
def test_line_that_can_not_be_released_is_named(tmp_path: Path, line: str, message: str) -> None:
    files = _tiny(tmp_path, f"0 1 2\n{line}\n")
    with pytest.raises(CorruptData, match=rf"{message}\n.*tiny_train.txt: line 2"):
        read_split("tiny", files, 10, 8, signed=False, complete=False)


@pytest.mark.parametrize("line", ["0 1 1,0 1", "0 1 1,0,2 1", "0 1 1,0,1 -1", "0 1 1;0;1 1"])
def test_signs_that_can_not_be_released_are_named(tmp_path: Path, line: str) -> None:
    files = _tiny(tmp_path, f"0 1 1,0,1 1\n{line}\n")
    with pytest.raises(CorruptData, match=r"there are not 3 bits and a sign\n.*line 2"):
        read_split("tiny", files, 10, 3, signed=True, complete=False)


def test_drug_in_two_sets_is_named(tmp_path: Path) -> None:
    files = _tiny(tmp_path, "0 1 2\n")
    files["tiny_valid_set.txt"].write_text("4\n0\n")
    with pytest.raises(CorruptData, match=r"drug 0 is in two sets\n.*tiny_valid_set.txt: line 2"):
        read_split("tiny", files, 10, 8, signed=False, complete=False)


def test_lines_that_repeat_are_left_out_and_told(tmp_path: Path) -> None:
    split = read_split(
        "tiny", _tiny(tmp_path, "0 1 2\n3 4 5\n0 1 2\n1 0 2\n"), 10, 8, signed=False, complete=False
    )
    items = united([split], 10, 8)
    assert items.remarks == ("released split 'tiny': 1 lines repeat others and are left out",)
    assert items.released[10:].tolist() == [[0, 0], [0, 2], [0, 1]]


@pytest.mark.parametrize("content", [b"drug,date\n", b"PK\x05\x06" + bytes(18)])
def test_workbook_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dates.xlsx").write_bytes(content)
    with pytest.raises(CorruptData, match=r"not a workbook[\s\S]*dates.xlsx"):
        approvals_in(tmp_path / "dates.xlsx")


def _tiny(folder: Path, train: str) -> dict[str, Path]:
    texts = {"train_set": "0\n1\n2\n3\n", "valid_set": "4\n", "test_set": "5\n", "train": train}
    files = {f"tiny_{name}.txt": folder / f"tiny_{name}.txt" for name in texts}
    for name, text in texts.items():
        files[f"tiny_{name}.txt"].write_text(text)
    return files
