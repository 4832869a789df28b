"""What the files of a new method say, whom they name, and with which words a name is refused."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.methods.card import load_method
from harness.methods.scaffold import LANGUAGES, languages_of, new_method


@pytest.fixture
def bare(tmp_path: Path) -> Layout:
    """A repository without methods."""
    for name in ("methods", "containers"):
        (tmp_path / name).mkdir()
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.mark.parametrize(
    ("language", "main", "parent"),
    [
        ("python", "main.py", "_numpy"),
        ("octave", "main.m", "_octave"),
        ("r", "main.R", "_r"),
        ("java", "main.java", "_java"),
    ],
)
def test_a_skeleton_is_of_its_language(bare: Layout, language: str, main: str, parent: str) -> None:
    of = next(name for name in ("repurposing", "dti") if language in languages_of(name))
    made = new_method(bare, "my_method", language, of)
    assert made == [
        bare.containers / "my_method" / "environment.toml",
        bare.methods / "my_method" / main,
        bare.methods / "my_method" / "method.toml",
    ]
    assert not re.findall(r"@[A-Z]+@", "".join(path.read_text() for path in made)), "every word was filled in"
    card = load_method(bare, "my_method")
    assert (card.name, card.title, card.language, card.benchmarks) == ("my_method", "MY METHOD", language, [of])
    assert card.paper is not None and card.paper.year == datetime.now(UTC).year
    assert tomllib.loads(made[0].read_text())["extends"] == parent
    assert sorted(path.name for path in bare.root.iterdir()) == ["containers", "methods"]


def test_a_title_is_taken_as_it_is(bare: Layout) -> None:
    new_method(bare, "a1", "python", "ddi", title="My own (2.0)")
    assert load_method(bare, "a1").title == "My own (2.0)"


@pytest.mark.parametrize("title", ['a "b"', "a\\d", "a */ b", "two\nlines", "a\x1b[2J"])
def test_a_title_that_would_end_its_text_is_refused(bare: Layout, title: str) -> None:
    with pytest.raises(UsageError, match="is no title for a method"):
        new_method(bare, "a1", "python", "ddi", title=title)
    assert not (bare.methods / "a1").exists() and not (bare.containers / "a1").exists()


def test_the_languages_of_a_benchmark_are_those_with_a_skeleton(bare: Layout) -> None:
    assert set(languages_of("ddi")) <= set(LANGUAGES) and "python" in languages_of("ddi")
    with pytest.raises(UsageError) as error:
        new_method(bare, "my_method", "fortran", "ddi")
    assert error.value.what == "no language is called 'fortran'" and error.value.where == "benchmark ddi"
    assert error.value.todo.endswith(f"known: {', '.join(languages_of('ddi'))}")
    with pytest.raises(UsageError) as other:
        new_method(bare, "my_method", "r", "ddi")
    assert other.value.what == "methods of ddi are written in python, not in r"
    assert other.value.todo == "give --language python, or name another benchmark: --benchmark"
    with pytest.raises(UsageError) as several:
        new_method(bare, "my_method", "java", "repurposing")
    assert several.value.what == "methods of repurposing are written in python or octave or r, not in java"


@pytest.mark.parametrize("name", ["a", "A1", "1a", "a-b", "a" * 41, "_a", "a_", "a___b", "a b", ""])
def test_a_name_that_is_none_says_what_one_is(bare: Layout, name: str) -> None:
    with pytest.raises(UsageError) as error:
        new_method(bare, name, "python", "repurposing")
    assert error.value.what == f"'{name}' is not a name for a method"
    rule = "use 2 to 40 small letters, digits and _, beginning with a letter, one or two _ between others"
    assert error.value.todo == rule


@pytest.mark.parametrize("name", ["a1", "a" * 40, "z_9", "z__9_a"])
def test_the_shortest_and_the_longest_names_are_taken(bare: Layout, name: str) -> None:
    new_method(bare, name, "python", "repurposing")
    assert load_method(bare, name).name == name


@pytest.mark.parametrize(
    ("name", "command"),
    [("metrics", "harness parity"), ("splits", "harness parity"), ("all", "harness predict --method")],
)
def test_a_word_of_a_command_is_no_name(bare: Layout, name: str, command: str) -> None:
    with pytest.raises(UsageError) as error:
        new_method(bare, name, "python", "repurposing")
    assert error.value.what == f"'{name}' means something else to `{command}`"
    assert error.value.todo == "choose another name"


@pytest.mark.parametrize("taken", ["methods", "containers"])
def test_a_name_that_is_taken_says_where(bare: Layout, taken: str) -> None:
    (bare.root / taken / "mine").mkdir()
    with pytest.raises(UsageError) as error:
        new_method(bare, "mine", "python", "repurposing")
    assert error.value.what == "there is a 'mine' already"
    assert error.value.where == str(bare.root / taken / "mine")
    assert error.value.todo == "choose another name, or remove that folder"


def test_what_can_not_be_written_says_why(bare: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "methods":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(HarnessError) as error:
        new_method(bare, "mine", "python", "repurposing")
    assert error.value.what == "the skeleton could not be written: No space left on device"
    assert (error.value.where, error.value.todo) == (
        str(bare.root),
        "nothing was changed: look at rights and free space there, then try again",
    )
    assert {*bare.root.rglob("*")} == {bare.containers, bare.methods}
