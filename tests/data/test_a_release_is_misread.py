"""Each number of a dataset out of made-up releases, as a person reads it off their few lines."""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.benchmarks.ddi.converters.ddi_bench import convert
from harness.benchmarks.ddi.converters.ddi_bench.approval import approvals_in
from harness.benchmarks.ddi.converters.ddi_bench.drugs import TWOSIDES_TYPES, _in_order, twosides
from harness.benchmarks.ddi.converters.ddi_bench.knowledge import FULL, Knowledge, read_knowledge
from harness.benchmarks.ddi.converters.ddi_bench.released import (
    PARTS,
    ReleasedLines,
    ReleasedSplit,
    read_split,
    united,
)
from harness.benchmarks.ddi.converters.ddi_bench.stand_in import completed
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.data.manifest import DatasetManifest
from tests.data.made_up_release import DRUGBANK, TWOSIDES_DRUGS, write_approvals, write_files

OUTSIDE = -2
SETTINGS: dict[str, Any] = {"drugs": "drugbank", "fingerprint": 16, "splits": ["one", "two"]}
DATES = {"DB1": "1999/12/31", "DB2": "Approved Prior to Jan 1, 1982", "DB4": "2004/1/2 "}


def files_of(folder: Path, changed: dict[str, str]) -> dict[str, Path]:
    paths = write_files(folder, {**DRUGBANK, **changed})
    return {**paths, "drug_info_with_approval_date.xlsx": write_approvals(folder / "dates.xlsx", DATES)}


def converted(folder: Path, changed: dict[str, str] | None = None, **settings: Any) -> DdiDataset:
    manifest = SimpleNamespace(name="made_up", converter="ddi_bench", parameters={**SETTINGS, **settings})
    return convert(cast(DatasetManifest, manifest), files_of(folder, changed or {}))


def test_drugs_are_those_of_the_files_by_their_numbers(tmp_path: Path) -> None:
    dataset = converted(tmp_path)
    assert dataset.name == "made_up" and dataset.drug_ids == ("DB1", "DB2", "DB3", "DB4")
    assert dataset.smiles == ("CCO", "CCN", "CCC", "c1ccccc1")
    assert dataset.drug_names == ("Drug 0", "Drug 1", "Drug 2", "Drug 3")
    assert dataset.graph_texts == ("Text 0.", "Text 1.", "Text 2.", "Text 3.")
    assert dataset.drug_texts == ("",) * 4 and dataset.years.tolist() == [1999, 0, 0, 2004]
    assert dataset.type_names == ("#Drug1 may raise #Drug2", "#Drug1 may lower #Drug2")
    assert dataset.remarks[0] == ("1 drugs were approved before 1982, no year is told: they count as undated")
    expected = count_fingerprints(molecules_of(dataset.smiles, ["a", "b", "c", "d"]), 16)
    assert np.array_equal(dataset.fingerprints, expected) and dataset.fingerprints.shape == (4, 16)


def test_names_stand_in_the_order_of_their_numbers_and_not_of_the_alphabet() -> None:
    names = [f"DB{99 - number}" for number in range(12)]
    assert _in_order({name: names.index(name) for name in sorted(names)}, "file") == tuple(names)
    for gap in ({"a": 0, "b": 2}, {"a": 1, "b": 2}, {"a": 0, "b": 0}):
        with pytest.raises(CorruptData, match="the numbers of the drugs have a gap") as caught:
            _in_order(gap, "file")
        assert caught.value.where == "file"


def test_a_date_is_that_of_a_drug_and_not_of_the_head(tmp_path: Path) -> None:
    dates = approvals_in(write_approvals(tmp_path / "dates.xlsx", DATES))
    assert dates == {"DB1": "1999/12/31", "DB2": "Approved Prior to Jan 1, 1982", "DB4": "2004/1/2"}


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"])
@pytest.mark.parametrize("content", [None, "<sst", ""])
def test_a_workbook_of_dates_that_lacks_a_part_is_refused(tmp_path: Path, part: str, content: str | None) -> None:
    whole, damaged = write_approvals(tmp_path / "dates.xlsx", DATES), tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(whole) as book, zipfile.ZipFile(damaged, "w") as other:
        for name in book.namelist():
            if name != part:
                other.writestr(name, book.read(name))
        if content is not None:
            other.writestr(part, content)
    with pytest.raises(CorruptData) as refused:
        approvals_in(damaged)
    assert refused.value.what.startswith("not a workbook: ")
    assert (refused.value.where, refused.value.todo) == (str(damaged), "restore the original file")


def test_items_are_those_of_all_splits_once_in_order(tmp_path: Path) -> None:
    dataset = converted(tmp_path)
    items = [(0, 1, 0), (0, 1, 1), (0, 3, 1), (1, 0, 1), (1, 2, 0), (2, 0, 0), (3, 1, 0)]
    assert [
        (*pair, label) for pair, label in zip(dataset.pairs.tolist(), dataset.labels.tolist(), strict=True)
    ] == (items)
    assert dataset.released_names == ("one", "two") and not dataset.multilabel
    roles, of_items = dataset.released[:4], dataset.released[4:]
    assert roles.tolist() == [[0, 0, 2, 0], [0, 0, 0, 0], [1, 0, 0, 0], [2, 0, OUTSIDE, 0]]
    # part and place in the first split, then in the second; what is in no part counts its own places
    assert of_items.tolist() == [
        [0, 1, 5, 1],
        [1, 0, OUTSIDE, 0],
        [5, 0, OUTSIDE, 1],
        [0, 0, OUTSIDE, 2],
        [OUTSIDE, 0, 0, 0],
        [2, 0, 5, 0],
        [5, 1, OUTSIDE, 3],
    ]
    assert dataset.remarks[1:] == ("released split 'one': 1 lines repeat others and are left out",)


def test_a_line_of_two_parts_stays_in_the_first(tmp_path: Path) -> None:
    dataset = converted(tmp_path, {"one_test_S0.txt": "0 1 1\n"})
    assert dataset.released[4 + 1].tolist()[:2] == [1, 0]
    assert dataset.remarks[1] == "released split 'one': 2 lines repeat others and are left out"


def graph_of(dataset: DdiDataset) -> set[tuple[str, str, str]]:
    names, kinds = dataset.entity_names, dataset.relation_names
    return {(names[head], kinds[kind], names[tail]) for head, tail, kind in dataset.knowledge.tolist()}


def test_the_graph_has_the_edges_of_both_sources(tmp_path: Path) -> None:
    """Once each, in numbers that begin with the drugs; a compound that is a drug has the drug's number."""
    dataset = converted(tmp_path)
    assert dataset.relation_names == ("binds", "treats")
    assert dataset.entity_names == ("DB1", "DB2", "DB3", "DB4", "Compound::DB8", "Gene::9")
    assert graph_of(dataset) == {
        ("DB1", "binds", "Gene::9"),
        ("Gene::9", "treats", "DB2"),
        ("DB2", "binds", "Compound::DB8"),
    }
    rows = dataset.knowledge.tolist()
    assert rows == sorted(rows) == [[0, 5, 0], [1, 4, 0], [5, 1, 1]] and dataset.knowledge.dtype == np.int32


def test_an_edge_of_no_number_is_left_out_but_not_one_of_the_other_source(tmp_path: Path) -> None:
    """CID11 of TWOSIDES is DB1; the disease is an entity of TWOSIDES alone."""
    drugs = twosides(write_files(tmp_path, TWOSIDES_DRUGS))
    graph = read_knowledge(write_files(tmp_path, TWOSIDES_DRUGS), drugs, full=False)
    assert graph.entities == ("CID11", "CID12", "CID13", "Compound::DB2", "Disease::7")
    told = {(graph.entities[h], graph.relations[k], graph.entities[t]) for h, t, k in graph.edges.tolist()}
    assert told == {
        ("CID11", "treats", "Disease::7"),
        ("Compound::DB2", "treats", "Disease::7"),
    }


def test_twosides_drugs_are_compounds(tmp_path: Path) -> None:
    drugs = twosides(write_files(tmp_path, TWOSIDES_DRUGS))
    assert drugs.ids == ("CID11", "CID12", "CID13") and drugs.accessions == ("DB1", "", "")
    assert drugs.smiles == ("CO", "CN", "CC") and drugs.signed
    assert drugs.names == ("Compound 0", "Compound 1", "Compound 2")
    assert drugs.texts == ("First.", "A better second.", "")
    assert drugs.graph_texts == ("Words 0.", "Words 1.", "Words 2.")
    assert drugs.years.tolist() == [0, 0, 0] and drugs.remarks == ()
    assert drugs.type_names == tuple(f"type {number}" for number in range(209)) and TWOSIDES_TYPES == 209


def hetionet(tmp_path: Path, text: str) -> Knowledge:
    files = files_of(tmp_path, {})
    files[FULL] = tmp_path / FULL
    files[FULL].write_bytes(gzip.compress(text.encode()))
    drugs = SimpleNamespace(ids=("a", "b"), accessions=("DB1", ""), signed=False)
    return read_knowledge(files, cast(Any, drugs), full=True)


def test_what_is_no_drug_stands_by_its_number_and_not_by_its_digits(tmp_path: Path) -> None:
    files = files_of(tmp_path, {})
    files["entity_drug.json"].write_text('{"Gene::b": 100, "Gene::c": 10, "Gene::a": 9}')
    files[FULL] = tmp_path / FULL
    files[FULL].write_bytes(gzip.compress(b"source\tmetaedge\ttarget\nGene::c\tbinds\tGene::b\n"))
    drugs = SimpleNamespace(ids=("d",), accessions=("",), signed=False)
    graph = read_knowledge(files, cast(Any, drugs), full=True)
    assert graph.entities == ("d", "Gene::a", "Gene::c", "Gene::b") and graph.edges.tolist() == [[2, 3, 0]]


def test_the_whole_graph_is_hetionets_own_file(tmp_path: Path) -> None:
    """After its header; names may hold blanks, and what has no number is left out."""
    lines = [
        "source\tmetaedge\ttarget",
        "Compound::DB1\tbinds\tGene::9",
        "Compound::DB8\ttreats\tCompound::DB1",
        "Gene::9\tcauses\tCompound::DB1",
        "Gene::a b\tbinds\tGene::9",
        # a gene that regulates itself
        "Gene::9\tbinds\tGene::9",
    ]
    graph = hetionet(tmp_path, "\n".join(lines) + "\n")
    assert graph.entities == ("a", "b", "Compound::DB8", "Gene::9", "Compound::DB2")
    assert graph.edges.tolist() == [[0, 3, 0], [2, 0, 1], [3, 3, 0]]
    with pytest.raises(CorruptData, match="2 cells instead of 3") as caught:
        hetionet(tmp_path, "source\tmetaedge\ttarget\nCompound::DB1\tbinds\n")
    assert caught.value.where.endswith(f"{FULL}: line 2")


@pytest.mark.parametrize(
    ("changed", "said", "where"),
    [
        ({"one_train.txt": "0 4 1\n"}, "drug '4' is not one of 0 to 3", "one_train.txt: line 1"),
        ({"one_train.txt": "\n0 1 2\n"}, "type '2' is not one of 0 to 1", "one_train.txt: line 2"),
        ({"one_train.txt": "0 1\n"}, "2 cells instead of 3", "one_train.txt: line 1"),
        ({"one_valid_set.txt": "2 3\n"}, "2 cells instead of 1", "one_valid_set.txt: line 1"),
        ({"one_test_set.txt": "3\n1\n"}, "drug 1 is in two sets", "one_test_set.txt: line 2"),
        (
            {"node2id.json": json.dumps({"DB1": 0, "DB2": 2})},
            "the numbers of the drugs have a gap",
            "node2id.json",
        ),
        (
            {"node2id.json": json.dumps({"DB1": 1, "DB2": 2})},
            "the numbers of the drugs have a gap",
            "node2id.json",
        ),
        (
            {"node2id.json": json.dumps({"DB1": 0, "DB2": 0})},
            "the numbers of the drugs have a gap",
            "node2id.json",
        ),
        (
            {"drug_DDI_GPT.json": json.dumps({"0": {"name": "a", "description": "b"}})},
            "3 drugs missing, number 1 for one",
            "drug_DDI_GPT.json",
        ),
        (
            {"drug_DDI_GPT.json": json.dumps({str(one): {"name": "a", "description": "b"} for one in (1, 2, 3)})},
            "1 drug missing, number 0 for one",
            "drug_DDI_GPT.json",
        ),
        (
            {"drugbank_test_KG.txt": "0 1 88\n"},
            "relation '88' is not one of 86 to 87",
            "drugbank_test_KG.txt: line 1",
        ),
        (
            {"twosides_test_KG.txt": "0 6 500\n"},
            "entity '6' is not one of 0 to 5",
            "twosides_test_KG.txt: line 1",
        ),
    ],
)
def test_a_damaged_file_is_told_by_its_line(
    tmp_path: Path, changed: dict[str, str], said: str, where: str
) -> None:
    with pytest.raises(CorruptData, match=said) as caught:
        converted(tmp_path, changed)
    assert caught.value.where.endswith(where)


def test_without_a_part_there_is_no_release(tmp_path: Path) -> None:
    files = files_of(tmp_path, {})
    del files["one_valid_S2.txt"]
    with pytest.raises(Exception, match=r"one_valid_S2\.txt"):
        read_split("one", files, 4, 2, signed=False, complete=True)
    manifest = SimpleNamespace(name="made_up", converter="ddi_bench", parameters=SETTINGS)
    with pytest.raises(ManifestError, match=r"the file 'one_valid_S2\.txt' is not listed"):
        convert(cast(DatasetManifest, manifest), files)
    split = read_split("one", files, 4, 2, signed=False, complete=False)
    assert [PARTS[part] for part in split.parts] == [part for part in PARTS if part != "valid_S2"]


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_makes_what_is_missing_whichever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Also 0; only without a seed must a release be whole."""
    asked = list[tuple[list[str], int]]()

    def made(splits: list[ReleasedSplit], seed: int) -> list[ReleasedSplit]:
        asked.append(([split.name for split in splits], seed))
        return splits

    monkeypatch.setattr("harness.benchmarks.ddi.converters.ddi_bench.completed", made)
    files = files_of(tmp_path, {})
    del files["one_valid_S2.txt"]
    parameters = {**SETTINGS, "stand_in_seed": seed}
    manifest = SimpleNamespace(name="made_up", converter="ddi_bench", parameters=parameters)
    assert convert(cast(DatasetManifest, manifest), files).released_names == ("one", "two")
    assert asked == [(["one", "two"], seed)]


@pytest.mark.parametrize(
    "settings",
    [
        *({"fingerprint": 0}, {"stand_in_seed": -1}, {"knowledge": "most"}, {"drugs": "mine"}, {"splits": "one"}),
        {"fingerprint": 0, "knowledge": "most", "splits": "one"},
    ],
)
def test_parameters_that_are_none_are_told(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(ManifestError, match="the parameters of converter 'ddi_bench' are wrong") as caught:
        converted(tmp_path, **settings)
    assert {name for name in settings if f"parameters.{name}: " in caught.value.where} == {*settings}


def test_signs_are_read_bit_by_bit(tmp_path: Path) -> None:
    texts = {f"s_{word}_set.txt": text for word, text in (("train", "0\n1\n"), ("valid", ""), ("test", "2\n"))}
    texts["s_train.txt"] = "0 1 1,0,1 1\n1 0 1,0,1 0\n"
    split = read_split("s", write_files(tmp_path, texts), 3, 3, signed=True, complete=False)
    assert list(split.parts) == [0] and split.roles.tolist() == [0, 0, 2]
    assert split.parts[0].labels.tolist() == [[1, 0, 1], [-1, 0, -1]]
    for text in ("0 1 1,0 1\n", "0 1 1,0,2 1\n", "0 1 1,0,1 2\n", "0 1 101 1\n", "0 1 1,0,1,1 1\n"):
        texts["s_train.txt"] = text
        with pytest.raises(CorruptData, match="there are not 3 bits and a sign"):
            read_split("s", write_files(tmp_path, texts), 3, 3, signed=True, complete=False)


def lines(*rows: tuple[int, int, list[int]]) -> ReleasedLines:
    pairs = np.array([row[:2] for row in rows], dtype=np.int32).reshape(-1, 2)
    return ReleasedLines(pairs, np.array([row[2] for row in rows], dtype=np.int8))


@pytest.mark.parametrize(("drugs", "types"), [(3, 40), (40, 3)])
def test_triplets_of_all_splits_are_items_once_in_their_order(drugs: int, types: int) -> None:
    """However many types there are beside drugs."""
    draw = np.random.default_rng(4)
    triplets = np.column_stack([draw.integers(0, drugs, (400, 2)), draw.integers(0, types, 400)]).astype(np.int32)
    parts = [ReleasedLines(own[:, :2], own[:, 2]) for own in np.split(triplets, 4)]
    roles = np.zeros(drugs, dtype=np.int32)
    splits = [ReleasedSplit(name, roles, {0: parts[at], 1: parts[at + 1]}) for name, at in (("a", 0), ("b", 2))]
    items = united(splits, drugs, types)
    found = np.column_stack([items.pairs, items.labels]).tolist()
    assert found == sorted(map(list, {*map(tuple, triplets.tolist())}))
    # the part of an item is that of its first line in the split
    for column, (name, at) in enumerate((("a", 0), ("b", 2))):
        lines_of = [triplets[100 * place : 100 * (place + 1)].tolist() for place in (at, at + 1)]
        own = {tuple(row): part for part in (1, 0) for row in lines_of[part]}
        assert items.released[drugs:, 2 * column].tolist() == [own.get(tuple(row), OUTSIDE) for row in found], name


def test_a_stand_in_makes_what_is_missing_and_changes_nothing_that_is_there() -> None:
    """Two known drugs train, a known and a new one are of S1; each pair gets a negative of drugs like its own."""
    roles = np.array([0, 0, 0, 1, 1, 2, 2], dtype=np.int32)
    bits, others = [1, 0, 1], [0, 1, 0]
    here = lines((0, 3, bits), (1, 3, [-1, 0, -1]))
    elsewhere = lines((0, 1, bits), (3, 1, others), (2, 5, bits), (3, 5, bits), (0, 3, bits), (2, 1, [-1, -1, 0]))
    split = ReleasedSplit("s", roles, {2: here})
    source = ReleasedSplit("t", np.full(7, OUTSIDE, dtype=np.int32), {0: elsewhere})
    made, untouched = completed([split, source], 5)
    again, _ = completed([split, source], 5)
    assert list(made.parts) == [0, 2, 5] and made.parts[2] is here and untouched.parts[0] is elsewhere
    assert [untouched.parts[part].pairs.shape for part in (2, 5)] == [(0, 2), (0, 2)], "its drugs are in no set"
    known = {(0, 1), (3, 1), (2, 5), (3, 5), (0, 3)}
    for part, positive, roles_of in ((0, (0, 1), (0, 0)), (5, (2, 5), (0, 2))):
        (first, second), signs = made.parts[part].pairs.tolist(), made.parts[part].labels
        assert tuple(first) == positive and signs.tolist() == [bits, [-one for one in bits]]
        assert tuple(roles[second].tolist()) == roles_of and second[0] != second[1]
        assert tuple(second) not in known and tuple(second[::-1]) not in known
        assert signs.dtype == np.int8 and made.parts[part].pairs.dtype == np.int32
        assert np.array_equal(made.parts[part].pairs, again.parts[part].pairs)


def test_a_stand_in_deals_no_pair_that_its_split_has_and_no_known_one_turned_around() -> None:
    outside, known = np.full(4, OUTSIDE, dtype=np.int32), {(0, 1), (2, 3)}
    source = ReleasedSplit("t", outside, {0: lines(*((*pair, [1]) for pair in sorted(known)))})
    split = ReleasedSplit("s", np.zeros(4, dtype=np.int32), {2: lines((0, 1, [1]))})
    for seed in range(20):
        positive, (head, tail) = completed([split, source], seed)[0].parts[0].pairs.tolist()
        assert positive == [2, 3] and not known & {(head, tail), (tail, head)}
    # of files that give a pair other signs the first is believed, as its item is that of the first
    first, later = (ReleasedSplit("t", outside, {0: lines((2, 3, signs))}) for signs in ([0, 1], [1, 1]))
    split = ReleasedSplit("s", np.zeros(4, dtype=np.int32), {2: lines((0, 1, [1, 0]))})
    for sources, signs in (((first, later), [0, 1]), ((later, first), [1, 1])):
        assert completed([split, *sources], 1)[0].parts[0].labels[0].tolist() == signs


def test_stand_ins_of_another_seed_are_others() -> None:
    drugs = 40
    roles = np.zeros(drugs, dtype=np.int32)
    pairs = lines(*((number, number + 1, [1]) for number in range(0, drugs - 1, 2)))
    source = ReleasedSplit("t", np.full(drugs, OUTSIDE, dtype=np.int32), {0: pairs})
    split = ReleasedSplit("s", roles, {2: lines((0, 2, [-1]))})
    first, second = (completed([split, source], seed)[0].parts[0].pairs for seed in (1, 2))
    assert first.shape == second.shape == (2 * len(pairs.pairs), 2) and not np.array_equal(first, second)
    assert first[::2].tolist() == pairs.pairs.tolist(), "a pair, then its negative"
    # of the same drugs in two splits, each has negatives of its own
    one, other = (made.parts[0].pairs for made in completed([split, replace(split, name="u"), source], 1)[:2])
    assert np.array_equal(one, first) and np.array_equal(one[::2], other[::2]) and not np.array_equal(one, other)
