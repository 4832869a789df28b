"""What a replay runs, in which order, and what it looks at, by an engine that plays back what is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.audit import replay
from harness.audit.steps import Checked, Lack, Step, failed, ok
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.order import PUBLISHED
from harness.engine import Engine
from harness.execution.tasks import Task
from harness.images import Supply
from harness.images.export import HeldTrees
from harness.images.identity import combined
from harness.planning.plan import Plan
from harness.results.learning import RUNS, Likeness, order_free
from harness.results.records import Record
from harness.results.reference import ReferenceResult, load_reference, save_reference
from harness.results.scoring import parse_scores, scores_path
from harness.results.store import Store
from tests.audit.conftest import Mirrored
from tests.fabricate import planned_of

ENGINE = cast(Engine, SimpleNamespace())
SCORES = "predictions.npy"
Scored = NDArray[np.float32]


@dataclass
class Machine:
    """Gives every run the files of the stored one; `ends` is how the next ones end."""

    layout: Layout
    record: Record
    ends: list[Verdict] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    supplies: list[Supply] = field(default_factory=list)
    likenesses: list[Likeness | None] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    # the scores in the published order, and in the last other one
    published: Mapping[str, float | None] = field(default_factory=dict)
    other: Mapping[str, float | None] = field(default_factory=dict)
    held: tuple[str, str] = ("", "")
    # where another answer than the stored one lies
    out_folder: Path | None = None

    @contextmanager
    def run(self, task: Task, engine: Engine) -> Iterator[Any]:
        """One run in a container that never was."""
        assert engine is ENGINE
        self.tasks.append(task)
        verdict = self.ends.pop(0) if self.ends else Verdict.OK
        outcome = SimpleNamespace(
            verdict=verdict,
            reason="for a reason",
            out_folder=self.out_folder or Store(self.layout.runs).path(self.record.key),
            engine=SimpleNamespace(as_json=lambda: self.record.engine),
        )
        yield SimpleNamespace(outcome=outcome)

    def likeness(
        self, published: Mapping[str, float | None], others: Sequence[Mapping[str, float | None]]
    ) -> Likeness | None:
        """What the comparison of orders says to so many of them."""
        self.compared.append(len(others))
        self.published, self.other = published, others[-1]
        return self.likenesses.pop(0)


ALIKE = Likeness(True, "the same in another order", "1", "1")


@pytest.fixture
def machine(evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """An engine for the first stored run, which holds the image of its trees."""
    return installed(evidence, Store(evidence.runs).record(planned_of(made_up.cells[0]).key), monkeypatch)


def installed(layout: Layout, record: Record, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """An engine for a stored run, in the place of the real one."""
    machine = Machine(layout, record, held=(record.image["environment_tree"], record.image["code_tree"]))

    def held(_engine: Engine, _layout: Layout, image_id: str) -> HeldTrees:
        return HeldTrees(image_id=image_id, environment_tree=machine.held[0], code_tree=machine.held[1])

    image = SimpleNamespace(name="the image", image_id="sha256:1")

    def ensure_image(*_: Any, supply: Supply) -> Any:
        machine.supplies.append(supply)
        return image

    monkeypatch.setattr(replay, "ensure_image", ensure_image)
    monkeypatch.setattr(replay, "held_trees", held)
    monkeypatch.setattr(replay, "run_in_container", machine.run)
    monkeypatch.setattr(replay, "compare_orders", machine.likeness)
    return machine


def run(machine: Machine, **changed: object) -> list[Step]:
    record = machine.record.model_copy(update=changed)
    return replay.replay_run(machine.layout, Store(machine.layout.runs), ENGINE, record, (Path("a mirror"),))


def results(steps: list[Step]) -> list[tuple[str, Checked]]:
    return [(step.name, step.checked) for step in steps]


def test_a_run_is_made_again_in_its_own_order_alone(machine: Machine) -> None:
    """As the record planned it, from the mirrors, with the time it took before as what is expected."""
    assert results(run(machine)) == [("replay", Checked.OK)]
    (task,) = machine.tasks
    assert (task.planned, task.order, task.mirrors) == (
        machine.record.planned,
        machine.record.order,
        (Path("a mirror"),),
    )
    assert task.expected_s == machine.record.resources["wall_s"] and task.order != PUBLISHED


def test_one_of_the_published_order_is_made_in_others_too(machine: Machine) -> None:
    """Until they decide."""
    machine.likenesses = [None, ALIKE]
    steps = run(machine, order=PUBLISHED)
    assert results(steps) == [("replay", Checked.OK), ("order", Checked.OK)]
    assert (steps[1].what, steps[1].found) == ("the same in another order", "1")
    orders = [task.order for task in machine.tasks]
    assert orders[0] == PUBLISHED and len(set(orders)) == 3 and machine.compared == [1, 2]
    kept = parse_scores(json.loads(scores_path(machine.layout, machine.record.key).read_text()))
    assert kept is not None
    assert machine.published == order_free("repurposing", kept.metrics)
    # an engine that plays back gives the same in every order
    assert machine.other == kept.metrics


def test_after_as_many_orders_as_there_are_it_is_decided(machine: Machine) -> None:
    machine.likenesses = [None] * RUNS
    with pytest.raises(AssertionError):
        run(machine, order=PUBLISHED)
    assert machine.compared == [*range(1, RUNS + 1)]


@pytest.mark.parametrize(
    ("alike", "checked", "ends"),
    [
        (False, Checked.FAILED, ("1", "2")),
        (None, Checked.NOT_CHECKED, ("", "")),
        (True, Checked.OK, ("", "2")),
    ],
)
def test_what_another_order_says(
    machine: Machine, alike: bool | None, checked: Checked, ends: tuple[str, str]
) -> None:
    machine.likenesses = [Likeness(alike, "so it is", "1", "2")]
    (_, step) = run(machine, order=PUBLISHED)
    assert (step.name, step.checked, step.what, step.expected, step.found) == ("order", checked, "so it is", *ends)


@pytest.mark.parametrize(
    ("verdict", "checked"),
    [
        (Verdict.ERROR, Checked.FAILED),
        (Verdict.INVALID, Checked.FAILED),
        (Verdict.TIMEOUT, Checked.NOT_CHECKED),
        (Verdict.MEMORY, Checked.NOT_CHECKED),
        (Verdict.INFRASTRUCTURE, Checked.NOT_CHECKED),
    ],
)
def test_a_failure_in_another_order_is_the_methods_own(
    machine: Machine, verdict: Verdict, checked: Checked
) -> None:
    """But for what depends on the machine."""
    machine.ends = [Verdict.OK, verdict]
    (_, step) = run(machine, order=PUBLISHED)
    assert (step.name, step.checked) == ("order", checked)
    assert step.what == f"in another order it ended as '{verdict}': for a reason"
    assert step.lack is (None if checked is Checked.FAILED else Lack.OTHER)


def test_a_run_without_scores_has_nothing_to_compare_in_another_order(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "order_free", lambda *_: {})
    (_, step) = run(machine, order=PUBLISHED)
    said = "the run has no score that could depend on the order of items"
    assert (step.checked, step.what, step.lack) == (Checked.NOT_CHECKED, said, None)
    assert len(machine.tasks) == 1


@pytest.mark.parametrize("stored", [Verdict.OK, Verdict.ERROR])
def test_a_run_that_failed_is_made_in_no_other_order(machine: Machine, stored: Verdict) -> None:
    machine.ends = [Verdict.ERROR]
    (step,) = run(machine, order=PUBLISHED, verdict=stored)
    assert step.checked is (Checked.FAILED if stored is Verdict.OK else Checked.OK)


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("reference", [False, True])
def test_another_image_is_not_run(machine: Machine, at: int, reference: bool) -> None:
    right = machine.held
    machine.held = ("0" * 64, right[1]) if at == 0 else (right[0], "0" * 64)
    (step,) = entry_steps(machine) if reference else run(machine)
    assert (step.name, step.checked, step.expected) == (
        "replay",
        Checked.FAILED,
        machine.record.planned.image_tree,
    )
    assert step == failed(
        "replay",
        "the image does not hold the trees of the run: read back whole, it is another image",
        expected=machine.record.planned.image_tree,
        found=combined(*machine.held),
        where="sha256:1",
    )
    assert machine.tasks == []


@pytest.mark.parametrize("digit", "0123456789abcdef")
def test_no_other_image_is_taken_for_the_right_one(machine: Machine, digit: str) -> None:
    """Whichever sum comes first in the alphabet."""
    machine.held = (digit * 64, digit * 64)
    assert results(run(machine)) == [("replay", Checked.FAILED)]


def entry_of(machine: Machine) -> ReferenceResult:
    save_reference(machine.layout, Store(machine.layout.runs))
    return load_reference(machine.layout)[machine.record.key]


def entry_steps(machine: Machine, entry: ReferenceResult | None = None) -> list[Step]:
    store = Store(machine.layout.runs)
    return replay.replay_entry(machine.layout, store, ENGINE, entry or entry_of(machine))


def test_the_scores_of_a_committed_result_are_computed_from_the_repetition(machine: Machine) -> None:
    """It has no predictions of its own."""
    steps = entry_steps(machine)
    assert results(steps) == [("replay", Checked.OK), ("scores", Checked.OK)]
    assert steps[1].what == "all 18 metrics recomputed and equal to those kept"
    (task,) = machine.tasks
    assert (task.planned, task.order) == (machine.record.planned, machine.record.order)
    assert (task.mirrors, task.expected_s) == ((), machine.record.resources["wall_s"])


def test_a_committed_series_that_the_repetition_does_not_give_is_told(machine: Machine) -> None:
    entry = entry_of(machine)
    assert entry.scores is not None
    forged = replace(entry, scores=replace(entry.scores, series={"accuracy of type": [1.0, 0.5]}))
    assert results(entry_steps(machine, forged)) == [("replay", Checked.OK), ("scores", Checked.FAILED)]


def test_committed_scores_that_the_repetition_does_not_give_are_told(machine: Machine) -> None:
    entry = entry_of(machine)
    assert entry.scores is not None
    metrics = {**entry.scores.metrics, "AUC/as-defined": 0.99}
    forged = replace(entry, scores=replace(entry.scores, metrics=metrics))
    honest = entry.scores.metrics["AUC/as-defined"]
    for order in (entry.record.order, PUBLISHED):
        # which is then made in no other order
        steps = entry_steps(machine, replace(forged, content={**entry.content, "order": order}))
        assert results(steps) == [("replay", Checked.OK), ("scores", Checked.FAILED)]
        said = "AUC/as-defined is not what was kept"
        assert steps[1] == failed("scores", said, expected=str(honest), found="0.99", where=entry.where)


def on_another_processor(machine: Machine, folder: Path, change: Callable[[Scored], Scored]) -> None:
    """The container runs where last bits come out otherwise, by `change`."""
    shutil.copytree(Store(machine.layout.runs).path(machine.record.key), folder)
    path = folder / SCORES
    np.save(path, change(np.load(path)))
    machine.out_folder = folder


def next_up(scores: Scored) -> Scored:
    return np.nextafter(scores, np.float32(np.inf), dtype=scores.dtype)


@pytest.mark.parametrize("reference", [False, True])
def test_last_bits_of_another_processor_are_no_fault_where_every_score_comes_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reference: bool
) -> None:
    monkeypatch.setattr(replay, "hardware", lambda: ("another", []))
    on_another_processor(machine, tmp_path / "next", next_up)
    (step,) = entry_steps(machine) if reference else run(machine)
    assert (step.name, step.checked, step.lack) == ("replay", Checked.NOT_CHECKED, Lack.MACHINE)
    assert step.what.startswith(f"another {SCORES}, and every score came again: another processor")
    # an answer that is scored otherwise is another one on whatever processor
    on_another_processor(machine, tmp_path / "other", lambda scores: -scores)
    (step, *_) = entry_steps(machine) if reference else run(machine)
    assert (step.checked, step.what) == (Checked.FAILED, f"another {SCORES}")


def test_last_bits_are_a_fault_where_no_scores_are_kept_that_could_come_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = entry_of(machine)
    monkeypatch.setattr(replay, "hardware", lambda: ("another", []))
    on_another_processor(machine, tmp_path / "next", next_up)
    (step,) = entry_steps(machine, replace(entry, scores=None))
    assert (step.checked, step.what) == (Checked.FAILED, f"another {SCORES}")


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.ERROR])
def test_nothing_is_scored_of_a_repetition_that_failed(machine: Machine, verdict: Verdict) -> None:
    """Of one that a machine broke nothing is said, and the committed result stays what it is."""
    entry = entry_of(machine)
    machine.ends = [verdict]
    (step,) = entry_steps(machine, entry)
    broken = verdict is Verdict.ERROR
    assert (step.checked, step.lack) == ((Checked.FAILED, None) if broken else (Checked.NOT_CHECKED, Lack.ENGINE))
    assert Store(machine.layout.runs).standing(machine.record.key).verdict is Verdict.OK


@pytest.mark.parametrize("scored", [True, False])
def test_a_committed_result_of_the_published_order_is_made_in_others_too(machine: Machine, scored: bool) -> None:
    """Where it has scores that can be compared."""
    entry = entry_of(machine)
    entry = replace(entry, content={**entry.content, "order": PUBLISHED})
    machine.likenesses = [ALIKE]
    steps = entry_steps(machine, entry if scored else replace(entry, scores=None))
    assert [step.name for step in steps] == (["replay", "scores", "order"] if scored else ["replay"])


def test_a_committed_failure_comes_again_without_scores(machine: Machine, made_up: Plan) -> None:
    entry_of(machine)
    key = planned_of(made_up.cells[3]).key
    entry = load_reference(machine.layout)[key]
    machine.record = Store(machine.layout.runs).record(key)
    machine.held = (machine.record.image["environment_tree"], machine.record.image["code_tree"])
    machine.ends = [Verdict.ERROR]
    again = "run again in a fresh container: ended as 'error' again"
    assert entry_steps(machine, entry) == [ok("replay", again, "for a reason")]


@pytest.mark.parametrize("reference", [False, True])
def test_a_replay_looks_for_data_in_the_mirrors(
    mirrored: Mirrored, monkeypatch: pytest.MonkeyPatch, reference: bool
) -> None:
    """Nowhere else are they, neither for the first run nor for the scores of the others."""
    layout, mirrors = mirrored.layout, (mirrored.mirror,)
    store = Store(layout.runs)
    machine = installed(layout, mirrored.record.model_copy(update={"order": PUBLISHED}), monkeypatch)
    scores = parse_scores(json.loads(scores_path(layout, machine.record.key).read_text()))
    entry = ReferenceResult(machine.record.model_dump(mode="json"), scores, "here")
    for likeness in (None, ALIKE):
        machine.likenesses.append(likeness)
    run_in_container = machine.run

    @contextmanager
    def forgetful(task: Task, engine: Engine) -> Iterator[Any]:
        mirrored.forget()
        with run_in_container(task, engine) as done:
            yield done

    monkeypatch.setattr(replay, "run_in_container", forgetful)
    steps = (
        replay.replay_entry(layout, store, ENGINE, entry, mirrors)
        if reference
        else replay.replay_run(layout, store, ENGINE, machine.record, mirrors)
    )
    names = ["replay", *["scores"] * reference, "order"]
    assert results(steps) == [(name, Checked.OK) for name in names]
    assert {task.mirrors for task in machine.tasks} == {mirrors}
    assert [supply.mirrors for supply in machine.supplies] == [mirrors], "and for parts of its image"
