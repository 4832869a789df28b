"""Mutants put in the place of what they change: in this process, or wherever its children import the module.

The files stay as they are, so that a digest over source text notices nothing: a mutant must fall to what it does.
"""

from __future__ import annotations

import gc
import importlib.machinery
import json
import os
import sys
from pathlib import Path
from types import CodeType, FunctionType

from benchmarks.mutants.changes import Mutant, differing_code

# Names the file with the mutant's text; read by every Python that has `hook` on its path.
VARIABLE = "PERMAFROST_MUTANT"
_MODULE_LEVEL = "<module>"
_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")


def functions_of(root: Path, mutant: Mutant) -> list[tuple[CodeType, CodeType]] | None:
    """What each changed function is and becomes; None where the change is outside of functions."""
    path = root / mutant.module
    original = path.read_bytes()
    codes = [compile(text, str(path), "exec", dont_inherit=True) for text in (original, mutant.text(original))]
    pairs = list(differing_code(codes[0], codes[1]))
    functions = [pair for pair in pairs if _is_called(pair[0])]
    bodies = [pair for pair in pairs if pair not in functions]
    # a body that differs only by the functions in it is loaded already
    if any(_own(one) != _own(other) for one, other in bodies):
        return None
    return functions


def _is_called(code: CodeType) -> bool:
    """Whether it is a function; a comprehension that fills a table is over once the module is loaded."""
    outer, _, name = code.co_qualname.rpartition(".")
    at_load = name == _MODULE_LEVEL or (name in _COMPREHENSIONS and not outer.endswith("<locals>"))
    return bool(code.co_flags & 0x2) and not at_load


def plant(root: Path, mutant: Mutant, work: Path) -> bool:
    """Put a mutant into this process and its children; False where only a new process can have it."""
    announce(root, mutant, work)
    pairs = functions_of(root, mutant)
    if pairs is None:
        return False
    others = {(one.co_qualname, one.co_firstlineno): (one, other) for one, other in pairs}
    path, planted = str(root / mutant.module), False
    for function in gc.get_objects():
        if not isinstance(function, FunctionType) or function.__code__.co_filename != path:
            continue
        pair = others.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if pair and pair[1].co_freevars == function.__code__.co_freevars and function.__code__ == pair[0]:
            function.__code__ = pair[1]
            planted = True
    if not any(getattr(module, "__file__", None) == path for module in [*sys.modules.values()]):
        hook()
        return True
    return planted


def announce(root: Path, mutant: Mutant, work: Path) -> None:
    """Have every process started from here import the mutant."""
    path = work / "mutant.json"
    text = mutant.text((root / mutant.module).read_bytes()).decode()
    path.write_text(json.dumps({"path": str(root / mutant.module), "text": text}))
    os.environ[VARIABLE] = str(path)


def hook() -> None:
    """Make this process import the announced mutant instead of the file."""
    announced = os.environ.get(VARIABLE)
    if not announced:
        return
    mutant = json.loads(Path(announced).read_text())
    ordinary = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        if loader.path == mutant["path"]:
            return compile(mutant["text"], mutant["path"], "exec", dont_inherit=True)
        return ordinary(loader, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def _own(code: CodeType) -> tuple[object, ...]:
    constants = tuple(item for item in code.co_consts if not isinstance(item, CodeType))
    return code.co_code, constants, code.co_names
