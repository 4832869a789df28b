"""Every tutorial is done as its page tells it, in a copy of the repository, and shows what the page shows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.engine import Engine
from tests.docs.tutorials import FOLDER, Command, Containers, File, Step, agrees, desk, steps, without_containers

_PAGES = sorted(FOLDER.glob("*.md"))
_STEPS = {page.stem: steps(page.read_text(encoding="utf-8")) for page in _PAGES}


def _do(every: list[Step], folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    own = desk(folder, environment)
    for step in every:
        own.do(step)


@pytest.mark.parametrize("name", [name for name, every in _STEPS.items() if without_containers(every)])
def test_what_needs_no_container_is_as_the_page_tells(name: str, tmp_path: Path) -> None:
    _do(without_containers(_STEPS[name]), tmp_path)


@pytest.mark.thorough
@pytest.mark.engine
@pytest.mark.parametrize(
    "name", [name for name, every in _STEPS.items() if any(isinstance(one, Containers) for one in every)]
)
def test_the_whole_is_as_the_page_tells(name: str, tmp_path: Path, docker_engine: Engine) -> None:
    # an engine that is named: what a page says of starting and stopping one does not touch a person's own
    _do(_STEPS[name], tmp_path, {**os.environ, "DOCKER_HOST": docker_engine.address})


def test_every_tutorial_is_done() -> None:
    assert len(_STEPS) == 4
    assert [name for name, every in _STEPS.items() if not any(isinstance(one, Command) for one in every)] == []


_PAGE = """\
Write this:
<!-- file: a/b.txt -->
```text
one
```
```console
$ cat a/b.txt
one
$ echo two \\
    three
two three
```
<!-- containers -->
```sh
harness run --suite full
```
```console
$ true
```
"""


def test_a_page_is_read_in_its_order() -> None:
    every = steps(_PAGE)
    assert every[:3] == [
        File("a/b.txt", "one\n"),
        Command("cat a/b.txt", "one\n"),
        Command("echo two \\\n    three", "two three\n"),
    ]
    assert isinstance(every[3], Containers)
    assert every[4:] == [Command("true", "")]
    assert without_containers(every) == every[:3]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("", ""),
        ("one\n", "one \n\n"),
        ("...\nlast\n", "first\nsecond\nlast\n"),
        ("...\nlast\n", "last\n"),
        ("first\n...\n", "first\nand\nmore\n"),
        ("1 of ... left\n", "1 of 3 left\n"),
        ("one\n", "at work: harness job check (10 s)\none\nat work: a run (1 min, expected: 2 min)\n"),
    ],
)
def test_three_dots_stand_for_anything(shown: str, printed: str) -> None:
    assert agrees(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("", "one\n"),
        ("one\n", ""),
        ("one\n", "one\ntwo\n"),
        ("one\n...\nthree\n", "one\ntwo\n"),
        ("a...b\n", "a\nb\n"),
        ("a.b\n", "axb\n"),
        ("one\n", "at work: two\none\n"),
    ],
)
def test_another_answer_is_seen(shown: str, printed: str) -> None:
    assert not agrees(shown, printed)


@pytest.mark.parametrize(
    ("words", "message"),
    [("exit 3", "exit code 3"), ("echo two", "the page shows:\none"), ("false | true", "exit")],
)
def test_a_step_that_fails_is_told(tmp_path: Path, words: str, message: str) -> None:
    own = desk(tmp_path, os.environ)
    with pytest.raises(AssertionError, match=message):
        own.do(Command(words, "one\n"))
