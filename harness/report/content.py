"""The data of the status page as JSON values: one entry per planned cell with all its evidence.

Equal inputs give equal bytes: there is no time stamp, and everything is sorted.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from harness.base.files import canonical_json
from harness.base.logs import log_tail
from harness.base.vocabulary import Accelerator, Verdict
from harness.compare import Book, Comparison
from harness.methods.recommendation import PUBLISHED
from harness.planning.cells import kind_of
from harness.planning.commands import run_command
from harness.planning.jobs import unusual_options
from harness.report.evidence import Evidence
from harness.results.records import LOG_FILE, record_digest
from harness.status import ScoredCell

# Bytes of the log that are shown of a success and of a failure.
_TAIL = {True: 800, False: 4000}


class Shared:
    """Values that many cells have in common, such as an engine's facts: each stands once and has a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[bytes, int] = {}
        self._seen: dict[bytes | str, int] = {}
        self._kinds: dict[Hashable, dict[str, Any]] = {}

    def number(self, value: Any) -> int:
        """The number of a value."""
        # nearly every value looks like one before it, and that is seen sooner than that two mean the same
        look = value if isinstance(value, str) else marshal.dumps(value)
        if look not in self._seen:
            number = self._numbers.setdefault(canonical_json(value), len(self.values))
            if number == len(self.values):
                self.values.append(value)
            self._seen[look] = number
        return self._seen[look]

    def kind(self, scored: ScoredCell) -> dict[str, Any]:
        """What the entries of all cells have in common that differ in their seed only."""
        job = scored.cell.job
        if (kind := kind_of(job)) not in self._kinds:
            named = job.model_dump(mode="json", include={"method", "variant", "parameters", "options"})
            self._kinds[kind] = {
                "benchmark": job.benchmark,
                "method": scored.row,
                "dataset": job.dataset,
                "split": scored.split,
                "job": self.number(named),
                "run": self.number(run_command(job, scored.choices, seed="SEED")),
                **({} if job.accelerator == "cpu" else {"accelerator": job.accelerator}),
            }
        return self._kinds[kind]


def page_data(evidence: Evidence, books: Iterable[Book], numbers: Sequence[Sequence[int]] = ()) -> dict[str, Any]:
    """Every cell in view in the order of the table, and the values that cells share.

    `numbers` are the runs of each number outside the table, as places in `Evidence.runs`. Runs of no cell in view
    come last, as `beside`, if a number rests on them.
    """
    table, claims, shared = evidence.table, _claims_by_cell(books), Shared()
    ordered = [scored for group in table.groups for scored in group.cells]
    assert len(ordered) == len(table.cells), "cells were lost between the table and the page"
    runs, places = list(evidence.runs.values()), {id(scored): place for place, scored in enumerate(ordered)}
    beside = [runs[place] for place in dict.fromkeys(place for own in numbers for place in own)]
    beside = [scored for scored in beside if id(scored) not in places]
    places |= {id(scored): len(ordered) + place for place, scored in enumerate(beside)}
    names: dict[str, set[str]] = {}
    for scored in (*ordered, *beside):
        names.setdefault(scored.cell.job.benchmark, set()).update(scored.metrics)
    metrics = {benchmark: sorted(own) for benchmark, own in sorted(names.items())}
    jobs = [scored.cell.job for scored in (*ordered, *beside) if scored.cell.record]
    methods = sorted({(job.method, job.accelerator) for job in jobs})
    return {
        "cells": [
            *(_entry(evidence, scored, claims, metrics, shared) for scored in ordered),
            *(_briefly(_entry(evidence, scored, {}, metrics, shared)) for scored in beside),
        ],
        "planned": len(ordered),
        "numbers": [[places[id(runs[place])] for place in own] for own in numbers],
        "metrics": metrics,
        "shared": shared.values,
        "images": image_entries((*ordered, *beside)),
        "methods": {
            name if accelerator == "cpu" else f"{name} {accelerator}": _made(evidence, name, accelerator)
            for name, accelerator in methods
        },
    }


def _briefly(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of a run of no cell in view: of its files its log alone, and no notes."""
    files = {name: file for name, file in entry["record"]["files"].items() if name == LOG_FILE}
    return {**entry, "record": {**entry["record"], "files": files}, "notes": {}}


def _made(evidence: Evidence, method: str, accelerator: Accelerator) -> dict[str, Any] | None:
    """Code and locks of a method as they are today."""
    made = evidence.made(method, accelerator)
    if made is None:
        return None
    return {
        "image": made.image,
        "code": made.code,
        "folders": [evidence.place(folder) for folder in made.folders],
        "locks": [[evidence.place(lock.path), lock.sha256] for lock in made.locks],
    }


def image_entries(cells: Iterable[ScoredCell]) -> dict[str, dict[str, str]]:
    """The images of the runs, by tree."""
    images = {}
    for scored in cells:
        if scored.cell.record and scored.cell.planned:
            images[scored.cell.planned.image_tree] = scored.cell.record["image"]
    return dict(sorted(images.items()))


def claim_entry(one: Comparison, shared: Shared) -> dict[str, Any]:
    """The entry of one claim."""
    return {
        "source": shared.number(one.claim.source),
        "metric": one.metric or one.claim.metric or one.claim.statistic,
        "published": one.claim.published,
        "ours": one.ours,
        "difference": one.difference if one.claim.statistic != "status" else None,
        "verdict": str(one.verdict),
        "reason": shared.number(one.why),
    }


_Place = tuple[str, str | None, str, str | None, str | None, int | None]


def _claims_by_cell(books: Iterable[Book]) -> dict[_Place, list[Comparison]]:
    claims: dict[_Place, list[Comparison]] = {}
    for book in books:
        for one in book.comparisons:
            if one.claim.seed is not None:
                variant, dataset = one.target.variant or PUBLISHED, one.target.dataset
                place = (book.benchmark, one.target.method, variant, dataset, one.target.split, one.claim.seed)
                claims.setdefault(place, []).append(one)
    return claims


def _entry(
    evidence: Evidence,
    scored: ScoredCell,
    claims: dict[_Place, list[Comparison]],
    metrics: dict[str, list[str]],
    shared: Shared,
) -> dict[str, Any]:
    cell, job = scored.cell, scored.cell.job
    reason, kind = shared.number(cell.reason), shared.kind(scored)
    entry: dict[str, Any] = {
        **kind,
        "seed": job.split.seed,
        "verdict": str(cell.verdict),
        "reason": reason,
        "key": scored.key or "",
    }
    # those of scores just computed stand in another order than those that were read
    optional = {"control": scored.control, "notes": dict(sorted(scored.notes.items()))}
    entry |= {name: value for name, value in optional.items() if value}
    if scored.scored:
        entry["metrics"] = [scored.metrics.get(name) for name in metrics[job.benchmark]]
    if cell.planned is not None and cell.record:
        entry["pins"] = {
            "image": cell.planned.image_tree,
            "dataset": cell.planned.dataset_digest,
            "split": cell.planned.split_digest,
        }
        entry["record"] = _record(cell.record, shared)
        # what is published is about our code in its usual form
        if not (scored.choices or job.marks or unusual_options(job)):
            place = (job.benchmark, job.method, job.variant, job.dataset, job.split.text, job.split.seed)
            if own_claims := claims.get(place):
                entry["claims"] = [claim_entry(one, shared) for one in own_claims]
        if scored.reference:
            entry["reference"] = True
        else:
            path = evidence.store.path(cell.planned.key)
            entry["folder"] = str(path).removeprefix(f"{evidence.layout.root}/")
            entry["log"] = log_tail(path / LOG_FILE, _TAIL[cell.verdict is Verdict.OK])
    return entry


def _record(record: dict[str, Any], shared: Shared) -> dict[str, Any]:
    names = ("resources", "attempts", "started", "finished", "harness_version")
    files = {name: [stored["sha256"], stored["bytes"]] for name, stored in record["files"].items()}
    common: dict[str, Any] = {
        name: shared.number(record[name]) for name in ("limits", "engine", "made_by") if name in record
    }
    return {**{name: record[name] for name in names}, **common, "files": files, "digest": record_digest(record)}
