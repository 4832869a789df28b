"""A small repository and made-up runs for tests of tables, audits, exports, through the product's own functions.

The repository has the real cards, environments, datasets and claims, copied, so that a test may tamper with them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from harness.base.layout import Layout
from harness.base.machine import processor, processor_flags
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import run_cells
from harness.execution.inputs import job_folder, make_inputs
from harness.execution.tasks import limits_of, order_of
from harness.images import code_tree, image_name
from harness.images.record import recorded_tree
from harness.methods.card import load_method, merged_parameters
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob, card_of, complete_options
from harness.planning.plan import Plan, make_plan
from harness.results.records import Maker, Record
from harness.results.reference import ReferenceResult
from harness.results.scoring import score_run, scorer_digest
from harness.results.store import Store, join
from harness.splits import load_split
from harness.splits.checksums import record_splits
from harness.splits.spec import SplitSpec
from harness.splits.splits import as_recorded
from harness.status import ScoredCell, Table, build_table

SEEDS = (17263407, 22928437)
METHODS = ("constant", "als_wr", "lrssl")
_COPIED = ("methods", "containers", "datasets", "results/published")


# Published values of single runs, 40,000 claims: tests of other things need not have each judged, every time anew.
_PER_SEED = ("results/published/repurposing/per_seed.csv", "results/published/repurposing/elsewhere.csv")
_KEPT_SEEDS = 6


def copy_repository(source: Layout, target: Path) -> Layout:
    """The parts of the repository that tables and audits read, and an empty cache and store beside them."""
    for part in _COPIED:
        # what Python left beside the sources is not committed there either
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source.root / part, target / "repository" / part, ignore=ignored)
    for name in _PER_SEED:
        _keep_seeds(target / "repository" / name)
    shutil.copyfile(source.root / "Dockerfile", target / "repository" / "Dockerfile")
    (target / "repository" / "run_all.sh").write_text("")
    return Layout(root=target / "repository", cache=target / "cache", local=target / "local")


def _keep_seeds(path: Path) -> None:
    """Of a table of published runs those of the first seeds, each with every method and dataset."""
    header, *rows = path.read_text().splitlines(keepends=True)
    at = header.split(",").index("seed")
    seeds = list(dict.fromkeys(row.split(",")[at] for row in rows))[:_KEPT_SEEDS]
    path.write_text("".join([header, *(row for row in rows if row.split(",")[at] in seeds)]))


def run_plan(layout: Layout, plan: Plan, engine: Engine, **choices: Any) -> None:
    """Join a plan with the store and run what is left of it."""
    run_cells(layout, join(plan, Store(layout.runs), records=True), engine, **choices)


def job_of(layout: Layout, method: str, seed: int, dataset: str = "synthetic", variant: str = "published") -> Job:
    """A job as a suite would make it."""
    return Job(
        benchmark="repurposing",
        method=method,
        variant=variant,
        parameters=merged_parameters(load_method(layout, method), variant, {}),
        dataset=dataset,
        split=SplitSpec(strategy="random", seed=seed),
        options=complete_options("repurposing", {}),
    )


def plan_of(layout: Layout, methods: Iterable[str] = METHODS, seeds: Iterable[int] = SEEDS) -> Plan:
    """Methods on Synthetic, pinned by the real checksums."""
    chosen = list(seeds)
    return make_plan(layout, "made-up", [job_of(layout, method, seed) for method in methods for seed in chosen])


def record_seeds(layout: Layout, seeds: Iterable[int]) -> None:
    """Record the random splits of Synthetic with these seeds, so that results on them can be saved."""
    specs = [SplitSpec(strategy="random", seed=seed) for seed in seeds]
    lines = [as_recorded("repurposing", spec, load_split(layout, "synthetic", spec)) for spec in specs]
    record_splits(layout, "synthetic", lines)


def table_of(layout: Layout, plan: Plan, reference: Mapping[str, ReferenceResult] = MappingProxyType({})) -> Table:
    """The table of a plan, joined with the runs of a repository."""
    store = Store(layout.runs)
    return build_table(layout, store, plan, join(plan, store, records=True), reference)


def planned_of(cell: Cell) -> PlannedJob:
    """The pinned job of a cell that can be run."""
    assert cell.planned is not None
    return cell.planned


def drug_cell(
    method: str, metrics: dict[str, float | None], notes: dict[str, str], *, seed: int = 1, row: str = ""
) -> ScoredCell:
    """A cell of drug interactions that ended ok with these scores, for tables; nothing is stored of it."""
    job = Job(
        benchmark="ddi",
        method=method,
        parameters={},
        dataset="synthetic_ddi",
        split=SplitSpec(strategy="cluster", seed=seed),
    )
    cell = Cell(job, None, Verdict.OK, "finished with valid predictions")
    return ScoredCell(cell, row or method, {}, False, metrics, notes, scored=True)


def put_run(
    layout: Layout,
    planned: PlannedJob,
    *,
    verdict: Verdict = Verdict.OK,
    reason: str = "",
    log: str | bytes = "a line\n",
    score: bool = True,
) -> Record:
    """Store a run as a container would have left it, with random predictions, and score it."""
    store, card = Store(layout.runs), load_method(layout, planned.job.method)
    work = layout.local / "work" / planned.key
    (work / "in").mkdir(parents=True)
    order = order_of(card)
    job_folder(make_inputs(layout, planned, card.inputs, order=order), work / "in", planned, card)
    (work / "log.txt").write_bytes(log if isinstance(log, bytes) else log.encode())
    files = {"job.json": work / "in" / "job.json", "log.txt": work / "log.txt"}
    if verdict is Verdict.OK:
        files |= _outputs(work, np.asarray(make_inputs(layout, planned, []).inputs["folds"]), planned)
    record = _record(layout, planned, verdict, reason or verdict.meaning, order)
    sizes = {name: path.stat().st_size for name, path in files.items()}
    record.resources["log_bytes"] = sizes.pop("log.txt")
    record.resources["output_bytes"] = sum(sizes.values()) - sizes["job.json"]
    record = Store(layout.runs).put(record, files)
    shutil.rmtree(work)
    if verdict is Verdict.OK and score:
        score_run(layout, store, planned)
    return record


def _outputs(work: Path, folds: np.ndarray, planned: PlannedJob) -> dict[str, Path]:
    random = np.random.default_rng(int(planned.key[:8], 16))
    models = max(planned.job.options["inner_folds"], 1)
    np.save(work / "predictions.npy", random.normal(size=(models, int((folds == -1).sum()))))
    np.save(work / "validation.npy", random.normal(size=int((folds >= 0).sum())))
    np.save(work / "lowest.npy", np.full(models, -9.0))
    (work / "method.json").write_text(json.dumps({"protocol": 1, "seconds": {"fit": [0.5], "predict": [0.1]}}))
    return {name: work / name for name in ("predictions.npy", "validation.npy", "lowest.npy", "method.json")}


_EXIT_CODES = {Verdict.ERROR: 3, Verdict.MEMORY: 137, Verdict.TIMEOUT: 137}


def _record(layout: Layout, planned: PlannedJob, verdict: Verdict, reason: str, order: str) -> Record:
    method, limits = planned.job.method, limits_of(card_of(layout, planned.job))
    return Record(
        key=planned.key,
        planned=planned,
        verdict=verdict,
        reason=reason,
        image={
            "name": image_name(layout, method),
            "id": "sha256:" + "4" * 64,
            "environment_tree": recorded_tree(layout, method),
            "code_tree": code_tree(layout, method),
        },
        limits={
            "seconds": int(limits.seconds),
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "output_bytes": limits.output_bytes,
            "cpus": int(limits.cpus),
            "gpus": len(limits.gpus),
        },
        resources={
            "wall_s": 1.5,
            "ran_s": 1.5,
            "cpu_s": 1.25,
            "peak_bytes": limits.memory_bytes if verdict is Verdict.MEMORY else 52_428_800,
            "exit_code": _EXIT_CODES.get(verdict, 0),
            "oom_flag": verdict is Verdict.MEMORY,
            "oom_kills": int(verdict is Verdict.MEMORY),
        },
        engine={"name": "docker", "version": "20.10", "rootless": False, "root_folder": "/somewhere"},
        files={},
        attempts=1,
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:00:02Z",
        harness_version="0.1.0",
        order=order,
        made_by=Maker(
            harness="5" * 64,
            commit="",
            scorer=scorer_digest(planned.job.benchmark),
            processor=processor(),
            flags=processor_flags(),
            kernel="6.1",
            engine="docker 20.10",
        ),
    )
