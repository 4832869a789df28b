"""Every way a run can end has its verdict in the table, and failures are kept, not repeated."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.data.manifest import mirror_path
from harness.engine import Engine
from harness.execution.campaign import Choices, left_to_run, mark_unstable
from harness.execution.tasks import Task, perform, perform_anywhere, run_in_container
from harness.images import ensure_image
from harness.methods.card import load_method
from harness.planning.jobs import Job
from harness.planning.obstacles import Obstacles
from harness.planning.plan import make_plan
from harness.results.store import Store, join
from harness.splits.spec import SplitSpec
from tests.campaigns.conftest import probe_plan
from tests.fabricate import run_plan

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("behaviour", "verdict", "reason"),
    [("exit", Verdict.ERROR, "told to fail"), ("nan", Verdict.INVALID, "not finite")],
)
def test_a_methods_failure_is_kept_and_not_repeated(
    probe_layout: Layout, engine: Engine, behaviour: str, verdict: Verdict, reason: str
) -> None:
    plan = probe_plan(probe_layout, 1, behaviour=behaviour)
    store = Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    (cell,) = join(plan, store)
    assert cell.verdict is verdict
    assert reason in cell.reason
    assert left_to_run(join(plan, store)) == []
    assert len(left_to_run(join(plan, store), again=[verdict])) == 1
    run_plan(probe_layout, plan, engine, choices=Choices(again=frozenset({verdict})))
    assert [cell.verdict for cell in join(plan, store)] == [verdict]


def test_what_is_wanted_again_is_kept_until_it_is_replaced(probe_layout: Layout, engine: Engine) -> None:
    """A person who stops before anything was repeated has lost nothing."""
    plan, store = probe_plan(probe_layout, 2), Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    before = [store.record(key) for key in store.finished()]
    stop = threading.Event()
    stop.set()
    again = Choices(again=frozenset({Verdict.OK}))
    run_plan(probe_layout, plan, engine, choices=again, stop=stop)
    assert [store.record(key) for key in store.finished()] == before
    run_plan(probe_layout, plan, engine, choices=again)
    after = [store.record(key) for key in store.finished()]
    assert len(after) == 2 and not [record for record in after if record in before]
    assert [record.verdict for record in after] == [Verdict.OK] * 2


def test_data_that_is_corrupt_costs_the_other_datasets_nothing(
    probe_layout: Layout, engine: Engine, tmp_path: Path
) -> None:
    manifest = load_manifest(probe_layout, "fdataset")
    wrong = tmp_path / "mirror" / mirror_path(manifest.files[0].urls[0])
    wrong.parent.mkdir(parents=True)
    wrong.write_bytes(b"not the file")
    text = probe_layout.datasets / "fdataset" / "dataset.toml"
    text.write_text(text.read_text().replace("https://raw.githubusercontent.com", "http://127.0.0.1:9"))
    wrong.rename(tmp_path / "file")
    wrong = tmp_path / "mirror" / mirror_path(load_manifest(probe_layout, "fdataset").files[0].urls[0])
    wrong.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "file").rename(wrong)
    good = probe_plan(probe_layout, 1).cells[0].job
    layout = replace(probe_layout, cache=probe_layout.local / "empty-cache")
    plan = make_plan(layout, "both", [good.model_copy(update={"dataset": "fdataset"}), good])
    run_plan(layout, plan, engine, choices=Choices(mirrors=(tmp_path / "mirror",)))
    corrupt, sound = join(plan, Store(layout.runs))
    assert corrupt.verdict is Verdict.MISSING_DATA and "recorded content" in corrupt.reason
    assert sound.verdict is Verdict.OK, sound.reason


def test_a_method_too_large_for_this_machine_costs_the_others_nothing(
    probe_layout: Layout, engine: Engine
) -> None:
    good = probe_plan(probe_layout, 1).cells[0].job
    card = probe_layout.methods / "constant" / "method.toml"
    card.write_text(re.sub(r'memory = "\w+"', 'memory = "100000GiB"', card.read_text()))
    parameters = dict(load_method(probe_layout, "constant").variant("published").parameters)
    large = good.model_copy(update={"method": "constant", "parameters": parameters})
    plan = make_plan(probe_layout, "both", [large, good])
    run_plan(probe_layout, plan, engine)
    refused, sound = join(plan, Store(probe_layout.runs))
    assert refused.verdict is Verdict.INFRASTRUCTURE
    assert "constant/published needs 1 CPU, 100000.0 GiB" in refused.reason
    assert sound.verdict is Verdict.OK, sound.reason


def test_a_dataset_that_is_nowhere_is_missing_data_not_an_error(probe_layout: Layout, engine: Engine) -> None:
    manifest = probe_layout.datasets / "fdataset" / "dataset.toml"
    text = manifest.read_text().replace("https://raw.githubusercontent.com", "http://127.0.0.1:9")
    manifest.write_text(text)
    layout = replace(probe_layout, cache=probe_layout.local / "empty-cache")
    job = Job(
        benchmark="repurposing",
        method="probe",
        dataset="fdataset",
        split=SplitSpec(strategy="random", seed=17263407),
        options={"inner_folds": 5},
    )
    plan = make_plan(layout, "missing", [job])
    store = Store(layout.runs)
    image = ensure_image(engine, probe_layout, "probe")
    assert plan.cells[0].planned is not None
    from harness.base.errors import MissingData

    with pytest.raises(MissingData) as caught:
        perform(Task(layout, plan.cells[0].planned, image), engine)
    Obstacles(store.folder).note("dataset", "fdataset", str(caught.value))
    (cell,) = join(plan, store)
    assert cell.verdict is Verdict.MISSING_DATA
    assert "Fdataset.mat" in cell.reason


def test_a_repetition_that_differs_makes_a_run_unstable(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 1, behaviour="flaky")
    planned = plan.cells[0].planned
    assert planned is not None
    task = Task(probe_layout, planned, ensure_image(engine, probe_layout, "probe"))
    record = perform(task, engine)
    store = Store(probe_layout.runs)
    stored = (store.path(planned.key) / "predictions.npy").read_bytes()
    with run_in_container(task, engine, threading.Event()) as run:
        assert (run.outcome.out_folder / "predictions.npy").read_bytes() != stored
    mark_unstable(store, record, "a repetition differed")
    assert [cell.verdict for cell in join(plan, store)] == [Verdict.UNSTABLE]
    assert left_to_run(join(plan, store)) == []


@pytest.mark.thorough
def test_a_run_can_be_performed_by_another_process(probe_layout: Layout, engine: Engine) -> None:
    """What a cluster's executor does: a pickled task, a process that planned nothing."""
    plan = probe_plan(probe_layout, 2)
    image = ensure_image(engine, probe_layout, "probe")
    tasks = [Task(probe_layout, cell.planned, image) for cell in plan.cells if cell.planned]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        records = list(pool.map(perform_anywhere, tasks))
    assert [record.verdict for record in records] == [Verdict.OK, Verdict.OK]
    assert [cell.verdict for cell in join(plan, Store(probe_layout.runs))] == [Verdict.OK, Verdict.OK]
    for record in records:
        Store(probe_layout.runs).check(record)


@pytest.mark.alone
def test_one_method_at_a_time_leaves_no_image(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 1)
    run_plan(probe_layout, plan, engine, choices=Choices(remove_images=True))
    (cell,) = join(plan, Store(probe_layout.runs), records=True)
    assert cell.verdict is Verdict.OK
    assert engine.image_id(cell.record["image"]["name"]) is None


@pytest.mark.thorough
def test_an_image_that_cannot_be_built_costs_the_other_methods_nothing(
    probe_layout: Layout, engine: Engine
) -> None:
    record = probe_layout.containers / "_r" / "tree.toml"
    recorded = re.search(r'tree = "(\w+)"', record.read_text())
    assert recorded is not None
    record.write_text(record.read_text().replace(recorded[1], "0" * 64))
    good = probe_plan(probe_layout, 1).cells[0].job
    card = load_method(probe_layout, "lrssl")
    bad = good.model_copy(update={"method": "lrssl", "parameters": dict(card.variant("published").parameters)})
    plan = make_plan(probe_layout, "both", [bad, good])
    run_plan(probe_layout, plan, engine)
    verdicts = {cell.job.method: (cell.verdict, cell.reason) for cell in join(plan, Store(probe_layout.runs))}
    assert verdicts["probe"][0] is Verdict.OK
    assert verdicts["lrssl"][0] is Verdict.INFRASTRUCTURE
    assert "recorded is 0000" in verdicts["lrssl"][1]


def test_a_method_without_a_recorded_environment_keeps_its_row(probe_layout: Layout) -> None:
    (probe_layout.containers / "_r" / "tree.toml").unlink()
    job = probe_plan(probe_layout, 1).cells[0].job.model_copy(update={"method": "lrssl"})
    (cell,) = make_plan(probe_layout, "one", [job]).cells
    assert cell.verdict is Verdict.INFRASTRUCTURE
    assert "never built" in cell.reason
