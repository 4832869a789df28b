"""What is asked for one run of a job, and what its record says. Containers are made up."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import __version__
from harness.base.errors import CorruptData, ImageError, InvalidPredictions, UsageError, WeightsError
from harness.base.layout import Layout
from harness.base.vocabulary import PROTOCOL_VERSION, Verdict
from harness.benchmarks.order import PUBLISHED, Arrangement
from harness.execution import gpus, tasks
from harness.execution.gpus import confirm_gpu
from harness.execution.inputs import job_folder, make_inputs, planned_weights
from harness.execution.runs import Limits, RunRequest, answer_files
from harness.execution.runs.outcome import Attempt
from harness.execution.tasks import Task, attempt, limits_of, order_of, perform, perform_anywhere, run_in_container
from harness.images import folder_tree
from harness.methods.card import load_method
from harness.methods.weights import bring_weights, kept_weights, load_weights
from harness.planning.jobs import PlannedJob
from harness.planning.obstacles import Obstacles
from harness.planning.request import replaceable
from harness.results.store import Store
from tests.campaigns.machines import until
from tests.core.word_for_word import said
from tests.fabricate import plan_of, planned_of
from tests.runs.made_up import ENGINE, IMAGE, Execute, contents, outcome_of


def planned_on(layout: Layout, method: str = "constant", **changed: Any) -> PlannedJob:
    planned = planned_of(plan_of(layout, [method], [17263407]).cells[0])
    return planned.model_copy(update={"job": planned.job.model_copy(update=changed)})


def look(request: RunRequest) -> dict[str, Any]:
    for folder in (one.source for one in request.mounts):
        assert all(path.stat().st_mode & 0o004 for path in (folder, *folder.rglob("*")))
    return {"/in": contents(request.in_folder), **{one.target: contents(one.source) for one in request.mounts}}


def test_a_card_decides_the_limits_and_a_lent_device_which_gpu(repository: Layout) -> None:
    card = load_method(repository, "mlp").of_variant("published", "cuda")
    card = card.model_copy(update={"resources": card.resources.model_copy(update={"gpus": 2, "cpus": 3})})
    resources = card.resources
    assert limits_of(card) == Limits(
        seconds=resources.seconds,
        memory_bytes=resources.memory_bytes,
        processes=resources.processes,
        output_bytes=resources.output_bytes,
        cpus=3,
        gpus=("0", "1"),
    )
    assert limits_of(card, ("4", "7")).gpus == ("4", "7")


def test_a_run_is_asked_for_with_all_that_its_plan_says(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, stop = planned_on(layout), threading.Event()
    told = list[Any]()

    @contextmanager
    def activity(*words: Any) -> Iterator[None]:
        told.append(words)
        yield

    execute = Execute(lambda _: outcome_of(tmp_path / "run"), look)
    monkeypatch.setattr(tasks, "execute", execute)
    monkeypatch.setattr(tasks, "activity", activity)
    task = Task(layout, planned, IMAGE, order="a secret", expected_s=7.0)
    with run_in_container(task, ENGINE, stop) as run:
        assert run.inputs.is_dir() and run.outcome.folder.is_dir() and run.order == "a secret"
    (request,), (seen,), (named,) = execute.requests, execute.seen, execute.named
    assert execute.engines == [ENGINE] and named["stop"] is stop
    assert told == [(f"run {planned.job.label}", 7.0)]
    files = answer_files("repurposing")
    assert request == RunRequest(
        image=IMAGE.name,
        image_id=IMAGE.image_id,
        in_folder=run.inputs,
        work=layout.local / "work",
        limits=limits_of(task.card),
        seed=planned.job.fit_seed,
        labels={"permafrost.key": planned.key},
        required=files["required"],
        expected=files["expected"],
    )
    again = tmp_path / "again"
    again.mkdir()
    card = task.card
    arrangement = make_inputs(layout, planned, card.inputs, order="a secret")
    job_folder(arrangement, again, planned, card)
    assert seen == {"/in": contents(again)}
    assert not run.inputs.exists() and not run.outcome.folder.exists()
    assert not list((layout.local / "work").glob("*/in-*")) + list((layout.local / "work").glob("*/upstream-*"))


def test_an_answer_is_checked_and_put_into_the_published_order(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = planned_on(layout)
    execute = Execute(lambda number: outcome_of(tmp_path / str(number)))
    monkeypatch.setattr(tasks, "execute", execute)
    task = Task(layout, planned, IMAGE, order="a secret")
    with run_in_container(task, ENGINE):
        pass
    arrangement = make_inputs(layout, planned, task.card.inputs, order="a secret")
    published = np.asarray(make_inputs(layout, planned, task.card.inputs).inputs["folds"])
    folds, out = np.asarray(arrangement.inputs["folds"]), tmp_path / "answer"
    assert not np.array_equal(folds, published)
    out.mkdir()
    tested = int((folds == -1).sum())
    scores = np.arange(5 * tested, dtype=float).reshape(5, tested) + 1
    np.save(out / "predictions.npy", scores)
    np.save(out / "validation.npy", np.ones(folds.size - tested))
    np.save(out / "lowest.npy", np.ones(5))
    (out / "method.json").write_text('{"protocol": 1}')
    execute.named[0]["check"](out)
    np.testing.assert_array_equal(np.load(out / "predictions.npy"), arrangement.restore["predictions.npy"](scores))
    assert not np.array_equal(np.load(out / "predictions.npy"), scores)
    np.save(out / "predictions.npy", scores[1:])
    with pytest.raises(InvalidPredictions, match="shape"):
        execute.named[0]["check"](out)


def test_a_new_run_has_an_order_of_its_own_unless_its_answer_depends_on_it(repository: Layout) -> None:
    ordinary, bound = load_method(repository, "constant"), load_method(repository, "pure_scibert")
    assert order_of(bound) == PUBLISHED and bound.published_order and not ordinary.published_order
    orders = {order_of(ordinary) for _ in range(5)}
    assert len(orders) == 5 and PUBLISHED not in orders


def test_a_record_says_how_its_run_went(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_on(layout)
    attempts = (Attempt(Verdict.INFRASTRUCTURE, "lost", 1.0), Attempt(Verdict.OK, "", 2.0))
    made = outcome_of(
        tmp_path / "run",
        files={"predictions.npy": b"x", "method.json": b"{}", "trace/a.npy": b"t"},
        attempts=attempts,
        exit_code=0,
        peak_bytes=77,
        reason=f"well, in {layout.local}/work",
        warnings=(f"no room in {layout.cache}/x",),
    )
    monkeypatch.setattr(tasks, "execute", Execute(lambda _: made))
    task = Task(layout, planned, IMAGE, order=PUBLISHED)
    Obstacles(layout.runs).note("run", planned.key, "it failed before")
    record, is_ours = attempt(task, ENGINE)
    assert is_ours and Store(layout.runs).record(planned.key) == record
    assert Obstacles(layout.runs).all("run") == {}
    resources = task.card.resources
    assert (record.key, record.planned, record.verdict) == (planned.key, planned, Verdict.OK)
    assert record.reason == "well, in RESULTS/work"
    assert record.image == {"name": IMAGE.name, "id": IMAGE.image_id, "environment_tree": "e", "code_tree": "c"}
    assert record.limits == {
        "seconds": resources.seconds,
        "memory_bytes": resources.memory_bytes,
        "processes": resources.processes,
        "output_bytes": resources.output_bytes,
        "cpus": resources.cpus,
        "gpus": 0,
    }
    assert record.resources["peak_bytes"] == 77 and record.resources["wall_s"] == 2.5
    assert record.resources["warnings"] == ["no room in CACHE/x"]
    assert not {"verdict", "reason", "started", "image_id", "attempts", "engine"} & record.resources.keys()
    assert record.engine == ENGINE.facts.as_json() and record.attempts == 2
    assert set(record.files) == {"job.json", "log.txt", "method.json", "predictions.npy", "trace/a.npy"}
    assert (record.started, record.harness_version, record.order) == (made.started, __version__, PUBLISHED)
    finished = datetime.strptime(record.finished, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - finished) < timedelta(minutes=10)
    assert record.made_by is not None and record.made_by.engine.startswith("docker")


def test_a_clock_that_was_set_back_lets_no_run_end_before_it_began(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit would fail an honest run for ever."""
    started = datetime.now(UTC) + timedelta(minutes=5)
    made = outcome_of(tmp_path / "made", started=started.isoformat(), wall_s=90.0)
    monkeypatch.setattr(tasks, "execute", Execute(lambda _: made))
    record, _ = attempt(Task(layout, planned_on(layout), IMAGE), ENGINE)
    finished = datetime.strptime(record.finished, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta(seconds=88) < finished - started <= timedelta(seconds=90)


def test_the_record_of_a_run_on_a_gpu_says_that_it_had_one(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Execute(lambda number: outcome_of(tmp_path / str(number)))
    monkeypatch.setattr(tasks, "execute", execute)
    on_cpu, on_gpu = planned_on(layout), planned_on(layout, accelerator="cuda")
    usual, _ = attempt(Task(layout, on_cpu, IMAGE), ENGINE)
    record, _ = attempt(Task(layout, on_gpu, IMAGE, gpus=("3",), again=True), ENGINE)
    assert [request.limits.gpus for request in execute.requests] == [(), ("3",)]
    memory = usual.limits["memory_bytes"] + (4 << 30)
    assert record.limits == {**usual.limits, "memory_bytes": memory, "gpus": 1}


def test_a_run_that_another_one_was_ahead_of_says_so(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = planned_on(layout)
    execute = Execute(lambda number: outcome_of(tmp_path / str(number), reason=f"made {number}"))
    monkeypatch.setattr(tasks, "execute", execute)
    task = Task(layout, planned, IMAGE)
    assert attempt(task, ENGINE)[1]
    record, is_ours = attempt(task, ENGINE)
    assert not is_ours and record.reason == "made 1", "the first stays"
    assert perform(Task(layout, planned, IMAGE, again=True), ENGINE).reason == "made 3"
    assert Store(layout.runs).record(planned.key).reason == "made 3"


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED])
def test_a_run_that_was_wanted_again_and_failed_is_not_told_as_the_one_that_stays(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    planned, verdicts = planned_on(layout), iter((Verdict.OK, verdict))
    execute = Execute(lambda number: outcome_of(tmp_path / str(number), next(verdicts), reason=f"made {number}"))
    monkeypatch.setattr(tasks, "execute", execute)
    first = perform(Task(layout, planned, IMAGE), ENGINE)
    record, is_ours = attempt(Task(layout, planned, IMAGE, again=True), ENGINE)
    assert (record.verdict, record.reason, is_ours) == (verdict, "made 2", True)
    assert Store(layout.runs).record(planned.key) == first and first.verdict is Verdict.OK


def test_a_worker_finds_an_engine_for_a_task_and_lets_it_go(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = list[Any]()

    @contextmanager
    def find_engine(*words: Any) -> Iterator[Any]:
        looked.append(words)
        yield ENGINE
        looked.append("closed")

    execute = Execute(lambda _: outcome_of(tmp_path / "run"))
    monkeypatch.setattr(tasks, "execute", execute)
    monkeypatch.setattr(tasks, "find_engine", find_engine)
    planned = planned_on(layout)
    assert perform_anywhere(Task(layout, planned, IMAGE)).key == planned.key
    assert looked == [(layout,), "closed"] and execute.engines == [ENGINE]


def test_runs_on_one_dataset_wait_for_each_other_and_others_do_not(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it is converted once."""
    planned = planned_on(layout)
    other = planned.model_copy(update={"split_digest": "0" * 64})
    began, may_end, inputs = list[PlannedJob](), threading.Event(), Arrangement({})

    def make_inputs(_layout: Layout, planned: PlannedJob, names: Any, mirrors: Any, *, order: str) -> Any:
        began.append(planned)
        assert (names, mirrors, order) == (load_method(layout, "constant").inputs, (Path("/m"),), "o")
        may_end.wait(20)
        return inputs

    monkeypatch.setattr(tasks, "make_inputs", make_inputs)
    with ThreadPoolExecutor(3) as pool:
        made = [
            pool.submit(tasks.arrangement_of, Task(layout, one, IMAGE, (Path("/m"),)), "o")
            for one in (planned, planned, other)
        ]
        until(lambda: len(began) == 2)
        wait(made, timeout=0.2)
        seen = list(began)
        may_end.set()
    assert sorted(one.split_digest for one in seen) == sorted([planned.split_digest, other.split_digest])
    assert len(began) == 3 and [one.result() for one in made] == [inputs] * 3


def test_a_request_asks_for_a_report_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert Limits(1, 2) == Limits(1, 2, 256, 1 << 30, 10_000, 256 << 20, 1 << 20, 1.0, (), 5.0)
    assert answer_files("combos") == {
        "required": ("combinations.jsonl",),
        "expected": ("combinations.jsonl", "method.json"),
    }
    # what need not be there is taken where it is
    assert answer_files("repurposing") == {
        "required": ("predictions.npy", "lowest.npy"),
        "expected": ("predictions.npy", "validation.npy", "lowest.npy", "method.json"),
    }
    usual = RunRequest("name", "id", tmp_path / "in", tmp_path / "work", Limits(1, 1))
    assert usual == RunRequest(
        "name",
        "id",
        tmp_path / "in",
        tmp_path / "work",
        Limits(1, 1),
        seed=None,
        labels={},
        environment={},
        mounts=(),
        entrypoint=None,
        command=None,
        required=("method.json",),
        expected=("method.json",),
        traces=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The authors' repository: code, data, links and what git keeps."""
    folder = tmp_path / "checkout"
    for name in ("als.py", "deep/er/more.PY", "labels.csv", ".git/hook.py", "main.m"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
        (folder / name).chmod(0o600)
    (folder / "link.py").symlink_to("labels.csv")
    (folder / "folder.py").mkdir()
    return folder


def test_only_the_code_of_a_checkout_is_mounted_ahead_of_ours(
    layout: Layout, tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = planned_on(layout, "als_wr", upstream=folder_tree(checkout))
    execute = Execute(lambda _: outcome_of(tmp_path / "run"), look)
    monkeypatch.setattr(tasks, "execute", execute)
    perform(Task(layout, planned, IMAGE, upstream=checkout), ENGINE)
    (request,) = execute.requests
    assert [mount.target for mount in request.mounts] == ["/opt/upstream"]
    assert execute.seen[0]["/opt/upstream"] == {
        "als.py": b"# als.py\n",
        "deep/er/more.PY": b"# deep/er/more.PY\n",
    }
    assert dict(request.environment) == {
        "PERMAFROST_UPSTREAM": "/opt/upstream",
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": "/opt/upstream:/opt/method:/opt/sdk",
    }


@pytest.mark.parametrize(
    ("method", "sources"),
    [
        ("als_wr", ["a.py"]),
        ("bnnr", ["a.m"]),
        ("lrssl", ["a.R", "b.r"]),
        ("biolne", ["a.java"]),
    ],
)
def test_the_code_of_a_checkout_is_that_of_the_methods_language(
    layout: Layout, tmp_path: Path, method: str, sources: list[str]
) -> None:
    given, inputs, code = (tmp_path / name for name in ("given", "in", "code"))
    for folder in (given, inputs, code):
        folder.mkdir()
    replaced = replaceable(layout, method)[0]
    for name in ("a.py", "a.m", "a.R", "b.r", "a.java", "a.txt", "a", replaced):
        (given / name).touch()
    usual = planned_on(layout)
    job = usual.job.model_copy(update={"method": method, "upstream": folder_tree(given)})
    task = Task(layout, usual.model_copy(update={"job": job}), IMAGE, upstream=given)
    request = tasks.prepare(task, Arrangement({}), tmp_path, inputs=inputs, code=code)
    assert sorted(contents(code)) == sorted([*sources, replaced])
    assert [one.source for one in request.mounts] == [code]


def test_a_checkout_may_lie_below_a_folder_of_git(
    layout: Layout, tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a submodule's working tree may."""
    below = tmp_path / ".git" / "modules" / "theirs"
    below.parent.mkdir(parents=True)
    checkout.rename(below)
    execute = Execute(lambda _: outcome_of(tmp_path / "run"), look)
    monkeypatch.setattr(tasks, "execute", execute)
    perform(Task(layout, planned_on(layout, "als_wr", upstream=folder_tree(below)), IMAGE, upstream=below), ENGINE)
    assert set(execute.seen[0]["/opt/upstream"]) == {"als.py", "deep/er/more.PY"}


def test_a_checkout_of_which_nothing_replaces_our_code_is_not_run(
    layout: Layout, tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "als.py").rename(tmp_path / "als.py")
    (checkout / "als.py").symlink_to(tmp_path / "als.py")
    execute = Execute(lambda _: outcome_of(tmp_path / "run"))
    monkeypatch.setattr(tasks, "execute", execute)
    planned = planned_on(layout, "als_wr", upstream=folder_tree(checkout))
    with pytest.raises(UsageError, match="so that our own code would run"):
        perform(Task(layout, planned, IMAGE, upstream=checkout), ENGINE)
    assert not execute.requests


def test_another_checkout_than_the_planned_one_is_refused(
    layout: Layout, checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    planned = planned_on(layout, "als_wr", upstream=folder_tree(checkout))
    monkeypatch.setattr(tasks, "execute", Execute(lambda _: outcome_of(tmp_path / "run")))
    # whatever its digest is compared with the planned one: larger or smaller
    for given, where in (*((checkout, str(checkout)),) * 6, (None, "not given")):
        with (checkout / "als.py").open("a") as file:
            file.write("changed")
        with pytest.raises(UsageError) as refused:
            perform(Task(layout, planned, IMAGE, upstream=given), ENGINE)
        assert said(refused.value) == (
            "the upstream checkout is not the one that was planned",
            where,
            "give the same folder, unchanged, with --upstream",
        )


def test_data_are_found_again_and_the_note_that_they_were_missing_goes(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Obstacles(layout.runs).note("dataset", "synthetic", "nowhere")
    Obstacles(layout.runs).note("dataset", "gottlieb", "nowhere")
    monkeypatch.setattr(tasks, "execute", Execute(lambda _: outcome_of(tmp_path / "run")))
    perform(Task(layout, planned_on(layout), IMAGE), ENGINE)
    assert set(Obstacles(layout.runs).all("dataset")) == {"gottlieb"}


def test_a_job_is_told_whole(layout: Layout, tmp_path: Path) -> None:
    planned = planned_on(layout, "als_wr", variant="corrected", options={"inner_folds": 0})
    card = load_method(layout, "als_wr")
    own = {"seconds": 11, "memory": "2MiB", "processes": 13, "output": "3MiB", "cpus": 5}
    card = card.model_copy(update={"resources": card.resources.model_copy(update=own)})
    job_folder(make_inputs(layout, planned, card.inputs), tmp_path, planned, card)
    told = json.loads((tmp_path / "job.json").read_text())
    assert set(told.pop("inputs")) >= {"associations", "folds"}
    assert told == {
        "protocol": PROTOCOL_VERSION,
        "benchmark": "repurposing",
        "task": "predict",
        "method": "als_wr",
        "variant": "corrected",
        "seed": planned.job.fit_seed,
        "parameters": planned.job.parameters,
        "inner_folds": 0,
        "limits": {
            "seconds": 11,
            "memory_bytes": 2 << 20,
            "processes": 13,
            "output_bytes": 3 << 20,
            "threads": 5,
        },
        "trace": False,
    }


@pytest.mark.parametrize("kind", ["dataset", "split"])
def test_other_data_than_the_planned_ones_are_refused(layout: Layout, kind: str) -> None:
    planned = planned_on(layout)
    digest = getattr(planned, f"{kind}_digest")
    for instead in ("0" * 64, f"{digest[:-1]}{'1' if digest[-1] == '0' else '0'}"):
        other = planned.model_copy(update={f"{kind}_digest": instead})
        with pytest.raises(CorruptData) as refused:
            make_inputs(layout, other, ["folds"])
        assert said(refused.value) == (
            f"the {kind} is not the one that was planned",
            f"{planned.job.label}: {digest[:16]} instead of {instead[:16]}",
            "run `harness data verify` and `harness split verify`",
        )


@pytest.fixture
def with_weights(repository: Layout, tmp_path: Path) -> Layout:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    for name in ("pure_scibert", "pure_scibert:dapt"):
        brought = tmp_path / f"brought {name}"
        brought.mkdir()
        for file in load_weights(layout, name).files:
            (brought / file).write_text(f"{name} {file}")
        bring_weights(layout, name, given=brought, say=lambda _: None)
    return layout


def test_a_variant_gets_its_own_pretrained_model_or_none(
    layout: Layout, with_weights: Layout, tmp_path: Path
) -> None:
    plain = planned_on(layout)
    assert planned_weights(with_weights, plain) is None
    kept = {name: kept_weights(with_weights, name) for name in ("pure_scibert", "pure_scibert:dapt")}
    for variant, name in (("published", "pure_scibert"), ("dapt", "pure_scibert:dapt")):
        job = plain.job.model_copy(update={"method": "pure_scibert", "variant": variant})
        planned = plain.model_copy(update={"job": job, "weights_digest": kept[name].digest})
        weights = planned_weights(with_weights, planned)
        assert weights == kept[name]
        folder = tmp_path / variant
        folder.mkdir()
        card = load_method(with_weights, "pure_scibert")
        job_folder(Arrangement({}), folder, planned, card, weights=weights)
        names = load_weights(with_weights, name).files
        assert {path.name: path.read_text() for path in (folder / "weights").iterdir()} == {
            file: f"{name} {file}" for file in names
        }
        told = json.loads((folder / "job.json").read_text())
        assert told["weights"] == kept[name].described() and told["trace"] is False
    job = plain.job.model_copy(update={"method": "pure_scibert"})
    title, digest = kept["pure_scibert"].manifest.title, kept["pure_scibert"].digest
    for instead in ("0" * 64, f"{digest[:-1]}{'1' if digest[-1] == '0' else '0'}"):
        other = plain.model_copy(update={"job": job, "weights_digest": instead})
        with pytest.raises(WeightsError) as refused:
            planned_weights(with_weights, other)
        assert said(refused.value) == (
            f"{title} is not the one that was planned",
            f"{job.label}: {digest[:16]} instead of {instead[:16]}",
            "plan the job again",
        )


@pytest.mark.parametrize("change", [lambda path: path.write_text("others"), Path.unlink])
def test_a_pretrained_model_that_was_changed_since_is_not_given(
    layout: Layout, with_weights: Layout, change: Callable[[Path], object]
) -> None:
    plain, kept = planned_on(layout), kept_weights(with_weights, "pure_scibert")
    job = plain.job.model_copy(update={"method": "pure_scibert"})
    planned = plain.model_copy(update={"job": job, "weights_digest": kept.digest})
    last = sorted(kept.sha256)[-1]
    change(kept.folder / last)
    with pytest.raises(WeightsError, match=f"'{last}' of .* was changed"):
        planned_weights(with_weights, planned)


def test_a_gpu_is_tried_in_the_very_image_with_the_limits_of_a_run(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = outcome_of(tmp_path / "run", files={})
    execute = Execute(lambda _: made, lambda request: list(request.in_folder.iterdir()))
    monkeypatch.setattr(gpus, "execute", execute)
    limits = Limits(seconds=7, memory_bytes=1 << 30, gpus=("3",))
    confirm_gpu(ENGINE, layout, IMAGE, limits)
    (request,) = execute.requests
    assert execute.engines == [ENGINE] and execute.seen == [[]]
    assert request == RunRequest(
        image=IMAGE.name,
        image_id=IMAGE.image_id,
        in_folder=request.in_folder,
        work=layout.local / "work",
        limits=Limits(seconds=300, memory_bytes=1 << 30, gpus=("3",)),
        entrypoint=("/usr/bin/tini-static", "--", "/opt/venv/bin/python3", "-c"),
        command=("import torch; torch.ones(1, device='cuda').sum().item()",),
        required=(),
        expected=(),
    )
    assert not made.folder.exists() and not request.in_folder.exists()


@pytest.mark.parametrize("verdict", [one for one in Verdict if one is not Verdict.OK])
def test_a_gpu_that_does_not_compute_is_told_with_the_words_of_its_library(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    """Also where the question was killed, met a limit, or never began."""
    made = outcome_of(tmp_path / "run", verdict, log=b"x" * 2000 + b"\nno CUDA\n", reason="exit code 1")
    monkeypatch.setattr(gpus, "execute", Execute(lambda _: made))
    with pytest.raises(ImageError) as refused:
        confirm_gpu(ENGINE, layout, IMAGE, Limits(1, 1))
    assert said(refused.value) == (
        f"a container of {IMAGE.name} can't compute on the GPU: exit code 1",
        "[the last 1,000 of 2,009 bytes]\nno CUDA\n",
        "compare the driver with the CUDA version of the image's torch, or run on the CPU (--accelerator cpu)",
    )
    assert not made.folder.exists()
