"""Faults in one's own drug-target tables must be refused with file and line, and what is odd be read as meant."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.layout import Layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data import load_dataset
from tests.dti.own_tables import DRUGS, GROUPS, PAIRS, TABLES, write_tables


@pytest.fixture
def own(tmp_path: Path) -> Layout:
    """An empty repository."""
    (tmp_path / "datasets").mkdir()
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def _same(one: DtiDataset, other: DtiDataset) -> bool:
    arrays = all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
    return arrays and one.names == other.names


def test_tables_become_a_dataset(own: Layout) -> None:
    write_tables(own)
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.drug_ids == ("A", "B", "C") and dataset.smiles == ("CCO", "[Li+]", "")
    assert dataset.target_ids == ("T1", "T2", "T3") and dataset.sequences == ("MKV", "MKVL", "")
    assert dataset.pairs.tolist() == [[0, 1], [1, 0], [0, 0]] and not dataset.affinity
    assert not len(dataset.released)
    assert dataset.relation_names == ("drug-disease", "target-target", "disease-pathway")
    # drugs 0-2, targets 3-5, then others as they are first read: a drug first, whichever end it was
    assert dataset.node_names == ("disease:Flu", "disease:cold", "pathway:P1")
    assert dataset.edges.tolist() == [[0, 0, 6], [0, 1, 7], [1, 3, 5], [2, 6, 8]]
    assert dataset.drug_similarity.tolist() == [[1, 0.25, 0.1], [0.25, 1, 0], [0.1, 0, 1]]
    assert dataset.target_similarity.shape == (0, 0)
    assert not any(array.flags.writeable for array in dataset.arrays.values())


def test_what_is_like_itself_may_be_said(own: Layout) -> None:
    write_tables(own, {"drug_similarity.csv": f"{TABLES['drug_similarity.csv']}b,B,1.0\n"})
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.drug_similarity.tolist() == [[1, 0.25, 0.1], [0.25, 1, 0], [0.1, 0, 1]]


def test_a_similarity_may_be_one_but_for_rounding(own: Layout) -> None:
    cosine = "b,B,1.0000000000000002\nb,c,-1e-17\n"
    write_tables(own, {"drug_similarity.csv": TABLES["drug_similarity.csv"] + cosine})
    assert load_dataset(own, "mine", DtiDataset).drug_similarity[1, 2] == -1e-17


def test_groups_keep_the_order_of_their_members(own: Layout) -> None:
    write_tables(own)
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.group_names == ("test2/kind:all", "test6/flu", "test3/fold:one", "network")
    assert dataset.group_sizes.tolist() == [2, 1, 1, 2]
    assert dataset.group_members.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 5], [2, 0, 3], [3, 0, 4], [3, 0, 0]]
    # of classes member by member, in the order of the pairs; of diseases as they are listed
    assert dataset.group_pairs.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 2, 2], [2, 1, 0], [2, 0, 0]]


def test_a_group_of_new_bindings_alone_has_no_members(own: Layout) -> None:
    """Even where it is the last one."""
    write_tables(own, {"groups.csv": "group,drug,target\nnetwork,,T2\ntest6/flu,C,T3\n"}, groups=2)
    dataset = load_dataset(own, "mine", DtiDataset)
    assert (dataset.group_names, dataset.group_sizes.tolist()) == (("network", "test6/flu"), [1, 0])
    assert dataset.group_pairs.tolist() == [[1, 2, 2]]


def test_affinities_and_the_parts_of_the_authors(own: Layout) -> None:
    write_tables(
        own,
        {"pairs.csv": "part,value,target,drug\ntest,5,T2,A\n0,1e1,T1,B\n127,-2.5,T1,A\nTest,1,T2,B\n"},
        affinity="true",
        pairs=4,
    )
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.affinity and dataset.values.tolist() == [5, 10, -2.5, 1]
    assert dataset.released.tolist() == [-1, 0, 127, -1]


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_mark_at_the_beginning_change_nothing(
    own: Layout, tmp_path: Path, ends: str, mark: bytes
) -> None:
    write_tables(own)
    usual = load_dataset(own, "mine", DtiDataset)
    shutil.rmtree(own.datasets / "mine")
    write_tables(own, {name: mark + text.replace("\n", ends).encode() for name, text in TABLES.items()})
    assert _same(usual, load_dataset(own, "mine", DtiDataset))


def test_names_are_matched_in_any_case_and_kept_as_the_first_table_has_them(own: Layout) -> None:
    write_tables(own)
    usual = load_dataset(own, "mine", DtiDataset)
    shutil.rmtree(own.datasets / "mine")
    turned = {
        "pairs.csv": PAIRS.swapcase().replace("DRUG,TARGET", "drug,target"),
        "groups.csv": GROUPS.replace("T3", "t3"),
    }
    write_tables(own, dict(turned))
    assert _same(usual, load_dataset(own, "mine", DtiDataset))


FAULTS = (
    ("drugs.csv", "A,CCO", ",CCO", "the cell of 'drug' is empty", 2),
    ("drugs.csv", "B,[Li+]", "a,[Li+]", "drug 'a' is also in line 2", 3),
    ("drugs.csv", "A,CCO", "A,CCO ethanol", "the smiles of drug 'A' has ' ' in it", 2),
    ("drugs.csv", "drug,smiles", "drug,structure", "the columns are drug, structure", 1),
    ("drugs.csv", "A,CCO", "A,CCO,1", "3 cells instead of 2", 2),
    ("targets.csv", "T1,MKV", "T1,MKV1", "the sequence of target 'T1' has '1' in it", 2),
    ("targets.csv", "T2,mkvl", "T2,mk vl", "the sequence of target 'T2' has ' ' in it", 3),
    ("targets.csv", "T2,mkvl", "t1,mkvl", "target 't1' is also in line 2", 3),
    ("pairs.csv", "B,T1", "B,", "the cell of 'target' is empty", 3),
    ("pairs.csv", "B,T1", "D,T1", "drug 'D' has no line among the drugs", 3),
    ("pairs.csv", "B,T1", "B,A", "target 'A' has no line among the targets", 3),
    ("pairs.csv", "A,T1\n", "a,t2\n", "the pair of 'a', 't2' is also in line 2", 4),
    ("pairs.csv", PAIRS, "drug,target,value\nA,T1,strong\n", "'strong' is no finite number", 2),
    ("pairs.csv", PAIRS, "drug,target,value\nA,T1,nan\n", "'nan' is no finite number", 2),
    ("pairs.csv", PAIRS, "drug,target,value\nA,T1,-inf\n", "'-inf' is no finite number", 2),
    ("pairs.csv", PAIRS, "drug,target,value\nA,T1,\n", "the cell of 'value' is empty", 2),
    ("pairs.csv", PAIRS, "drug,target,value\nA,T1,1\nB,T1,0\n", "the values are 0 and 1", 3),
    ("pairs.csv", PAIRS, "drug,target,part\nA,T1,validation\n", "'validation' is no part", 2),
    ("pairs.csv", PAIRS, "drug,target,part\nA,T1,-1\n", "'-1' is no part", 2),
    ("pairs.csv", PAIRS, "drug,target,part\nA,T1,128\n", "'128' is no part", 2),
    ("pairs.csv", PAIRS, f"drug,target,part\nA,T1,{'1' * 5000}\n", f"'{'1' * 5000}' is no part", 2),
    ("edges.csv", "disease,cold,drug,b", "target,T1,drug,b", "the edge joins a drug and a target", 3),
    ("edges.csv", "disease,cold,drug,b", "disease,cold,drug,D", "drug 'D' has no line among the drugs", 3),
    (
        "edges.csv",
        "disease,cold,drug,b",
        "disease,FLU,Drug,a",
        "the edge of drug 'a', disease 'flu' is also in line 2",
        3,
    ),
    ("edges.csv", "target,T1,target,T3", "target,T1,target,t1", "target 'T1' is joined with itself", 4),
    ("edges.csv", "disease,cold", ",cold", "the cell of 'head_type' is empty", 3),
    ("groups.csv", "test6/flu,,T3", "test4/flu,,T3", "'test4/flu' is no group", 4),
    ("groups.csv", "test2/kind:all,B,", "test2/kind,B,", "'test2/kind' is no group", 2),
    ("groups.csv", "network,,T2", "network/a,,T2", "'network/a' is no group", 7),
    ("groups.csv", "test2/kind:all,B,", "test2/kind:all,,T1", "gives no member of 'test2/kind:all'", 2),
    ("groups.csv", "test2/kind:all,B,", "test2/kind:all,B,T1", "gives no member of 'test2/kind:all'", 2),
    ("groups.csv", "test6/flu,,T3", "test6/flu,,", "gives no member of 'test6/flu'", 4),
    ("groups.csv", "test6/flu,C,T3", "test6/flu,b,t1", "the binding is among the pairs", 5),
    ("groups.csv", "test2/kind:all,A,", "test2/kind:all,b,", "is also in line 2", 3),
    ("drug_similarity.csv", "B,A,0.25", "B,A,high", "'high' is no finite number", 2),
    ("drug_similarity.csv", "c,a,1e-1", "a,b,0.5", "the similarity of 'A', 'B' is also in line 2", 3),
    ("drug_similarity.csv", "c,a,1e-1", "a,A,0.25", "drug 'A' is said to be 0.25 similar to itself", 3),
    ("drug_similarity.csv", "c,a,1e-1", "c,a,-0.5", "the similarity is -0.5, which is not in 0 to 1", 3),
    ("drug_similarity.csv", "c,a,1e-1", "c,a,10", "the similarity is 10.0, which is not in 0 to 1", 3),
    ("drug_similarity.csv", "c,a", "c,d", "drug 'd' has no line among the drugs", 3),
)


@pytest.mark.parametrize(("file", "text", "other", "what", "line"), FAULTS)
def test_a_fault_is_refused_with_file_and_line(
    own: Layout, file: str, text: str, other: str, what: str, line: int
) -> None:
    assert text in TABLES[file]
    write_tables(own, {file: TABLES[file].replace(text, other, 1)})
    with pytest.raises(CorruptData) as refused:
        load_dataset(own, "mine", DtiDataset)
    assert what in str(refused.value)
    assert re.search(rf"{re.escape(file)}: line {line}\b", str(refused.value))


def test_a_binding_is_new_where_its_own_drug_and_target_are_no_pair(own: Layout) -> None:
    """The third drug binds the first target; the first drug and the third target are no pair."""
    pairs, kept = "drug,target\nA,T2\nC,T1\nA,T1\n", {"structures": 2, "sequences": 2}
    groups = TABLES["groups.csv"].replace("test6/flu,C,T3", "test6/flu,A,T3")
    folder = write_tables(own, {"pairs.csv": pairs, "groups.csv": groups}, **kept)
    made = load_dataset(own, "mine", DtiDataset)
    flu = made.group_names.index("test6/flu")
    assert [flu, 0, 2] in made.group_pairs.tolist()
    shutil.rmtree(folder)
    write_tables(own, {"pairs.csv": pairs, "groups.csv": groups.replace("A,T3", "C,T1")}, **kept)
    with pytest.raises(CorruptData, match="the binding is among the pairs"):
        load_dataset(own, "mine", DtiDataset)


def test_an_empty_table_is_refused_with_its_file(own: Layout) -> None:
    write_tables(own, {"drugs.csv": ""})
    with pytest.raises(CorruptData, match="the table is empty") as refused:
        load_dataset(own, "mine", DtiDataset)
    assert Path(refused.value.where).name == "drugs.csv"


def test_a_table_that_the_manifest_does_not_list_is_refused(own: Layout) -> None:
    folder = write_tables(own)
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('edges = "edges.csv"', 'edges = "network.csv"'))
    with pytest.raises(ManifestError, match=r"the file 'network.csv' is not listed"):
        load_dataset(own, "mine", DtiDataset)


def test_three_tables_are_enough(own: Layout) -> None:
    folder = write_tables(own, nodes=0, relations=0, edges=0, groups=0)
    manifest = folder / "dataset.toml"
    manifest.write_text(re.sub(r"\[parameters\](\n\w+ = .*)+", "[parameters]", manifest.read_text()))
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.nodes == 6 and dataset.drug_similarity.shape == (0, 0) and dataset.group_names == ()
    assert dataset.remarks == (
        "1 of 3 drugs have no structure",
        "1 of 3 targets have no sequence",
        "1 of 3 drugs are in no pair",
        "1 of 3 targets are in no pair",
    )


@pytest.mark.parametrize(
    ("values", "affinity"), [("1 1", False), ("1 7.5", True), ("1 0.5", True), ("0.25 0", True), ("-2 1", True)]
)
def test_values_are_affinities_unless_all_are_one(own: Layout, values: str, affinity: bool) -> None:
    one, other = values.split()
    table = f"drug,target,value\nA,T1,{one}\nB,T1,{other}\n"
    write_tables(own, {"pairs.csv": table}, pairs=2, affinity=str(affinity).lower())
    dataset = load_dataset(own, "mine", DtiDataset)
    assert dataset.affinity is affinity
    assert dataset.values.tolist() == [float(one), float(other)]


def test_a_smiles_that_is_no_structure_is_remarked_upon(own: Layout) -> None:
    write_tables(own, {"drugs.csv": DRUGS.replace("CCO", "C1CC(((")})
    remarks = load_dataset(own, "mine", DtiDataset).remarks
    assert "1 of 3 drugs have a SMILES that RDKit can't read, 'A' first" in remarks


@pytest.mark.parametrize(("residues", "sign"), [("MKV*", "'*'"), ("MK-V", "'-'"), ("MKé", "'é'")])
def test_a_sign_that_is_no_residue_is_named(own: Layout, residues: str, sign: str) -> None:
    write_tables(own, {"targets.csv": f"target,sequence\nT1,{residues}\nT2,mkvl\nT3,\n"})
    with pytest.raises(CorruptData, match=re.escape(f"the sequence of target 'T1' has {sign} in it")):
        load_dataset(own, "mine", DtiDataset)
