"""The members of a benchmark's contract with what each says of itself, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.markdown import code
from harness.base.tables import markdown_table
from tests.conftest import REPOSITORY

_FOLDER = REPOSITORY / "harness" / "benchmarks"
SOURCES = (_FOLDER / "contract.py", _FOLDER / "measures.py")


@dataclass(frozen=True)
class Member:
    """A field or function of a class of the contract."""

    name: str
    sentence: str
    required: bool


@dataclass(frozen=True)
class Part:
    """A class of the contract."""

    name: str
    text: str
    members: tuple[Member, ...]


def parts(path: Path) -> list[Part]:
    """The public classes of a module that a benchmark implements, what stands on others first."""
    source = path.read_text(encoding="utf-8")
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return [
        Part(node.name, ast.get_docstring(node) or "", tuple(_members(node, source.splitlines())))
        for node in reversed(classes)
        if not any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
    ]


def _members(node: ast.ClassDef, lines: list[str]) -> Iterator[Member]:
    optional = any(isinstance(base, ast.Name) and base.id == "Strict" for base in node.bases)
    every = any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            if not one.target.id.startswith("_"):
                yield Member(one.target.id, _comment(lines, one.lineno - 1), one.value is None)
        elif isinstance(one, ast.FunctionDef):
            marks = {ast.unparse(mark) for mark in one.decorator_list}
            sentence = _first(ast.get_docstring(one) or "") or _comment(lines, one.lineno - 1 - len(marks))
            refused = isinstance(one.body[-1], ast.Raise) and optional
            yield Member(one.name, sentence, every or refused or "abstractmethod" in marks)


def _comment(lines: list[str], place: int) -> str:
    """The comment right above a line, as a sentence."""
    above: list[str] = []
    while place and lines[place - 1].strip().startswith("# "):
        place -= 1
        above.insert(0, lines[place].strip().removeprefix("# "))
    text = " ".join(above)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _first(docstring: str) -> str:
    return " ".join(docstring.partition("\n\n")[0].split())


def members() -> str:
    """The part of docs/benchmarks.md that tells the contract."""
    lines: list[str] = []
    for path in SOURCES:
        for part in parts(path):
            rows = [(code(one.name), one.sentence, "yes" if one.required else "no") for one in part.members]
            lines += [f"### `{part.name}` ({path.name})", "", part.text, ""]
            lines += [*markdown_table(("member", "what it is", "required"), rows), ""] if rows else []
    return "\n".join(lines)
