"""What a machine is called, what its user's own notes are worth, and tables and faults that a person reads."""

from __future__ import annotations

import errno
import platform
from pathlib import Path
from typing import get_args

import pytest

from harness.base import machine, seal
from harness.base.errors import CorruptData
from harness.base.faults import SeveralFaults
from harness.base.file_state import state_of
from harness.base.tables import csv_text, fitted
from harness.base.vocabulary import PROTOCOL_VERSION, Accelerator


@pytest.fixture
def fresh() -> None:
    """Nothing is remembered of the machine."""
    machine.processor.cache_clear()
    machine.processor_flags.cache_clear()


@pytest.mark.parametrize(
    ("text", "name", "flags"),
    [
        (
            "processor : 0\nmodel name\t: One: 2\n\nmodel name : Two\nflags : avx fpu\nflags: fma\n",
            "One: 2",
            ["avx"],
        ),
        ("Features\t: asimd sve2 aes bf16 i8mm asimddp\n", None, ["asimd", "asimddp", "bf16", "i8mm", "sve2"]),
        ("flags: sse4_1 sse4_2 sse4_3 fma fma4 fma5 xavx\n", None, ["fma", "fma4", "sse4_1", "sse4_2"]),
        ("the model name : odd\nno flags : avx\n", None, []),
        (None, None, []),
    ],
)
def test_a_processor_is_known_by_its_name_or_its_architecture(
    fresh: None, text: str | None, name: str | None, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path, **_: object) -> str:
        assert path == Path("/proc/cpuinfo")
        if text is None:
            raise PermissionError
        return text

    monkeypatch.setattr(Path, "read_text", read)
    try:
        assert machine.processor() == (name or platform.machine())
        assert machine.processor_flags() == flags
    finally:
        machine.processor.cache_clear()
        machine.processor_flags.cache_clear()


def test_a_secret_that_was_cut_or_can_not_be_kept_is_none_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, state = tmp_path / "notes", tmp_path / "state"
    notes.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    seal._secret.cache_clear()
    seal.write_note(notes, "a", 1)
    secret = state / "permafrost" / "seal"
    for content in (secret.read_bytes()[:-1], secret.read_bytes() + b"x"):
        secret.write_bytes(content)
        seal._secret.cache_clear()
        # whoever could cut it could know it
        assert seal.read_note(notes, "a") is None
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    seal._secret.cache_clear()
    seal.write_note(notes, "a", 2)
    assert seal.read_note(notes, "a") == 2, "within this process"
    seal._secret.cache_clear()
    assert seal.read_note(notes, "a") is None
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    seal.write_note(notes, "a", 3)
    assert len((tmp_path / "home" / ".local" / "state" / "permafrost" / "seal").read_bytes()) == 32
    seal._secret.cache_clear()


def test_of_two_processes_that_make_the_secret_at_once_both_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one comes in the moment before ours is put in place: it never sees half of a secret."""
    path, others = tmp_path / "permafrost" / "seal", list[bytes]()
    link = Path.hardlink_to

    def as_another_does(self: Path, target: str) -> None:
        monkeypatch.setattr(Path, "hardlink_to", link)
        assert not self.exists()
        others.append(seal._secret.__wrapped__(path))
        link(self, target)

    monkeypatch.setattr(Path, "hardlink_to", as_another_does)
    assert [seal._secret.__wrapped__(path)] == others == [path.read_bytes()]
    assert [one.name for one in path.parent.iterdir()] == ["seal"]


def test_a_secret_that_a_full_disk_cut_is_made_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "seal"
    with monkeypatch.context() as full:
        full.setattr(Path, "hardlink_to", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        for_now = seal._secret.__wrapped__(path)
    assert [*tmp_path.iterdir()] == []
    later = seal._secret.__wrapped__(path)
    assert later == path.read_bytes() != for_now and len(for_now) == len(later) == 32


def test_a_seal_is_of_what_a_note_is_about_and_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    seal._secret.cache_clear()
    seals = {seal.seal_of(about, content) for about, content in (("a", "b"), ("b", "a"), (["a", "b"], None))}
    assert len(seals) == 3 and {len(one) for one in seals} == {64}
    notes = tmp_path / "notes"
    notes.mkdir()
    seal.write_note(notes, {"b": 1, "a": 2}, "x")
    (path,) = notes.iterdir()
    assert len(path.stem) == 32 and path.suffix == ".json" and seal.read_note(notes, {"a": 2, "b": 1}) == "x"
    seal._secret.cache_clear()


@pytest.mark.parametrize(("age", "is_settled"), [(100_000_000, False), (100_000_001, True), (-5, False)])
def test_a_file_is_settled_a_tenth_of_a_second_after_its_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: int, is_settled: bool
) -> None:
    path = tmp_path / "file"
    path.touch()
    changed = path.stat().st_ctime_ns
    monkeypatch.setattr("harness.base.file_state.time.time_ns", lambda: changed + age)
    assert (state_of(path) == state_of(path)) is is_settled


def test_methods_and_results_of_today_are_read_tomorrow() -> None:
    """Both stand in files that others wrote: an answer speaks the protocol, a record names what computed it."""
    assert PROTOCOL_VERSION == 1 and get_args(Accelerator) == ("cpu", "cuda")


def test_what_is_to_be_done_is_told_once_and_faults_in_the_order_of_their_places() -> None:
    errors = [
        CorruptData("odd", where="t.csv: line 10, column 2", todo="even it"),
        CorruptData("empty", where="t.csv: line 9, column 30"),
        CorruptData("odd", where="t.csv: line 9, column 4", todo="even it"),
        CorruptData("old", where="t.csv: line 11", todo="renew it"),
    ]
    fault = SeveralFaults(errors)
    gap = "\n         "
    assert (fault.what, fault.todo) == ("4 faults", f"even it{gap}renew it")
    places = ("9, column 4: odd", "9, column 30: empty", "10, column 2: odd", "11: old")
    assert fault.where == gap.join(f"t.csv: line {place}" for place in places)
    assert fault.errors[0] is errors[2]
    many = SeveralFaults([CorruptData("odd", where=f"line {n}", todo=f"do {n}") for n in range(22)])
    assert many.where.endswith(f"line 19: odd{gap}and 2 more") and many.todo.endswith(f"{gap}do 19")


def test_a_wide_table_with_rows_that_several_columns_tell_apart_names_the_first_above() -> None:
    rows = [
        ["dataset", "part", "method", "one", "two"],
        ["A", "x", "m", "1" * 9, "2" * 9],
        ["A", "x", "n", "3", "4"],
        ["B", "", "m", "5", "6"],
    ]
    assert fitted(rows, indent=" ", width=22) == [
        "   method  one",
        " A, x",
        "   m       111111111",
        "   n       3",
        " B",
        "   m       5",
        "",
        "   method  two",
        " A, x",
        "   m       222222222",
        "   n       4",
        " B",
        "   m       6",
    ]


@pytest.mark.parametrize(
    ("width", "parts"),
    [(25, ["abc"]), (24, ["ab", "c"]), (22, ["ab", "c"]), (21, ["a", "bc"]), (14, ["a", "bc"]), (13, [*"abc"])],
)
def test_a_table_is_told_in_as_few_parts_as_the_width_allows(width: int, parts: list[str]) -> None:
    rows = [["n", "a" * 9, "b" * 8, "c"], ["1", "2", "3", "4"]]
    lines = fitted(rows, width=width)
    heads = [line.split() for line in lines if line.startswith("n")]
    assert heads == [["n", *(name * {"a": 9, "b": 8, "c": 1}[name] for name in part)] for part in parts]
    assert lines.count("") == len(parts) - 1


def test_rows_that_nothing_tells_apart_are_told_by_their_first_column() -> None:
    rows = [["n", "a" * 9, "b" * 9], ["1", "2", "3"], ["1", "2", "3"]]
    assert fitted(rows, width=14) == ["n  aaaaaaaaa", "1  2", "1  2", "", "n  bbbbbbbbb", "1  3", "1  3"]


def test_a_text_that_begins_with_a_blank_of_a_table_is_no_formula_either() -> None:
    assert csv_text(["a"], [["\t=1"], [" =1"], ["a=1"], [""]]) == 'a\n\'\t=1\n =1\na=1\n""\n'
    assert csv_text(["a"], [["\r=1"]]) == 'a\n"\'\r=1"\n'
