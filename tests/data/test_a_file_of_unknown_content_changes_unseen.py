"""A file without a recorded checksum must be held to what it was when it was first seen, and be no error page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import data as command
from harness.data import dataset_digest, download, load_dataset, load_manifest
from harness.data.datasets import fetch_dataset
from harness.data.first_seen import RECORD
from harness.data.manifest import mirror_path
from harness.errors import CorruptData, ManifestError, MissingData
from harness.layout import Layout
from tests.data.own_pairs import write_pairs
from tests.data.web import Web, serving

CONTENT = b"0 1 2\n" * 1000


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A server on this machine, reached without any proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(CONTENT) as served:
        yield served


def _unknown(own: Layout, url: str, more: str = "") -> Path:
    """A dataset with one more file, of which only the address is known; returns its folder."""
    folder = write_pairs(own)
    manifest = folder / "dataset.toml"
    entry = f'[[files]]\nname = "far.txt"\nurls = ["{url}"]\n{more}[statistics]'
    manifest.write_text(manifest.read_text().replace("[statistics]", entry))
    return folder


def test_checksum_is_taken_at_the_first_download_and_held_to(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    path = fetch_dataset(own, "mine")["far.txt"]
    assert path.read_bytes() == CONTENT
    told = json.loads((folder / RECORD).read_text())["far.txt"]
    assert told["bytes"] == len(CONTENT) and path.name == told["sha256"]
    assert load_manifest(own, "mine").files[-1].sha256 == told["sha256"]
    assert fetch_dataset(own, "mine")["far.txt"] == path and len(web.asked) == 1
    path.unlink()
    web.content = CONTENT[:-1] + b"x"
    with pytest.raises(CorruptData, match="not the recorded"):
        fetch_dataset(own, "mine")


def test_file_in_ones_own_folder_or_a_mirror_serves(own: Layout, web: Web, tmp_path: Path) -> None:
    folder = _unknown(own, web.url())
    copy = tmp_path / "mirror" / mirror_path(web.url())
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    assert fetch_dataset(own, "mine", mirrors=[tmp_path / "mirror"])["far.txt"] == copy
    (folder / RECORD).unlink()
    (folder / "own").mkdir()
    mine = folder / "own" / "far.txt"
    mine.write_bytes(CONTENT)
    assert fetch_dataset(own, "mine", mirrors=[tmp_path / "mirror"])["far.txt"] == mine
    assert web.asked == []


def test_cut_download_of_unknown_length_is_no_file(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    web.cut_after = 100
    with pytest.raises(MissingData, match="cut: 100 of 6000 bytes came"):
        fetch_dataset(own, "mine")
    assert not (folder / RECORD).exists()


def test_endless_download_of_unknown_length_is_told_as_past_the_limit(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_LONGEST_UNKNOWN", 100)
    folder = _unknown(own, web.url())
    with pytest.raises(MissingData, match="longer than the limit of 100 bytes"):
        fetch_dataset(own, "mine")
    assert not (folder / RECORD).exists() and len(web.asked) == 1


@pytest.mark.parametrize(
    ("content", "fault"), [(b"version https://git-lfs.github.com/spec/v1\n", "pointer"), (b"", "empty")]
)
def test_what_can_not_be_the_file_is_not_recorded(own: Layout, web: Web, content: bytes, fault: str) -> None:
    folder = _unknown(own, web.url())
    web.content = content
    with pytest.raises(CorruptData, match=fault):
        fetch_dataset(own, "mine")
    assert not (folder / RECORD).exists()


def test_nothing_is_downloaded_for_a_digest_or_for_all(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unknown(own, web.url())
    with pytest.raises(MissingData, match=r"'far.txt' \(dataset mine\) is not here[\s\S]*`harness data get mine`"):
        dataset_digest(own, "mine")
    monkeypatch.setattr(command, "find_layout", lambda: own)
    said = CliRunner().invoke(command.command, ["get", "--all"], standalone_mode=False)
    assert said.output == "mine: to be brought or downloaded: far.txt\n"
    assert web.asked == []
    assert load_dataset(own, "mine").digest == dataset_digest(own, "mine")


def test_damaged_record_is_named(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    for damage in ("{", '{"far.txt": 7}', '{"far.txt": {"sha256": "short", "bytes": 1}}'):
        (folder / RECORD).write_text(damage)
        with pytest.raises(ManifestError, match=RECORD):
            load_manifest(own, "mine")


def test_size_without_checksum_is_refused(own: Layout, web: Web) -> None:
    _unknown(own, web.url(), "bytes = 12\n")
    with pytest.raises(ManifestError, match="sha256: goes with bytes"):
        load_manifest(own, "mine")
