"""Edges that few inputs reach: the last number that fits, the fourth of three, the text that no font shows."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.git import LEFTOVERS, differences
from harness.base.heartbeat import PULSE, Pulse, heartbeat
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import NamedManifest, Strict, load_named, load_toml
from harness.base.markdown import code, plain
from harness.base.ownership import is_owned, own_folder
from harness.base.progress import ProgressBar, ProgressLines
from harness.base.sheets import sheet_lines
from harness.base.tables import csv_text, fitted
from tests.data.workbooks import rows_xml, write_workbook

GAP = "\n         "


class Card(NamedManifest):
    """A manifest with a table, and names that may be any."""

    weights: dict[str, int] = {}
    number: int = 0


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "one" / "card.toml"
    path.parent.mkdir()
    return path


@pytest.mark.parametrize("text", ["\tx", "\rx", "=x", "+x", "-x", "@x"])
def test_whatever_a_spreadsheet_takes_for_a_formula_is_a_text(text: str) -> None:
    written = csv_text(["a"], [[text], [f"x{text}"]])
    first = f"'{text}"
    assert written.startswith(f'a\n"{first}"\n' if "\r" in text else f"a\n{first}\n")
    assert f"'x{text}" not in written


@pytest.mark.parametrize("sign", ["\x00", "\x9f", "\u200e", "\ud800", "\u2028", "\u2029"])
def test_a_sign_that_is_no_letter_is_a_space(sign: str) -> None:
    assert plain(f"a{sign}b") == "a b" and code(f"a{sign}b") == "`a b`"


def test_of_many_threads_three_are_told_and_the_rest_is_counted() -> None:
    said: list[str] = []
    pulse, release, threads = Pulse(lambda: 0.0), threading.Event(), list[threading.Thread]()
    pulse.say = said.append

    def work(number: int, begun: threading.Event) -> None:
        with pulse.activity(f"run {number}"):
            begun.set()
            release.wait(10)

    with pulse.activity("the command"):
        for number in range(1, 6):
            begun = threading.Event()
            threads.append(threading.Thread(target=work, args=(number, begun)))
            threads[-1].start()
            begun.wait(10)
            pulse.beat(0.0)
        # what the command itself is at stands beside them, and the command alone does not
        with pulse.activity("reading"):
            pulse.beat(0.0)
        release.set()
        for thread in threads:
            thread.join()
        pulse.beat(0.0)
    three = "run 1 (0 s); run 2 (0 s); run 3 (0 s)"
    assert said[:3] == ["run 1 (0 s)", "run 1 (0 s); run 2 (0 s)", three]
    assert said[3:5] == [f"{three} and 1 more", f"{three} and 2 more"]
    assert said[5:] == ["reading (0 s); run 1 (0 s); run 2 (0 s) and 3 more", "the command (0 s)"]
    assert pulse.beat(0.0) == 0.0 and len(said) == 7, "nobody does anything any more"


def test_a_heartbeat_does_not_keep_a_program_from_its_end() -> None:
    with heartbeat("work", pulse=Pulse()):
        assert ("heartbeat", True) in {(one.name, one.daemon) for one in threading.enumerate()}
    assert "heartbeat" not in {one.name for one in threading.enumerate()}


def test_a_bar_shows_what_is_done_how_far_and_since_when(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    bar = ProgressBar()
    columns = [(type(one).__name__, getattr(one, "text_format", "")) for one in bar._bar.columns]
    assert columns == [
        ("TextColumn", "{task.description}"),
        ("BarColumn", ""),
        ("MofNCompleteColumn", ""),
        ("TimeElapsedColumn", ""),
        ("TextColumn", "{task.fields[activity]}"),
    ]
    assert bar._bar.live.transient and bar._bar.console.file is stream
    bar.live("nothing yet")
    bar.begin("building [bold]", 2)
    bar.live("[red]reading")
    (task,) = bar._bar.tasks
    assert (task.fields["activity"], bar._bar.columns[-1].render(task).plain) == ("[red]reading",) * 2
    assert bar._bar.columns[0].render(task).plain == "building [bold]"
    # what no markup could be: a folder may be called so
    bar.begin("merging /mnt/[/x]", 2)
    (task,) = bar._bar.tasks
    assert bar._bar.columns[0].render(task).plain == "merging /mnt/[/x]"


def test_a_line_of_progress_is_seen_at_once_and_counts_as_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Pipe(io.StringIO):
        def flush(self) -> None:
            seen.append(self.getvalue())

    monkeypatch.setattr(PULSE, "heard", lambda: seen.append("heard"))
    ProgressLines(Pipe()).note("one")
    assert seen == ["  one\n", "heard"]


def test_a_column_that_is_wider_than_the_width_has_a_table_of_its_own() -> None:
    rows = [["name", "x" * 30, "y"], ["one", "1", "2"], ["two", "3", "4"]]
    assert fitted(rows, width=20) == [
        *(f"name  {'x' * 30}", "one   1", "two   3"),
        *("", "name  y", "one   2", "two   4"),
    ]


def test_a_lock_is_opened_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over NFS only such a file can be locked."""
    really, ways = os.open, dict[str, int]()

    def opened(path: Path, flags: int, *more: Any, **where: Any) -> int:
        ways[Path(path).name] = flags & os.O_ACCMODE
        return really(path, flags, *more, **where)

    (tmp_path / "free").touch()
    monkeypatch.setattr(os, "open", opened)
    assert not is_owned(tmp_path / "free")
    own_folder(tmp_path / "work")
    assert (ways["free"], ways["owner.lock"]) == (os.O_RDWR, os.O_RDWR)


@pytest.mark.parametrize(
    ("number", "fits"), [(2**63 - 1, True), (-(2**63), True), (2**63, False), (-(2**63) - 1, False)]
)
def test_a_whole_number_has_64_bits(card: Path, number: int, fits: bool) -> None:
    card.write_text(f'name = "one"\nnumber = {number}\n')
    if fits:
        assert load_toml(card, Card).number == number
        return
    with pytest.raises(ManifestError) as refused:
        load_toml(card, Card)
    assert refused.value.what == "not valid TOML: number: a whole number of more than 64 bits"
    assert (refused.value.where, refused.value.todo) == (str(card), "correct that line")


def test_a_long_number_in_a_list_of_tables_is_found_by_its_name(card: Path) -> None:
    card.write_text(f"[[a.b]]\nc = [[1], [{2**64}]]\n")
    with pytest.raises(ManifestError, match=r"a\.b\.c: a whole number of more than 64 bits"):
        load_toml(card, Card)


@pytest.mark.parametrize("name", ["One", "1a", "_a", "a-b", "a b", "", "é", "one\\n"])
def test_a_name_is_of_small_letters(card: Path, name: str) -> None:
    card.write_text(f'name = "{name}"\n')
    with pytest.raises(ManifestError, match="is not a name: small letters, digits and _ only") as refused:
        load_toml(card, Card)
    assert refused.value.what == "card.toml breaks its schema" and refused.value.todo == "correct these fields"
    assert refused.value.where.startswith(f"{card}: name: ")


def test_a_manifest_is_read_again_once_it_changes_and_is_its_folders(card: Path) -> None:
    card.write_text('name = "one"\nnumber = 1\n')
    first = load_named(card, Card)
    assert load_named(card, Card) is first
    card.write_text('name = "one"\nnumber = 2\n')
    os.utime(card, ns=(1, 1))
    assert load_named(card, Card).number == 2
    card.write_text('name = "a1_b"\n')
    os.utime(card, ns=(2, 2))
    with pytest.raises(ManifestError) as refused:
        load_named(card, Card)
    assert refused.value.what == "the name is 'a1_b', the folder is 'one'"
    assert (refused.value.where, refused.value.todo) == (f"{card}: name", "give both the same name")


def test_what_to_do_about_a_manifest_is_said(card: Path) -> None:
    for text, what, todo in (
        (None, "a manifest is missing", "restore the file"),
        ("a = " + "[" * 9000, "not valid TOML: nested too deeply", "write it with fewer brackets"),
    ):
        if text is not None:
            card.write_text(text)
        with pytest.raises(ManifestError) as refused:
            load_toml(card, Card)
        assert (refused.value.what, refused.value.where, refused.value.todo) == (what, str(card), todo)


def test_every_fault_of_a_manifest_has_its_line(card: Path) -> None:
    card.write_text('name = "A"\nweights = 1\n[other]\na = 1\n')
    with pytest.raises(ManifestError) as raw:
        load_toml(card, Card)
    assert [line.partition(": ")[2].partition(":")[0] for line in raw.value.where.split(GAP)] == [
        "name",
        "weights",
        "other",
    ]
    with pytest.raises(ManifestError) as plain_words, plain_faults(card, Card):
        load_toml(card, Card)
    assert plain_words.value.where.split(GAP) == [
        f"{card}: name: 'A' is not a name: small letters, digits and _ only",
        f"{card}: weights: has to be a table, not 1",
        f"{card}: other: there is no such field",
    ]
    # what is no fault of the schema is told as it is
    card.unlink()
    with pytest.raises(ManifestError, match="a manifest is missing"), plain_faults(card, Card):
        load_toml(card, Card)


def test_a_field_is_meant_only_where_it_is_missing(card: Path) -> None:
    class Inner(Strict):
        size: int

    class Outer(Strict):
        title: str
        inner: Inner

    card.write_text("[inner]\nsize = 1\ntitel = 1\n")
    with pytest.raises(ManifestError) as told, plain_faults(card, Outer):
        load_toml(card, Outer)
    assert told.value.where.split(GAP) == [
        f"{card}: title: is missing",
        f"{card}: inner.titel: there is no such field",
    ]


def test_a_fault_of_the_whole_is_told_at_its_top(card: Path) -> None:
    class Whole(Strict):
        pair: tuple[int, int] = (0, 0)

    card.write_text("pair = [1]\n")
    with pytest.raises(ManifestError) as told, plain_faults(card, Whole):
        load_toml(card, Whole)
    assert told.value.where == f"{card}: pair.1: is missing"


def _changed(path: Path, change: str) -> None:
    """The first part of a workbook, damaged in one way."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        info, directory = infos["xl/workbook.xml"], archive.start_dir
    entry = content.index(b"xl/workbook.xml", directory) - 46
    begin = info.header_offset + 30 + len(info.filename)
    if change == "a secret":
        content[info.header_offset + 6] |= 1
        content[entry + 8] |= 1
    elif change == "more than there is":
        for place in (info.header_offset + 18, entry + 20):
            content[place : place + 8] = (1 << 20).to_bytes(4, "little") * 2
    elif change == "an unknown way of packing":
        content[info.header_offset + 8] = content[entry + 10] = 99
    else:
        content[begin : begin + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(content)


@pytest.mark.parametrize("change", ["a secret", "an unknown way of packing", "other bytes", "more than there is"])
def test_a_workbook_that_can_not_be_unpacked_is_no_workbook(tmp_path: Path, change: str) -> None:
    plain_book = write_workbook(tmp_path / "plain.xlsx", {"one": rows_xml([["a"]])})
    book = tmp_path / "book.xlsx"
    way = zipfile.ZIP_STORED if change == "more than there is" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(plain_book) as old, zipfile.ZipFile(book, "w", way) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert sheet_lines(book) == [(1, ["a"])]
    _changed(book, change)
    with pytest.raises(CorruptData, match=r"^not a workbook: ") as refused:
        sheet_lines(book)
    assert (refused.value.where, refused.value.todo) == (str(book), "save it as .xlsx in a spreadsheet program")


def test_what_programs_leave_beside_code_was_never_meant_to_be_committed(tmp_path: Path) -> None:
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", "-C", str(tmp_path))
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "first")):
        subprocess.run([*git, *words], check=True, capture_output=True)
    for name in ("__pycache__/a.cpython-311.pyc", ".a.py.swp", ".ipynb_checkpoints/a-checkpoint.ipynb", "a.pyc"):
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).touch()
    assert differences(tmp_path, ["code"], LEFTOVERS).untracked == ("code/a.pyc",)
