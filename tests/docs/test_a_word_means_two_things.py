"""One word for one thing: the glossary names what exists, classes have names of their own, modules are nouns."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.conftest import REPOSITORY
from tests.docs.house import modules

_GLOSSARY = REPOSITORY / "docs" / "glossary.md"

# the contract gives these names to a class of every module that lies there
_GIVEN = {"Parameters": {"converters", "strategies"}, "Problem": {"conformance"}}

_PARTICIPLES = {
    *("begun", "bound", "bought", "brought", "built", "chosen", "done", "drawn", "forbidden", "found"),
    *("frozen", "given", "gone", "held", "hidden", "kept", "left", "lost", "made", "meant", "met", "put", "read"),
    *("said", "seen", "sent", "shown", "spoken", "taken", "thought", "told", "understood", "won", "written"),
}
_VERBS = {
    *("add", "apply", "ask", "bring", "choose", "classify", "compute", "convert", "create", "describe", "execute"),
    *("fetch", "find", "get", "give", "install", "keep", "load", "look", "make", "parse", "predict", "prepare"),
    *("put", "read", "remove", "render", "save", "select", "send", "serve", "show", "take", "tell", "validate"),
    *("verify", "write"),
}
_ADJECTIVES = {"whole", "several", "own", "other", "new", "old", "good", "bad"}
_NOUNS = {
    "finding",
    "learning",
    "meaning",
    "ordering",
    "planning",
    "ranking",
    "reading",
    "repurposing",
    "scoring",
    "tuning",
}
# names that tables and commands use: the two ways to compute a metric, split strategies, files as released
_USED_BY_PEOPLE = {"as_defined", "as_published", "random", "released", "unannotated", "weakly_correlated"}


def _words() -> Iterator[tuple[str, str]]:
    for line in _GLOSSARY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "word":
            yield cells[0], cells[-1]


@pytest.mark.parametrize(("word", "name"), [*_words()])
def test_a_word_of_the_glossary_exists(word: str, name: str) -> None:
    match = re.fullmatch("`([^`]+)`", name)
    assert match, f"{word}: no name in the code"
    if "/" in match[1]:
        assert (REPOSITORY / match[1]).exists()
        return
    owner, _, last = match[1].rpartition(".")
    if last[:1].isupper():
        assert last in vars(import_module(f"harness.{owner}"))
    else:
        assert find_spec(f"harness.{match[1]}")


def test_the_glossary_has_every_word_once() -> None:
    words = [word for word, _ in _words()]
    assert len(words) > 50
    assert len(words) == len(set(words))


def test_no_public_class_name_occurs_twice() -> None:
    places = defaultdict(list)
    for module, path in modules().items():
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for name in (node.name for node in body if isinstance(node, ast.ClassDef)):
            if not name.startswith("_") and not _GIVEN.get(name, set()) & {*module.split(".")}:
                places[name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def _is_noun(module: str, functions: set[str]) -> bool:
    """Whether a name can be one; a verb is the name of a module whose function is called like it."""
    name = module.rpartition(".")[2]
    if name in _NOUNS | _USED_BY_PEOPLE or name.startswith("__"):
        return True
    last = name.rpartition("_")[2]
    if name in _VERBS:
        return any(one == name or one.startswith(f"{name}_") for one in functions)
    return last not in _PARTICIPLES | _ADJECTIVES | _VERBS and not re.search("(ed|ing)$", last)


def test_modules_are_called_by_nouns() -> None:
    """The modules of cli are called like their commands."""
    wrong = []
    for module, path in modules().items():
        body = ast.parse(path.read_text(encoding="utf-8")).body
        functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        if module.split(".")[1:2] != ["cli"] and not _is_noun(module, functions):
            wrong.append(module)
    assert wrong == []


@pytest.mark.parametrize("name", ["told", "made_up_found", "measuring", "printed", "whole", "fetch"])
def test_what_is_no_noun_is_seen(name: str) -> None:
    assert not _is_noun(f"harness.base.{name}", {"other"})


def test_a_verb_with_its_function_is_a_name() -> None:
    assert _is_noun("harness.images.fetch", {"fetch_parts"})


def test_every_exception_is_needed() -> None:
    names = {name.rpartition(".")[2] for name in modules()}
    assert names >= _NOUNS | _USED_BY_PEOPLE
