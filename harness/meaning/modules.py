"""What a piece of a package does: the meaning of its modules, found by walking their imports.

An import counts wherever it stands, in a function or beside types alone, because what has a type is called by its
name. A package's own module counts where something is taken from it, not where it is passed through.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness.base.errors import CorruptData
from harness.base.files import digest_of
from harness.meaning.python import parsed, tree_text

_Import = ast.Import | ast.ImportFrom


class _Module(NamedTuple):
    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether other modules lie in it."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> list[str]:
        """What its relative imports start from."""
        steps = self.name.split(".")
        return steps if self.is_package else steps[:-1]


def meaning_of_modules(package: Path, roots: Iterable[str], within: Sequence[str] = ()) -> str:
    """A digest of modules of the package in this folder, and of all of it that they import.

    With `within`, what is imported counts in these parts of the package alone.
    """
    return digest_of(meanings(package, roots, within))


def meanings(package: Path, roots: Iterable[str], within: Sequence[str] = ()) -> dict[str, str]:
    """The text of every module that counts, by name."""
    parts = tuple(f"{part}." for part in within or [package.name])
    texts: dict[str, str] = {}
    queue = [*roots]
    while queue:
        name = queue.pop()
        if name in texts:
            continue
        module = _own(package, name)
        texts[name], imports = _read(module.path.read_bytes())
        sources = (source for one in imports for source in _sources(package, module, one))
        queue += [source for source in sources if f"{source}.".startswith(parts)]
    return texts


def _own(package: Path, name: str) -> _Module:
    if module := _find(package, name):
        return module
    raise CorruptData(f"there is no module {name}", where=str(package), todo="restore the code from its commit")


def _find(package: Path, name: str) -> _Module | None:
    path = package.parent.joinpath(*name.split("."))
    # as Python looks for it: a folder of this name comes before a file
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return _Module(name, file)
    return None


# Benchmarks share most of their modules.
@lru_cache(maxsize=256)
def _read(content: bytes) -> tuple[str, tuple[_Import, ...]]:
    """The text of a module, and its imports."""
    tree = parsed(content)
    imports = tuple(one for one in _statements(tree.body) if isinstance(one, _Import))
    return tree_text(tree, documented=b"__doc__" in content), imports


def _sources(package: Path, module: _Module, statement: _Import) -> Iterator[str]:
    """The modules of the package that a statement imports from."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names if _is_below(alias.name, package))
        return
    steps = module.package[: len(module.package) + 1 - statement.level] if statement.level else []
    name = ".".join([*steps, *filter(None, [statement.module])])
    if not _is_below(name, package):
        return
    source = _own(package, name)
    below = [f"{name}.{alias.name}" for alias in statement.names] if source.is_package else [name]
    yield from (one if _find(package, one) else name for one in below)


def _is_below(name: str, package: Path) -> bool:
    return name.split(".")[0] == package.name


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those inside them. Expressions, which are most of a tree, hold none."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for name in ("handlers", "cases"):
            for part in getattr(statement, name, []):
                yield from _statements(part.body)
