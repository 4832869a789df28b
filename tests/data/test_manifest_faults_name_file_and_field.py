"""A malformed dataset.toml must be answered with file and field, never with a traceback or a silent default."""

from __future__ import annotations

import pytest

from harness.base.errors import CorruptData, ManifestError, UsageError
from harness.base.layout import Layout
from harness.data import dataset_digest, load_dataset, load_manifest, manifest_names
from tests.data.own_data import write_dataset


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('benchmark = "repurposing"\n', "", "benchmark"),
        ('title = "Mine"', 'titel = "Mine"', "titel"),
        ("bytes = ", "bytes = -", "files.0.bytes"),
        ('sha256 = "', 'sha256 = "xyz', "files.0.sha256"),
        ('name = "associations.csv"', 'name = "../associations.csv"', "files.0.name"),
        ('name = "drug_features.csv"', 'name = "associations.csv"', "named twice"),
        ("drugs = 3", "drugs = 0", "statistics.drugs"),
        ("drugs = 3", 'drugs = "many"', "statistics.drugs"),
        ('name = "associations.csv"\n', 'name = "associations.csv"\nurls = ["ftp://x/y"]\n', "files.0.urls"),
        ('converter = "csv"', 'converter = "csv', "not valid TOML"),
    ],
)
def test_broken_manifest(own: Layout, old: str, new: str, field: str) -> None:
    path = write_dataset(own)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_manifest(own, "mine")
    assert str(path) in str(caught.value)
    assert field in str(caught.value)
    assert caught.value.exit_code == 2


NEW = 'new = [{ kind = "drug", name = "iron", text = "mass=55.8" }]'
ONE_OF_BOTH = "(top level): converter: name one, or in its place a dataset that new items are added to (extends)"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        *(
            ('converter = "csv"', text, ONE_OF_BOTH)
            for text in (
                "",
                'extends = "other"',
                f'converter = "csv"\n{NEW}',
                f'converter = "csv"\nextends = "other"\n{NEW}',
            )
        ),
        ('title = "Mine"', 'titel = "Mine"', "titel: there is no such field; did you mean 'title'?"),
        ("drugs = 3", "drug = 3", "statistics.drug: there is no such field; did you mean 'drugs'?"),
        ("[statistics]", "odd = 1\n[statistics]", "files.2.odd: there is no such field"),
        ('licence = "mine"\n', "", "licence: is missing"),
        ("drugs = 3", 'drugs = "many"', "statistics.drugs: has to be a whole number, not 'many'"),
        ("drugs = 3", "drugs = 0", "statistics.drugs: has to be 1 or more, not 0"),
        ('title = "Mine"', "title = 7", "title: has to be a text in quotes, not 7"),
        ('name = "mine"', 'name = "my data"', "name: 'my data' is not a name: small letters, digits and _ only"),
        *(
            (
                "[statistics]",
                f"[parameters]\nright = [1.5, true, 'inf', {{ a = -1e300 }}]\nwrong = {value}\n[statistics]",
                f"parameters: wrong: {told} is no text, finite number, true or false, nor a list or table of such",
            )
            for value, told in (
                ("nan", "nan"),
                ("[1, -inf]", "[1, -inf]"),
                ("{ a = [inf] }", "{'a': [inf]}"),
                ("1979-05-27", "1979-05-27"),
                ("07:32:00", "07:32:00"),
            )
        ),
        (
            'converter = "csv"',
            'converter = "csv"\nsummery = ""',
            "summery: there is no such field; did you mean 'summary'?",
        ),
    ],
)
def test_a_fault_is_one_line_in_plain_words(own: Layout, old: str, new: str, line: str) -> None:
    path = write_dataset(own)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_manifest(own, "mine")
    assert caught.value.where == f"{path}: {line}"


def test_parameters_are_told_in_the_same_words(own: Layout) -> None:
    write_dataset(own, more='[parameters]\nasociations = "pairs.csv"\n')
    with pytest.raises(ManifestError) as caught:
        load_dataset(own, "mine")
    assert caught.value.where == (
        "mine/dataset.toml: parameters.asociations: there is no such field; did you mean 'associations'?"
    )


def test_folder_and_name_must_agree(own: Layout) -> None:
    path = write_dataset(own)
    path.write_text(path.read_text().replace('name = "mine"', 'name = "yours"', 1))
    with pytest.raises(ManifestError, match="the name is 'yours'"):
        load_manifest(own, "mine")


def test_unknown_dataset_gets_the_nearest_name(own: Layout) -> None:
    write_dataset(own)
    assert manifest_names(own) == ["mine"]
    with pytest.raises(UsageError, match="did you mean 'mine'"):
        load_manifest(own, "mime")


def test_unknown_converter_is_named(own: Layout) -> None:
    path = write_dataset(own)
    path.write_text(path.read_text().replace('converter = "csv"', 'converter = "xml"'))
    with pytest.raises(UsageError, match="no converter is called 'xml'"):
        load_dataset(own, "mine")


@pytest.mark.parametrize("name", ["./convert.py", "./../../elsewhere.py"])
def test_converter_must_lie_beside_its_manifest(own: Layout, name: str) -> None:
    path = write_dataset(own)
    (own.root / "elsewhere.py").touch()
    path.write_text(path.read_text().replace('converter = "csv"', f'converter = "{name}"'))
    with pytest.raises(ManifestError, match="no converter"):
        load_dataset(own, "mine")


def test_wrong_converter_parameters_name_the_field(own: Layout) -> None:
    write_dataset(own, more='[parameters]\nassociation = "associations.csv"\n')
    with pytest.raises(ManifestError, match=r"dataset.toml: parameters.association:"):
        load_dataset(own, "mine")


def test_wrong_statistics_name_the_field(own: Layout) -> None:
    write_dataset(own, statistics={"positives": 7})
    with pytest.raises(CorruptData, match=r"has 2 positives, not 7\n.*statistics.positives"):
        load_dataset(own, "mine")


def test_wrong_digest_is_corrupt_data(own: Layout) -> None:
    write_dataset(own, more=f'[converted]\ndigest = "{"0" * 64}"\n')
    assert dataset_digest(own, "mine") == "0" * 64
    with pytest.raises(CorruptData, match="converted to other arrays"):
        load_dataset(own, "mine")
