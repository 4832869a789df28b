"""The command that asks for a job says all that is not usual of it, so that it asks for no other job."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.layout import Layout
from harness.methods.card import load_method
from harness.planning.commands import command_of_stored, run_command, unusual_parameters
from harness.planning.jobs import Job
from harness.splits.spec import SplitSpec
from tests.core.factories import planned_job

_JOB = planned_job(7).job
_USUAL = "harness run --method constant --dataset synthetic --seed"


def _changed(**changes: Any) -> Job:
    return _JOB.model_copy(update=changes)


def test_what_is_usual_is_left_out() -> None:
    assert run_command(_JOB, {}) == f"{_USUAL} 7"
    assert run_command(_JOB, {}, seed="SEED") == f"{_USUAL} SEED"


@pytest.mark.parametrize(
    ("changes", "choices", "words"),
    [
        ({"upstream": "a" * 64}, {}, "--upstream DIR"),
        ({"accelerator": "cuda"}, {}, "--accelerator cuda"),
        ({"options": {"inner_folds": 0}}, {}, "--inner-folds 0"),
        ({"options": {"inner_folds": 3}, "upstream": "a" * 64}, {}, "--inner-folds 3 --upstream DIR"),
        ({}, {"alpha": 2.5, "name": "a b"}, """--set alpha=2.5 --set 'name="a b"'"""),
        ({"accelerator": "cuda"}, {"k": True}, "--accelerator cuda --set k=true"),
        # to choose nothing is a choice, and no choice is none
        ({}, {"k": 0, "on": False, "text": "", "left": None}, """--set k=0 --set on=false --set 'text=""'"""),
    ],
)
def test_what_is_not_usual_is_said(changes: dict[str, Any], choices: dict[str, Any], words: str) -> None:
    assert run_command(_changed(**changes), choices) == f"{_USUAL} 7 {words}"
    assert run_command(_changed(**changes), choices, seed="SEED") == f"{_USUAL} SEED {words}"


def test_variants_and_splits_are_said() -> None:
    split = SplitSpec.model_validate({"strategy": "cluster", "seed": 3, "parameters": {"gamma": 0.5}})
    assert run_command(_changed(split=split, variant="corrected"), {}) == (
        "harness run --method constant --variant corrected --dataset synthetic --split cluster:gamma=0.5 --seed 3"
    )
    assert run_command(_changed(variant="tuned"), {}).startswith("harness run --method constant --variant tuned ")
    # the usual strategy with a parameter is no usual split
    split = SplitSpec.model_validate({"strategy": "random", "seed": 3, "parameters": {"test_share": 0.5}})
    assert run_command(_changed(split=split), {}) == (
        "harness run --method constant --dataset synthetic --split random:test_share=0.5 --seed 3"
    )
    split = SplitSpec.model_validate({"strategy": "new_pairs", "seed": 3, "parameters": {"group": "disease 1"}})
    assert "--split 'new_pairs:group=disease 1' --seed 3" in run_command(_changed(split=split), {})


def test_of_a_stored_job_other_parameters_than_those_of_the_card_are_said(layout: Layout) -> None:
    assert command_of_stored(layout, _changed(parameters={"score": 1.0})) == f"{_USUAL} 7"
    assert command_of_stored(layout, _changed(parameters={"score": 0.25})) == f"{_USUAL} 7 --set score=0.25"
    # in whatever order they were written down, one job has one command
    either = [{"alpha": 2, "score": 0.25}, {"score": 0.25, "alpha": 2}]
    assert {command_of_stored(layout, _changed(parameters=one)) for one in either} == {
        f"{_USUAL} 7 --set alpha=2 --set score=0.25"
    }
    # a job of before the card had a parameter is another one than today's, though no command asks for it
    lacking = _changed(parameters={"alpha": 2})
    assert unusual_parameters(load_method(layout, "constant"), lacking) == {"alpha": 2, "score": None}
    assert command_of_stored(layout, lacking) == f"{_USUAL} 7 --set alpha=2"
    # the method, or the variant, may be gone
    gone = {"method": "gone", "parameters": {"score": 0.25}}
    assert command_of_stored(layout, _changed(**gone)) == "harness run --method gone --dataset synthetic --seed 7"
    gone = {"variant": "gone", "parameters": {"score": 0.25}}
    assert command_of_stored(layout, _changed(**gone)).endswith("--variant gone --dataset synthetic --seed 7")
