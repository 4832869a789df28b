"""What a plan of a million cells costs: to plan, to know what is left, the campaign's client, the table, the page.

    python -m benchmarks.million [--cells N] [--records N] [--steps plan,left] [--store DIR] [--json]

Each step runs in a process of its own, whose peak memory is told. Real are the cards, the data's digests, the
image trees and 100,000 records on disk, with their scores and leaves. Made up are the digests of splits, and of
all other cells a leaf of the log which says that the run was interrupted: these have no record, and are left to
run. The yardstick, in the same run: what lies on disk, listed and read without a look at it. With `--store` the
folder is kept, and used again when it is there: 100,000 records take 3 GB and some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from benchmarks.made_up import fill_store, record_of
from harness.base.files import digest_of
from harness.base.layout import Layout, find_layout
from harness.base.vocabulary import Verdict
from harness.planning.budget import Share
from harness.planning.plan import Plan, make_plan
from harness.planning.request import Request, requested_jobs
from harness.proof.leaves import Event, Leaf, result_leaf, scope_of
from harness.results.remainder import what_is_told
from harness.results.store import Store, join

METHODS = ("als_wr", "bnnr", "constant", "drrs", "han", "libmf", "logistic_mf", "lrssl", "nimcgcn", "popularity")
DATASETS = ("cdataset", "fdataset", "hdvd", "synthetic")
# seconds; of the client MB
LIMITS = {"plan": 60.0, "left": 90.0, "status": 30.0}
CLIENT_MB = 200.0


def planned(layout: Layout, count: int) -> Plan:
    """So many cells of ten methods on four datasets, planned as a person would, but for the splits' digests."""
    seeds = tuple(range(1, count // (len(METHODS) * len(DATASETS)) + 1))
    request = Request(methods=METHODS, datasets=DATASETS, seeds=seeds)
    with patch("harness.planning.plan.known_split_digest", _split):
        return make_plan(layout, "made up", requested_jobs(layout, request), make_splits=False)


def _split(_: Layout, dataset: str, spec: object) -> str:
    return digest_of([dataset, getattr(spec, "label", "")])


def fill(layout: Layout, plan: Plan, records: int) -> None:
    """So many records with scores, every other run interrupted; all that the log would say of them."""
    real = Plan("made up", plan.cells[:records])
    fill_store(layout, real, scores=True)
    with (layout.local / "log.jsonl").open("wb") as log:
        for number, cell in enumerate(plan.cells):
            assert cell.planned is not None
            if number < records:
                content = record_of(cell.planned, failed=number % 50 == 0).to_json()
                log.write(result_leaf(content, content["digest"]).line + b"\n")
                continue
            scope = scope_of(cell.job.model_dump(mode="json"))
            leaf = Leaf(
                Event.FAILURE,
                "2026-01-01T00:00:00Z",
                scope,
                cell.key or "",
                digest_of(number),
                Verdict.INTERRUPTED,
            )
            log.write(leaf.line + b"\n")


def step_plan(layout: Layout, count: int) -> None:
    planned(layout, count)


def step_left(layout: Layout, count: int, *, verify: bool = False) -> Callable[[], None]:
    from harness.execution.campaign import left_to_run

    plan = planned(layout, count)

    def decide() -> None:
        told = what_is_told(plan, Store(layout.runs), verify=verify)
        left = left_to_run(told.cells)
        done = len(list(Store(layout.runs).finished()))
        assert not told.notes and len(left) == count - done, (told.notes, len(left), done)

    return decide


def step_client(layout: Layout, count: int) -> Callable[[], None]:
    """All that the client of a cluster does but what goes over the network: every errand is made once."""
    from harness.execution import campaign

    plan = planned(layout, count)
    share = Share(8, 30 << 30)

    def hand_out(
        cluster: object, errands: Iterable[object], count: int, state: object, wanted: Path
    ) -> SimpleNamespace:
        made = sum(1 for _ in errands)
        assert made == count
        return SimpleNamespace(text=lambda address: "")

    def run() -> None:
        import distributed  # noqa: F401 (a client has it)

        told = what_is_told(plan, Store(layout.runs))
        with (
            patch.object(campaign, "check_workers", lambda *_: [SimpleNamespace(share=share)]),
            patch.object(campaign, "hand_out", hand_out),
        ):
            cluster = SimpleNamespace(address="made up")
            campaign.run_cells_on(cluster, layout, told.cells, name=plan.name, announced=plan.cells)  # type: ignore[arg-type]

    return run


def step_status(layout: Layout, count: int) -> Callable[[], None]:
    from harness.status import build_table, to_text

    plan = planned(layout, count)

    def table() -> None:
        store = Store(layout.runs)
        text = to_text(build_table(layout, store, plan, join(plan, store, records=True)), cells=False, metric="")
        assert "±" in text, "the table shows no scores"

    return table


def step_page(layout: Layout, count: int) -> Callable[[], None]:
    from harness.report import write_report
    from harness.status import build_table

    plan = planned(layout, count)

    def page() -> None:
        store = Store(layout.runs)
        write_report(layout, build_table(layout, store, plan, join(plan, store, records=True)))

    return page


def step_yardstick(layout: Layout, _: int) -> Callable[[], None]:
    def read() -> None:
        for folder, _, names in os.walk(layout.runs):
            for name in names:
                if name == "record.json":
                    (Path(folder) / name).read_bytes()
        for line in (layout.local / "log.jsonl").open("rb"):
            len(line)

    return read


STEPS: dict[str, Callable[[Layout, int], Callable[[], None] | None]] = {
    "plan": step_plan,
    "yardstick": step_yardstick,
    "left": step_left,
    "verify": partial(step_left, verify=True),
    "client": step_client,
    "status": step_status,
    "page": step_page,
}


def _one(step: str, layout: Layout, count: int) -> None:
    """A step in this process, which was started for it."""
    began, used = time.perf_counter(), time.process_time()
    do = STEPS[step](layout, count)
    if do is not None:
        began, used = time.perf_counter(), time.process_time()
        do()
    seconds, spent = round(time.perf_counter() - began, 1), round(time.process_time() - used, 1)
    # of this program alone: `ru_maxrss` would tell of the process that started it, if that was larger
    (peak,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    megabytes = round(int(peak.split()[1]) / 1024)
    print(json.dumps({"step": step, "seconds": seconds, "cpu_seconds": spent, "peak_mb": megabytes}))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--store", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    repository = find_layout(Path(__file__).parent)
    if options.only:
        _one(options.only, Layout(repository.root, repository.cache, options.store), options.cells)
        return
    with tempfile.TemporaryDirectory(prefix="permafrost-million-") as temporary:
        folder = options.store or Path(temporary)
        layout = Layout(repository.root, repository.cache, folder)
        if not (folder / "log.jsonl").is_file():
            fill(layout, planned(repository, options.cells), options.records)
        for step in options.steps.split(","):
            words = ["--only", step, "--store", str(folder), "--cells", str(options.cells)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.million", *words], check=True, capture_output=True, text=True
            )
            figures = json.loads(done.stdout.splitlines()[-1])
            print(json.dumps(figures) if options.json else _text(figures))


def _text(figures: dict[str, float | str]) -> str:
    step, seconds, megabytes = str(figures["step"]), float(figures["seconds"]), float(figures["peak_mb"])
    wanted = ""
    if step in LIMITS:
        wanted = f", {'within' if seconds < LIMITS[step] else 'BEYOND'} {LIMITS[step]:.0f} s"
    if step == "client":
        wanted = f", {'within' if megabytes < CLIENT_MB else 'BEYOND'} {CLIENT_MB:.0f} MB"
    return f"{step}: {seconds} s ({figures['cpu_seconds']} s CPU), {megabytes:.0f} MB at most{wanted}"


if __name__ == "__main__":
    main()
