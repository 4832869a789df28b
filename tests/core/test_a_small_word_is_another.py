"""What everything says with the same words: names meant, verdicts, Markdown, cells, signs of life, folders."""

from __future__ import annotations

import hmac
import io
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Literal
from xml.etree import ElementTree

import pytest
from pydantic import Field

from harness.base import machine, seal
from harness.base.errors import ManifestError, UsageError, refuse_unknown, unknown
from harness.base.few import few, few_in_line, length_apart
from harness.base.files import canonical_json
from harness.base.heartbeat import Pulse, duration, heartbeat
from harness.base.layout import Layout, data_folder
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import Strict, load_toml
from harness.base.markdown import code, plain, prose
from harness.base.plurals import counted, form_of
from harness.base.tables import csv_text
from harness.base.unknown_names import refuse_unknown_names, unknown_name
from harness.base.vocabulary import Verdict
from harness.base.workbook import Cell, Worksheet, workbook_bytes
from harness.base.zips import member

GIB = 1024**3
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.mark.parametrize(
    ("texts", "length"),
    [([], 1), (["abc"], 1), (["ab", "cb"], 1), (["abc", "b", "abd"], 3), (["b1", "a", "b2"], 2), (["a", "ab"], 2)],
)
def test_as_many_characters_as_tell_texts_apart(texts: list[str], length: int) -> None:
    assert length_apart(texts) == length
    assert len({text[:length] for text in texts}) == len(texts)
    assert length == 1 or len({text[: length - 1] for text in texts}) < len(texts)


@pytest.mark.parametrize(
    ("count", "noun", "plural", "told"),
    [
        (1, "run", "", "1 run"),
        (2, "run", "", "2 runs"),
        (0, "run", "", "0 runs"),
        (1, "entry", "entries", "1 entry"),
        (2, "entry", "entries", "2 entries"),
    ],
)
def test_a_number_has_the_right_noun(count: int, noun: str, plural: str, told: str) -> None:
    assert counted(count, noun, plural) == told == f"{count} {form_of(noun, count, plural)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b stays", "a_b stays"),
        ("_a_", "\\_a\\_"),
        ("*a* [b](c) `d` e|f ~g~", "\\*a\\* \\[b\\](c) \\`d\\` e\\|f \\~g\\~"),
        ("<b> & >", "&lt;b&gt; &amp; &gt;"),
        ("http://x www.y me@z a//b", "http:\\//x www\\.y me\\@z a//b"),
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("-5", "-5"),
        ("12. a", "12\\. a"),
        ("12.5", "12.5"),
        (" a\n\tb\x00c\u202ed\u2028e ", "a b c d e"),
        (7, "7"),
    ],
)
def test_markdown_shows_exactly_these_words(text: object, shown: str) -> None:
    assert plain(text) == shown


def test_prose_loses_only_html_and_a_name_is_code() -> None:
    assert prose(" *a* < b <script> </i> <!-- <? ") == "*a* < b &lt;script> &lt;/i> &lt;!-- &lt;?"
    assert [code(text) for text in ("a", "a|b", "a`b", "`a", "a``", " a\n b ", "a`b``c")] == [
        "`a`",
        "`a\\|b`",
        "``a`b``",
        "`` `a ``",
        "``` a`` ```",
        "`a b`",
        "```a`b``c```",
    ]


@pytest.mark.parametrize(
    ("name", "known", "todo"),
    [
        ("Bnr", ["bnnr", "other"], "did you mean 'bnnr'? known: bnnr, other"),
        ("zzz", ["bnnr"], "known: bnnr"),
        ("zzz", [], "known: none"),
        (
            "abc",
            [f"abc{n}" for n in range(5)],
            "did you mean 'abc0' or 'abc1' or 'abc2'? known: abc0, abc1, abc2, abc3, abc4",
        ),
        ("q", [f"x{n}" for n in range(8)], "known: x0, x1, x2, x3, x4, x5, x6, x7"),
        ("q", [f"x{n}" for n in range(9)], "known: x0, x1, x2, x3, x4, x5, x6, x7 and 1 more"),
        ("drugs_of", ["drugbank", "x"], "did you mean 'drugbank'? known: drugbank, x"),
        # spelt alike first, then the one that is least unlike, then a beginning that is long enough
        ("model", ["modal", "mobil"], "did you mean 'modal'? known: modal, mobil"),
        ("modal", ["model", "medal", "mobil"], "did you mean 'model' or 'medal'? known: model, medal, mobil"),
        ("kettle", ["kitten", "settler"], "did you mean 'settler'? known: kitten, settler"),
        ("abc", ["abcdefgh"], "did you mean 'abcdefgh'? known: abcdefgh"),
        ("ab", ["abcdefgh"], "known: abcdefgh"),
        ("Abcq", ["ABCDEFGH"], "did you mean 'ABCDEFGH'? known: ABCDEFGH"),
    ],
)
def test_an_unknown_name_is_told_with_those_that_may_be_meant(name: str, known: list[str], todo: str) -> None:
    error = unknown_name("thing", name, known, where="here")
    assert (error.what, error.where, error.todo) == (f"no thing is called '{name}'", "here", todo)


def test_many_names_are_shown_by_their_command() -> None:
    many = [f"x{n}" for n in range(9)]
    shown = {
        "method": "`harness list methods`",
        "dataset": "`harness list datasets`",
        "suite": "`harness list suites`",
        "metric": "`harness list metrics`",
        "environment": "`harness image list`",
        "run": "`harness status --suite stored --cells` with `harness reference list --keys`",
        "run of the log": "`harness log --json`",
        "run of the committed log": "`harness log --reference --json`",
    }
    for kind, command in shown.items():
        assert unknown_name(kind, "q", many).todo == f"{command} shows all 9"
    assert unknown_name("method", "x1/fast", many).todo == (
        "name a variant beside its method: --method x1 --variant fast"
    )
    assert "variant" not in unknown_name("dataset", "x1/fast", many).todo
    assert "variant" not in unknown_name("method", "none/fast", many).todo


def test_a_name_without_its_hyphens_and_blanks_is_known_again() -> None:
    metrics = ["NS-AUC/as-published", "NS-AUC/as-defined", "S1 F1", "HR@1%"]
    hints = {"NSAUC": "'NS-AUC/as-published' or 'NS-AUC/as-defined'", "s1f1": "'S1 F1'", "s1_f1": "'S1 F1'"}
    for name, meant in hints.items():
        assert unknown_name("thing", name, metrics).todo.startswith(f"did you mean {meant}? ")


@pytest.mark.parametrize(
    ("count", "listed", "line"),
    [
        (0, [], ""),
        (2, ["t0", "t1"], "t0; t1"),
        (3, ["t0", "t1", "and 1 more"], "t0; t1 and 1 more"),
        (9, ["t0", "t1", "and 7 more"], "t0; t1 and 7 more"),
    ],
)
def test_of_many_the_first_are_told_and_the_rest_counted(count: int, listed: list[str], line: str) -> None:
    texts = [f"t{number}" for number in range(count)]
    assert (few(texts, 2), few_in_line(texts, 2, "; ")) == (listed, line)


def test_names_are_refused_in_order_and_known_ones_pass() -> None:
    refuse_unknown_names("thing", ["a", "b"], ["b", "a"])
    refuse_unknown("thing", ["a", "b"], ["b", "a"])
    with pytest.raises(UsageError, match="'q'") as told:
        refuse_unknown_names("thing", ["a", "q"], ["b", "a", "a"], where=Path("x"))
    assert (told.value.where, told.value.todo) == ("x", "known: a, b")
    with pytest.raises(UsageError, match="'q'") as told:
        refuse_unknown("thing", ["a", "q"], ["b", "a", "a"], where=Path("x"))
    assert (told.value.where, told.value.todo) == ("x", "known: a, b")
    assert unknown("thing", "ALPHA1", ["Alpha", "b"]).todo == "did you mean 'Alpha'? known: Alpha, b"
    assert unknown("thing", "q", []).todo == "known: none"
    # what shares less than half of its signs is not what was meant; of several the nearest is
    assert unknown("thing", "abcdef", ["abcxyz"]).todo == "known: abcxyz"
    assert unknown("thing", "abcdef", ["abcxyz", "abcdxy", "abcdey"]).todo.startswith("did you mean 'abcdey'? ")


def test_where_there_is_nothing_every_name_is_refused() -> None:
    refuse_unknown_names("thing", [], [])
    with pytest.raises(UsageError, match="no thing is called 'q'") as told:
        refuse_unknown_names("thing", ["q"], [])
    assert told.value.todo == "known: none"


def test_every_verdict_says_what_it_means() -> None:
    assert {one.value for one in Verdict if one.is_good} == {"ok", "not-applicable"}
    final = {"ok", "error", "memory", "timeout", "invalid", "unstable"}
    assert {one.value for one in Verdict if one.is_final} == final
    assert {one.value: one.meaning for one in Verdict} == {
        "ok": "the container finished and its predictions are valid",
        "error": "the method ended with a non-zero exit code or was killed by a signal",
        "memory": "the method, or a child of it, was killed for want of memory",
        "timeout": "the harness stopped the container at its time limit",
        "invalid": "the container ended well, but its predictions break the protocol",
        "unstable": "a repetition of the run gave other predictions",
        "missing-data": "a file the dataset or the method needs is missing, or is not the recorded one",
        "not-applicable": "the method declares that it cannot be run on this dataset",
        "infrastructure": "the engine or the machine failed, not the method; the run is tried again next time",
        "interrupted": "a person stopped the run; it is tried again next time",
        "pending": "not run yet",
    }


def test_a_csv_holds_no_formula_and_any_text() -> None:
    rows: list[list[object]] = [["=1", "+1", "-1", "@a"], [-1, 0.1, None, True], ["a,b", 'a"b', "a\nb", "a\rb"]]
    assert csv_text(["a", "b", "c", "d"], rows) == (
        'a,b,c,d\n\'=1,\'+1,\'-1,\'@a\n-1,0.1,,True\n"a,b","a""b","a\nb","a\rb"\n'
    )


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        ("<a> & b", "inlineStr", "<a> & b"),
        ("=1+1", "inlineStr", "=1+1"),
        (3, None, "3"),
        (0.1, None, "0.1"),
        (True, "b", "1"),
        (False, "b", "0"),
        (float("nan"), "inlineStr", "nan"),
        (float("inf"), "inlineStr", "inf"),
        ("\x01 _x0041_ _x", "inlineStr", "_x0001_ _x005F_x0041_ _x"),
        ("a" * 32767, "inlineStr", "a" * 32767),
        ("a" * 32768, "inlineStr", "a" * 32766 + "…"),
    ],
)
def test_a_cell_keeps_its_kind_and_its_text(cell: Cell, kind: str | None, text: str) -> None:
    (_, row) = sheet_rows(Worksheet("s", ["h"], [[cell]]))
    (found,) = row
    assert (found.get("r"), found.get("t"), found.get("s"), "".join(found.itertext())) == ("A2", kind, None, text)


def test_a_sheet_has_a_bold_header_fitting_columns_and_names_of_columns() -> None:
    head, row = sheet_rows(Worksheet("s", ["h"] * 703, [["a", None, *range(701)]], wrapped=True))
    places = [cell.get("r") for cell in head]
    assert [places[at] for at in (0, 25, 26, 51, 52, 701, 702)] == ["A1", "Z1", "AA1", "AZ1", "BA1", "ZZ1", "AAA1"]
    assert {cell.get("s") for cell in head} == {"1"} and {cell.get("s") for cell in row} == {"2"}
    assert [cell.get("r") for cell in row][:2] == ["A2", "C2"]
    sheet = parts_of([Worksheet("s", ["head", "h", "i"], [["a", "b" * 99, 1 / 3]])])["xl/worksheets/sheet1.xml"]
    columns = [(one.get("min"), one.get("max"), one.get("width")) for one in sheet.iter(f"{MAIN}col")]
    assert columns == [("1", "1", "6"), ("2", "2", "60"), ("3", "3", "14")]
    (pane,) = sheet.iter(f"{MAIN}pane")
    assert pane.attrib == {"ySplit": "1", "topLeftCell": "A2", "activePane": "bottomLeft", "state": "frozen"}


def test_a_workbook_is_the_same_bytes_and_names_its_sheets() -> None:
    sheets = [Worksheet("a[b]:c" + "x" * 40, ["h"], []), Worksheet('"<&', ["h"], [])]
    assert workbook_bytes(sheets) == workbook_bytes(sheets)
    parts = parts_of(sheets)
    assert sorted(parts) == [
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "xl/workbook.xml",
        "xl/worksheets/sheet1.xml",
        "xl/worksheets/sheet2.xml",
    ]
    named = [(one.get("name"), one.get("sheetId")) for one in parts["xl/workbook.xml"].iter(f"{MAIN}sheet")]
    assert named == [("a-b--c" + "x" * 25, "1"), ('"<&', "2")]
    targets = [(one.get("Id"), one.get("Target")) for one in parts["xl/_rels/workbook.xml.rels"]]
    assert targets == [
        ("rId1", "worksheets/sheet1.xml"),
        ("rId2", "worksheets/sheet2.xml"),
        ("rId3", "styles.xml"),
    ]
    types = {one.get("PartName"): str(one.get("ContentType")) for one in parts["[Content_Types].xml"]}
    assert {name: kind.rpartition(".")[2] for name, kind in types.items() if name} == {
        "/xl/workbook.xml": "main+xml",
        "/xl/styles.xml": "styles+xml",
        "/xl/worksheets/sheet1.xml": "worksheet+xml",
        "/xl/worksheets/sheet2.xml": "worksheet+xml",
    }


def test_more_rows_than_a_sheet_holds_are_refused() -> None:
    rows: Sequence[Sequence[Cell]] = [[1]] * (1 << 20)
    with pytest.raises(UsageError, match="1048576 rows are more than a spreadsheet holds") as told:
        workbook_bytes([Worksheet("big", ["h"], rows)])
    assert told.value.where == "sheet 'big'"
    assert told.value.todo == "take fewer than 1048576 rows, or write .csv or .parquet"


def test_a_member_that_unpacks_to_more_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", b"12345")
    with zipfile.ZipFile(stream) as archive:
        assert member(archive, "a", most_bytes=5) == member(archive, "a") == b"12345"
        with pytest.raises(zipfile.BadZipFile, match="a unpacks to 5 bytes, more than 4"):
            member(archive, "a", most_bytes=4)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (99.4, "99 s"),
        (100, "2 min"),
        (720, "12 min"),
        (5399, "90 min"),
        (5400, "1.5 h"),
        (12600, "3.5 h"),
    ],
)
def test_a_duration_is_told_in_the_unit_that_fits(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_a_sign_of_life_comes_when_nothing_was_heard() -> None:
    now = [0.0]
    said: list[str] = []
    pulse = Pulse(lambda: now[0])
    with pulse.speaker(said.append), pulse.activity("the command"):
        now[0] = 4
        assert pulse.beat(10) == 6 and said == []
        now[0] = 10
        assert pulse.beat(10) == 10 and said == ["the command (10 s)"]
        with pulse.activity("reading", 120):
            now[0] = 20
            assert pulse.beat(10) == 10 and said[1:] == ["reading (10 s, expected: 2 min)"]
            now[0] = 25
            pulse.heard()
            now[0] = 30
            assert pulse.beat(10) == 5
            with pulse.silence():
                now[0] = 50
                assert pulse.beat(10) == 10 and len(said) == 2
                now[0] = 55
            # what a person answered just now counts as heard
            assert pulse.beat(10) == 10
        now[0] = 65
        pulse.beat(10)
        assert said[2:] == ["the command (65 s)"]
    now[0] = 99
    assert pulse.beat(10) == 10 and len(said) == 3


def test_a_heartbeat_speaks_to_standard_error_until_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    pulse = Pulse()
    spoken = pulse.say
    with heartbeat("waiting", period=0.01, pulse=pulse):
        latest = time.monotonic() + 10
        while "\n" not in stream.getvalue() and time.monotonic() < latest:
            time.sleep(0.005)
    ended = stream.getvalue()
    assert ended.splitlines()[0] == "at work: waiting (0 s)"
    assert pulse.say == spoken and pulse.beat(0.0) == 0.0 and stream.getvalue() == ended


@pytest.mark.parametrize(
    ("size", "reserve"),
    [(0, 0), (8, 1), (16, 2), (40, 2), (60, 3), (80, 4), (1000, 4), (10_000, 4)],
)
def test_a_disk_keeps_a_twentieth_within_bounds(size: int, reserve: int) -> None:
    assert machine.GIB == GIB
    assert machine.reserve_of(size * GIB) == reserve * GIB


def test_room_is_what_is_left_above_the_reserve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state = SimpleNamespace(
        f_bavail=3 * GIB // 4096, f_frsize=4096, f_blocks=40 * GIB // 4096, f_files=0, f_favail=0
    )
    monkeypatch.setattr("harness.base.machine.os.statvfs", lambda _: state)
    assert machine.room_on(tmp_path) == GIB and machine.has_room_for_files(tmp_path)
    state.f_bavail = GIB // 4096
    assert machine.room_on(tmp_path) == -GIB
    for files, free, enough in (
        (2000, 100, True),
        (2000, 99, False),
        (10**6, 20_000, True),
        (10**6, 19_999, False),
    ):
        state.f_files, state.f_favail = files, free
        assert machine.has_room_for_files(tmp_path) is enough


def test_a_note_is_believed_only_under_its_seal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    notes = tmp_path / "notes"
    notes.mkdir()
    assert seal.read_note(notes, ["a"]) is None
    seal.write_note(notes, ["a"], {"x": 1})
    assert seal.read_note(notes, ["a"]) == {"x": 1} and seal.read_note(notes, ["b"]) is None
    secret = tmp_path / "state" / "permafrost" / "seal"
    assert len(secret.read_bytes()) == 32 and secret.stat().st_mode & 0o777 == 0o600
    (note,) = notes.iterdir()
    written = note.read_text()
    # a later process of the same user believes it
    seal._secret.cache_clear()
    assert seal.read_note(notes, ["a"]) == {"x": 1}
    for other in (written.replace("1}", "2}").replace(": 1", ": 2"), written.replace('"a"', '"b"'), "[]", "{}"):
        assert other != written
        note.write_text(other)
        assert seal.read_note(notes, ["a"]) is None
    # nor does the seal of one note fit another that says the same
    seal.write_note(notes, ["b"], {"x": 1})
    (other_note,) = (path for path in notes.iterdir() if path != note)
    other_note.write_text(written.replace('"a"', '"b"'))
    assert seal.read_note(notes, ["b"]) is None
    note.write_text(written)
    secret.write_bytes(b"x" * 32)
    seal._secret.cache_clear()
    assert seal.read_note(notes, ["a"]) is None


def test_where_only_new_notes_count_an_older_one_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its seal may be one that somebody else made, who has read the secret."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for about in (["a"], ["b"]):
        seal.write_note(tmp_path, about, "old")
    with seal.only_new_notes():
        assert seal.read_note(tmp_path, ["a"]) is None
        seal.write_note(tmp_path, ["a"], "new")
        assert (seal.read_note(tmp_path, ["a"]), seal.read_note(tmp_path, ["b"])) == ("new", None)
        # within it, too, each begins anew
        with seal.only_new_notes():
            assert seal.read_note(tmp_path, ["a"]) is None
        assert seal.read_note(tmp_path, ["a"]) == "new"
    assert (seal.read_note(tmp_path, ["a"]), seal.read_note(tmp_path, ["b"])) == ("new", "old")


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_secret_of_another_length_seals_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    """A full disk may have cut it, and what it is then can be guessed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    secret = tmp_path / "state" / "permafrost" / "seal"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(content)
    guessed = hmac.digest(content, canonical_json([["a"], {"x": 1}]), "sha256").hex()
    assert not seal.is_sealed(["a"], {"x": 1}, guessed)


class Inner(Strict):
    """A table in a manifest."""

    size: int = Field(ge=1, le=5)


class Manifest(Strict):
    """A manifest with a field of each kind."""

    title: str
    kind: Literal["a", "b"] = "a"
    inner: Inner | None = None
    share: float = Field(default=0.5, gt=0, lt=1)
    flag: bool = False
    names: list[str] = []


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["title: is missing"]),
        ("titel = 'a'", ["titel: there is no such field; did you mean 'title'?"]),
        ("title = 'a'\nkinds = 'a'", ["kinds: there is no such field; did you mean 'kind'?"]),
        ("title = 'a'\nqqq = 1", ["qqq: there is no such field"]),
        ("title = 'a'\n[inner]\nsizes = 1", ["inner.sizes: there is no such field; did you mean 'size'?"]),
        ("title = 'a'\n[inner]\nsize = 1\ntitle = 1", ["inner.title: there is no such field"]),
        ("title = 'a'\ninner.size = 0", ["inner.size: has to be 1 or more, not 0"]),
        ("title = 'a'\ninner.size = 6", ["inner.size: has to be 5 or less, not 6"]),
        ("title = 'a'\nshare = 0", ["share: has to be more than 0.0, not 0"]),
        ("title = 'a'\nshare = 1", ["share: has to be less than 1.0, not 1"]),
        (
            "title = 1\nkind = 'c'",
            ["title: has to be a text in quotes, not 1", "kind: has to be 'a' or 'b', not 'c'"],
        ),
        ("title = 'a'\ninner.size = 'x'", ["inner.size: has to be a whole number, not 'x'"]),
        # of what is long the beginning
        (f"title = 'a'\ninner.size = '{'x' * 70}'", [f"inner.size: has to be a whole number, not '{'x' * 59}"]),
        (f"title = 'a'\nkind = '{'x' * 70}'", [f"kind: has to be 'a' or 'b', not '{'x' * 59}"]),
        ("title = 'a'\nshare = 'x'", ["share: has to be a number, not 'x'"]),
        ("title = 'a'\nflag = 'x'", ["flag: has to be true or false, not 'x'"]),
        ("title = 'a'\nnames = 'x'", ["names: has to be a list, not 'x'"]),
        ("title = 'a'\ninner = 'x'", ["inner: has to be a table, not 'x'"]),
    ],
)
def test_a_fault_of_a_manifest_is_told_in_plain_words(tmp_path: Path, text: str, faults: list[str]) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(ManifestError) as told, plain_faults(path, Manifest):
        load_toml(path, Manifest)
    assert told.value.where.splitlines() == [
        f"{'         ' if number else ''}{path}: {fault}" for number, fault in enumerate(faults)
    ]
    assert (told.value.what, told.value.todo) == ("m.toml breaks its schema", "correct these fields")


def test_a_folder_of_this_machine_is_named_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setattr("tempfile.tempdir", "/scratch/t")
    layout = Layout(Path("/home/me/tree"), Path("/home/me/c"), Path("/home/me/tree/out"), Path("/home/me/own"))
    told = layout.without_folders(
        {"/home/me/tree/x": ["/home/me/tree/out/runs", "/home/me/c/y", "/home/me/z", 5, None], "a": "/scratch/t/1"}
    )
    assert told == {"REPOSITORY/x": ["RESULTS/runs", "CACHE/y", "~/z", 5, None], "a": "$TMPDIR/1"}
    assert layout.without_folders("in /home/me/own, /usr") == "in DATA, /usr"


def test_every_folder_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(Path("/r"), Path("/c"), Path("/l"))
    names = (
        "containers methods datasets own_datasets extended published reference runs scores page page_note parts"
    )
    assert {name: str(getattr(layout, name)) for name in names.split()} == {
        "containers": "/r/containers",
        "methods": "/r/methods",
        "datasets": "/r/datasets",
        "own_datasets": "/r/datasets",
        "extended": "/c/extended",
        "published": "/r/results/published",
        "reference": "/r/results/reference",
        "runs": "/l/runs",
        "scores": "/l/scores",
        "page": "/l/report.html",
        "page_note": "/l/report.json",
        "parts": "/c/parts",
    }
    assert layout.dataset_places == (Path("/r/datasets"),)
    mine = layout.with_data(Path("/d"))
    assert (mine.dataset_places, mine.own_datasets) == ((Path("/r/datasets"), Path("/d")), Path("/d"))
    assert layout.with_data(Path("/r/x/../datasets")).data is None
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("PERMAFROST_DATA", raising=False)
    assert data_folder() == Path("/home/me/.local/share/permafrost/datasets") and data_folder("/x") == Path("/x")
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert data_folder() == Path("/xdg/permafrost/datasets")
    monkeypatch.setenv("PERMAFROST_DATA", "/mine")
    assert data_folder() == Path("/mine") and data_folder("~/y") == Path("/home/me/y")


def sheet_rows(sheet: Worksheet) -> list[list[ElementTree.Element]]:
    """The rows of a sheet, each with its cells."""
    return [list(row) for row in parts_of([sheet])["xl/worksheets/sheet1.xml"].iter(f"{MAIN}row")]


def parts_of(sheets: Sequence[Worksheet]) -> dict[str, ElementTree.Element]:
    """The parts of a workbook, by name."""
    with zipfile.ZipFile(io.BytesIO(workbook_bytes(sheets))) as archive:
        return {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
