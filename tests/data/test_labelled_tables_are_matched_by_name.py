"""Tables that name things differently must not be put together silently: rows are matched by name or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.benchmarks.repurposing.converters.tables import _read, convert
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.statistics import RepurposingStatistics
from harness.data.manifest import DatasetManifest

TABLES = {
    "pairs.txt": "\tpain\tflu\nzinc\t0\t1\naspirin\t1\t-1\n",
    # no cell above the names, and another order
    "rings.txt": "one\ttwo\naspirin\t1\t\nzinc\t0\t3\n",
    "domains.txt": "x\tthree\nzinc\t7\naspirin\t8\n",
    "diseases.txt": "1\tD1\tD2\nD1\t1\t0.5\nD2\t0.5\t1\n",
}
PARAMETERS: dict[str, Any] = {
    "associations": "pairs.txt",
    "drug_features": [{"file": "rings.txt"}, {"file": "domains.txt"}],
    "disease_features": [{"file": "diseases.txt", "rows": "in order"}],
}


def read(folder: Path, tables: dict[str, str] | None = None, **parameters: Any) -> RepurposingDataset:
    """Convert the tables above, some of them changed."""
    files = {}
    for name, text in {**TABLES, **(tables or {})}.items():
        files[name] = folder / name
        files[name].write_text(text)
    manifest = DatasetManifest(
        name="mine",
        title="Mine",
        benchmark="repurposing",
        citation="none",
        licence="mine",
        converter="tables",
        parameters={**PARAMETERS, **parameters},
        statistics=RepurposingStatistics(
            drugs=1, diseases=1, positives=1, negatives=0, drug_features=1, disease_features=1
        ),
    )
    return convert(manifest, files)


def test_rows_are_found_by_name_and_tables_stand_side_by_side(tmp_path: Path) -> None:
    dataset = read(tmp_path)
    assert dataset.drug_ids == ("zinc", "aspirin")
    assert dataset.disease_ids == ("pain", "flu")
    assert dataset.associations.tolist() == [[0, 1], [1, -1]]
    np.testing.assert_array_equal(dataset.drug_features, [[0, 3, 7], [1, np.nan, 8]])
    assert dataset.drug_feature_names == ("one", "two", "three")
    assert dataset.disease_feature_names == ("D1", "D2")
    # whose features nobody lists has none
    without = read(tmp_path, drug_features=[])
    assert without.drug_features.shape == (2, 0) and without.drug_feature_names == ()
    assert np.array_equal(without.disease_features, dataset.disease_features)


def test_listed_names_are_unknown_in_their_table(tmp_path: Path) -> None:
    table = {"domains.txt": "x\tthree\nzinc\t7\naspirine\t8\n"}
    parts = [{"file": "rings.txt"}, {"file": "domains.txt", "unmatched": ["aspirin", "aspirine"]}]
    dataset = read(tmp_path, table, drug_features=parts)
    np.testing.assert_array_equal(dataset.drug_features, [[0, 3, 7], [1, np.nan, np.nan]])


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("domains.txt", "x\tthree\nzinc\t7\naspirine\t8\n", "'aspirin' is in this table or in the associations"),
        ("domains.txt", "x\tthree\nzinc\t7\n", "but not in both"),
        ("domains.txt", "x\tthree\nzinc\t7\nzinc\t8\n", "'zinc' names more than one row"),
        ("domains.txt", "x\tthree\nzinc\t7\naspirin\theavy\n", "a cell is no number"),
        ("domains.txt", "x\tthree\nzinc\t7\naspirin\n", "lines differ in their number of cells"),
        ("domains.txt", "", "lines differ in their number of cells"),
        ("diseases.txt", "1\tD1\nD1\t1\n", "1 rows instead of 2"),
        ("diseases.txt", "1\tD1\nD1\t1\nD2\t1\nD3\t1\n", "3 rows instead of 2"),
        ("pairs.txt", "\tpain\tflu\nzinc\t0\t2\naspirin\t1\t-1\n", "a value is no label"),
    ],
)
def test_fault_is_refused_with_its_place(tmp_path: Path, table: str, text: str, message: str) -> None:
    with pytest.raises(CorruptData, match=message) as caught:
        read(tmp_path, {table: text})
    assert table in caught.value.where
    assert caught.value.todo


def test_a_mark_at_the_beginning_is_no_part_of_a_name_and_what_is_no_text_is_refused(tmp_path: Path) -> None:
    text = "three\nzinc\t7\naspirin\t8\n"
    assert "three" in read(tmp_path, {"domains.txt": "\ufeff" + text}).drug_feature_names
    path = tmp_path / "domains.txt"
    path.write_bytes(text.replace("aspirin", "aspirín").encode("latin-1"))
    with pytest.raises(CorruptData, match="not a text in UTF-8: ") as caught:
        _read("domains.txt", {"domains.txt": path})
    assert (caught.value.where, caught.value.todo) == (str(path), "save it so, or restore the original file")


def test_name_listed_without_need_is_refused(tmp_path: Path) -> None:
    parts = [{"file": "rings.txt", "unmatched": ["zinc"]}]
    with pytest.raises(CorruptData, match="'zinc' is listed as unmatched, but is not"):
        read(tmp_path, drug_features=parts)


def test_file_that_is_not_listed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none of the manifest's files"):
        read(tmp_path, associations="other.txt")
