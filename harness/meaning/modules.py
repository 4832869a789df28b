"""What a piece of a package does: the meaning of its modules, found by walking their imports.

An import counts wherever it stands, in a function or beside types alone, because what has a type is called by its
name. A package's own module counts where something is taken from it, not where it is passed through.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness.files import digest_of
from harness.meaning.python import parsed, tree_text

# Where a module counts as a whole.
WHOLE: frozenset[str] = frozenset()
_Import = ast.Import | ast.ImportFrom


class _Module(NamedTuple):
    name: str
    path: Path

    @property
    def package(self) -> list[str]:
        """What its relative imports start from."""
        steps = self.name.split(".")
        return steps if self.path.name == "__init__.py" else steps[:-1]


def meaning_of_modules(package: Path, roots: Mapping[str, Collection[str]]) -> str:
    """A digest of modules of the package in this folder, and of all of it that they import.

    Each root names those of its functions that count, with what they call there; all of it where it names none.
    """
    return digest_of(meanings(package, roots))


def meanings(package: Path, roots: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The text of every module that counts, by name."""
    texts: dict[str, str] = {}
    waiting = [(name, frozenset(functions)) for name, functions in roots.items()]
    while waiting:
        name, functions = waiting.pop()
        label = " ".join((name, *sorted(functions)))
        module = _find(package, name)
        if module is None or label in texts:
            continue
        texts[label], imports = _read(module.path.read_bytes(), functions)
        waiting += [(source, WHOLE) for one in imports for source in _sources(package, module, one)]
    return texts


def _find(package: Path, name: str) -> _Module | None:
    """A module of the package; of no other."""
    top, *steps = name.split(".")
    if top != package.name:
        return None
    folder = package.joinpath(*steps)
    found = next((path for path in (folder / "__init__.py", folder.with_suffix(".py")) if path.is_file()), None)
    return _Module(name, found) if found is not None else None


# Benchmarks share most of their modules.
@lru_cache(maxsize=256)
def _read(content: bytes, functions: frozenset[str]) -> tuple[str, tuple[_Import, ...]]:
    """The text of a module, or of what these functions need of it, and its imports."""
    tree = parsed(content)
    if functions:
        tree = _only(tree, functions)
    imports = tuple(one for one in _statements(tree.body) if isinstance(one, _Import))
    return tree_text(tree, documented=b"__doc__" in content), imports


def _sources(package: Path, module: _Module, statement: _Import) -> Iterator[str]:
    """The modules that a statement imports from."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
        return
    steps = module.package[: len(module.package) + 1 - statement.level] if statement.level else []
    source = ".".join([*steps, *filter(None, [statement.module])])
    for alias in statement.names:
        below = f"{source}.{alias.name}"
        yield below if _find(package, below) else source


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those inside them. Expressions, which are most of a tree, hold none."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for name in ("handlers", "cases"):
            for part in getattr(statement, name, []):
                yield from _statements(part.body)


def _only(tree: ast.Module, functions: Collection[str]) -> ast.Module:
    """A module without the functions and the imports that neither these functions nor its other statements use."""
    own = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    names = {*functions}
    waiting: list[ast.stmt] = [one for one in tree.body if not isinstance(one, ast.FunctionDef)]
    waiting += [own[name] for name in functions & own.keys()]
    while waiting:
        used = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        waiting += [own[name] for name in (used - names) & own.keys()]
        names |= used
    return ast.Module(_used(tree.body, names), [])


def _used(body: list[ast.stmt], names: Collection[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for one in body:
        if isinstance(one, ast.FunctionDef) and one.name not in names:
            continue
        if isinstance(one, ast.If):
            kept.append(ast.If(one.test, _used(one.body, names), _used(one.orelse, names)))
        elif isinstance(one, _Import):
            aliases = [alias for alias in one.names if (alias.asname or alias.name).split(".")[0] in {*names, "*"}]
            if isinstance(one, ast.ImportFrom) and aliases:
                kept.append(ast.ImportFrom(one.module, aliases, one.level))
            elif aliases:
                kept.append(ast.Import(aliases))
        else:
            kept.append(one)
    return kept
