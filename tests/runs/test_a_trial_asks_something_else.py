"""What a trial asks of a container, and what comes back: runs are made up, so that no engine is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import InvalidPredictions
from harness.base.layout import Layout
from harness.base.vocabulary import PROTOCOL_VERSION, Verdict
from harness.execution import trials
from harness.execution.runs import Mount, RunRequest, answer_files
from harness.execution.tasks import limits_of
from harness.execution.trials import InContainers, Result, Trial, check_answer, on_demand, write_trial
from harness.images import Supply
from harness.methods.card import load_method
from tests.runs.made_up import ENGINE, IMAGE, Execute, contents, outcome_of

INPUTS = {"associations": np.eye(2), "folds": np.array([[-1, 0], [0, -1]], dtype=np.int8), "names": ["ä", "b"]}


def trial_of(layout: Layout, method: str = "als_wr", **more: Any) -> Trial:
    card = load_method(layout, method)
    return Trial(card, "repurposing", INPUTS, {"rank": 3}, 17, **{"options": {"inner_folds": 0}, **more})


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The images that were ensured."""
    ensured: list[tuple[Any, ...]] = []

    def ensure_image(*words: Any, supply: Supply) -> Any:
        ensured.append((*words, *supply.mirrors))
        return IMAGE

    monkeypatch.setattr(trials, "ensure_image", ensure_image)
    return ensured


def run(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, execute: Execute, trial: Trial
) -> tuple[RunRequest, Result]:
    monkeypatch.setattr(trials, "execute", execute)
    with InContainers(layout, ENGINE)(trial) as result:
        assert result.out.is_dir()
    return execute.requests[-1], result


def look(request: RunRequest) -> dict[str, Any]:
    """What the container would see, and whether anybody may read it."""
    folders = [one.source for one in request.mounts]
    assert all(path.stat().st_mode & 0o004 for one in folders for path in (one, *one.rglob("*")))
    return {"/in": contents(request.in_folder), **{one.target: contents(one.source) for one in request.mounts}}


def test_a_method_is_told_its_job_and_nothing_of_a_split(repository: Layout, tmp_path: Path) -> None:
    trial = trial_of(repository, variant="corrected", task="replay", trace=True)
    write_trial(trial, tmp_path)
    told, resources = json.loads((tmp_path / "job.json").read_text()), trial.card.resources
    inputs = told.pop("inputs")
    assert told == {
        "protocol": PROTOCOL_VERSION,
        "benchmark": "repurposing",
        "task": "replay",
        "method": "als_wr",
        "variant": "corrected",
        "seed": 17,
        "parameters": {"rank": 3},
        "inner_folds": 0,
        "limits": {
            "seconds": resources.seconds,
            "memory_bytes": resources.memory_bytes,
            "processes": resources.processes,
            "output_bytes": resources.output_bytes,
            "threads": resources.cpus,
        },
        "trace": True,
    }
    assert {name: one["file"] for name, one in inputs.items()} == {
        "associations": "associations.npy",
        "folds": "folds.npy",
        "names": "names.jsonl",
    }
    np.testing.assert_array_equal(np.load(tmp_path / "folds.npy"), INPUTS["folds"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "associations.npy",
        "folds.npy",
        "job.json",
        "names.jsonl",
    ]


def test_a_trial_is_an_ordinary_prediction_unless_it_says_otherwise(repository: Layout, tmp_path: Path) -> None:
    write_trial(trial_of(repository), tmp_path)
    told = json.loads((tmp_path / "job.json").read_text())
    assert (told["variant"], told["task"], told["trace"]) == ("published", "predict", False)
    trial = Trial(load_method(repository, "als_wr"), "repurposing", INPUTS, {}, 1)
    assert trial.answers and trial.options == {}


def test_a_container_gets_the_trial_with_the_limits_of_the_card(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = trial_of(layout)
    made = outcome_of(tmp_path / "run", wall_s=4.5, ignored=("odd",))
    execute = Execute(lambda _: made, look)
    request, result = run(layout, monkeypatch, execute, trial)
    assert images == [(ENGINE, layout, "als_wr")] and execute.engines == [ENGINE]
    assert (request.image, request.image_id) == (IMAGE.name, IMAGE.image_id)
    assert request.work == layout.local / "work" and request.limits == limits_of(trial.card)
    assert (request.seed, request.traces, request.mounts, dict(request.environment)) == (17, False, (), {})
    files = answer_files("repurposing")
    assert (request.required, request.expected) == (files["required"], files["expected"])
    again = tmp_path / "again"
    again.mkdir()
    write_trial(trial, again)
    assert execute.seen == [{"/in": contents(again)}]
    assert result == Result(Verdict.OK, "made up", made.out_folder, 4.5, ("odd",))
    assert not made.folder.exists() and not request.in_folder.exists(), "nothing of a trial is kept"
    assert not list((layout.local / "work").glob("*/*-*"))


def test_a_golden_case_of_single_steps_is_replayed_by_code_that_no_image_holds(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Execute(lambda number: outcome_of(tmp_path / str(number)), look)
    trial = trial_of(layout, "mlp", task="replay", trace=True, answers=False)
    request, _ = run(layout, monkeypatch, execute, trial)
    assert request.required == request.expected == ("method.json",) and request.traces
    assert dict(request.environment) == {"PYTHONPATH": "/opt/sdk:/opt/parity"}
    (mount,) = request.mounts
    assert isinstance(mount, Mount) and mount.target == "/opt/parity"
    own, shared = (contents(layout.methods / name / "parity") for name in ("mlp", "_shared/ddi_training"))
    expected = {name: text for name, text in {**own, **shared}.items() if "__pycache__" not in name}
    assert expected and execute.seen[0]["/opt/parity"] == expected
    assert not mount.source.exists()
    assert json.loads(execute.seen[0]["/in"]["job.json"])["task"] == "replay"


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.TIMEOUT, Verdict.OK])
def test_only_an_error_is_explained_by_the_end_of_the_log(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    log = b"first\n" + b"x" * 1990 + b"\nlast words\n"
    made = outcome_of(tmp_path / "run", verdict, log=log, reason="exit code 3")
    _, result = run(layout, monkeypatch, Execute(lambda _: made), trial_of(layout))
    explained = "\n[the last 2,000 of 2,008 bytes]\nlast words\n" if verdict is Verdict.ERROR else ""
    assert (result.verdict, result.reason) == (verdict, f"exit code 3{explained}")


def test_an_image_is_ensured_once_for_all_trials_of_its_method(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "execute", Execute(lambda number: outcome_of(tmp_path / str(number))))
    run = InContainers(layout, ENGINE)
    for method in ("als_wr", "constant", "als_wr"):
        with run(trial_of(layout, method)):
            pass
    assert [words[2] for words in images] == ["als_wr", "constant"]


def test_an_outcome_is_gone_though_the_one_who_asked_stumbles(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "execute", Execute(lambda _: outcome_of(tmp_path / "run")))
    with pytest.raises(ZeroDivisionError), InContainers(layout, ENGINE)(trial_of(layout)):
        raise ZeroDivisionError
    assert not (tmp_path / "run").exists()


def test_an_answer_of_another_form_is_refused_where_one_is_asked_for(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Execute(lambda number: outcome_of(tmp_path / str(number)))
    run(layout, monkeypatch, execute, trial_of(layout))
    good, wrong = tmp_path / "good", tmp_path / "wrong"
    for folder, scores in ((good, np.ones((1, 2))), (wrong, np.ones((1, 3)))):
        folder.mkdir()
        np.save(folder / "predictions.npy", scores)
        np.save(folder / "lowest.npy", np.ones(1))
        (folder / "method.json").write_text('{"protocol": 1}')
    check = execute.named[0]["check"]
    check(good)
    with pytest.raises(InvalidPredictions, match="shape"):
        check(wrong)
    with pytest.raises(InvalidPredictions):
        check_answer(trial_of(layout), wrong)
    check_answer(trial_of(layout, answers=False), wrong)


def test_an_engine_is_looked_for_when_a_trial_asks_for_it_and_once(
    layout: Layout, tmp_path: Path, images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, closed = list[Any](), list[bool]()

    @contextmanager
    def find_engine(*words: Any, **named: Any) -> Iterator[Any]:
        looked.append((words, named))
        yield ENGINE
        closed.append(True)

    monkeypatch.setattr(trials, "find_engine", find_engine)
    execute = Execute(lambda number: outcome_of(tmp_path / str(number)))
    monkeypatch.setattr(trials, "execute", execute)
    for install in (False, True):
        looked.clear()
        closed.clear()
        with on_demand(layout, install=install) as run:
            assert not looked
            for _ in range(2):
                with run(trial_of(layout)) as result:
                    assert result.verdict is Verdict.OK
            assert looked == [((layout,), {"install": install})] and not closed
        assert closed == [True]
    assert execute.engines == [ENGINE] * 4
    images.clear()
    with on_demand(layout, mirrors=[Path("/m")]) as run:
        assert len(looked) == 1, "nobody asked for an engine"
        with run(trial_of(layout)):
            assert looked[1] == ((layout,), {"install": False})
    assert images == [(ENGINE, layout, "als_wr", Path("/m"))]
