"""What is recorded of files at first sight, what is thrown away, and what is said."""

from __future__ import annotations

import csv
import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import CorruptData
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.data import trust
from harness.data.manifest import DatasetManifest, SourceFile
from harness.data.sources import cache_path, changed_files, obtain
from harness.data.trust import alone_at_first_sight, forget, seen_first
from tests.data.own_data import source, write_dataset
from tests.data.told import put, told

FAR = SourceFile(name="far.txt", urls=["https://example.org/far.txt"])
NEAR = SourceFile(name="near.txt", urls=["https://example.org/near.txt"])
KNOWN = source(b"known", name="known.txt")


def manifest(*files: SourceFile, name: str = "mine") -> DatasetManifest:
    return cast(DatasetManifest, SimpleNamespace(name=name, files=[*files]))


def files_of(own: Layout) -> dict[str, Path]:
    """One that was downloaded, one of a person's own, one that is known."""
    write_dataset(own)
    folder = own.datasets / "mine"
    return {
        "far.txt": put(cache_path(own, FAR), "far"),
        "near.txt": put(folder / "own" / "near.txt", "near"),
        "known.txt": put(folder / "known.txt", "known"),
    }


def test_what_converts_well_is_recorded_and_kept_by_its_content(own: Layout) -> None:
    files = files_of(own)
    with seen_first(own, manifest(FAR, NEAR, KNOWN), files):
        assert not (own.datasets / "mine" / "first_seen.json").exists()
    record = json.loads((own.datasets / "mine" / "first_seen.json").read_text())
    sums = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("far", "near")}
    assert record == {f"{name}.txt": {"bytes": len(name), "sha256": sums[name]} for name in ("far", "near")}
    assert not files["far.txt"].exists() and files["near.txt"].read_text() == "near"
    assert (own.cache / "data" / sums["far"][:2] / sums["far"]).read_text() == "far"
    assert forget(own, "mine") == ["far.txt", "near.txt"] and forget(own, "mine") == []


def test_a_file_that_nobody_has_recorded_has_not_changed(own: Layout) -> None:
    """Whether it can be the one that is meant is asked when it is taken for the first time."""
    write_dataset(own)
    new = SourceFile(name="new.txt")
    path = put(own.datasets / "mine" / KNOWN.name, "other")
    put(own.datasets / "mine" / new.name, "")
    described = cast(
        DatasetManifest, SimpleNamespace(name="mine", own_files=[new, KNOWN, source(b"", name="gone")])
    )
    assert changed_files(own, described) == {path: f"sha256 is {sha256_of(path)}, not the recorded {KNOWN.sha256}"}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CorruptData("no label", where="x"), "no label"),
        (KeyError("a"), "KeyError: 'a'"),
        (ZeroDivisionError("b"), "ZeroDivisionError: b"),
        (OSError("c"), "OSError: c"),
        (TypeError("d"), "TypeError: d"),
        (AttributeError("e"), "AttributeError: e"),
        (EOFError("f"), "EOFError: f"),
        (SyntaxError("g"), "SyntaxError: g"),
        (ValueError("h"), "ValueError: h"),
        (csv.Error("i"), "Error: i"),
        (struct.error("j"), "error: j"),
        (zipfile.BadZipFile("k"), "BadZipFile: k"),
        (zlib.error("l"), "error: l"),
    ],
)
def test_what_does_not_convert_is_thrown_away_and_nothing_recorded(
    own: Layout, error: Exception, said: str
) -> None:
    further = SourceFile(name="further.txt", urls=["https://example.org/further.txt"])
    files = {**files_of(own), "further.txt": put(cache_path(own, further), "further")}

    def convert() -> None:
        with seen_first(own, manifest(FAR, further, NEAR, KNOWN), files):
            raise error

    assert told(convert) == [
        (
            "dataset 'mine' can't be made of far.txt, further.txt, near.txt, whose content nobody has recorded: "
            f"{said}",
            "\n         ".join(str(files[name]) for name in ("far.txt", "further.txt", "near.txt")),
            "nothing was recorded and downloads were thrown away; see that the addresses give the files and no "
            f"web page, or put the right ones into {own.datasets / 'mine' / 'own'}",
        )
    ]
    assert {name for name, path in files.items() if path.exists()} == {"near.txt", "known.txt"}
    assert not (own.datasets / "mine" / "first_seen.json").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_what_is_no_fault_of_a_file_goes_through(own: Layout, error: type[BaseException]) -> None:
    files = files_of(own)
    with pytest.raises(error), seen_first(own, manifest(FAR), files):
        raise error
    assert files["far.txt"].exists()
    with pytest.raises(ValueError, match="x"), seen_first(own, manifest(KNOWN), files):
        raise ValueError("x")


def test_every_place_that_was_tried_is_told(own: Layout, tmp_path: Path) -> None:
    write_dataset(own)
    mirror, wanted = tmp_path / "mirror", KNOWN.model_copy(update={"urls": ["https://example.invalid/a/k.txt"]})
    folder = own.datasets / "mine" / "own"
    put(mirror / "example.invalid" / "a" / "k.txt", "knowN")
    (folder / "known.txt").mkdir(parents=True)
    sum_of = hashlib.sha256(b"knowN").hexdigest()
    no_url: Any = wanted.model_copy(update={"urls": []})
    (own.datasets / "mine" / "known.txt").mkdir()
    assert told(lambda: obtain(own, "mine", no_url)) == [
        (
            "'known.txt' (dataset mine) is in none of its sources",
            f"{own.datasets / 'mine' / 'known.txt'}: a folder, not a file\n         "
            f"{cache_path(own, KNOWN)}: no such file",
            "put the file beside its manifest; if another one lies there and is right: harness data accept mine",
        )
    ]
    ((what, where, todo),) = told(lambda: obtain(own, "mine", wanted, [mirror]))
    assert what == "no source of 'known.txt' (dataset mine) has the recorded content"
    assert where.splitlines()[:3] == [
        f"{folder / 'known.txt'}: a folder, not a file",
        f"         {cache_path(own, KNOWN)}: no such file",
        f"         {mirror / 'example.invalid/a/k.txt'}: sha256 is {sum_of}, not the recorded {KNOWN.sha256}",
    ]
    assert todo == (
        "remove or replace the damaged copy; allow a download from one of its URLs (`harness data get mine`), "
        f"give a mirror folder with --mirror DIR or $PERMAFROST_MIRROR, or put it into {folder}"
    )


def test_only_who_takes_files_of_the_same_dataset_that_nobody_recorded_waits(
    own: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    waits = Event()

    @contextmanager
    def activity(what: str) -> Iterator[None]:
        told.append(what)
        waits.set()
        yield

    def enter(one: DatasetManifest) -> None:
        with alone_at_first_sight(own, one):
            told.append("in")

    with ThreadPoolExecutor(1) as other:
        with alone_at_first_sight(own, manifest(FAR, KNOWN)):
            # recorded throughout, or of another dataset
            for free in (manifest(KNOWN), manifest(FAR, KNOWN, name="another")):
                other.submit(enter, free).result(timeout=60)
            assert told == ["in", "in"]
            monkeypatch.setattr(trust, "activity", activity)
            second = other.submit(enter, manifest(FAR))
            assert waits.wait(timeout=60)
            told.append("out")
        second.result(timeout=60)
    assert told[2:] == ["waiting for another harness, which gets dataset mine", "out", "in"]
