"""Converted arrays are kept under all that the conversion depends on, and under nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.data import dataset_digest, datasets, load_dataset, load_manifest
from harness.data.datasets import is_converted, is_here
from harness.data.manifest import mirror_path
from tests.data.own_data import source, write_dataset
from tests.data.own_pairs import write_pairs
from tests.data.web import Web, serving

CONVERTER = """
from harness.benchmarks.repurposing.converters.csv import convert as tables

def convert(manifest, files):
    return tables(manifest, files)
"""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(b"what lies elsewhere") as served:
        yield served


@pytest.fixture
def manifest(own: Layout) -> Path:
    """A dataset with a converter of its own."""
    path = write_dataset(own, more='[parameters]\nassociations = "associations.csv"\n')
    path.write_text(path.read_text().replace('converter = "csv"', 'converter = "./convert.py"'))
    (path.parent / "convert.py").write_text(CONVERTER)
    load_dataset(own, "mine")
    return path


def replaced(pattern: str, text: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        before = path.read_text()
        path.write_text(re.sub(pattern, text, before, count=1))
        assert path.read_text() != before

    return change


def code(path: Path) -> None:
    (path.parent / "convert.py").write_text(CONVERTER + "\nchanged = 1\n")


def content(path: Path) -> None:
    table = path.parent / "drug_features.csv"
    data = table.read_bytes().replace(b"180.2", b"180.3")
    table.write_bytes(data)
    entry = source(data)
    described = rf'\g<1>bytes = {entry.bytes}\nsha256 = "{entry.sha256}"'
    replaced(r'(name = "drug_features.csv"\n)bytes = \d+\nsha256 = "\w+"', described)(path)


MATTERS: dict[str, Callable[[Path], None]] = {
    "a parameter": replaced(r"\Z", 'drug_features = "drug_features.csv"\n'),
    "a parameter's value": replaced('"associations.csv"\n\\Z', '"other.csv"\n'),
    "the converter's code": code,
    "a file's content": content,
    "a file's name": replaced("drug_features.csv", "other_features.csv"),
}
MEANS_NOTHING: dict[str, Callable[[Path], None]] = {
    "the title": replaced('title = "Mine"', 'title = "Yours"'),
    "the licence": replaced('licence = "mine"', 'licence = "yours"'),
    "a comment": replaced(r"\A", "# a remark\n"),
}


@pytest.mark.parametrize("what", MATTERS)
def test_what_a_conversion_depends_on_makes_it_anew(own: Layout, manifest: Path, what: str) -> None:
    assert is_converted(own, load_manifest(own, "mine"))
    MATTERS[what](manifest)
    assert not is_converted(own, load_manifest(own, "mine"))


def test_every_file_of_a_converter_matters(
    own: Layout, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Converters of a benchmark may be folders; one of one's own is a single file."""
    files = [tmp_path / "first.py", tmp_path / "second.py"]
    for path in files:
        path.write_text("one = 1\n")
    monkeypatch.setattr(datasets, "converter_source", lambda *_: files)
    load_dataset(own, "mine")
    for path in files:
        assert is_converted(own, load_manifest(own, "mine"))
        path.write_text("one = 2\n")
        assert not is_converted(own, load_manifest(own, "mine"))
        path.write_text("one = 1\n")


@pytest.mark.parametrize("what", MEANS_NOTHING)
def test_what_it_does_not_depend_on_keeps_it(own: Layout, manifest: Path, what: str) -> None:
    MEANS_NOTHING[what](manifest)
    assert is_converted(own, load_manifest(own, "mine"))


def test_changed_numbers_have_another_digest_and_are_loaded(own: Layout, manifest: Path) -> None:
    before = dataset_digest(own, "mine")
    content(manifest)
    dataset = load_dataset(own, "mine")
    assert dataset.digest == dataset_digest(own, "mine") != before
    assert "drug_features" in dataset.arrays and 180.3 in dataset.arrays["drug_features"]


def far(own: Layout, url: str, recorded: str = "") -> Path:
    """A dataset with a file that lies elsewhere."""
    folder = write_pairs(own)
    path = folder / "dataset.toml"
    entry = f'[[files]]\nname = "far.txt"\nurls = ["{url}"]\n{recorded}[statistics]'
    path.write_text(path.read_text().replace("[statistics]", entry))
    return folder


def test_a_file_of_unknown_content_that_lies_here_is_no_reason_to_refuse_a_digest(own: Layout, web: Web) -> None:
    folder = far(own, web.url())
    (folder / "own").mkdir()
    (folder / "own" / "far.txt").write_bytes(b"mine")
    assert dataset_digest(own, "mine") and web.asked == []


def test_a_file_of_recorded_content_is_fetched_for_a_digest(own: Layout, web: Web) -> None:
    entry = source(web.content)
    far(own, web.url(), f'bytes = {entry.bytes}\nsha256 = "{entry.sha256}"\n')
    assert dataset_digest(own, "mine") and len(web.asked) == 1


def test_a_dataset_is_here_when_nothing_is_to_be_fetched(own: Layout, web: Web, tmp_path: Path) -> None:
    entry = source(web.content)
    far(own, web.url(), f'bytes = {entry.bytes}\nsha256 = "{entry.sha256}"\n')
    mirror = tmp_path / "mirror"
    assert not is_here(own, load_manifest(own, "mine"))
    assert not is_here(own, load_manifest(own, "mine"), [mirror])
    copy = mirror / mirror_path(web.url())
    copy.parent.mkdir(parents=True)
    copy.write_bytes(web.content)
    assert is_here(own, load_manifest(own, "mine"), [mirror]) and web.asked == []
    # once converted, no original is needed
    load_dataset(own, "mine", mirrors=[mirror])
    copy.unlink()
    assert is_here(own, load_manifest(own, "mine"))
