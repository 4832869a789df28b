"""BETA must be read as published: its order decides its tasks, and no line may be misread or left out unseen."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.dti.checks import checked_remarks
from harness.benchmarks.dti.converters.beta import SEQUENCES, convert
from harness.benchmarks.dti.converters.beta.groups import DRUG_CLASSES, FOLDS, SPACES, TARGET_CLASSES
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.splits.generator.bindings import bindings_of
from harness.benchmarks.dti.splits.generator.folds import fold_of
from harness.benchmarks.dti.splits.java import Integers
from harness.benchmarks.dti.splits.pairs import NEGATIVE
from harness.data import load_dataset, load_manifest
from harness.data.arrays import content_digest
from harness.data.datasets import fetch_dataset
from tests.dti.beta_files import (
    EDGES,
    FILES,
    NODE,
    PAIRS,
    POSITIVES,
    SMILES,
    TASKS,
    converted,
    manifest,
    network,
    written,
)

SEED = 1024


def golden(shared: Path, name: str) -> Iterator[dict[str, str]]:
    """The rows of a table."""
    with gzip.open(shared / "golden" / "dti" / "beta" / name, "rt", encoding="utf-8") as stream:
        yield from csv.DictReader(stream)


def pairs_of(dataset: DtiDataset, group: str) -> list[tuple[str, str]]:
    """The pairs of a group by name."""
    rows = dataset.group_pairs[dataset.group_pairs[:, 0] == dataset.group_names.index(group)]
    return [(dataset.drug_ids[drug], dataset.target_ids[target]) for _, drug, target in rows]


def members_of(dataset: DtiDataset, group: str, role: int) -> list[str]:
    """The members of a group by name."""
    nodes = (*dataset.drug_ids, *dataset.target_ids)
    number = dataset.group_names.index(group)
    return [nodes[node] for place, own, node in dataset.group_members if (place, own) == (number, role)]


def named(dataset: DtiDataset, codes: Integers) -> list[tuple[str, str]]:
    """The pairs of the generator by name."""
    return [(dataset.drug_ids[c // dataset.targets], dataset.target_ids[c % dataset.targets]) for c in codes]


def test_order_and_texts_are_those_of_the_files(tmp_path: Path) -> None:
    dataset = converted(tmp_path)
    assert checked_remarks(dataset)
    assert dataset.drug_ids == ("db00003", "db00002", "db00001") and dataset.smiles == ("C", "CO", "N")
    assert dataset.target_ids == ("be0000005", "be0000007", "be0000008", "be0000009")
    assert [(dataset.drug_ids[drug], dataset.target_ids[target]) for drug, target in dataset.pairs] == PAIRS
    assert (dataset.values == 1).all() and not dataset.affinity
    assert not any(dataset.sequences) and dataset.edges.shape == (0, 3)


def test_a_disease_has_its_new_bindings_and_the_published_negatives(tmp_path: Path) -> None:
    dataset = converted(tmp_path, disease_targets={"some_pain": 9})
    assert pairs_of(dataset, "test6/some_pain") == [("db00003", "be0000008")]
    assert pairs_of(dataset, "test6-TEO/some_pain") == [("db00001", "be0000008")]
    assert pairs_of(dataset, "test6-TRE/some_pain") == [("db00003", "be0000009")]
    assert members_of(dataset, "test6/some_pain", MEMBER) == ["be0000005", "be0000008"]
    assert dataset.group_sizes[dataset.group_names.index("test6/some_pain")] == 9


@pytest.mark.parametrize("change", ["upper case", "line ends", "byte order mark", "blank lines"])
def test_another_way_to_write_the_same_is_the_same(tmp_path: Path, change: str) -> None:
    files: dict[str, str | bytes] = dict(FILES)
    for name, text in FILES.items():
        if change == "upper case" and name != "smiles.txt":
            files[name] = text.replace("db0", "DB0").replace("be0", "BE0").replace("true", "TRUE")
        elif change == "line ends":
            files[name] = text.replace("\n", "\r\n")
        elif change == "byte order mark":
            files[name] = b"\xef\xbb\xbf" + text.encode()
        elif change == "blank lines":
            files[name] = "\n" + text + "\n"
    assert files != FILES
    assert content_digest(converted(tmp_path, files)) == content_digest(converted(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "what", "where"),
    [
        ("positives.nt", POSITIVES + "two cells\n", "2 cells instead of 3", "positives.nt: line 4"),
        ("positives.nt", POSITIVES.replace("true", "false", 1), "the label 'false' is not true", "line 1"),
        (
            "test6_some_pain_te.nt",
            FILES["test6_some_pain_te.nt"].replace("false", "maybe", 1),
            "the label 'maybe' is not true or false\n",
            "line 2",
        ),
        ("positives.nt", POSITIVES.replace("be0000009", "xx1"), "names no target", "line 2"),
        ("positives.nt", POSITIVES.replace("be0000009", "db00001"), "names no target", "line 2"),
        ("positives.nt", POSITIVES + POSITIVES.splitlines()[0], "is also in line 1", "line 4"),
        ("smiles.txt", SMILES + SMILES, "drug 'db00003' is there twice", "smiles.txt: line 4"),
        ("smiles.txt", SMILES.replace("CO", "C O"), "3 cells instead of 2", "smiles.txt: line 2"),
        ("test6_some_pain_te.nt", FILES["test6_some_pain_tt.nt"].replace("3> ", "2> ", 1), "known ones", "_te.nt"),
        ("test6_some_pain_te.nt", POSITIVES, "known ones", "_te.nt"),
    ],
)
def test_a_line_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, what: str, where: str
) -> None:
    with pytest.raises(CorruptData, match=what) as caught:
        converted(tmp_path, {**FILES, name: text})
    assert where in caught.value.where and name in caught.value.where


def test_a_new_binding_that_is_known_is_refused(tmp_path: Path) -> None:
    known = {
        name: text.replace("db00003", "db00001", 1).replace("be0000008", "be0000009", 1)
        for name, text in TASKS.items()
    }
    with pytest.raises(CorruptData, match="known ones"):
        converted(tmp_path, {**FILES, **known})


def test_bindings_of_a_disease_in_two_orders_are_refused(tmp_path: Path) -> None:
    """The generator's draws depend on their order: files that differ in it are not of one release."""
    more = f"{NODE.format('db00001')} {NODE.format('be0000007')} true\n"
    files = {**FILES, **{name: more + text for name, text in TASKS.items()}}
    first = [("db00001", "be0000007"), ("db00003", "be0000008")]
    assert pairs_of(converted(tmp_path, files), "test6/some_pain") == first
    turned = "test6_some_pain_tre.nt"
    with pytest.raises(CorruptData, match="not those of its other files") as caught:
        converted(tmp_path, {**files, turned: TASKS[turned] + more})
    assert caught.value.where == str(tmp_path / turned)


def test_sequences_are_those_of_their_targets_and_change_nothing_else(tmp_path: Path) -> None:
    table = "sequence,note,target\nmk v,x,BE0000009\nAAA,y,be0000001\nGG,,be0000007\n"
    dataset, bare = converted(tmp_path, {**FILES, SEQUENCES: table}), converted(tmp_path)
    assert dataset.sequences == ("", "GG", "", "MKV")
    marked = converted(tmp_path, {**FILES, SEQUENCES: b"\xef\xbb\xbf" + table.replace("\n", "\r\n").encode()})
    assert marked.sequences == dataset.sequences
    assert dataset.remarks == ("1 targets of sequences.csv are not in the benchmark and are left out",)
    assert content_digest(dataset) != content_digest(bare)
    for name, array in bare.arrays.items():
        np.testing.assert_array_equal(dataset.arrays[name], array)
    odd = "is there twice, or its sequence is not of letters"
    for faulty, line, what in (
        (table + "A,,be0000009\n", 5, f"target 'be0000009' {odd}"),
        (table.replace("AAA", ">sp|P1"), 3, f"target 'be0000001' {odd}"),
        ("target\nbe1\n", 1, "there is no column sequence"),
        ("id,text\nbe1,A\n", 1, "there is no column target, sequence"),
    ):
        with pytest.raises(CorruptData) as caught:
            converted(tmp_path, {**FILES, SEQUENCES: faulty})
        assert (caught.value.what, caught.value.where) == (what, f"{tmp_path / SEQUENCES}: line {line}")
    assert caught.value.todo == "name target, sequence", "all columns that are read, and not just the missing ones"


def test_the_network_has_no_edge_that_is_a_binding(tmp_path: Path) -> None:
    dataset = converted(tmp_path, {**FILES, "network.zip": network(tmp_path)})
    nodes = (*dataset.drug_ids, *dataset.target_ids, *dataset.node_names)
    assert [
        (dataset.relation_names[relation], nodes[head], nodes[tail]) for relation, head, tail in dataset.edges
    ] == [
        ("drug-drug", "db00001", "db00002"),
        ("drug-disease", "db00003", "omim:1"),
        ("target-disease", "be0000009", "omim:1"),
        ("drug-effect", "db00001", "c01"),
    ]
    assert dataset.remarks[0].startswith("1 edges Drug-Target") and dataset.remarks[1].startswith(
        "1 edges of drugs"
    )
    checked_remarks(dataset)


@pytest.mark.parametrize(
    ("edges", "more", "what", "line"),
    [
        ([(NODE.format("db00001"), "Drug-Smell", "<http://x/y>")], "", "relation 'Drug-Smell'", 1),
        ([], "<a> <b> <c>\n", "not a triple", 1),
        (EDGES[:1], "\n\n<a> <b> <c>\n", "not a triple", 4),
        ([("<http://x/y>", "Drug-Drug-Interaction", NODE.format("db00001"))], "", "names no drug", 1),
    ],
)
def test_a_faulty_edge_is_refused_with_its_line(
    tmp_path: Path, edges: list[tuple[str, str, str]], more: str, what: str, line: int
) -> None:
    with pytest.raises(CorruptData, match=what) as caught:
        converted(tmp_path, {**FILES, "network.zip": network(tmp_path, edges, more)})
    assert caught.value.where == f"{tmp_path / 'network.zip'}: network.nt: line {line}"
    with pytest.raises(CorruptData, match=r"network\.nt can't be read"):
        converted(tmp_path, {**FILES, "network.zip": b"PK no archive"})


def class_files(folder: Path, seed: int) -> tuple[dict[str, Path], list[list[tuple[str, str]]]]:
    """Tables of a class of targets whose bindings were once added in some order, and its folds."""
    generator = np.random.default_rng(seed)
    known = {(f"db{drug:05}", f"be{target:07}") for drug, target in generator.integers(0, 40, (160, 2)).tolist()}
    pairs = [sorted(known)[place] for place in generator.permutation(len(known))]
    targets = sorted({target for _, target in pairs})[5:30]
    text = "".join(f"{NODE.format(drug)} {NODE.format(target)} true\n" for drug, target in pairs)
    files = written(folder, {"positives.nt": text, "smiles.txt": SMILES})
    dataset = convert(manifest(), files)
    own = [row for row in dataset.pairs.tolist() if dataset.target_ids[row[1]] in targets]
    bindings = bindings_of(dataset)
    codes = bindings.code(*np.array(own)[generator.permutation(len(own))].T)
    folds = [named(dataset, fold_of(bindings, codes, fold, 10, SEED).test) for fold in range(10)]
    rows = [f"family:x,{fold},{drug},{target},1" for fold, half in enumerate(folds) for drug, target in half]
    classes = f"scheme,class,size_K,K_in_iteration_order\na/family,x,{len(targets) + 2},{' '.join(targets)}\n"
    tables = {
        FOLDS: "task,fold,drug,target,label\n" + "\n".join([*rows, "family:x,0,db1,be1,0"]),
        TARGET_CLASSES: classes,
    }
    return files | written(folder, tables), folds


@pytest.mark.parametrize("seed", range(4))
def test_bindings_of_a_class_are_in_an_order_that_gives_its_folds(tmp_path: Path, seed: int) -> None:
    files, folds = class_files(tmp_path, seed)
    dataset = convert(manifest(), files)
    rows = dataset.group_pairs
    bindings = bindings_of(dataset)
    codes = bindings.code(rows[:, 1], rows[:, 2])
    for fold, expected in enumerate(folds):
        test = fold_of(bindings, codes, fold, 10, SEED).test
        assert named(dataset, test) == expected
    assert dataset.group_names == ("test3/family:x",) and dataset.group_sizes.tolist() == [27]


def test_a_class_that_no_table_lists_is_what_its_tasks_show(tmp_path: Path) -> None:
    """Of one whose tasks are cut behind their 101st line nobody knows how large it is."""
    files, _ = class_files(tmp_path, 0)
    pairs = [line.split()[:2] for line in files["positives.nt"].read_text().splitlines()]
    assert len(pairs) > 102
    rows = [f"family:one,0,{pairs[3][0]},{pairs[3][1]},1"]
    for count in (100, 101):
        rows += [f"family:of {count},0,{drug},{target},1" for drug, target in pairs[:count]]
    rows = [row for row in rows if "of 100" not in row] + [f"family:of 100,1,{pairs[5][0]},{pairs[5][1]},0"]
    # one fold that is cut is enough
    rows += [f"family:of 101,1,{pairs[101][0]},{pairs[101][1]},1"]
    files[FOLDS].write_text("\n".join([files[FOLDS].read_text(), *rows, ""]))
    dataset = convert(manifest(), files)
    assert dataset.group_names == ("test3/family:x", "test3/family:one", "test3/family:of 101")
    assert dataset.group_sizes.tolist() == [27, 1, 0]
    assert members_of(dataset, "test3/family:one", MEMBER) == [pairs[3][1].rpartition(":")[2][:-1]]
    assert members_of(dataset, "test3/family:of 101", MEMBER) == []
    assert len(pairs_of(dataset, "test3/family:of 101")) == 102


@pytest.mark.parametrize(
    ("old", "new"), [("family:x,3,", "family:x,10,"), (",1\n", ",2\n"), ("family:x,3,", "family:x,-3,")]
)
def test_a_task_of_a_class_that_cannot_be_is_refused(tmp_path: Path, old: str, new: str) -> None:
    files, _ = class_files(tmp_path, 0)
    files[FOLDS].write_text(files[FOLDS].read_text().replace(old, new, 1))
    with pytest.raises(CorruptData, match="the fold is not 0 to 9, or the label not 0 or 1") as caught:
        convert(manifest(), files)
    assert f"{FOLDS}: line " in caught.value.where


def test_a_disease_has_at_least_the_targets_that_its_tasks_show(tmp_path: Path) -> None:
    """Fewer are no size of it, and without the tasks of other targets those are not known."""
    dataset = converted(tmp_path, disease_targets={"some_pain": 1, "other": 7})
    assert dataset.group_sizes[dataset.group_names.index("test6/some_pain")] == 2
    fewer = {name: text for name, text in FILES.items() if not name.endswith(("_tt.nt", "_tre.nt"))}
    dataset = converted(tmp_path, fewer)
    assert dataset.group_names == ("test6/some_pain", "test6-TRO/some_pain", "test6-TEE/some_pain")
    assert members_of(dataset, "test6/some_pain", MEMBER) == ["be0000005"]
    assert dataset.group_sizes.tolist() == [1, 0, 0] and not dataset.remarks


def test_folds_that_no_order_gives_are_refused(tmp_path: Path) -> None:
    files, _ = class_files(tmp_path, 0)
    files[FOLDS].write_text(files[FOLDS].read_text().replace("family:x,3,", "family:x,4,", 1))
    with pytest.raises(CorruptData, match="can't be in the fold that its tasks show") as caught:
        convert(manifest(), files)
    assert caught.value.where == f"{files[TARGET_CLASSES]}: line 2"


def test_a_class_of_drugs_keeps_members_size_and_leading_drugs(tmp_path: Path) -> None:
    table = (
        "scheme,class,size_K,leading_drugs,K_in_P_in_iteration_order\na/kind,x,5,db00003 db00002,db00001 db00002\n"
    )
    dataset = converted(tmp_path, {**FILES, DRUG_CLASSES: table})
    assert dataset.group_names[0] == "test2/kind:x" and dataset.group_sizes[0] == 5
    assert members_of(dataset, "test2/kind:x", MEMBER) == ["db00001", "db00002"]
    assert members_of(dataset, "test2/kind:x", LEADING) == ["db00003", "db00002"]
    assert pairs_of(dataset, "test2/kind:x") == [PAIRS[1], PAIRS[0], PAIRS[2]]
    empty = converted(tmp_path, {**FILES, DRUG_CLASSES: table.replace("5,db00003 db00002,db00001 db00002", "0,,")})
    assert empty.group_names[0] == "test2/kind:x" and empty.group_sizes[0] == 0, "a class that nothing is of"
    packed = gzip.compress(table.encode())
    assert content_digest(converted(tmp_path, {**FILES, DRUG_CLASSES: packed})) == content_digest(dataset)
    for faulty in (table.replace(",5,", ",1,"), table.replace("db00003", "be0000001"), table + "a,b\n"):
        with pytest.raises(CorruptData) as caught:
            converted(tmp_path, {**FILES, DRUG_CLASSES: faulty})
        assert f"{DRUG_CLASSES}: line" in caught.value.where
    for damaged in (packed[:-20], packed[:3], packed[:-8] + bytes(8), packed[:10] + b"\xff" * 20):
        with pytest.raises(CorruptData, match="damaged"):
            converted(tmp_path, {**FILES, DRUG_CLASSES: damaged})


def test_published_bindings_and_structures_are_read_row_by_row(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "beta", DtiDataset, mirrors=[shared / "mirror"])
    pairs = [(dataset.drug_ids[drug], dataset.target_ids[target]) for drug, target in dataset.pairs.tolist()]
    assert pairs == [(row["drug"], row["target"]) for row in golden(shared, "beta_positives_12240.csv.gz")]
    smiles = {row["drug"]: row["smiles"] for row in golden(shared, "beta_drug_smiles.csv.gz")}
    assert dict(zip(dataset.drug_ids, dataset.smiles, strict=True)) == smiles
    assert list(smiles) == list(dataset.drug_ids)
    known = [row["target"] for row in golden(shared, "targets_with_sequence_known.csv.gz")]
    assert [target for target in known if target in dataset.target_ids] == list(dataset.target_ids)


def test_published_tasks_of_diseases_are_groups(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "beta", DtiDataset, mirrors=[shared / "mirror"])
    tasks: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in golden(shared, "test5_repo_testpairs.csv.gz"):
        tasks[row["task"], row["job"]].append(row)
    assert len(tasks) == 20
    for (disease, space), rows in tasks.items():
        for label, group in (("1", f"test5/{disease}"), ("0", f"test5-{space}/{disease}")):
            expected = [(row["drug"], row["target"]) for row in rows if row["label"] == label]
            assert pairs_of(dataset, group) == expected, group
    assert sum(name.startswith("test6/") for name in dataset.group_names) == 10
    assert sum(name.startswith("test6-") for name in dataset.group_names) == 40


@pytest.mark.parametrize(
    ("strategy", "folder", "count"), [("new_pairs", "disease", 20), ("annotated_pairs", "clinicalCT", 40)]
)
def test_tasks_of_diseases_are_the_published_files_line_by_line(
    repository: Layout, shared: Path, strategy: str, folder: str, count: int
) -> None:
    dataset = load_dataset(repository, "beta", DtiDataset, mirrors=[shared / "mirror"])
    module = import_module(f"harness.benchmarks.dti.splits.strategies.{strategy}")
    paths = sorted((shared / "mirror" / "github.com" / "bioIKEA").glob(f"*/*/data_space/**/{folder}/test_*.nt"))
    assert len(paths) == count
    for path in paths:
        disease, _, space = path.stem.removeprefix("test_").rpartition("_")
        parameters = module.Parameters(group=disease, space=SPACES[space])
        split = module.make(dataset, SEED, parameters)
        asked = split.rows[~split.is_train]
        names = named(dataset, bindings_of(dataset).code(asked[:, 1], asked[:, 2]))
        labels = np.where(asked[:, 3] == NEGATIVE, "false", "true")
        lines = [
            f"{NODE.format(d)} {NODE.format(t)} {label} " for (d, t), label in zip(names, labels, strict=True)
        ]
        assert lines == path.read_text().splitlines(), path.name
        assert split.training == len(dataset.pairs) and not module.broken_promises(dataset, split, parameters)


def test_published_folds_of_classes_come_out(repository: Layout, shared: Path) -> None:
    folder = shared / "golden" / "dti" / "beta"
    if not (folder / FOLDS).is_file():
        pytest.skip(f"needs {FOLDS}")
    files = fetch_dataset(repository, "beta", mirrors=[shared / "mirror"])
    tables = {name: folder / name for name in (DRUG_CLASSES, TARGET_CLASSES, FOLDS)}
    dataset = convert(
        load_manifest(repository, "beta_classes"),
        {name: files[name] for name in ("positives.nt", "smiles.txt")} | tables,
    )
    bindings = bindings_of(dataset)
    compared = 0
    for test, name in ((2, "test2_repo_testpairs.csv.gz"), (3, FOLDS)):
        published: dict[tuple[str, str, str], list[tuple[str, str]]] = defaultdict(list)
        for row in golden(shared, name):
            if row["label"] == "1":
                published[f"test{test}/{row['task']}", row["fold"], row["job"]].append(
                    (row["drug"], row["target"])
                )
        for (group, fold, _), expected in published.items():
            if dataset.group_sizes[dataset.group_names.index(group)]:
                rows = dataset.group_pairs[dataset.group_pairs[:, 0] == dataset.group_names.index(group)]
                codes = bindings.code(rows[:, 1], rows[:, 2])
                asked = fold_of(bindings, codes, int(fold), 10, SEED).test
                assert named(dataset, asked) == expected, (group, fold)
                compared += 1
    assert compared == 1160
