"""The small things everything stands on: progress, tables, the end of a log, the description of an input."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.input_files import as_file, is_equal, write_given
from harness.base.layout import DATA_VARIABLE, find_layout
from harness.base.logs import log_tail
from harness.base.progress import ProgressBar, ProgressLines, Silent, progress_for
from harness.base.tables import aligned, markdown_table, wrapped

TEXTS = st.text("ab c-", max_size=12)


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        return True


def test_lines_count_from_the_beginning_of_each_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("harness.base.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
    stream = io.StringIO()
    lines = ProgressLines(stream)
    lines.begin("building", 2)
    now[0] += 12
    lines.step("one")
    lines.note("something happened")
    now[0] += 1000
    lines.step("two")
    lines.begin("running", 1)
    lines.step("three")
    assert stream.getvalue().splitlines() == [
        "building",
        "  [1/2    12 s] one",
        "  something happened",
        "  [2/2  1012 s] two",
        "running",
        "  [1/1     0 s] three",
    ]


def test_a_terminal_gets_a_bar_a_pipe_lines_and_a_program_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_for() as chosen:
        assert isinstance(chosen, ProgressBar)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with progress_for() as chosen:
        chosen.note("hello")
    assert isinstance(chosen, ProgressLines) and pipe.getvalue() == "  hello\n"
    with progress_for(None) as chosen:
        chosen.begin("a", 1)
        chosen.step("b")
        chosen.note("c")
    assert isinstance(chosen, Silent) and pipe.getvalue() == "  hello\n"
    mine = ProgressLines(pipe)
    with progress_for(mine) as chosen:
        assert chosen is mine


def test_a_bar_keeps_its_lines_and_shows_one_task_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with ProgressBar() as bar:
        bar.begin("first", 2)
        bar.step("[bold]one")
        bar.begin("second", 3)
        bar.note("noted")
        bar.step("two")
        (task,) = bar._bar.tasks
        assert (task.description, task.completed, task.total) == ("second", 1, 3)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    kept = [line.strip() for line in re.split(r"[\r\n]+", shown)]
    # markup of what others wrote is text
    assert [line for line in kept if line in ("[bold]one", "noted", "two")] == ["[bold]one", "noted", "two"]


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from(["", "  "]))
def test_entries_of_a_column_begin_below_each_other(rows: list[list[str]], indent: str) -> None:
    lines = aligned(rows, indent=indent)
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    expected = [
        "  ".join(text + " " * (width - len(text)) for text, width in zip(row, widths, strict=True))
        for row in rows
    ]
    assert lines == [f"{indent}{line}".rstrip() for line in expected]
    ruled = aligned(rows, indent=indent, ruled=True)
    assert ruled[:1] + ruled[2:] == lines
    assert ruled[1] == (indent + "  ".join("-" * width for width in widths)).rstrip()


def test_markdown_has_a_rule_below_its_head() -> None:
    assert markdown_table(["a", "b"], [["1", "2"], ["3", ""]]) == [
        "| a | b |",
        "| --- | --- |",
        "| 1 | 2 |",
        "| 3 |  |",
    ]


@given(st.text("ab -", max_size=200), st.integers(20, 60))
def test_lines_are_no_wider_than_asked_and_lose_no_word(text: str, width: int) -> None:
    lines = wrapped(text, "  ", width)
    assert " ".join(lines).split() == text.split()
    indented = re.match(r"\s*", text)
    start = "  " + (indented.group() if indented else "")
    for number, line in enumerate(lines):
        assert line.startswith(start if number == 0 else f"{start}  ")
        assert len(line) <= width or len(line.split()) == 1


def test_a_long_word_and_a_hyphen_are_not_broken() -> None:
    assert wrapped("a " + "b" * 30 + " c-d", "", 20) == ["a", "  " + "b" * 30, "  c-d"]
    assert wrapped("aaaa bbbbbbb-cc", "", 13) == ["aaaa", "  bbbbbbb-cc"]
    assert wrapped("    deep", "  ") == ["      deep"] and wrapped("", "  ") == []
    assert max(map(len, wrapped("word " * 60, ""))) in range(74, 81)


@given(st.binary(max_size=300), st.integers(1, 200))
def test_the_end_of_a_log_is_its_end(tmp_path_factory: pytest.TempPathFactory, content: bytes, limit: int) -> None:
    path = tmp_path_factory.mktemp("log") / "log.txt"
    path.write_bytes(content)
    tail = log_tail(path, limit)
    body = tail
    if len(content) > limit:
        head, _, body = tail.partition("\n")
        assert head == f"[the last {limit:,} of {len(content):,} bytes]"
    assert len(body) <= len(content[-limit:].decode("utf-8", errors="replace"))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", body.replace("\r\n", "\n"))


def test_a_cut_log_begins_with_a_whole_line_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("first line\nsecond\nthird\n")
    assert log_tail(path, 14) == "[the last 14 of 24 bytes]\nsecond\nthird\n".replace("second\n", "second\n")
    assert log_tail(path, 10) == "[the last 10 of 24 bytes]\nthird\n"
    assert log_tail(path, 24) == log_tail(path, 1000) == "first line\nsecond\nthird\n"
    path.write_text("x" * 2000)
    assert log_tail(path, 1000) == "[the last 1,000 of 2,000 bytes]\n" + "x" * 1000
    # a line that ends with the log is no reason to show nothing
    path.write_text("x" * 20 + "\n")
    assert log_tail(path, 10) == "[the last 10 of 21 bytes]\n" + "x" * 9
    assert log_tail(tmp_path / "none", 10) == ""


def test_an_array_is_described_by_shape_type_and_content(tmp_path: Path) -> None:
    array = np.arange(6, dtype=">i4").reshape(2, 3)
    described = write_given(tmp_path, "param/weight", array)
    content = (tmp_path / "param.weight.npy").read_bytes()
    assert described == {
        "file": "param.weight.npy",
        "shape": [2, 3],
        "dtype": "<i4",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    assert np.array_equal(np.load(tmp_path / "param.weight.npy"), array)
    assert as_file("a", array).content == content


def test_texts_are_lines_of_json(tmp_path: Path) -> None:
    texts = ["plain", 'with "quotes"\nand a line', "ünïcode", ""]
    described = write_given(tmp_path, "texts", texts)
    content = (tmp_path / "texts.jsonl").read_bytes()
    assert described == {"file": "texts.jsonl", "lines": 4, "sha256": hashlib.sha256(content).hexdigest()}
    assert [json.loads(line) for line in content.decode().splitlines()] == texts and "ünïcode".encode() in content
    assert as_file("texts", []).content == b"" and as_file("texts", []).description["lines"] == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, np.nan]), np.array([np.nan, 1.0]), False),
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["b", "a"], False),
        (["a"], ("a",), False),
        (["1"], np.array([1]), False),
        (np.array([1]), ["1"], False),
    ],
)
def test_inputs_are_equal_value_by_value(one: object, other: object, *, same: bool) -> None:
    assert is_equal(one, other) is same  # type: ignore[arg-type]


def test_a_tilde_is_the_home_folder_in_every_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No shell expands it between quotes, or in a file of settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("PERMAFROST_CACHE", "PERMAFROST_RESULTS", DATA_VARIABLE):
        monkeypatch.setenv(variable, f"~/{variable}")
    here = find_layout()
    assert (here.cache, here.local) == (tmp_path / "PERMAFROST_CACHE", tmp_path / "PERMAFROST_RESULTS")
    assert here.data == tmp_path / DATA_VARIABLE
