"""The data of the status page as JSON values: one entry per planned cell with all its evidence.

Equal inputs give equal bytes: there is no time stamp, and everything is sorted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

from harness.base.files import canonical_json
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.vocabulary import Verdict
from harness.compare import Book, Comparison
from harness.planning.jobs import unusual_options
from harness.results.store import Store
from harness.status import ScoredCell, Table

# Bytes of the log that are shown of a success and of a failure.
_TAIL = {True: 800, False: 4000}


class Shared:
    """Values that many cells have in common, such as an engine's facts: each stands once and has a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value."""
        text = canonical_json(value)
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return self._numbers[text]


def page_data(layout: Layout, store: Store, table: Table, books: Iterable[Book]) -> dict[str, Any]:
    """Every cell in view in the order of the table, and the values that cells share."""
    claims, shared = _claims_by_cell(books), Shared()
    names = sorted({name for scored in table.cells for name in scored.metrics})
    cells = [
        _entry(layout, store, scored, claims, names, shared) for group in table.groups for scored in group.cells
    ]
    assert len(cells) == len(table.cells), "cells were lost between the table and the page"
    return {"cells": cells, "metrics": names, "shared": shared.values, "images": image_entries(table)}


def image_entries(table: Table) -> dict[str, dict[str, str]]:
    """The images of the runs, by tree."""
    images = {}
    for scored in table.cells:
        if scored.cell.record and scored.cell.planned:
            images[scored.cell.planned.image_tree] = scored.cell.record["image"]
    return dict(sorted(images.items()))


def claim_entry(one: Comparison) -> dict[str, Any]:
    """The entry of one claim."""
    return {
        "source": one.claim.source,
        "metric": one.metric or one.claim.metric or one.claim.statistic,
        "published": one.claim.published,
        "ours": one.ours,
        "difference": one.difference if one.claim.statistic != "status" else None,
        "verdict": str(one.verdict),
        "reason": one.reason,
    }


_Place = tuple[str, str | None, str | None, str | None, int | None]


def _claims_by_cell(books: Iterable[Book]) -> dict[_Place, list[Comparison]]:
    claims: dict[_Place, list[Comparison]] = {}
    for book in books:
        for one in book.comparisons:
            if one.claim.seed is not None:
                place = (book.benchmark, one.target.method, one.target.dataset, one.target.split, one.claim.seed)
                claims.setdefault(place, []).append(one)
    return claims


def _entry(
    layout: Layout,
    store: Store,
    scored: ScoredCell,
    claims: dict[_Place, list[Comparison]],
    names: list[str],
    shared: Shared,
) -> dict[str, Any]:
    cell, job = scored.cell, scored.cell.job
    split = job.split.text
    entry: dict[str, Any] = {
        "benchmark": job.benchmark,
        "method": scored.row,
        "control": scored.control,
        "dataset": job.dataset,
        "split": split,
        "seed": job.split.seed,
        "verdict": str(cell.verdict),
        "reason": cell.reason,
        "key": scored.key or "",
        "metrics": [scored.metrics.get(name) for name in names] if scored.scored else [],
        "notes": scored.notes,
        "job": shared.number(job.model_dump(mode="json", include={"variant", "parameters", "options"})),
        "run": run_command(scored),
    }
    own_claims = claims.get((job.benchmark, job.method, job.dataset, split, job.split.seed), [])
    if job.variant == "published" and own_claims:
        entry["claims"] = [claim_entry(one) for one in own_claims]
    if cell.planned is not None:
        entry["pins"] = {
            "image": cell.planned.image_tree,
            "dataset": cell.planned.dataset_digest,
            "split": cell.planned.split_digest,
        }
        if cell.record:
            entry["record"] = _record(cell.record, shared)
        if cell.record and not scored.reference:
            path = store.path(cell.planned.key)
            entry["folder"] = str(path).removeprefix(f"{layout.root}/")
            entry["log"] = log_tail(path / "log.txt", _TAIL[cell.verdict is Verdict.OK])
    return entry


def run_command(scored: ScoredCell) -> str:
    """The command that runs this one cell."""
    job = scored.cell.job
    words = ["harness run", f"--method {job.method}", f"--dataset {job.dataset}"]
    words += [f"--split {shlex.quote(job.split.text)}", f"--seed {job.split.seed}"]
    if job.variant != "published":
        words.append(f"--variant {job.variant}")
    words += [f"--{name.replace('_', '-')} {value}" for name, value in unusual_options(job).items()]
    if job.upstream:
        words.append("--upstream DIR")
    if job.accelerator != "cpu":
        words.append(f"--accelerator {job.accelerator}")
    words += [f"--set {shlex.quote(f'{name}={json.dumps(value)}')}" for name, value in scored.choices.items()]
    return " ".join(words)


def _record(record: dict[str, Any], shared: Shared) -> dict[str, Any]:
    names = ("resources", "attempts", "started", "finished", "harness_version")
    files = {name: [stored["sha256"], stored["bytes"]] for name, stored in record["files"].items()}
    common = {name: shared.number(record[name]) for name in ("limits", "engine")}
    return {**{name: record[name] for name in names}, **common, "files": files}
