"""What the Croissant of a dataset says of its files, columns and origin, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.data.croissant import croissant_of
from tests.data.own_data import write_dataset

SHA256 = "ab" * 32
FAR = f"""
[[files]]
name = "far.ZIP"
urls = ["https://one.org/far.zip", "https://two.org/far.zip"]
bytes = 7
sha256 = "{SHA256}"
licence = "CC-BY-4.0"

[[files]]
name = "unseen.csv"
urls = ["https://three.org/unseen.csv"]

[[brought]]
name = "mine.csv"
holds = "what nobody may publish"
"""
TABLE = "drug,whole,part,mixed,empty\na,-1,0.5,1,\nb,2,-2e-5,x,\nc,3\n"


@pytest.fixture
def own(tmp_path: Path) -> Layout:
    (tmp_path / "datasets").mkdir()
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def described(layout: Layout, **changes: Any) -> dict[str, Any]:
    write_dataset(layout, **changes)
    return croissant_of(layout, "mine")


def test_a_table_that_is_gone_is_named(own: Layout) -> None:
    described(own)
    path = own.datasets / "mine" / "drug_features.csv"
    path.unlink()
    with pytest.raises(MissingData, match="a file is not here") as refused:
        croissant_of(own, "mine")
    assert (refused.value.where, refused.value.todo) == (str(path), "put it back")


def test_files_come_from_their_first_address_or_from_beside(own: Layout) -> None:
    document = described(own, more=FAR)
    files = {file["@id"]: file for file in document["distribution"]}
    assert [*files] == ["associations.csv", "drug_features.csv", "disease_features.csv", "far.ZIP"]
    assert files["far.ZIP"] == {
        "@type": "cr:FileObject",
        "@id": "far.ZIP",
        "name": "far.ZIP",
        "contentUrl": "https://one.org/far.zip",
        "contentSize": "7 B",
        "encodingFormat": "application/zip",
        "sha256": SHA256,
        "license": "CC-BY-4.0",
    }
    beside = files["associations.csv"]
    assert (beside["contentUrl"], beside["encodingFormat"]) == ("associations.csv", "text/csv")
    assert "license" not in beside
    assert document["url"] == "https://one.org/far.zip"


def test_what_is_not_listed_is_named_in_words(own: Layout) -> None:
    document = described(own, more=FAR, statistics={"negatives": 0})
    assert document["description"] == (
        "Mine After conversion: disease features: 1, diseases: 2, drug features: 2, drugs: 3, positives: 2."
        " Beside the files that are listed, a person brings mine.csv, unseen.csv."
    )
    assert (document["name"], document["alternateName"], document["license"]) == ("mine", "Mine", "mine")
    assert (document["citeAs"], "identifier" in document) == ("none", False)


def test_converted_arrays_are_its_identity(own: Layout) -> None:
    document = described(own, more=f'[converted]\ndigest = "{SHA256}"\n')
    assert (document["identifier"], document["url"]) == (f"sha256:{SHA256}", "./")


def test_a_column_has_the_narrowest_type_of_all_its_values(own: Layout) -> None:
    records = {one["@id"]: one for one in described(own, tables={"drug_features.csv": TABLE})["recordSet"]}
    assert [*records] == ["associations", "drug_features", "disease_features"]
    fields = records["drug_features"]["field"]
    assert {field["name"]: field["dataType"].removeprefix("sc:") for field in fields} == {
        "drug": "Text",
        "whole": "Integer",
        "part": "Float",
        "mixed": "Text",
        "empty": "Text",
    }
    assert fields[1] == {
        "@type": "cr:Field",
        "@id": "drug_features/whole",
        "name": "whole",
        "dataType": "sc:Integer",
        "source": {"fileObject": {"@id": "drug_features.csv"}, "extract": {"column": "whole"}},
    }


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        # as programs write large and small numbers, and a label in a table of one's own
        (("1e+16", "2.0", "3"), "Float"),
        (("1E-05", "4"), "Float"),
        ((".5", "+1.", "-2.5e3"), "Float"),
        (("+1", "-1", "0"), "Integer"),
        (("1e", "2"), "Text"),
        ((".", "2"), "Text"),
        (("1.5.2", "2"), "Text"),
        (("+", "-"), "Text"),
        (("inf", "2"), "Text"),
        (("1_000", "2"), "Text"),
    ],
)
def test_a_number_is_one_in_every_way_that_it_is_written(own: Layout, values: Sequence[str], kind: str) -> None:
    rows = "".join(f"drug {number},{value}\n" for number, value in enumerate(values))
    records = described(own, tables={"drug_features.csv": f"drug,mass\n{rows}"})["recordSet"]
    assert [field["dataType"] for field in records[1]["field"]] == ["sc:Text", f"sc:{kind}"]


def test_a_table_without_lines_has_columns_of_text(own: Layout) -> None:
    records = described(own, tables={"drug_features.csv": "drug,mass\n"})["recordSet"]
    assert [field["dataType"] for field in records[1]["field"]] == ["sc:Text"] * 2


@pytest.mark.parametrize("separator", [";", "\t"])
def test_what_loaders_of_commas_can_not_read_is_a_file_alone(own: Layout, separator: str) -> None:
    document = described(own, tables={"drug_features.csv": TABLE.replace(",", separator)})
    assert [one["@id"] for one in document["recordSet"]] == ["associations", "disease_features"]
    assert len(document["distribution"]) == 3


@pytest.mark.parametrize("first", ["\n", "\r\n\n"])
def test_empty_lines_before_a_header_are_none_of_it(own: Layout, first: str) -> None:
    records = described(own, tables={"drug_features.csv": f"{first}{TABLE}"})["recordSet"]
    fields = {field["name"]: field["dataType"] for field in records[1]["field"]}
    assert [*fields] == ["drug", "whole", "part", "mixed", "empty"] and fields["whole"] == "sc:Integer"


@pytest.mark.parametrize("first", ["sep=,\n", "SEP=,\r\n", ",,,,\n"])
def test_a_line_that_loaders_take_for_the_header_leaves_a_file_alone(own: Layout, first: str) -> None:
    document = described(own, tables={"drug_features.csv": f"{first}{TABLE}"})
    assert [one["@id"] for one in document["recordSet"]] == ["associations", "disease_features"]
