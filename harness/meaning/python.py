"""Python by its syntax tree: the same text for the same tree, whichever Python made it.

Left out are positions and statements that do nothing: `pass` and bare constants, docstrings among them. A file
that speaks of `__doc__` keeps them.
"""

from __future__ import annotations

import ast
import threading
import warnings
from functools import cache
from typing import Any

from harness.meaning.scripts import Unsure

# The oldest Python that runs the harness, so that all read the same grammar.
_GRAMMAR = (3, 11)
# They follow from where a node stands, or say nothing to the interpreter.
_SILENT = {"ctx", "kind", "type_comment", "type_ignores"}
# Where statements stand that may do nothing.
_BLOCKS = {"body", "orelse", "finalbody"}
_FORMATS = {"JoinedStr", "FormattedValue"}
# Python 3.11 counts the depth of a tree for all threads together, and filters of warnings are the process's too.
_alone = threading.Lock()


def python_meaning(content: bytes) -> str:
    """The syntax tree as text."""
    return tree_text(parsed(content), documented=b"__doc__" in content)


def parsed(content: bytes) -> ast.Module:
    """The syntax tree of a file's bytes: not of its text, because a comment may name the encoding."""
    try:
        # a warning that is made an error would make no tree of the same file
        with _alone, warnings.catch_warnings(action="ignore"):
            return ast.parse(content, feature_version=_GRAMMAR)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unsure from None


def tree_text(tree: ast.AST, *, documented: bool) -> str:
    """A node with its fields as text. Without recursion: the caller's stack must not limit nesting."""
    pieces: list[str] = []
    stack: list[Any] = [tree]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            pieces.append(one)
        elif isinstance(one, list):
            pieces.append("[")
            stack.append("]")
            stack += [_item(part) for part in reversed(one)]
        else:
            kind = type(one).__name__
            pieces.append(f"{kind}(")
            stack.append(")")
            for name in _fields(kind):
                value = getattr(one, name, None)
                if name in _BLOCKS and isinstance(value, list) and not documented:
                    value = [part for part in value if not _does_nothing(part)]
                elif kind in _FORMATS:
                    value = _plain(value)
                # Pythons differ in the fields they have, and what is absent means what is empty
                if value is not None and value != []:
                    stack += (_item(value), f"{name}=")
    return "".join(pieces)


def _item(value: Any) -> Any:
    """The text of a simple value; a node or list as it is, because it must be taken apart."""
    kind = type(value)
    if kind is ast.Name:
        return f"Name({value.id!a})"
    if kind is ast.Constant:
        return f"Constant({_item(value.value)})"
    if isinstance(value, ast.AST | list):
        return value
    # hexadecimal: its digits are not limited
    return f"{kind.__name__} {hex(value) if kind is int else ascii(value)},"


@cache
def _fields(kind: str) -> list[str]:
    return [name for name in reversed(getattr(ast, kind)._fields) if name not in _SILENT]


def _does_nothing(node: Any) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _plain(value: Any) -> Any:
    """A field of an f-string in the one form that all Pythons agree on; an empty format is none."""
    if isinstance(value, ast.JoinedStr) and not _joined(value.values):
        return None
    return _joined(value) if isinstance(value, list) else value


def _joined(parts: list[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string, its texts in as few pieces as there can be."""
    merged: list[ast.expr] = []
    for part in parts:
        if not isinstance(part, ast.Constant):
            merged.append(part)
        elif merged and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(str(merged[-1].value) + str(part.value))
        elif part.value != "":
            merged.append(part)
    return merged
