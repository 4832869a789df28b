"""Counts, defaults and bounds of datasets and converters, and what kept arrays and manifests are refused for."""

from __future__ import annotations

import errno
import hashlib
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from pydantic import ValidationError

from harness import benchmarks
from harness.base.files import digest_of, write_json
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.ddi.converters import ddi_bench, ddi_csv
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.statistics import DdiStatistics
from harness.benchmarks.new_item import NewItem
from harness.benchmarks.repurposing.converters import csv, matlab, synthetic, tables
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.statistics import RepurposingOptions, RepurposingStatistics
from harness.data import arrays, converters, datasets
from harness.data.extension import EXTENDED, extended, left_over
from harness.data.manifest import DatasetManifest, load_manifest
from harness.data.own_tables import brought_tables, missing_tables, personal_names, reason_to_bring
from tests.data.own_data import write_dataset
from tests.data.test_a_bound_of_a_dataset_is_off_by_one import SMALL
from tests.data.told import put, told
from tests.ddi.tiny import tiny

PAIRS: dict[str, Any] = {
    "drugs": 3,
    "multilabel": False,
    "types": 2,
    "fingerprint": 4,
    "relations": 1,
    "dated": 2,
    "drug_texts": 1,
    "graph_texts": 0,
    "released": 1,
}
MATRIX: dict[str, Any] = {
    "drugs": 3,
    "diseases": 2,
    "positives": 2,
    "negatives": 1,
    "drug_features": 2,
    "disease_features": 1,
}


@pytest.mark.parametrize(
    ("model", "fields", "least"),
    [
        (
            DdiStatistics,
            PAIRS,
            {"drugs": 1, "types": 1, "items": 1, "negatives": 0, "fingerprint": 1, "entities": 2}
            | dict.fromkeys(("relations", "edges", "dated", "drug_texts", "graph_texts", "released"), 0),
        ),
        (
            RepurposingStatistics,
            MATRIX,
            {"drugs": 1, "diseases": 1}
            | dict.fromkeys(("positives", "negatives", "drug_features", "disease_features"), 0),
        ),
        (RepurposingOptions, {}, {"inner_folds": 0}),
        (ddi_csv.Parameters, {}, {"fingerprint": 1}),
        (
            ddi_bench.Parameters,
            {"drugs": "drugbank", "fingerprint": 1, "splits": []},
            {"fingerprint": 1, "stand_in_seed": 0},
        ),
        (
            synthetic.Parameters,
            {"positives": 1, "negatives": 0, "features": 2, "seed": 0},
            {"positives": 1, "negatives": 0, "features": 2, "seed": 0},
        ),
    ],
)
def test_a_count_is_taken_from_its_least_on(model: Any, fields: dict[str, Any], least: dict[str, int]) -> None:
    # as it is now in its module
    model = getattr(sys.modules[model.__module__], model.__name__)
    for name, number in least.items():
        assert getattr(model.model_validate({**fields, name: number}), name) == number
        with pytest.raises(ValidationError):
            model.model_validate({**fields, name: number - 1})


def test_what_is_not_told_is_this() -> None:
    unknown = DdiStatistics.model_validate(PAIRS)
    assert (unknown.items, unknown.negatives, unknown.entities, unknown.edges) == (None, None, None, None)
    assert RepurposingStatistics.model_validate(MATRIX).associated is False
    assert RepurposingOptions().inner_folds == 5 and RepurposingOptions(inner_folds=100).inner_folds == 100
    with pytest.raises(ValidationError):
        RepurposingOptions(inner_folds=101)
    assert csv.Parameters().model_dump() == {
        "associations": "associations.csv",
        "drug_features": "drug_features.csv",
        "disease_features": "disease_features.csv",
    }
    assert ddi_csv.Parameters().model_dump() == {
        "drugs": "drugs.csv",
        "interactions": "interactions.csv",
        "knowledge": "",
        "fingerprint": 1024,
        "relations": [],
    }
    told_of = ddi_bench.Parameters(drugs="twosides", fingerprint=3, splits=["a"])
    assert (told_of.knowledge, told_of.stand_in_seed) == ("partial", None)
    assert tables.FeatureTable(file="a").model_dump() == {"file": "a", "rows": "by name", "unmatched": []}
    assert matlab.Matrix(file="a", variable="b").transpose is False
    named = matlab.NameArray(file="a")
    assert (named.variable, named.axis, named.encoding) == ("", "", "utf-8")
    drawn = synthetic.Parameters(positives=1, negatives=0, features=2, seed=2**32 - 1)
    assert (drawn.mean, drawn.standard_deviation) == (0.5, 1.0)
    for wrong in ({"seed": 2**32}, {"features": 3}, {"standard_deviation": 0}):
        with pytest.raises(ValidationError):
            synthetic.Parameters.model_validate({"positives": 1, "negatives": 0, "features": 2, "seed": 1} | wrong)


def test_counts_and_lines_are_those_of_the_arrays() -> None:
    pairs = tiny()
    signs = np.array([[1, 0], [0, -1], [0, 1]], dtype=np.int8)
    signed = replace(pairs, labels=signs, years=np.array([0, 1990, 1]), drug_texts=("a", "", ""))
    signed = replace(signed, graph_texts=("", "b", "c"))
    found = signed.statistics().model_dump()
    assert found["multilabel"] and not pairs.statistics().multilabel and found["negatives"] == 1
    assert pairs.statistics().negatives == 0
    assert (found["dated"], found["drug_texts"], found["graph_texts"]) == (2, 1, 2)
    assert (found["items"], found["types"]) == (3, 2)
    assert (found["entities"], found["relations"], found["edges"], found["released"]) == (4, 1, 1, 1)
    assert {name: array.dtype.str for name, array in signed.arrays.items()} == {
        "pairs": "<i4",
        "labels": "|i1",
        "fingerprints": "<i4",
        "knowledge": "<i4",
        "years": "<i4",
        "released": "<i4",
    }
    assert pairs.arrays["labels"].dtype.str == "<i4" and len(pairs.names) == 9
    counts = DdiStatistics.model_validate({**PAIRS, "items": 10})
    assert counts.result_bytes({}) == 4 * 10 * 2 // 5
    assert DdiStatistics.model_validate(PAIRS).result_bytes({}) == 0
    assert counts.line == "    3 drugs     2 types        10 items         "
    assert DdiStatistics.model_validate(PAIRS).line == "    3 drugs     2 types         ? items         "
    matrix = RepurposingStatistics.model_validate(MATRIX)
    assert matrix.line == "    3 drugs     2 diseases      2 +      1 -"
    sizes = [matrix.result_bytes({"inner_folds": folds}) for folds in (0, 1, 5)]
    assert sizes == [8 * 6 // 5 + 8 * 6 * 4 // 5] * 2 + [8 * 6 * 5 // 5 + 8 * 6 * 4 // 5]
    few = replace(SMALL, associations=np.array([[1, 0], [-1, 0], [0, 0]], dtype=np.int8))
    assert few.statistics().model_dump() == {**MATRIX, "positives": 1, "associated": False}
    assert few.statistics(associated=True).model_dump() == {
        **MATRIX,
        "drugs": 2,
        "diseases": 1,
        "positives": 1,
        "associated": True,
    }
    assert few.statistics().settings == {"associated": False}


# kept arrays


def test_a_digest_is_over_every_value_and_name() -> None:
    expected = {name: hashlib.sha256(npy_bytes(array)).hexdigest() for name, array in SMALL.arrays.items()}
    names = {name: list(texts) for name, texts in SMALL.names.items()}
    assert arrays.content_digest(SMALL) == digest_of({**expected, **names})
    assert set(names) == {"drug_ids", "disease_ids", "drug_feature_names", "disease_feature_names"}
    assert arrays.content_digest(replace(SMALL, name="other")) == arrays.content_digest(SMALL)
    turned = replace(SMALL, drug_ids=SMALL.drug_ids[::-1])
    assert arrays.content_digest(turned) != arrays.content_digest(SMALL)


def test_a_disk_that_is_full_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system names none. It was told with a line of our code."""

    def is_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("harness.base.files.os.fsync", is_full)
    with pytest.raises(OSError, match="No space") as told:
        arrays.keep(replace(SMALL, digest=arrays.content_digest(SMALL)), tmp_path / "kept")
    assert str(told.value.filename).endswith("associations.npy") and not [*tmp_path.iterdir()]


def test_kept_arrays_come_back_or_are_refused(tmp_path: Path) -> None:
    dataset = replace(SMALL, digest=arrays.content_digest(SMALL), remarks=("odd", "odder"))
    folder = tmp_path / "kept"
    arrays.keep(dataset, folder)
    found = cast(RepurposingDataset, arrays.read(folder, "again", RepurposingDataset))
    assert (found.name, found.digest, found.remarks, found.names) == (
        "again",
        dataset.digest,
        dataset.remarks,
        dataset.names,
    )
    assert sorted(path.name for path in folder.iterdir()) == [
        "associations.npy",
        "disease_features.npy",
        "drug_features.npy",
        "names.json",
    ]
    (folder / "drug_features.npy").write_bytes(npy_bytes(SMALL.drug_features + 1))
    changed = replace(SMALL, drug_features=SMALL.drug_features + 1)
    write_json(folder / "names.json", {**dict(dataset.names), "digest": dataset.digest, "remarks": []})
    assert told(lambda: arrays.read(folder, "again", RepurposingDataset)) == [
        (
            "the kept arrays of dataset 'again' were changed",
            f"{folder}: digest is {arrays.content_digest(changed)}, not the recorded {dataset.digest}",
            "remove that folder; they will be converted again",
        )
    ]
    # a digest that differs in its last sign only is another one
    almost = f"{arrays.content_digest(changed)[:-1]}?"
    write_json(folder / "names.json", {**dict(dataset.names), "digest": almost, "remarks": []})
    ((_, where, _),) = told(lambda: arrays.read(folder, "again", RepurposingDataset))
    assert where == f"{folder}: digest is {arrays.content_digest(changed)}, not the recorded {almost}"


@pytest.mark.parametrize(
    "names",
    ["", "[]", '"names"', "1", "null", "{}", '{"digest": "0"}', '{"digest": "0", "remarks": [], "drug_ids": 1}'],
)
def test_kept_arrays_whose_names_are_none_are_refused_and_no_crash(tmp_path: Path, names: str) -> None:
    folder = tmp_path / "kept"
    arrays.keep(replace(SMALL, digest=arrays.content_digest(SMALL)), folder)
    (folder / "names.json").write_text(names)
    ((what, where, todo),) = told(lambda: arrays.read(folder, "again", RepurposingDataset))
    assert what == "the kept arrays of dataset 'again' were changed" and where.startswith(f"{folder}: ")
    assert todo == "remove that folder; they will be converted again"


# converters, manifests and tables that are brought


def test_a_converter_that_is_none_says_which_there_are(own: Layout) -> None:
    path = write_dataset(own)
    manifest = load_manifest(own, "mine")
    names = benchmarks.modules_in("repurposing", "converters")
    for name in ("./no.py", "../mine/x.py", "./sub/x.py"):
        put(path.parent / "sub" / "x.py", "")
        wrong = manifest.model_copy(update={"converter": name if name.startswith("./") else "./" + name})
        assert told(partial(converters.converter_source, own, wrong)) == [
            (
                f"there is no converter {wrong.converter} beside the manifest",
                f"{path}: converter",
                f"put it there, or name one of: {', '.join(names)}",
            )
        ]
    source = put(path.parent / "mine.py", "x = 1\n")
    own_one = manifest.model_copy(update={"converter": "./mine.py"})
    assert converters.converter_source(own, own_one) == [source]
    assert told(lambda: converters.find_converter(own, own_one)) == [
        ("a converter has no function 'convert'", str(source), "define convert(manifest, files)")
    ]
    put(source, "def convert(manifest, files):\n    return 7\n")
    assert converters.find_converter(own, own_one)(manifest, {}) == 7  # type: ignore[comparison-overlap]
    wrong = manifest.model_copy(update={"converter": "cvs"})
    ((what, where, _),) = told(lambda: converters.converter_source(own, wrong))
    assert "cvs" in what and where == f"{path}: converter"
    pairs = manifest.model_copy(update={"benchmark": "ddi", "converter": "ddi_bench"})
    files = converters.converter_source(own, pairs)
    assert files == sorted(files) and [path.name for path in files][:2] == ["__init__.py", "approval.py"]


def test_a_dataset_of_another_benchmark_or_content_is_refused(own: Layout) -> None:
    path = write_dataset(own, statistics={"drugs": 4, "negatives": 0})
    todo = "correct the manifest, or the files and the converter it names"
    accept = "; if the files are right: harness data accept mine"
    assert told(lambda: datasets.load_dataset(own, "mine")) == [
        ("dataset 'mine' has 3 drugs, not 4", f"{path}: statistics.drugs", todo + accept),
        ("dataset 'mine' has 1 negatives, not 0", f"{path}: statistics.negatives", todo + accept),
    ]
    path = write_dataset(own, name="yours", more=f'[converted]\ndigest = "{"0" * 64}"\n')
    ((what, where, _),) = told(lambda: datasets.load_dataset(own, "yours"))
    assert what == "dataset 'yours' was converted to other arrays than those recorded"
    assert where.startswith(f"{path}: converted.digest: {'0' * 64}, found ")
    write_dataset(own, name="theirs")
    assert told(lambda: datasets.load_dataset(own, "theirs", DdiDataset)) == [
        ("dataset 'theirs' is one of benchmark 'repurposing'", "", "name one of this benchmark")
    ]


def test_an_extended_dataset_has_a_manifest_of_its_own(own: Layout) -> None:
    write_dataset(own)
    items = [NewItem(kind="drug", name="new", text="mass=1;rings=2")]
    name = extended(own, "mine", items)
    manifest = tomllib.loads((own.extended / name / "dataset.toml").read_text())
    digest = manifest["converted"]["digest"]
    assert name == f"mine{EXTENDED}{digest[:8]}" and EXTENDED == "_new_"
    base = datasets.load_dataset(own, "mine", RepurposingDataset)
    larger = datasets.load_dataset(own, name, RepurposingDataset)
    assert larger.digest == digest and larger.drug_ids == (*base.drug_ids, "new")
    assert manifest == {
        "name": name,
        "title": "Mine and new",
        "benchmark": "repurposing",
        "citation": "none",
        "licence": "mine",
        "extends": "mine",
        "extends_digest": base.digest,
        "new": [items[0].model_dump()],
        "statistics": larger.statistics().model_dump(exclude_none=True),
        "converted": {"digest": digest},
    }
    more = [*items, NewItem(kind="drug", name="newer", text="mass=1")]
    again = extended(own, name, more)
    assert [item.name for item in load_manifest(own, again).new] == ["new", "newer"]
    assert load_manifest(own, again).extends == "mine"
    assert personal_names(own) == ("datasets/*/own/*", "datasets/*/first_seen.json")
    assert left_over(own) == []
    old = put(own.datasets / "a_new_1" / "dataset.toml", 'name = "a"\nextends = "b"\n')
    put(own.datasets / "b_new_1" / "dataset.toml", 'name = "b"\n')
    put(own.datasets / "c_new_1" / "dataset.toml", b"\xff")
    assert left_over(own) == [old.parent]


def test_tables_to_be_brought_are_named(own: Layout) -> None:
    def manifest(**fields: Any) -> DatasetManifest:
        return cast(DatasetManifest, SimpleNamespace(name="mine", benchmark="repurposing", **fields))

    path = write_dataset(own).parent / "own"
    named = [
        SimpleNamespace(name=name, holds=f"holds {name}", optional=optional)
        for name, optional in (("a.csv", False), ("b.csv", True), ("c.csv", False))
    ]
    some = manifest(bring="", brought=named)
    assert missing_tables(own, some) == ["a.csv", "c.csv"]
    assert reason_to_bring(some) == "a.csv: holds a.csv; c.csv: holds c.csv"
    todo = "put the tables there; docs/data.md, 'Datasets to be brought', says what they hold"
    assert told(lambda: brought_tables(own, some)) == [
        (f"dataset 'mine' has to be brought: {reason_to_bring(some)}", f"{path}: no a.csv, c.csv", todo)
    ]
    for name in ("a.csv", "c.csv"):
        put(path / name, "")
    assert brought_tables(own, some) == {name: path / name for name in ("a.csv", "c.csv")}
    put(path / "b.csv", "")
    assert list(brought_tables(own, some)) == ["a.csv", "b.csv", "c.csv"]
    whole = manifest(bring="secret", brought=[])
    assert reason_to_bring(whole) == "secret"
    assert missing_tables(own, whole) == [*benchmarks.get("repurposing").brought_tables]


def test_drugs_without_any_column_have_nothing_to_remark_on() -> None:
    bare = replace(SMALL, drug_features=np.zeros((3, 0)), drug_feature_names=())
    assert benchmarks.get("repurposing").remarks(bare) == ()


def test_what_is_extended_is_looked_for_in_the_mirrors(own: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dataset(own)
    asked: list[object] = []
    whole = datasets.load_dataset(own, "mine")

    def load(_layout: Layout, name: str, *, mirrors: object) -> object:
        asked.append((name, mirrors))
        return whole

    monkeypatch.setattr("harness.data.extension.load_dataset", load)
    mirrors = [own.root / "mirror"]
    name = extended(own, "mine", [NewItem(kind="drug", name="new", text="mass=1")], mirrors)
    extended(own, name, [NewItem(kind="drug", name="newer", text="mass=1")], mirrors)
    assert asked == [("mine", mirrors)] * 2
