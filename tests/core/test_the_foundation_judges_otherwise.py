"""What everything stands on: words for faults, mounts, locks, states of files, tables that are too wide."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pydantic
import pytest

import harness.base.errors
from harness.base import network_files
from harness.base.errors import HarnessError, MissingData
from harness.base.file_state import state_of
from harness.base.heartbeat import Pulse
from harness.base.manifests import Strict
from harness.base.network_files import locks_are_local
from harness.base.ownership import is_owned
from harness.base.swhid import identify
from harness.base.tables import aligned, fitted


@pytest.mark.parametrize(
    ("spent", "expected", "told"),
    [
        (12, None, "12 s"),
        (12, 90, "12 s, expected: 90 s"),
        (10, 0, "10 s, expected: 0 s"),
        (12, 0, "12 s, longer than the expected 0 s"),
        (99, None, "99 s"),
        (100, None, "1 min 40 s"),
        (154, 120, "2 min 34 s, expected: 2 min"),
        (155, 120, "2 min 35 s, longer than the expected 2 min"),
        (5399, 7200, "89 min 59 s, expected: 2.0 h"),
        (5400, 7200, "1 h 30 min, expected: 2.0 h"),
    ],
)
def test_who_waits_hears_how_long_it_has_taken_and_may_take(spent: int, expected: float | None, told: str) -> None:
    now = [5.0]
    said: list[str] = []
    pulse = Pulse(clock=lambda: now[0])
    pulse.say = said.append
    with pulse.activity("a run", expected):
        now[0] += spent
        pulse.beat(10)
    assert said == [f"a run ({told})"]


def test_each_kind_of_fault_has_the_exit_code_that_the_help_promises() -> None:
    codes = {
        name: kind.exit_code
        for name, kind in vars(harness.base.errors).items()
        if isinstance(kind, type) and issubclass(kind, HarnessError)
    }
    assert codes == {
        "HarnessError": 1, "UsageError": 2, "ManifestError": 2, "EngineError": 3, "ImageError": 3,
        "DataError": 4, "MissingData": 4, "CorruptData": 4, "WeightsError": 4, "AuditError": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "what"),
        ({"where": "here"}, "what\n  where: here"),
        ({"todo": "this"}, "what\n  to do: this"),
        ({"where": "here", "todo": "this"}, "what\n  where: here\n  to do: this"),
    ],
)
def test_a_fault_says_what_where_and_what_to_do(given: dict[str, str], told: str) -> None:
    assert str(HarnessError("what", **given)) == told


def test_a_manifest_takes_no_unknown_field_and_stays_as_it_is() -> None:
    class One(Strict):
        number: int

    with pytest.raises(pydantic.ValidationError, match="other"):
        One.model_validate({"number": 1, "other": 2})
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        One(number=1).number = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("mounts", "local"),
    [
        ([("/", "rw")], False),
        ([("/", "rw,nolock")], True),
        ([("/", "rw,nolocks")], False),
        ([("/", "rw"), ("PLACE", "rw,local_lock=all")], True),
        # the nearest decides, whatever the order
        ([("PLACE", "rw,local_lock=flock"), ("/", "rw")], True),
        ([("PLACE", "rw"), ("/", "rw,localflock")], False),
        # of two at one place the later
        ([("PLACE", "rw"), ("PLACE", "rw,localflock")], True),
        ([("PLACE", "rw,localflock"), ("PLACE", "rw")], False),
        # beside it, not above it
        ([("/", "rw"), ("PLACE-beside", "rw,nolock")], False),
        ([("/", "rw"), ("PLACE\\040beside", "rw,nolock")], False),
    ],
)
def test_the_nearest_and_latest_mount_says_whether_locks_are_seen_elsewhere(
    mounts: list[tuple[str, str]], local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = (tmp_path / "place").resolve()
    place.mkdir()
    table = tmp_path / "mounts"
    lines = [f"host:/x {point.replace('PLACE', str(place))} nfs {options} 0 0\n" for point, options in mounts]
    table.write_text("".join(lines))
    monkeypatch.setattr(network_files, "_MOUNTS", table)
    assert locks_are_local(place / "file") is local


def test_a_mount_with_a_blank_in_its_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = (tmp_path / "my results").resolve()
    place.mkdir()
    table = tmp_path / "mounts"
    written = str(place).replace(" ", "\\040")
    table.write_text(f"host:/x / nfs rw 0 0\nhost:/y {written} nfs rw,nolock 0 0\n")
    monkeypatch.setattr(network_files, "_MOUNTS", table)
    assert locks_are_local(place)


def test_a_lock_that_is_a_link_is_not_followed_and_counts_as_held(tmp_path: Path) -> None:
    free, link = tmp_path / "free", tmp_path / "link"
    free.touch()
    link.symlink_to(free)
    assert not is_owned(free)
    assert is_owned(link)


def test_a_file_that_was_just_written_is_never_the_same_and_a_settled_one_always(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    assert state_of(path) != state_of(path)
    deadline = time.monotonic() + 10
    while state_of(path)[3] and time.monotonic() < deadline:
        time.sleep(0.02)
    settled = state_of(path)
    assert settled == state_of(path)
    about = path.stat()
    assert settled == (1, about.st_ctime_ns, about.st_ino, 0)
    # the same size and a time that a person sets back
    path.write_text("y")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert state_of(path)[:3] != settled[:3]


def git(folder: Path, *words: str) -> str:
    named = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    return subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_identifiers_are_those_of_the_last_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(MissingData, match="no clone, or git is not installed") as refused:
        identify(tmp_path)
    assert "swh identify" in refused.value.todo
    for name in ("one", "two", "three"):
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "all")
    known = identify(tmp_path)
    assert known.directory == f"swh:1:dir:{git(tmp_path, 'rev-parse', 'HEAD^{tree}').strip()}"
    assert known.revision == f"swh:1:rev:{git(tmp_path, 'rev-parse', 'HEAD').strip()}"
    assert known.changed == 0
    (tmp_path / "one").write_text("another")
    (tmp_path / "two").unlink()
    (tmp_path / "unknown").touch()
    assert identify(tmp_path).changed == 2


@pytest.mark.parametrize("rows", [[["a" * 50, "b" * 50]], [["a", "b"], ["c" * 5, "d"]]])
def test_a_table_that_fits_or_has_a_head_alone_stays_whole(rows: list[list[str]]) -> None:
    assert fitted(rows, width=40) == aligned(rows)


def test_a_table_that_is_too_wide_is_told_in_parts_with_what_tells_rows_apart() -> None:
    rows = [["name", "x" * 12, "y" * 12], ["one", "1", "2"], ["two", "3", "4"]]
    assert fitted(rows, width=20) == [
        "name  xxxxxxxxxxxx", "one   1", "two   3", "", "name  yyyyyyyyyyyy", "one   2", "two   4",
    ]  # fmt: skip
    assert fitted(rows, width=32) == aligned(rows)
