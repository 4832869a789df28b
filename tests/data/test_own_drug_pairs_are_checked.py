"""Faults in one's own drug interactions must be refused with file and line, and odd but allowed ones be told."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError, UsageError
from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.similarity import similarities
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data import load_dataset
from tests.data.own_pairs import DRUGS, KNOWLEDGE, SIGNED, SIGNED_STATISTICS, STATISTICS, TRIPLETS, write_pairs

NO_GRAPH = {**STATISTICS, "entities": 3, "relations": 0, "edges": 0}


def test_triplets_become_sorted_items(own: Layout) -> None:
    write_pairs(own)
    dataset = load_dataset(own, "mine", DdiDataset)
    assert dataset.type_names == ("lowers", "raises")
    assert dataset.pairs.tolist() == [[0, 1], [0, 1], [2, 0]]
    assert dataset.labels.tolist() == [0, 1, 1]
    assert dataset.entity_names == ("A", "B", "C", "gene", "other")
    assert dataset.knowledge.tolist() == [[0, 3, 0], [3, 4, 1], [2, 3, 0]]
    assert dataset.years.tolist() == [1990, 0, 2001]
    assert dataset.drug_names == ("Alpha", "B", "C") and dataset.graph_texts == ("alpha gene", "", "")
    assert dataset.fingerprints.shape == (3, 64) and dataset.fingerprints[2].max() == 6
    assert dataset.released.shape == (6, 0)
    assert not any(array.flags.writeable for array in dataset.arrays.values())


def test_triplets_are_sorted_by_their_first_drug_then_the_second_then_the_type(own: Layout) -> None:
    """Whatever order the table has."""
    lines = ["B,C,lowers", "B,A,raises", "A,C,lowers", "A,B,raises", "A,B,lowers", "C,A,raises"]
    table = "\n".join(["head,tail,type", *lines]) + "\n"
    write_pairs(own, tables={"interactions.csv": table}, statistics={**STATISTICS, "items": 6})
    dataset = load_dataset(own, "mine", DdiDataset)
    items = [(*pair, label) for pair, label in zip(dataset.pairs.tolist(), dataset.labels.tolist(), strict=True)]
    assert items == sorted(items) and len(items) == 6
    assert items[:3] == [(0, 1, 0), (0, 1, 1), (0, 2, 0)]


def test_signed_pairs_keep_their_order_and_signs(own: Layout) -> None:
    write_pairs(own, tables={"interactions.csv": SIGNED}, statistics=SIGNED_STATISTICS)
    dataset = load_dataset(own, "mine", DdiDataset)
    assert dataset.type_names == ("cough", "rash")
    assert dataset.pairs.tolist() == [[0, 1], [2, 1], [1, 0]]
    assert dataset.labels.tolist() == [[1, 1], [-1, -1], [0, 1]]
    assert dataset.labels.dtype == np.int8 and dataset.multilabel


def test_what_is_odd_but_allowed_is_remarked_on(own: Layout) -> None:
    twin = DRUGS + "D,OCC,,,,\n"
    write_pairs(own, tables={"drugs.csv": twin}, statistics={**STATISTICS, "drugs": 4, "entities": 6})
    assert load_dataset(own, "mine").remarks == (
        "1 drug without any item; they stay",
        "1 drug of a single atom: graphs without an edge",
        "1 drug with the structure of another drug",
        "2 drugs without a node of the knowledge graph",
        "3 drugs without a text; it is empty",
        "3 drugs without a text of the knowledge graph; it is empty",
        "2 drugs without a year of approval",
        "1 item more than ordered pairs: some pairs have several types",
    )


@pytest.mark.parametrize(("other", "name", "count"), [("a", "Beta", 1), ("B", "alpha", 0)])
def test_drugs_that_a_person_may_have_meant_as_one_are_told_by_what_they_go_by(
    own: Layout, other: str, name: str, count: int
) -> None:
    """By their identifiers: two drugs may be called alike."""
    tables = {
        "drugs.csv": DRUGS.replace("\nB,[Li+],", f"\n{other},[Li+],{name}"),
        "interactions.csv": TRIPLETS.replace(",B,", f",{other},"),
    }
    write_pairs(own, tables=tables)
    dataset = load_dataset(own, "mine", DdiDataset)
    assert dataset.drug_ids[1] == other and dataset.drug_names[:2] == ("Alpha", name)
    told = "names that differ in capitals alone are each a drug of its own: 'A', 'a'"
    assert [one for one in dataset.remarks if "of its own" in one] == [told] * count


def test_a_dataset_needs_no_graph_and_a_drug_no_known_structure(own: Layout) -> None:
    tables = {"drugs.csv": "smiles,drug\n*,A\n[Li+],B\nCCO,C\n*,D\n"}
    statistics = {**NO_GRAPH, "drugs": 4, "entities": 4, "fingerprint": 1024, "dated": 0}
    write_pairs(own, tables=tables, statistics={**statistics, "drug_texts": 0, "graph_texts": 0}, parameters="")
    dataset = load_dataset(own, "mine", DdiDataset)
    # two that nobody knows are not alike
    assert dataset.fingerprints.sum(axis=1).tolist() == [0, 1, 6, 0]
    assert similarities(dataset.fingerprints)[0].tolist() == [0, 0, 0, 0]
    assert "2 drugs of unknown structure: similar to no other drug" in dataset.remarks
    assert not any("the structure of another drug" in remark for remark in dataset.remarks)


def test_relations_take_the_order_of_the_manifest(own: Layout) -> None:
    more = 'knowledge = "knowledge.csv"\nfingerprint = 64\nrelations = ["meets", "is", "binds"]\n'
    write_pairs(own, parameters=more, statistics={**STATISTICS, "relations": 3})
    dataset = load_dataset(own, "mine", DdiDataset)
    assert dataset.knowledge[:, 2].tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("drugs.csv", "CCO", "CC(", r"'CC\(' is no structure: the SMILES does not parse\n.*drugs.csv: line 2"),
        ("drugs.csv", "c1ccccc1", "", r"the SMILES is empty\n.*line 4\n.*written \*"),
        ("drugs.csv", "CCO", "CCO ethanol", r"the smiles of drug 'A' has a blank in it\n.*drugs.csv: line 2"),
        *(
            ("drugs.csv", "CCO", f"CC{blank}O", r"the smiles of drug 'A' has a blank in it\n.*drugs.csv: line 2")
            for blank in ("\t", "\u00a0", "\u2003")
        ),
        ("drugs.csv", "C,c1", "A,c1", r"drug 'A' is also in line 2\n.*line 4"),
        ("drugs.csv", "A,CCO", ",CCO", r"the cell of 'drug' is empty\n.*line 2"),
        ("drugs.csv", "2001", "soon", r"'soon' is no year\n.*line 4"),
        ("drugs.csv", "2001", "12", r"'12' is no year\n.*line 4"),
        ("drugs.csv", "smiles", "structure", r"the columns are .*\n.*line 1"),
        ("drugs.csv", "c1ccccc1,,,,", "c1ccccc1,,,", r"5 cells instead of 6\n.*line 4"),
        ("interactions.csv", "C,A", "X,A", r"drug 'X' has no line among the drugs\n.*interactions.csv: line 2"),
        ("interactions.csv", "C,A", "A,A", r"drug 'A' is paired with itself\n.*line 2"),
        ("interactions.csv", "B,lowers", "B,raises", r"'A, B, raises' is also in line 3\n.*line 4"),
        ("interactions.csv", "A,B,lowers", "A,B,", r"a type has no name.*\n.*line 4"),
        ("interactions.csv", "head,tail,type", "head,tail,kind", r"the columns are head, tail, kind"),
        ("interactions.csv", TRIPLETS, "head,tail,type\n", r"there is no item"),
        ("knowledge.csv", "C,gene,binds", "A,gene,binds", r"'A, gene, binds' is also in line 2\n.*line 4"),
        ("knowledge.csv", "C,gene,binds", "C,gene,", r"the cell of 'relation' is empty\n.*line 4"),
        ("knowledge.csv", "C,gene,binds", "C,,binds", r"the cell of 'tail' is empty\n.*line 4"),
        ("knowledge.csv", KNOWLEDGE, "", r"the table is empty\n.*knowledge.csv"),
    ],
)
def test_fault_is_refused_with_file_and_line(own: Layout, file: str, old: str, new: str, message: str) -> None:
    text = {"drugs.csv": DRUGS, "interactions.csv": TRIPLETS, "knowledge.csv": KNOWLEDGE}[file]
    assert old in text
    write_pairs(own, tables={file: text.replace(old, new)})
    with pytest.raises(CorruptData, match=message):
        load_dataset(own, "mine")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cough,-", "cough,?", r"the sign '\?' is neither \+ nor -\n.*line 3"),
        ("rash,1", "rash;rash,1", r"a type has no name, or is there twice\n.*line 4"),
        ("rash,1", "rash;,1", r"a type has no name, or is there twice\n.*line 4"),
        ("B,A,rash,1", "A,B,cough;rash,+", r"is also in line 2\n.*line 4"),
    ],
)
def test_fault_of_a_signed_pair_is_refused(own: Layout, old: str, new: str, message: str) -> None:
    tables = {"interactions.csv": SIGNED.replace(old, new)}
    write_pairs(own, tables=tables, statistics=SIGNED_STATISTICS)
    with pytest.raises(CorruptData, match=message):
        load_dataset(own, "mine")


def test_relation_that_is_not_listed_is_refused(own: Layout) -> None:
    write_pairs(own, parameters='knowledge = "knowledge.csv"\nrelations = ["binds"]\n')
    with pytest.raises(CorruptData, match=r"relation 'meets' is not in the manifest's list\n.*line 3"):
        load_dataset(own, "mine")


def test_table_that_is_not_listed_is_asked_for(own: Layout) -> None:
    write_pairs(own, parameters='drugs = "compounds.csv"\n')
    with pytest.raises(ManifestError, match=re.escape("the file 'compounds.csv' is not listed")):
        load_dataset(own, "mine")


def test_counts_are_those_of_the_benchmark(own: Layout) -> None:
    folder = write_pairs(own)
    manifest = folder / "dataset.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace("items = 3", "items = 4"))
    with pytest.raises(CorruptData, match=r"has 3 items, not 4\n.*statistics.items"):
        load_dataset(own, "mine")
    manifest.write_text(text.replace("items = 3", "diseases = 3"))
    with pytest.raises(ManifestError, match=r"statistics.diseases: there is no such field"):
        load_dataset(own, "mine")
    manifest.write_text(text.replace('"ddi"', '"nonsense"', 1))
    with pytest.raises(ManifestError, match=r"benchmark: no benchmark is called 'nonsense'; name one"):
        load_dataset(own, "mine")


SYNTHETIC = "positives = 2\nnegatives = 1\nfeatures = 2\nseed = 1\n"


def test_converter_of_another_benchmark_is_refused(own: Layout) -> None:
    write_pairs(own, converter="synthetic", parameters=SYNTHETIC)
    with pytest.raises(UsageError, match=r"no converter is called 'synthetic'\n.*\n.*known: ddi_bench, ddi_csv$"):
        load_dataset(own, "mine")


def test_own_converter_that_makes_a_dataset_of_another_benchmark_is_refused(own: Layout) -> None:
    folder = write_pairs(own, converter="./convert.py", parameters=SYNTHETIC)
    (folder / "convert.py").write_text("from harness.benchmarks.repurposing.converters.synthetic import convert\n")
    with pytest.raises(ManifestError, match=r"converter '\./convert\.py' makes no dataset of benchmark 'ddi'"):
        load_dataset(own, "mine")


def test_dataset_of_another_benchmark_is_not_handed_out(own: Layout) -> None:
    write_pairs(own)
    with pytest.raises(UsageError, match="dataset 'mine' is one of benchmark 'ddi'"):
        load_dataset(own, "mine", RepurposingDataset)
