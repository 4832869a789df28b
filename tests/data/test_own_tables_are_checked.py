"""Faults in one's own tables must be found with file and line; what is allowed is treated as documented."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data import dataset_digest, load_dataset
from tests.data.own_data import TABLES, write_dataset


def test_tables_become_arrays_in_the_order_of_the_features(own: Layout) -> None:
    write_dataset(own)
    dataset = load_dataset(own, "mine", RepurposingDataset)
    assert dataset.drug_ids == ("aspirin", "ibuprofen", "zinc")
    assert dataset.disease_ids == ("pain", "flu")
    assert dataset.associations.tolist() == [[1, -1], [1, 0], [0, 0]]
    np.testing.assert_array_equal(dataset.drug_features, [[180.2, 1], [206.3, 1], [65.4, np.nan]])
    assert dataset.drug_feature_names == ("mass", "rings")
    assert not dataset.associations.flags.writeable


def test_what_is_odd_but_allowed_is_remarked_on(own: Layout) -> None:
    features = "drug,mass,rings\naspirin,,1\nibuprofen,206.3,1\nzinc,,\n"
    write_dataset(own, tables={"drug_features.csv": features})
    assert load_dataset(own, "mine").remarks == (
        "3 drug features unknown; preparation fills in column means",
        "1 drug row without any feature; there the mean of every column is put",
        "2 drug feature columns constant, so zero once standardised",
        "1 drug without a known association, kept as rows of zeros",
    )


def test_names_that_a_person_may_have_meant_as_one_are_remarked_on(own: Layout) -> None:
    features = "drug,mass,rings\naspirin,1,5\nAspirin,2,4\nibuprofen,3,3\nzinc,4,2\nZINC,7,1\nzInc,6,5\n"
    write_dataset(own, tables={"drug_features.csv": features}, statistics={"drugs": 6})
    names = "'Aspirin', 'aspirin', 'ZINC', 'zInc', 'zinc'"
    remark = f"names that differ in capitals alone are each a drug of its own: {names}"
    assert remark in load_dataset(own, "mine").remarks


@pytest.mark.parametrize(("more", "end"), [([], ""), (["zinC"], " and 1 more"), (["ziNC", "zinC"], " and 2 more")])
def test_of_many_names_that_differ_in_capitals_alone_six_are_named(own: Layout, more: list[str], end: str) -> None:
    names = ["Aspirin", "aspirin", "ZINC", "ZINc", "ZInc", "Zinc", *more]
    features = "".join(f"{name},{at},{at * at}\n" for at, name in enumerate(["ibuprofen", *names]))
    counts = {"drugs": len(names) + 1}
    write_dataset(own, tables={"drug_features.csv": f"drug,mass,rings\n{features}"}, statistics=counts)
    shown = f"{', '.join(map(repr, names[:6]))}{end}"
    remark = f"names that differ in capitals alone are each a drug of its own: {shown}"
    assert remark in load_dataset(own, "mine").remarks


def test_names_that_differ_in_what_nobody_sees_are_remarked_on(own: Layout) -> None:
    features = (
        "drug,mass,rings\naspirin,1,5\naspi\u200brin,2,4\nibuprofen,3,3\nzinc,4,2\n\uff3ainc,7,1\nZinc,6,5\n"
    )
    write_dataset(own, tables={"drug_features.csv": features}, statistics={"drugs": 6})
    remarks = load_dataset(own, "mine").remarks
    names = r"'aspirin', 'aspi\u200brin', 'Zinc', 'zinc', '\uff3ainc'"
    assert f"names that look alike are each a drug of its own: {names}" in remarks
    assert not any("capitals" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        ("associations.csv", "ibuprofen,pain", "aspirin,pain", r"is also in line 2\n.*associations.csv: line 4"),
        ("associations.csv", "ibuprofen,pain", "codeine,pain", r"drug 'codeine' has no line.*\n.*line 4"),
        ("associations.csv", "aspirin,flu", "aspirin,cold", r"disease 'cold' has no line"),
        ("associations.csv", "flu,-1", "flu,2", "label '2' is none of"),
        ("associations.csv", "flu,-1", "flu", "2 cells instead of 3"),
        ("associations.csv", "drug,disease,label", "a,b,c", "the columns are a, b, c"),
        ("drug_features.csv", "180.2", "heavy", r"'heavy' is not a number\n.*line 2, column 'mass'"),
        ("drug_features.csv", "180.2", "inf", r"infinite\n.*drug 'aspirin', feature 'mass'"),
        ("drug_features.csv", "180.2", "1e999", "infinite"),
        # what some programs write where nothing is known
        ("drug_features.csv", "180.2", "-1.7e308", r"too large to compute with\n.*drug 'aspirin', feature 'mass'"),
        # squares of what is smaller are numbers
        ("drug_features.csv", "180.2", "1.01e150", r"too large to compute with\n(.*\n)*.*within 1e\+150"),
        ("disease_features.csv", "pain,1", "pain,inf", r"1 disease feature infinite\n.*disease 'pain'"),
        ("drug_features.csv", "zinc", "aspirin", r"'aspirin' is also in line 2\n.*line 4"),
        ("drug_features.csv", "mass,rings", "mass,mass", "drug feature names occur more than once, 'mass'"),
        ("drug_features.csv", "mass,rings", "mass,", r"the column has no name\n.*line 1, column 3"),
        ("disease_features.csv", "flu,0", "flu", "1 cell instead of 2"),
    ],
)
def test_fault_is_found_with_its_place(own: Layout, table: str, old: str, new: str, message: str) -> None:
    write_dataset(own, tables={table: TABLES[table].replace(old, new, 1)})
    with pytest.raises(CorruptData, match=message):
        load_dataset(own, "mine")


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("associations.csv", "", "the table is empty"),
        ("associations.csv", "drug,disease,label\n", "there is no positive association"),
        ("associations.csv", "drug,disease,label\naspirin,pain,-1\n", "there is no positive association"),
        ("drug_features.csv", "", "the table is empty"),
        ("drug_features.csv", "drug\naspirin\n", "the table has no features"),
        ("disease_features.csv", "disease,chronic\n", "the table has no features"),
    ],
)
def test_empty_table_is_refused(own: Layout, table: str, text: str, message: str) -> None:
    write_dataset(own, tables={table: text})
    with pytest.raises(CorruptData, match=message):
        load_dataset(own, "mine")


def test_single_class_is_refused(own: Layout) -> None:
    write_dataset(
        own,
        tables={
            "associations.csv": "drug,disease,label\na,x,1\n",
            "drug_features.csv": "drug,f\na,1\n",
            "disease_features.csv": "disease,f\nx,1\n",
        },
    )
    with pytest.raises(CorruptData, match="single class"):
        load_dataset(own, "mine")


def test_file_that_is_no_text_is_refused(own: Layout) -> None:
    folder = write_dataset(own).parent
    content = "drug,mass\nasp\xefrin,1\n".encode("latin-1")
    (folder / "drug_features.csv").write_bytes(content)
    _record_anew(folder / "dataset.toml", content)
    with pytest.raises(CorruptData, match="not UTF-8"):
        load_dataset(own, "mine")


def test_unlisted_table_is_refused(own: Layout) -> None:
    write_dataset(own, more='[parameters]\nassociations = "pairs.csv"\n')
    with pytest.raises(ManifestError, match=r"'pairs.csv' is not listed\n.*dataset.toml: files"):
        load_dataset(own, "mine")


def test_changed_table_is_refused_until_it_is_recorded(own: Layout) -> None:
    folder = write_dataset(own).parent
    (folder / "associations.csv").write_text(TABLES["associations.csv"].replace("-1", "+1"))
    with pytest.raises(CorruptData, match=r"sha256 is [0-9a-f]{64}, not the recorded"):
        load_dataset(own, "mine")


def test_dataset_folder_may_bring_its_own_converter(own: Layout) -> None:
    path = write_dataset(own)
    path.write_text(path.read_text().replace('converter = "csv"', 'converter = "./convert.py"'))
    # written as Python is: with classes whose annotations are looked up in their module
    (path.parent / "convert.py").write_text(
        "from __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom typing import Literal\n\n"
        "from harness.base.manifests import Strict\n"
        "from harness.benchmarks.repurposing.converters.csv import convert as tables\n\n\n"
        "@dataclass(frozen=True)\nclass Line:\n    name: str\n\n\n"
        "class Settings(Strict):\n    kind: Literal['a', 'b'] = 'a'\n\n\n"
        "def convert(manifest, files):\n"
        "    assert (Settings(kind='b').kind, Line('x').name) == ('b', 'x')\n    return tables(manifest, files)\n"
    )
    assert dataset_digest(own, "mine") == load_dataset(own, "mine").digest


def _record_anew(manifest: object, content: bytes) -> None:
    """Make the manifest agree with new bytes of the drug features."""
    import hashlib
    import re
    from pathlib import Path

    path = Path(str(manifest))
    path.write_text(
        re.sub(
            r'(name = "drug_features.csv"\n)bytes = \d+\nsha256 = ".*"',
            rf'\1bytes = {len(content)}\nsha256 = "{hashlib.sha256(content).hexdigest()}"',
            path.read_text(),
        )
    )
