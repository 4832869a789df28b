"""Lines of the foundation that no other test of this folder ran, each with what it is there for."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from harness import benchmarks
from harness.base import machine
from harness.base.download import MIRROR_VARIABLE
from harness.base.errors import CorruptData, UsageError
from harness.base.git import versions
from harness.base.layout import Layout
from harness.base.logs import last_line
from harness.base.manifest_faults import plain_lines
from harness.base.settings import parse_settings
from harness.base.tables import folded
from harness.data import load_manifest
from harness.data.manifest import Converted
from harness.data.sources import cache_path, local_copies, local_copy
from harness.planning.cells import Cell, Cells
from harness.planning.plan import Present
from harness.proof.leaves import Event, Leaf
from harness.proof.log import NEXT, Log
from harness.results.reference import count_reference, find_reference, load_reference
from harness.results.store import Store
from tests.core.factories import job_like, planned_job

_SIGNED = ("-c", "user.name=t", "-c", "user.email=t@example.org")


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A repository whose file `a` had two texts, was removed, and came back with a third."""
    folder = tmp_path / "repository"
    folder.mkdir()
    _git(folder, "init", "-q", ".")
    for text in ("one\n", "two\n", "", "three\n"):
        if text:
            (folder / "a").write_text(text)
        else:
            (folder / "a").unlink()
        _git(folder, "add", "-A")
        _git(folder, *_SIGNED, "commit", "-q", "-m", "x")
    return folder


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_every_text_that_a_file_had_is_told_newest_first(history: Path) -> None:
    found = list(versions(history, "a"))
    assert [text for _, text in found] == ["three\n", "two\n", "one\n"]
    assert len({commit for commit, _ in found}) == 3
    assert list(versions(history, "b")) == []


def test_a_text_of_a_branch_that_a_merge_left_behind_is_told(history: Path) -> None:
    """Git's usual history follows only the parent whose text the merge has."""
    main = _git(history, "rev-parse", "--abbrev-ref", "HEAD")
    for branch, words, text in (("side", ("-b",), "side\n"), (main, (), "main\n")):
        _git(history, "checkout", "-q", *words, branch)
        (history / "a").write_text(text)
        _git(history, *_SIGNED, "commit", "-q", "-a", "-m", "x")
    _git(history, *_SIGNED, "merge", "-q", "-s", "ours", "-m", "x", "side")
    texts = {text for _, text in versions(history, "a")}
    assert texts == {"main\n", "side\n", "three\n", "two\n", "one\n"}


def test_a_text_that_git_can_not_read_any_more_is_none_and_so_is_a_history(history: Path, tmp_path: Path) -> None:
    one = _git(history, "rev-parse", "HEAD~2:a")
    (history / ".git" / "objects" / one[:2] / one[2:]).unlink()
    assert [text for _, text in versions(history, "a")] == ["three\n", None, "one\n"]
    empty = tmp_path / "no repository"
    empty.mkdir()
    assert list(versions(empty, "a")) == [("", None)]


def test_what_a_clone_left_out_is_not_fetched(history: Path, tmp_path: Path) -> None:
    """Nothing is downloaded for an audit, and nobody waits for a server."""
    _git(history, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    _git(history, "clone", "-q", "--filter=blob:none", history.as_uri(), str(clone))
    packs = sorted(clone.glob(".git/objects/pack/*"))
    assert [text for _, text in versions(clone, "a")] == ["three\n", None, None]
    assert packs and sorted(clone.glob(".git/objects/pack/*")) == packs


def test_nothing_is_a_benchmark_or_a_strategy_where_python_keeps_compiled_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "__pycache__"):
        for folder in (tmp_path / name, tmp_path / "one" / "splits" / name):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "__init__.py").write_text("")
    monkeypatch.setattr(benchmarks, "__path__", [str(tmp_path)])
    assert benchmarks.names.__wrapped__() == ("one",)
    monkeypatch.setattr(benchmarks, "folder", lambda name: tmp_path / name)
    assert benchmarks.modules_in.__wrapped__("one", "splits") == ("one",)


def test_the_last_line_is_the_last_that_says_something() -> None:
    assert last_line("first\n  it failed: why  \n\n \t\n") == "it failed: why"
    assert last_line(" \n") == "no reason was given" and last_line("", "nothing") == "nothing"


def test_a_processor_is_its_name_and_what_it_is_able_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "processor", lambda: "a name")
    monkeypatch.setattr(machine, "processor_flags", lambda: ["avx2"])
    assert machine.hardware() == ("a name", ["avx2"])


class _Odd(BaseModel):
    when: tuple[int, int]


def test_a_fault_of_a_kind_without_words_of_ours_is_told_in_the_library_s() -> None:
    with pytest.raises(ValidationError) as caught:
        _Odd.model_validate({"when": 5})
    assert plain_lines(caught.value, ["when"]) == ["when: Input should be a valid tuple"]


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-Infinity"])
def test_a_setting_that_is_no_finite_number_is_refused(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings(["a=1", f"rate={value}"], "--set", "write NAME=VALUE")
    assert caught.value.what == f"'{value}' is no finite number"
    assert (caught.value.where, caught.value.todo) == (f"--set rate={value}", "give one")


def test_a_setting_is_set_once() -> None:
    assert parse_settings(["a=1", "b=one"], "--set", "") == {"a": 1, "b": "one"}
    with pytest.raises(UsageError) as caught:
        parse_settings(["a=1", "b=one", "a=2"], "--set", "")
    assert caught.value.what == "a is set twice: 1 and 2"
    assert (caught.value.where, caught.value.todo) == ("--set", "set it once")


def test_the_last_column_takes_as_many_lines_as_the_width_needs() -> None:
    rows = [["a", "one two three"], ["bbb", "four"]]
    assert folded(rows, None) == ["a    one two three", "bbb  four"]
    assert folded(rows, 13) == ["a    one two", "     three", "bbb  four"]
    # a column that begins in the second half of the width leaves no room: the text stands below
    assert folded([["bbbbbbb", "four"], ["a", "one two three"]], 16) == [
        "bbbbbbb  four",
        "a",
        "    one two",
        "    three",
    ]
    # the place where it begins may be the middle, and no more
    assert folded(rows, 10) == ["a    one", "     two", "     three", "bbb  four"]
    assert folded(rows, 9)[:2] == ["a", "    one"]


def test_a_digest_of_a_dataset_has_64_digits() -> None:
    assert Converted(digest="f" * 64).digest == "f" * 64
    for text in ("f" * 63, "f" * 65, "F" * 64, "g" * 64):
        with pytest.raises(ValidationError, match="not a digest: 64 digits 0-9 a-f are needed"):
            Converted(digest=text)


def test_every_copy_is_found_and_the_first_of_the_right_size_is_taken(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    layout = replace(layout, cache=tmp_path / "cache")
    file = load_manifest(layout, "fdataset").files[0]
    assert local_copies(layout, "fdataset", file) == [] and local_copy(layout, "fdataset", file) is None
    path = cache_path(layout, file)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"too short")
    assert local_copies(layout, "fdataset", file) == [path] and local_copy(layout, "fdataset", file) is None


def test_cells_are_shown_by_their_number() -> None:
    one = Cell(job_like(), planned_job())
    assert repr(Cells.of([one])) == "<1 cell>" and repr(Cells.of([one, one])) == "<2 cells>"


def test_a_run_of_a_benchmark_that_is_no_more_is_known_to_nobody(layout: Layout) -> None:
    current = Present(layout)
    assert current.cell(job_like()) and not current.cell(job_like(benchmark="weather"))


def test_committed_results_are_counted_and_found_by_the_beginning_of_their_keys(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Layout(layout.root, layout.cache, layout.local)
    every = load_reference(few, "combos")
    assert 0 < len(every) < count_reference(few)
    key = next(iter(every))
    assert list(find_reference(few, key[:12])) == [key] and find_reference(few, "no such") == {}
    # other keys and digests may hold the same digits further on
    assert find_reference(few, key[1:13]) == {}


def test_a_record_of_a_benchmark_that_is_no_more_is_told_with_what_to_do(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = planned_job()

    def unknown(self: object) -> str:
        raise UsageError("no benchmark is called 'weather'")

    monkeypatch.setattr(type(planned), "key", property(unknown))
    key = next(iter(here.finished()))
    with pytest.raises(CorruptData) as caught:
        here.record(key)
    assert caught.value.what == (
        "a record that this version of the harness can't read: no benchmark is called 'weather'"
    )
    assert caught.value.todo == f"use the version that made it, or remove it: `harness forget {key[:12]}`"


def test_a_note_of_a_removal_of_a_run_that_is_there_is_refused(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = next(iter(here.finished()))
    leaf = Leaf(Event.REMOVAL, "2026-01-01T00:00:00Z", "somewhere", key=key)
    monkeypatch.setattr(Log, "unfinished", lambda self: (leaf, ""))
    with pytest.raises(CorruptData) as caught:
        here.unfinished()
    assert caught.value.what.endswith("tells of a run that is gone, and the run is there")
    assert caught.value.where == f"{here.log.folder / NEXT}; {here.path(key)}"
    with pytest.raises(CorruptData, match="the run is there"), here.open_log():
        pass
    gone = replace(leaf, key="0" * 64)
    monkeypatch.setattr(Log, "unfinished", lambda self: (gone, ""))
    assert here.unfinished() == gone
