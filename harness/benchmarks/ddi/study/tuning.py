"""Table 8: the point of each method's search space that is best on validation items. Test scores are not used.

A point is a run of the suite `ddi-tuning`; its score on validation items is in its own report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from harness.base.files import read_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.method_report import METHOD
from harness.methods.card import MethodCard, load_method
from harness.planning.cells import Cell
from harness.planning.plan import make_plan
from harness.planning.suites import Block, jobs_of, load_suite
from harness.results.store import Store, join
from harness.study.sheets import Sheet, runs_at
from harness.study.specs import Spec

SETTINGS = ("S1", "S2")
# Table 8 with the names of our parameters: those searched for every method, and more for single ones. The language
# models have no line in the table; a method with a model per setting has every parameter twice.
_GENERAL = ("learning_rate", "weight_decay", "dropout", "batch_size")
_OF_ITS_OWN = {
    "mlp": ("layers", "hidden"),
    "mste": ("dimension",),
    "decagon": ("layers", "hidden"),
    "ssi_ddi": ("hidden",),
    "mrcgnn": ("hidden",),
    "emergnn": ("layers", "width"),
    "sagan": ("hidden",),
    "tiger": ("layers", "width"),
}
# Parameters of ours that are fixed numbers in the published code.
_ADDED = {
    "ssi_ddi": ("hidden",),
    "mrcgnn": ("dropout",),
    "sagan": ("hidden",),
    "tiger": ("dropout", "layers", "width"),
}


@dataclass(frozen=True)
class Point:
    """A run that ended ok: the parameters that were searched, and the validation score by setting."""

    parameters: Mapping[str, Any]
    validation: Mapping[str, float]


def tuning(layout: Layout, spec: Spec) -> Sheet:
    """Table 8, from the runs of this machine."""
    suite, store = load_suite(spec.suite), Store(layout.runs)
    cells: dict[tuple[str, str], list[Cell]] = {}
    for cell in join(make_plan(layout, spec.suite, jobs_of(layout, suite)), store):
        cells.setdefault((cell.job.method, cell.job.split.text), []).append(cell)
    rows, keys = [], []
    for block in suite.blocks:
        for name, split in product(block.methods, block.splits):
            own = cells.get((name, split), [])
            shown = _rows(store, block, load_method(layout, name), split, own)
            ended = [cell.planned.key for cell in own if cell.planned and cell.verdict is Verdict.OK]
            rows += shown
            keys += [runs_at((-2,), texts, ended) for texts in shown]
    head = ["method", "split", "setting", "searched", "left out", "points run", "best validation", "best point"]
    return spec.sheet(head, rows, runs=keys)


def searched(block: Block, card: MethodCard) -> dict[str, int]:
    """The parameters of a block that a method has, and how many values of each are tried."""
    parameters = card.variant("published").parameters
    return {name: len(values) for name, values in block.search.items() if name in parameters}


def left_out(card: MethodCard, space: Iterable[str]) -> list[str]:
    """The parameters that the paper searches for a method and we do not."""
    names = {_bare(name) for name in space}
    return [name for name in (*_GENERAL, *_OF_ITS_OWN.get(card.name, ())) if name not in names]


def added(card: MethodCard, parameter: str) -> bool:
    """Whether the published code has a fixed number where the method has this parameter."""
    return parameter in _ADDED.get(card.name, ())


def best(points: list[Point], setting: str) -> Point | None:
    """The point with the best validation score; the first of equal ones."""
    candidates = [point for point in points if setting in point.validation]
    return max(candidates, key=lambda point: point.validation[setting], default=None)


def _rows(store: Store, block: Block, card: MethodCard, split: str, cells: list[Cell]) -> list[list[str]]:
    space = searched(block, card)
    points = [point for cell in cells if (point := _point(store, cell, space)) is not None]
    rows = []
    for setting in SETTINGS:
        own = {name: count for name, count in space.items() if _concerns(name, setting)}
        parameters = ", ".join(
            f"{name}{'*' if added(card, name) else ''} ({count})" for name, count in own.items()
        )
        absent = ", ".join(left_out(card, space)) or "-"
        row = [card.title, split, setting, parameters, absent, f"{len(points)} of {len(cells)}"]
        point = best(points, setting)
        if point is None:
            rows.append([*row, "-", "-"])
            continue
        values = ", ".join(f"{name}={point.parameters[name]}" for name in own)
        rows.append([*row, f"{100 * point.validation[setting]:.1f}", values])
    return rows


def _bare(parameter: str) -> str:
    return parameter.removesuffix("_s1").removesuffix("_s2")


def _concerns(parameter: str, setting: str) -> bool:
    """Whether the parameter belongs to the setting; its name may end in the only setting that it belongs to."""
    other = {"S1": "_s2", "S2": "_s1"}[setting]
    return not parameter.endswith(other)


def _point(store: Store, cell: Cell, space: Mapping[str, int]) -> Point | None:
    """The point of a run that ended ok, with the validation scores of its report."""
    if cell.verdict is not Verdict.OK or cell.planned is None:
        return None
    # the report must be as the run wrote it
    store.check(store.record(cell.planned.key))
    report = read_json(store.path(cell.planned.key) / METHOD)
    content = report.get("validation") if isinstance(report, dict) else None
    numbers = content if isinstance(content, dict) else {}
    validation = {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}
    return Point({name: cell.job.parameters[name] for name in space}, validation)
