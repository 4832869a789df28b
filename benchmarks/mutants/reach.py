"""Which test calls which function, and so which tests can notice a mutant."""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

from benchmarks.mutants.changes import Mutant

# whose calls are calls of every test of the file
SHARED_SETUP = "*"
# the test that runs, which calls are noted for; `SHARED_SETUP` while a fixture of several is made
label = ""


@dataclass(frozen=True)
class Reach:
    """What one test took, and the functions it called: by module and name, which stay when lines move."""

    test: str
    seconds: float
    functions: frozenset[tuple[str, str]]


def follow(root: Path, trace: Path) -> None:
    """Append every function of ours that is called from here on, once per test."""
    prefixes = (f"{root}/harness/", f"{root}/methods/_sdk/")
    handle = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen: set[tuple[str, CodeType]] = set()

    def called(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(prefixes):
            return
        test = label or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if (test, code) not in seen:
            seen.add((test, code))
            line = f"{test}\t{code.co_filename[len(str(root)) + 1 :]}\t{code.co_qualname}\n"
            os.write(handle, line.encode())

    sys.settrace(called)
    threading.settrace(called)


def chosen_of(
    reaches: Mapping[str, list[Reach]],
    root: Path,
    mutant: Mutant,
    pairs: list[tuple[CodeType, CodeType]] | None,
) -> Iterator[Reach]:
    """The tests that can notice: those that call the function; where it is kept or loaded once, those near it."""
    names = {(mutant.module, one.co_qualname) for one, _ in pairs or ()}
    text = (root / mutant.module).read_text(encoding="utf-8").splitlines()
    outer = min((one.co_firstlineno for one, _ in pairs or ()), default=0)
    decorators = [line for line in text[outer - 1 : outer + 2] if line.startswith(("@", "    @"))] if outer else []
    if pairs is not None and not any("cache" in line for line in decorators):
        yield from (one for tests in reaches.values() for one in tests if one.functions & names)
        return
    dotted = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # who builds a class or reads a table calls no function: a test file that imports from the module may notice
    importing = {name for name in reaches if _imports((root / name).read_text(encoding="utf-8"), dotted)}
    near = [
        one
        for name, tests in reaches.items()
        for one in tests
        if name in importing or mutant.module in {file for file, _ in one.functions}
    ]
    if near:
        yield from near
        return
    # a module without functions: whatever reaches a module that imports it
    users = {
        path.relative_to(root).as_posix()
        for path in (root / "harness").rglob("*.py")
        if _imports(path.read_text(encoding="utf-8"), dotted)
    }
    yield from (one for tests in reaches.values() for one in tests if users & {f for f, _ in one.functions})


def _imports(text: str, dotted: str) -> bool:
    """Whether a text of Python imports a module, or anything from it."""
    package, _, name = dotted.rpartition(".")
    statements = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ImportFrom)]
    names = {alias.name for one in statements if one.module == package for alias in one.names}
    return name in names or any(one.module == dotted for one in statements)
