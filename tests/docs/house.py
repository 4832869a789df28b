"""The packages of the harness as its imports show them: what stands on what, layer by layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

from tests.conftest import REPOSITORY

Arrows = Mapping[str, Set[str]]

_ROOT = "harness"
_BENCHMARKS = "benchmarks"


def modules(root: Path = REPOSITORY) -> Mapping[str, Path]:
    """Every module of the harness by its dotted name; files of an SDK belong to images."""
    paths = sorted(path for path in (root / _ROOT).rglob("*.py") if "sdk" not in path.parts)
    names = (".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths)
    return dict(zip(names, paths, strict=True))


def package(module: str, benchmarks: Set[str]) -> str:
    """The package that a module belongs to; `harness` is the root's own `__init__`."""
    steps = module.split(".")
    if steps[1:2] == [_BENCHMARKS] and len(steps) > 2 and steps[2] in benchmarks:
        return f"{_BENCHMARKS}.{steps[2]}"
    return steps[1] if len(steps) > 1 else _ROOT


@cache
def arrows(root: Path = REPOSITORY) -> Arrows:
    """For each package the packages it imports, anywhere: in functions and for types alone too."""
    known = modules(root)
    benchmarks = {path.parent.name for path in (root / _ROOT / _BENCHMARKS).glob("*/__init__.py")}
    result: dict[str, set[str]] = {}
    for module, path in known.items():
        here = package(module, benchmarks)
        result.setdefault(here, set())
        for name in _imported(ast.parse(path.read_text(encoding="utf-8")), set(known)):
            if (there := package(name, benchmarks)) != here:
                result[here].add(there)
    return result


def _imported(tree: ast.Module, known: Set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name whole modules, so that this reader sees what they mean"
            within = node.module or ""
            names = [f"{within}.{one.name}" for one in node.names]
            yield from (name if name in known else within for name in names if within.split(".")[0] == _ROOT)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.split(".")[0] == _ROOT)


def layers(graph: Arrows) -> list[list[str]]:
    """Packages from the bottom to the top: each in the lowest layer above all that it imports.

    Packages that import each other stand in no layer: they are left out, with all that stand on them.
    """
    placed: set[str] = set()
    result = []
    while layer := sorted(name for name, below in graph.items() if name not in placed and below <= placed):
        result.append(layer)
        placed.update(layer)
    return result


def cycles(graph: Arrows) -> list[str]:
    """Packages that reach themselves, and by which arrow each cycle goes on."""
    inside = {name for name in graph if name in _reached(graph, name)}
    return sorted(
        f"{name} -> {there}"
        for name in inside
        for there in graph[name] & inside
        if name in {there, *_reached(graph, there)}
    )


def _reached(graph: Arrows, start: str) -> set[str]:
    seen: set[str] = set()
    left = [*graph[start]]
    while left:
        if (name := left.pop()) not in seen:
            seen.add(name)
            left += graph[name]
    return seen
