"""A file without a recorded checksum must be held to what it was when it was first seen, and be no error page."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base import download
from harness.base.errors import CorruptData, ManifestError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.benchmarks.new_item import NewItem
from harness.cli import data as command
from harness.data import dataset_digest, datasets, load_dataset, load_manifest, trust
from harness.data.converters import find_converter
from harness.data.datasets import fetch_dataset
from harness.data.extension import extended
from harness.data.manifest import FIRST_SEEN, DatasetManifest, mirror_path
from harness.data.own_dataset import accept_changes
from harness.data.trust import forget
from harness.splits.spec import SplitSpec
from harness.splits.splits import recipe_of
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
    load_dataset(own, "mine")
    path = fetch_dataset(own, "mine")["far.txt"]
    assert path.read_bytes() == CONTENT
    told = json.loads((folder / FIRST_SEEN).read_text())["far.txt"]
    assert told["bytes"] == len(CONTENT) and path.name == told["sha256"]
    assert load_manifest(own, "mine").files[-1].sha256 == told["sha256"]
    assert fetch_dataset(own, "mine")["far.txt"] == path and len(web.asked) == 1
    path.unlink()
    web.content = CONTENT[:-1] + b"x"
    with pytest.raises(CorruptData, match="not the recorded"):
        fetch_dataset(own, "mine")


def test_two_that_get_it_at_once_do_not_take_each_others_download(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unknown(own, web.url())
    others_turn, ours_is_over = threading.Event(), threading.Event()
    converter, digests = find_converter(own, load_manifest(own, "mine")), list[Future[str]]()

    def is_other() -> bool:
        return threading.current_thread() is not threading.main_thread()

    def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> Dataset:
        if is_other():
            others_turn.set()
            ours_is_over.wait()
        else:
            digests.append(other.submit(lambda: load_dataset(own, "mine").digest))
            others_turn.wait()
        assert all(path.is_file() for path in files.values())
        return converter(manifest, files)

    @contextmanager
    def waiting(what: str) -> Iterator[None]:
        if is_other():
            others_turn.set()
        yield

    monkeypatch.setattr(datasets, "find_converter", lambda *_: convert)
    monkeypatch.setattr(trust, "activity", waiting, raising=False)
    with ThreadPoolExecutor(1) as other:
        try:
            digest = load_dataset(own, "mine").digest
        finally:
            ours_is_over.set()
        assert digests[0].result() == digest and len(web.asked) == 1


def test_file_in_ones_own_folder_or_a_mirror_serves(own: Layout, web: Web, tmp_path: Path) -> None:
    folder = _unknown(own, web.url())
    copy = tmp_path / "mirror" / mirror_path(web.url())
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    load_dataset(own, "mine", mirrors=[tmp_path / "mirror"])
    assert fetch_dataset(own, "mine", mirrors=[tmp_path / "mirror"])["far.txt"] == copy
    (folder / FIRST_SEEN).unlink()
    (folder / "own").mkdir()
    mine = folder / "own" / "far.txt"
    mine.write_bytes(CONTENT)
    assert fetch_dataset(own, "mine", mirrors=[tmp_path / "mirror"])["far.txt"] == mine
    assert web.asked == []


def test_an_extended_dataset_is_made_again_of_what_a_mirror_has(own: Layout, web: Web, tmp_path: Path) -> None:
    _unknown(own, web.url())
    mirrors = [tmp_path / "mirror"]
    copy = mirrors[0] / mirror_path(web.url())
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    name = extended(own, "mine", [NewItem(kind="drug", name="new one", text="CCO")], mirrors)
    digest = load_dataset(own, name, mirrors=mirrors).digest
    shutil.rmtree(own.cache / "datasets")
    assert dataset_digest(own, name, mirrors=mirrors) == digest
    shutil.rmtree(own.cache / "datasets")
    assert load_dataset(own, name, mirrors=mirrors).digest == digest
    # and so is a split of it
    shutil.rmtree(own.cache / "datasets")
    spec = SplitSpec(strategy="random", seed=1)
    recipe = recipe_of(own, name, spec, mirrors)
    shutil.rmtree(own.cache / "datasets")
    assert recipe_of(own, name, spec, mirrors) == recipe and recipe["dataset"] == digest
    assert web.asked == []


def test_what_was_seen_first_replaces_nothing_that_the_manifest_records(own: Layout) -> None:
    folder = _unknown(own, "https://h.example/far.txt")
    before = {file.name: (file.bytes, file.sha256) for file in load_manifest(own, "mine").files}
    seen = {name: {"bytes": 7, "sha256": "7" * 64} for name in before}
    (folder / FIRST_SEEN).write_text(json.dumps(seen))
    now = {file.name: (file.bytes, file.sha256) for file in load_manifest(own, "mine").files}
    assert now == {**before, "far.txt": (7, "7" * 64)}


def test_a_dataset_with_one_file_from_elsewhere_can_not_be_accepted(own: Layout) -> None:
    _unknown(own, "https://h.example/far.txt")
    with pytest.raises(UsageError, match="not made of files beside its manifest alone"):
        accept_changes(own, "mine")


def test_cut_download_of_unknown_length_is_no_file(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    web.cut_after = 100
    with pytest.raises(MissingData, match="cut: 100 of 6000 bytes came"):
        fetch_dataset(own, "mine")
    assert not (folder / FIRST_SEEN).exists()


def test_endless_download_of_unknown_length_is_told_as_past_the_limit(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 100)
    folder = _unknown(own, web.url())
    with pytest.raises(MissingData, match="longer than the limit of 100 bytes"):
        fetch_dataset(own, "mine")
    assert not (folder / FIRST_SEEN).exists() and len(web.asked) == 1


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "pointer"),
        (b"", "empty"),
        (b"<html><body>Welcome! Please log in.</body></html>", "a web page"),
        (b"\xef\xbb\xbf\r\n <!DOCTYPE HTML>\n<title>503</title>", "a web page"),
    ],
)
def test_what_can_not_be_the_file_is_not_recorded(own: Layout, web: Web, content: bytes, fault: str) -> None:
    folder = _unknown(own, web.url())
    web.content = content
    with pytest.raises(CorruptData, match=fault):
        fetch_dataset(own, "mine")
    assert not (folder / FIRST_SEEN).exists()


@pytest.mark.parametrize(
    ("field", "wrong", "why"),
    [
        ("converter = .*", 'converter = "./convert.py"', "IndexError: list index out of range"),
        ("drugs = 3", "drugs = 4", "has 3 drugs, not 4"),
    ],
)
def test_file_that_can_not_be_converted_is_not_recorded_and_asked_for_again(
    own: Layout, web: Web, field: str, wrong: str, why: str
) -> None:
    folder = _unknown(own, web.url())
    manifest = folder / "dataset.toml"
    right = manifest.read_text()
    (folder / "convert.py").write_text("def convert(manifest, files):\n    return [][1]\n")
    manifest.write_text(re.sub(field, wrong, right))
    assert manifest.read_text() != right
    web.content = b"nobody expects this"
    with pytest.raises(CorruptData, match=why) as caught:
        load_dataset(own, "mine")
    assert "far.txt" in caught.value.what and "nothing was recorded" in caught.value.todo
    assert not (folder / FIRST_SEEN).exists()
    manifest.write_text(right)
    web.content = CONTENT
    load_dataset(own, "mine")
    assert fetch_dataset(own, "mine")["far.txt"].read_bytes() == CONTENT


def test_ones_own_file_that_can_not_be_converted_stays(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace("drugs = 3", "drugs = 4"))
    (folder / "own").mkdir()
    (folder / "own" / "far.txt").write_bytes(CONTENT)
    with pytest.raises(CorruptData):
        load_dataset(own, "mine")
    assert (folder / "own" / "far.txt").read_bytes() == CONTENT and web.asked == []


def test_wrong_record_is_taken_back_by_a_command_that_the_message_names(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _unknown(own, web.url())
    web.content = b"the wrong file, that can be converted too"
    load_dataset(own, "mine")
    fetch_dataset(own, "mine")["far.txt"].unlink()
    web.content = CONTENT
    with pytest.raises(CorruptData) as caught:
        fetch_dataset(own, "mine")
    assert "`harness data forget mine`" in caught.value.todo
    monkeypatch.setattr(command, "find_layout", lambda: own)
    said = CliRunner().invoke(command.command, ["forget", "mine"], standalone_mode=False)
    assert said.output == "mine: forgotten: far.txt\n"
    assert not (folder / FIRST_SEEN).exists()
    load_dataset(own, "mine")
    assert json.loads((folder / FIRST_SEEN).read_text())["far.txt"]["bytes"] == len(CONTENT)
    with pytest.raises(UsageError, match="no dataset is called 'nobody'"):
        forget(own, "nobody")


def test_what_is_not_here_is_missing_at_its_address_or_beside_the_manifest(own: Layout) -> None:
    url = "https://example.invalid/far.txt"
    folder = _unknown(own, url)
    with pytest.raises(MissingData) as missing:
        dataset_digest(own, "mine")
    assert (missing.value.where, missing.value.todo) == (url, "run `harness data get mine`")
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace(f'urls = ["{url}"]\n', ""))
    with pytest.raises(MissingData) as missing:
        dataset_digest(own, "mine")
    assert missing.value.where == str(folder / "far.txt")


def test_a_copy_in_a_mirror_is_enough_for_a_digest(own: Layout, tmp_path: Path) -> None:
    url = "https://example.invalid/far.txt"
    _unknown(own, url)
    copy = tmp_path / "mirror" / mirror_path(url)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    digest = dataset_digest(own, "mine", mirrors=[tmp_path / "mirror"])
    assert digest == load_dataset(own, "mine", mirrors=[tmp_path / "mirror"]).digest


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


def test_a_faulty_manifest_among_all_is_in_the_exit_code_and_stops_no_other(
    own: Layout, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _unknown(own, web.url())
    load_dataset(own, "mine")
    faulty = folder.parent / "bad" / "dataset.toml"
    faulty.parent.mkdir()
    faulty.write_text('name = "bad"\n')
    monkeypatch.setattr(command, "find_layout", lambda: own)
    for arguments, code in ((["get", "--all"], 2), (["get", "mine"], None)):
        said = CliRunner().invoke(command.command, arguments, standalone_mode=False)
        assert said.output.startswith(f"mine: {dataset_digest(own, 'mine')}\n")
        assert (said.return_value or None) == code


def test_damaged_record_is_named(own: Layout, web: Web) -> None:
    folder = _unknown(own, web.url())
    for damage in ("{", '{"far.txt": 7}', '{"far.txt": {"sha256": "short", "bytes": 1}}'):
        (folder / FIRST_SEEN).write_text(damage)
        with pytest.raises(ManifestError, match=FIRST_SEEN):
            load_manifest(own, "mine")


def test_size_without_checksum_is_refused(own: Layout, web: Web) -> None:
    _unknown(own, web.url(), "bytes = 12\n")
    with pytest.raises(ManifestError, match="sha256: goes with bytes"):
        load_manifest(own, "mine")
