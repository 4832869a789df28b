"""What a campaign makes of a plan: which runs begin, with what, in which images, and what it tells."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from harness.base.errors import EngineError, ImageError, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution import campaign, turns
from harness.execution.bulletins import Tally
from harness.execution.campaign import Choices, left_to_run, mark_unstable, run_cells
from harness.execution.cluster import Cluster, Worker
from harness.execution.errands import Errand
from harness.execution.gpus import Gpu
from harness.execution.tasks import Task, limits_of
from harness.execution.turns import CampaignState, Expected
from harness.images import BuiltImage, Supply
from harness.planning.budget import Share
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import card_of
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.proof.plans import load_plan
from harness.results.store import Store, join
from tests.campaigns.test_one_run_ends_the_campaign import IMAGE, made_up_plan
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job, put_run

ENGINE = cast(Engine, SimpleNamespace(name="podman", facts="facts"))
MACHINE = Share(cpus=3, memory=40 << 30)


def image_of(method: str) -> BuiltImage:
    return IMAGE.model_copy(update={"name": f"image of {method}", "size_bytes": 2_400_000})


@dataclass
class Heard:
    """All that a person is told, in its order, and all that is asked of engine and images."""

    lines: list[str] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)

    def begin(self, title: str, total: int) -> None:
        self.lines.append(f"# {title}: {total}")

    def step(self, text: str) -> None:
        self.lines.append(f"- {text}")

    def note(self, text: str) -> None:
        self.lines.append(text)

    def take_image(
        self, engine: Any, layout: Layout, method: str, accelerator: str, *, supply: Supply, in_use: Any
    ) -> Any:
        self.asked.append(("take", method, accelerator, supply.mirrors, sorted(in_use)))
        supply.announce(f"building {method}")
        assert engine is ENGINE and supply.progress is not None
        supply.progress(1, 2, cast(Any, None))
        return image_of(method)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Images are there, and runs are noted instead of made."""
    heard = Heard()

    def take_turns(tasks: Sequence[Task], engine: Any, state: CampaignState) -> None:
        assert engine is ENGINE
        heard.asked.append(("run", *(task.planned.job.method for task in tasks)))
        heard.tasks += tasks

    monkeypatch.setattr(campaign, "take_image", heard.take_image)
    monkeypatch.setattr(campaign, "take_turns", take_turns)
    monkeypatch.setattr(campaign, "remove_orphans", lambda engine: [])
    monkeypatch.setattr(campaign, "remove_images", lambda *words: heard.asked.append(("remove", *words)))
    monkeypatch.setattr(campaign, "this_machine", lambda **more: replace(MACHINE, gpus=more.get("gpus", 0)))
    return heard


def run(layout: Layout, plan: Plan, heard: Heard, choices: Choices | None = None, **more: Any) -> bool:
    joined = join(plan, Store(layout.runs), records=True)
    return run_cells(layout, joined, ENGINE, choices=choices, progress=heard, name=plan.name, **more)


CELL = some.builds(
    lambda seed, verdict, can: Cell(planned_job(seed).job, planned_job(seed) if can else None, verdict, ""),
    some.integers(0, 9),
    some.sampled_from(list(Verdict)),
    some.booleans(),
)


@given(cells=some.lists(CELL, max_size=12), again=some.sets(some.sampled_from(list(Verdict)), max_size=3))
def test_what_is_not_final_or_is_wanted_again_is_left(cells: list[Cell], again: set[Verdict]) -> None:
    def is_left(cell: Cell) -> bool:
        return cell.planned is not None and (not cell.verdict.is_final or cell.verdict in again)

    chosen = [cell for cell in cells if is_left(cell)]
    failed = [cell for cell in chosen if cell.verdict is Verdict.INFRASTRUCTURE]
    assert list(left_to_run(cells, again)) == [cell for cell in chosen if cell not in failed] + failed
    assert list(left_to_run(cells)) == [cell for cell in left_to_run(cells, again) if not cell.verdict.is_final]


def test_each_run_has_what_was_chosen_and_its_own_image(layout: Layout, heard: Heard, tmp_path: Path) -> None:
    plan, store = made_up_plan("constant", "als_wr", runs=2), Store(layout.runs)
    done, failed = plan.cells[0].planned, plan.cells[1].planned
    assert done and failed
    put_run(store, done, tmp_path / "files", Verdict.OK)
    put_run(store, failed, tmp_path / "files", Verdict.TIMEOUT)
    choices = Choices(mirrors=(Path("/m"),), upstream=Path("/u"), again=frozenset({Verdict.TIMEOUT}))
    assert run(layout, plan, heard, choices) is False
    assert sorted(task.planned.key for task in heard.tasks) == sorted(str(cell.key) for cell in plan.cells[1:])
    for task in heard.tasks:
        method = task.planned.job.method
        assert (task.layout, task.image.name) == (layout, f"image of {method}")
        assert (task.mirrors, task.upstream, task.again) == ((Path("/m"),), Path("/u"), task.planned == failed)
        assert task.order is None and task.gpus == ()
    assert heard.asked == [
        ("take", "constant", "cpu", (Path("/m"),), ["als_wr", "constant"]),
        ("take", "als_wr", "cpu", (Path("/m"),), ["als_wr", "constant"]),
        ("run", *(task.planned.job.method for task in heard.tasks)),
    ]
    assert heard.lines == [
        "# images: 2",
        *("building constant", "fetched 1 of 2 parts", "- image of constant: 2 MB"),
        *("building als_wr", "fetched 1 of 2 parts", "- image of als_wr: 2 MB"),
    ]


def test_without_choices_nothing_is_run_again(layout: Layout, heard: Heard, tmp_path: Path) -> None:
    plan = made_up_plan("constant", runs=3)
    assert plan.cells[0].planned
    put_run(Store(layout.runs), plan.cells[0].planned, tmp_path / "files", Verdict.ERROR)
    run(layout, plan, heard)
    assert [task.planned.job.split.seed for task in heard.tasks] == [1, 2]
    assert {(task.mirrors, task.upstream, task.again) for task in heard.tasks} == {((), None, False)}
    assert Choices() == Choices((), None, frozenset(), False, None)


def test_where_nothing_is_left_nothing_begins(layout: Layout, heard: Heard, tmp_path: Path) -> None:
    plan = made_up_plan("constant")
    assert plan.cells[0].planned
    put_run(Store(layout.runs), plan.cells[0].planned, tmp_path / "files")
    assert run(layout, plan, heard) is False
    assert heard == Heard() and [leaf.kind for leaf in Store(layout.runs).log.leaves()] == ["record"]


def test_a_plan_enters_the_log_whole_before_anything_is_run(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = made_up_plan("constant", runs=2)
    refused = Cell(planned_job(7, "bnnr").job, None, Verdict.NOT_APPLICABLE, "no")
    seen = list[Any]()
    monkeypatch.setattr(campaign, "take_turns", lambda *_: seen.extend(Store(layout.runs).log.leaves()))
    run_cells(layout, [*plan.cells[:1]], ENGINE, progress=heard, name="part", announced=[*plan.cells, refused])
    (leaf,) = seen
    assert (leaf.kind, leaf.scope, leaf.cells) == ("plan", "part", 3)
    assert [(one.key, one.label, one.verdict) for one in load_plan(layout.local, leaf.plan)] == [
        *((cell.key, f"repurposing: {cell.job.label}", "") for cell in plan.cells),
        ("", f"repurposing: {refused.job.label}", "not-applicable"),
    ]
    run_cells(layout, plan.cells[1:], ENGINE, progress=heard, name="other")
    assert [(one.scope, one.cells) for one in Store(layout.runs).log.leaves()] == [("part", 3), ("other", 1)]


def test_what_was_put_right_in_the_log_is_told(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(layout, made_up_plan("constant"), heard)
    with (Store(layout.runs).log.path).open("a") as file:
        file.write('{"half a li')
    heard.lines.clear()
    run(layout, made_up_plan("als_wr"), heard)
    assert "half" in heard.lines[0] or "line" in heard.lines[0], heard.lines


def test_a_method_without_an_image_costs_the_others_nothing(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [ImageError("no wheel", where="lock", todo="fetch"), MissingData("no part")]

    def take_image(*words: Any, **more: Any) -> Any:
        if words[2] == "als_wr" and errors:
            raise errors[0]
        return heard.take_image(*words, **more)

    monkeypatch.setattr(campaign, "take_image", take_image)
    plan = made_up_plan("als_wr", "constant")
    while errors:
        heard.lines.clear()
        heard.tasks.clear()
        assert run(layout, plan, heard) is False
        assert [task.planned.job.method for task in heard.tasks] == ["constant"]
        assert Obstacles(layout.runs).all("method") == {"als_wr": str(errors[0])}
        assert heard.lines.count(f"- infrastructure: no image of als_wr: {errors[0]}") == 1
        assert [line for line in heard.lines if "MB" in line] == ["- image of constant: 2 MB"]
        errors.pop(0)
    run(layout, plan, heard)
    assert Obstacles(layout.runs).all("method") == {}, "it can be built again"


@pytest.mark.parametrize("times", [1, 2])
def test_an_engine_that_is_lost_while_images_are_made_is_asked_once_more(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    losses, renewed = [ConnectionResetError(104, "Connection reset by peer")] * times, list[int]()

    def take_image(*words: Any, **more: Any) -> Any:
        if words[2] == "als_wr" and losses:
            raise losses.pop()
        return heard.take_image(*words, **more)

    monkeypatch.setattr(campaign, "take_image", take_image)
    monkeypatch.setattr(ENGINE, "renew", lambda: renewed.append(1), raising=False)
    assert run(layout, made_up_plan("als_wr", "constant"), heard) is False
    reason = "[Errno 104] Connection reset by peer"
    assert f"the engine failed, and is asked once more: {reason}" in heard.lines and renewed == [1]
    assert [task.planned.job.method for task in heard.tasks] == ["als_wr", "constant"][times - 1 :]
    assert Obstacles(layout.runs).all("method") == ({"als_wr": reason} if times == 2 else {})
    assert (f"- infrastructure: no image of als_wr: {reason}" in heard.lines) is (times == 2)


def test_an_engine_that_does_not_come_back_ends_it_and_is_named(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew() -> None:
        raise EngineError("the docker engine went away")

    def take_image(*words: Any, **more: Any) -> Any:
        raise ConnectionResetError

    monkeypatch.setattr(campaign, "take_image", take_image)
    monkeypatch.setattr(ENGINE, "renew", renew, raising=False)
    with pytest.raises(EngineError, match="went away"):
        run(layout, made_up_plan("constant"), heard)


def test_one_method_at_a_time_has_its_image_and_leaves_none(layout: Layout, heard: Heard) -> None:
    plan = made_up_plan("constant", "als_wr", "lrssl", runs=2)
    mixed = replace(plan, cells=tuple(plan.cells[place] for place in (0, 2, 1, 4, 3, 5)))
    run(layout, mixed, heard, Choices(remove_images=True))
    assert [words[:2] for words in heard.asked] == [
        action
        for method in ("constant", "als_wr", "lrssl")
        for action in (("take", method), ("run", method), ("remove", ENGINE))
    ]
    assert [words for words in heard.asked if words[0] == "run"] == [
        ("run", method, method) for method in ("constant", "als_wr", "lrssl")
    ]
    removed = [words for words in heard.asked if words[0] == "remove"]
    assert removed == [("remove", ENGINE, layout, method, "cpu") for method in ("constant", "als_wr", "lrssl")]
    assert [words[4] for words in heard.asked if words[0] == "take"] == [["constant"], ["als_wr"], ["lrssl"]]


@pytest.mark.parametrize(
    ("name", "served", "is_emptied"), [("docker", True, True), ("docker", False, False), ("podman", True, False)]
)
def test_with_an_image_goes_what_our_own_builder_keeps_of_it(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch, *, name: str, served: bool, is_emptied: bool
) -> None:
    """It keeps every layer that it built. In an engine of somebody else's it may be of other builds."""
    monkeypatch.setattr(campaign, "empty_build_cache", lambda engine: heard.asked.append(("empty", engine)))
    engine = cast(
        Engine, SimpleNamespace(name=name, socket=Path("/run/other.sock"), facts=SimpleNamespace(served=served))
    )
    monkeypatch.setattr(sys.modules[__name__], "ENGINE", engine)
    run(layout, made_up_plan("constant", "als_wr"), heard, Choices(remove_images=True))
    assert [words[0] for words in heard.asked] == ["take", "run", "remove", *(["empty"] * is_emptied)] * 2
    heard.asked.clear()
    run(layout, made_up_plan("constant"), heard)
    assert [words[0] for words in heard.asked] == ["take", "run"]


def test_who_stops_gets_no_more_images_and_is_told_that_it_was_stopped(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()

    def take_image(*words: Any, **more: Any) -> Any:
        stop.set()
        return heard.take_image(*words, **more)

    monkeypatch.setattr(campaign, "take_image", take_image)
    assert run(layout, made_up_plan("constant", "als_wr"), heard, stop=stop) is True
    assert [words[0] for words in heard.asked] == ["take", "run"]
    heard.asked.clear()
    stop.clear()
    assert run(layout, made_up_plan("constant", "als_wr"), heard, Choices(remove_images=True), stop=stop) is True
    assert [words[0] for words in heard.asked] == ["take", "run", "remove"], "and of no other method"


def test_a_run_that_is_too_large_for_this_machine_says_so_and_is_not_run(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = made_up_plan("constant", "nimcgcn")
    large = card_of(layout, plan.cells[1].job).resources
    small = Share(cpus=2, memory=large.memory_bytes - 1)
    monkeypatch.setattr(campaign, "this_machine", lambda **_: small)
    run(layout, plan, heard)
    needed = Share.of(large)
    reason = f"nimcgcn/published needs {needed}; this machine can lend {small}"
    assert Obstacles(layout.runs).all("variant") == {"nimcgcn-published": reason} and reason in heard.lines
    assert [task.planned.job.method for task in heard.tasks] == ["constant"]
    assert [words[1] for words in heard.asked if words[0] == "take"] == ["constant"]
    monkeypatch.setattr(campaign, "this_machine", lambda **_: Share(cpus=2, memory=large.memory_bytes))
    run(layout, plan, heard)
    assert Obstacles(layout.runs).all("variant") == {}
    assert "nimcgcn" in {task.planned.job.method for task in heard.tasks}


def test_the_largest_worker_is_named_by_its_processors_first() -> None:
    heard, lent = Heard(), [Share(1, 5 << 30), Share(2, 1 << 20), Share(2, 2 << 20), Share(1, 3)]
    layout = Layout(root=REPOSITORY, cache=Path("none"), local=Path("none"))
    noted = list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Obstacles, "note", lambda _self, *words: noted.append(words))
        cells = Cells(made_up_plan("nimcgcn").cells)
        assert not campaign._cells_that_fit(layout, cells, lent, "the largest lends {}", heard)
    assert heard.lines[0].endswith(f"; the largest lends {lent[2]}") and noted[0][2] == heard.lines[0]


def test_time_is_expected_of_every_run_and_shared_out_over_all_processors(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, ordered = list[Any](), list[Any]()
    monkeypatch.setattr(Tally, "expect", lambda _self, seconds: expected.extend(seconds))

    class Durations:
        def __init__(self, *words: Any) -> None:
            assert words[0] is layout and words[2] is heard and len(words[1]) == 4

        def seconds(self, cell: Cell) -> float:
            return 100.0

        def before(self, cell: Cell) -> float | None:
            return None if cell.job.method == "constant" else 7.0

        def all_before(self, cells: Any) -> list[float | None]:
            return [self.before(cell) for cell in cells]

    def starting_order(cells: Any, seconds: Callable[[Cell], float], processors: int) -> Any:
        ordered.append((len(cells), seconds(cells[0]), processors))
        return turns.starting_order(cells, seconds, processors)

    monkeypatch.setattr(campaign, "Expected", Durations)
    monkeypatch.setattr(campaign, "starting_order", starting_order)
    run(layout, made_up_plan("constant", "als_wr", runs=2), heard)
    assert expected == [None, None, 7.0, 7.0] and ordered == [(4, 100.0, 3)]
    assert [task.expected_s for task in heard.tasks] == [None, None, 7.0, 7.0]


def test_what_a_killed_harness_left_is_removed_and_named(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import os, sys; from pathlib import Path; from harness.base.ownership import own_folder;"
        "(own_folder(Path(sys.argv[1])) / 'in-x').mkdir(); os._exit(0)"
    )
    work = layout.local / "work"
    subprocess.run([sys.executable, "-c", program, str(work)], cwd=REPOSITORY, check=True)
    (left,) = work.glob("harness-*")
    engines = list[Any]()

    def remove_orphans(engine: Engine) -> list[Any]:
        engines.append(engine)
        return [SimpleNamespace(run="run-1")]

    monkeypatch.setattr(campaign, "remove_orphans", remove_orphans)
    run(layout, made_up_plan("constant"), heard)
    assert not left.exists() and os.path.lexists(work)
    assert engines == [ENGINE]
    assert heard.lines[0] == "removed a container that a killed harness had left: run-1"


def on_gpu(cell: Cell) -> Cell:
    assert cell.planned is not None
    job = cell.job.model_copy(update={"accelerator": "cuda"})
    return Cell(job, cell.planned.model_copy(update={"job": job}))


def test_each_gpu_is_tried_with_each_image_and_lent(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = made_up_plan("mlp", "constant", "han", runs=2)
    cells = [cell if cell.job.method == "constant" else on_gpu(cell) for cell in plan.cells]
    usable, tried, states = list[Any](), list[Any](), list[CampaignState]()

    def usable_gpus(*words: Any) -> list[Gpu]:
        usable.append(words)
        return [Gpu("H100", "9.0", number) for number in ("2", "5")]

    monkeypatch.setattr(campaign, "usable_gpus", usable_gpus)
    monkeypatch.setattr(campaign, "confirm_gpu", lambda *words: tried.append(words))
    monkeypatch.setattr(campaign, "take_turns", lambda tasks, engine, state: states.append(state))
    run(layout, replace(plan, cells=tuple(cells)), heard)
    assert usable == [(layout, "facts", ["han", "mlp"])]
    (state,) = states
    assert state.budget.total == replace(MACHINE, gpus=2) and state.budget.gpus == ("2", "5")
    assert tried == [
        (ENGINE, layout, image_of(job.method), limits_of(card_of(layout, job), (number,)))
        for job in (cells[0].job, cells[-1].job)
        for number in ("2", "5")
    ]
    usable.clear()
    run(layout, made_up_plan("constant", runs=1), heard)
    assert not usable, "no method here asks for one"


def test_in_an_image_that_does_not_compute_on_the_gpu_nothing_is_run(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirm_gpu(*_: Any) -> None:
        raise ImageError("no CUDA")

    monkeypatch.setattr(campaign, "usable_gpus", lambda *_: [Gpu("H100", "9.0", "2")])
    monkeypatch.setattr(campaign, "confirm_gpu", confirm_gpu)
    plan = made_up_plan("mlp", "constant")
    run(layout, replace(plan, cells=(on_gpu(plan.cells[0]), plan.cells[1])), heard)
    assert [task.planned.job.method for task in heard.tasks] == ["constant"]
    assert Obstacles(layout.runs).all("method") == {"mlp-cuda": "no CUDA"}


def test_of_a_method_on_both_its_two_images_are_removed(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "usable_gpus", lambda *_: [Gpu("H100", "9.0", "2")])
    monkeypatch.setattr(campaign, "confirm_gpu", lambda *_: None)
    plan = made_up_plan("mlp")
    run(layout, replace(plan, cells=(*plan.cells, on_gpu(plan.cells[0]))), heard, Choices(remove_images=True))
    removed = [words for words in heard.asked if words[0] == "remove"]
    assert removed == [("remove", ENGINE, layout, "mlp", name) for name in ("cpu", "cuda")]


def test_a_repetition_that_differed_is_in_the_record(layout: Layout, tmp_path: Path) -> None:
    store, planned = Store(layout.runs), planned_job()
    record = put_run(store, planned, tmp_path / "files")
    changed = mark_unstable(store, record, "the second gave others")
    assert (changed.verdict, changed.reason) == (Verdict.UNSTABLE, "the second gave others")
    assert store.record(planned.key) == changed and changed.files == record.files


def test_an_engine_that_fails_is_no_methods_missing_image(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> Any:
        raise EngineError("the engine is gone")

    monkeypatch.setattr(campaign, "take_image", gone)
    with pytest.raises(EngineError, match="the engine is gone"):
        run(layout, made_up_plan("constant"), heard)
    assert Obstacles(layout.runs).all("method") == {}


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is handed out on a cluster of two workers."""
    handed = list[Any]()

    def hand_out(cluster: Any, errands: Any, count: int, state: CampaignState, wanted: Path) -> None:
        handed.append((cluster, list(errands), count, state, wanted, wanted.exists()))

    shares = [Share(2, 7 << 30), Share(3, 1 << 30)]
    monkeypatch.setattr(campaign, "own_meaning", lambda: "this harness")
    monkeypatch.setattr(campaign, "hand_out", hand_out)
    monkeypatch.setattr(campaign, "check_workers", lambda *_: [Worker(str(one), 1, one) for one in shares])
    return handed


CLUSTER = Cluster(cast(Any, None), "tcp://x:1")


def test_a_cluster_is_asked_for_each_run_that_is_left(
    layout: Layout, heard: Heard, workers: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store, ordered, told = made_up_plan("constant", runs=4), Store(layout.runs), list[int](), list[Any]()
    for place, verdict in ((0, Verdict.OK), (1, Verdict.ERROR)):
        planned = plan.cells[place].planned
        assert planned
        put_run(store, planned, tmp_path / "files", verdict)

    def starting_order(cells: Any, seconds: Callable[[Cell], float], processors: int) -> Any:
        ordered.append(processors)
        return turns.starting_order(cells, seconds, processors)

    @contextmanager
    def telling(*words: Any, **named: Any) -> Iterator[None]:
        told.append((words, named))
        yield

    monkeypatch.setattr(campaign, "starting_order", starting_order)
    monkeypatch.setattr(campaign, "telling", telling)
    choices = Choices((Path("/m"),), upstream=Path("/u"), again=frozenset({Verdict.ERROR}))
    joined = join(plan, store, records=True)
    named: Any = {"choices": choices, "progress": heard, "name": "p", "runtime": "podman"}
    assert campaign.run_cells_on(CLUSTER, layout, joined, **named) is False
    ((cluster, errands, count, state, wanted, is_there),) = workers
    assert cluster is CLUSTER and count == 3 and is_there and not wanted.exists() and ordered == [5]
    assert [errand.planned for errand in errands] == [cell.planned for cell in plan.cells[1:]]
    before = Expected(layout, joined, heard).before(plan.cells[1])
    for errand in errands:
        assert errand == Errand(
            layout,
            errand.planned,
            wanted,
            "this harness",
            (Path("/m"),),
            Path("/u"),
            "podman",
            again=errand.planned == plan.cells[1].planned,
            expected_s=before,
        )
    assert told == [
        ((layout, state.tally), {"plan": "p", "on": "tcp://x:1", "enough": state.enough, "stop": state.stop})
    ]
    assert state.tally.bulletin("x", "p", "on", None).runs == 3
    (leaf,) = (leaf for leaf in store.log.leaves() if leaf.kind == "plan")
    assert (leaf.scope, leaf.cells) == ("p", 4)


def test_a_cluster_is_given_no_run_that_no_worker_can_hold(
    layout: Layout, heard: Heard, workers: list[Any]
) -> None:
    plan = made_up_plan("constant", "nimcgcn", "pure_scibert")
    joined, stop = join(plan, Store(layout.runs), records=True), threading.Event()
    stop.set()
    assert (
        campaign.run_cells_on(CLUSTER, layout, joined, progress=heard, stop=stop, announced=[*joined, *joined])
        is True
    )
    ((_, errands, count, state, *_),) = workers
    assert state.stop is stop and count == len(errands) == 2
    assert {errand.planned.job.method for errand in errands} == {"constant", "nimcgcn"}
    assert {errand.again for errand in errands} == {False} and errands[0].runtime is None
    needed = Share.of(card_of(layout, plan.cells[2].job).resources)
    assert heard.lines == [f"pure_scibert/published needs {needed}; the largest worker lends {Share(3, 1 << 30)}"]
    (leaf,) = Store(layout.runs).log.leaves()
    assert (leaf.scope, leaf.cells) == ("", 6)


@pytest.mark.parametrize("asked", ["stop", "enough"])
def test_a_cluster_whose_campaign_was_asked_to_end_says_so(
    layout: Layout, heard: Heard, workers: list[Any], monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    def hand_out(_cluster: Any, _errands: Any, _count: int, state: CampaignState, _wanted: Path) -> None:
        getattr(state, asked).set()

    monkeypatch.setattr(campaign, "hand_out", hand_out)
    joined = join(made_up_plan("constant"), Store(layout.runs), records=True)
    assert campaign.run_cells_on(CLUSTER, layout, joined, progress=heard) is True


def test_of_a_cluster_nothing_is_asked_where_nothing_is_left(
    layout: Layout, heard: Heard, workers: list[Any], tmp_path: Path
) -> None:
    plan = made_up_plan("constant")
    assert plan.cells[0].planned
    put_run(Store(layout.runs), plan.cells[0].planned, tmp_path / "files")
    stop = threading.Event()
    stop.set()
    joined = join(plan, Store(layout.runs))
    assert campaign.run_cells_on(CLUSTER, layout, joined, progress=heard, stop=stop, name="p") is False
    assert not workers and [leaf.kind for leaf in Store(layout.runs).log.leaves()] == ["record"]


def test_what_a_campaign_tells_of_itself_is_this_machines(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, stop = list[Any](), threading.Event()

    @contextmanager
    def telling(*words: Any, **named: Any) -> Iterator[None]:
        told.append((words, named))
        yield

    monkeypatch.setattr(campaign, "telling", telling)
    states = list[CampaignState]()
    monkeypatch.setattr(campaign, "take_turns", lambda tasks, engine, state: states.append(state))
    run(layout, made_up_plan("constant"), heard, stop=stop)
    (state,) = states
    assert state.stop is stop and state.progress is heard and state.budget.total == MACHINE
    assert told == [
        (
            (layout, state.tally),
            {"plan": "made-up", "on": "local", "enough": state.enough, "stop": stop},
        )
    ]


def test_runs_begin_as_long_as_the_disk_has_room(
    layout: Layout, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, states = list[Path](), list[CampaignState]()

    def room_on(folder: Path) -> int:
        asked.append(folder)
        return 10

    monkeypatch.setattr(campaign, "room_on", room_on)
    monkeypatch.setattr(campaign, "take_turns", lambda tasks, engine, state: states.append(state))
    asked_for = list[Any]()

    def this_machine(**more: Any) -> Share:
        asked_for.append(more)
        return MACHINE

    monkeypatch.setattr(campaign, "this_machine", this_machine)
    run(layout, made_up_plan("constant"), heard, Choices(workers=2))
    assert asked_for == [{"workers": 2, "gpus": 0}]
    budget, never = states[0].budget, threading.Event()
    with budget.lend(Share(1, 1, disk=6), never.is_set) as first:
        assert first
        never.set()
        with budget.lend(Share(1, 1, disk=5), never.is_set) as second:
            assert not second
    assert asked and set(asked) == {layout.local}


def test_results_may_lie_where_no_folder_is_yet(
    layout: Layout, heard: Heard, workers: list[Any], tmp_path: Path
) -> None:
    plan = made_up_plan("constant")
    for name in ("here", "there"):
        deep = replace(layout, local=tmp_path / name / "deep")
        joined = join(plan, Store(deep.runs), records=True)
        for _ in range(2):
            if name == "here":
                run_cells(deep, joined, ENGINE, progress=heard)
            else:
                campaign.run_cells_on(CLUSTER, deep, joined, progress=heard)
        assert deep.local.is_dir()
    assert len(heard.tasks) == 2 == len(workers)
