"""A method that computes on a GPU moves there all that it computes with, and brings its answer back.

Methods meet a GPU that is not there (`pretended_gpu.py`). It computes as the CPU does, so that answers must agree.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness import benchmarks
from harness.base.layout import Layout, find_layout
from harness.conformance import checks
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial, write_trial
from harness.images import ensure_image
from harness.images.identity import code_tree
from harness.methods.card import MethodCard, load_method, load_methods
from tests.conftest import REPOSITORY
from tests.methods.frozen import run_in_image
from tests.methods.trials import ONE_MODEL

HERE = find_layout(REPOSITORY)
# of methods that differ in pretrained weights alone, one
ABLE = {code_tree(HERE, card.name): card.name for card in reversed(load_methods(HERE)) if card.cuda}
# a problem of each benchmark
PROBLEMS = {"repurposing": "with_negatives", "ddi": "one_type", "dti": "bindings", "combos": "sentences"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def trial_of(card: MethodCard) -> Trial:
    (name,) = card.benchmarks
    problems = importlib.import_module(f"harness.benchmarks.{name}.conformance.problems")
    options = ONE_MODEL if name == "repurposing" else checks.NONE
    return checks.trial_of(card, name, getattr(problems, PROBLEMS[name])(), options)


def numbers_of(path: Path) -> npt.NDArray[np.float64]:
    """All numbers of a file of an answer."""
    if path.suffix == ".npy":
        return np.asarray(np.load(path), dtype=np.float64)
    return np.array(NUMBER.findall(path.read_text()), dtype=np.float64)


@pytest.mark.engine
@pytest.mark.parametrize("name", sorted(ABLE.values()))
def test_a_gpu_is_used_and_changes_no_answer(layout: Layout, engine: Engine, tmp_path: Path, name: str) -> None:
    trial = trial_of(load_method(layout, name))
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    # a container has a user of its own
    for folder in (*tmp_path.parents[:2], tmp_path, inward):
        folder.chmod(0o755)
    outward.chmod(0o777)
    write_trial(trial, inward)
    mounts = {inward: ("/in", "ro"), outward: ("/out", "rw"), Path(__file__).parent: ("/tests", "ro")}
    image = ensure_image(engine, layout, name)
    # HAN would choose these before NumPy is imported, which torch did by then
    environment = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
    done = run_in_image(engine, image.image_id, ("python3", "/tests/pretended_gpu.py"), mounts, environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(re.findall(r"operations (\d+)", done.stdout)[-1]) > 0
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict == "ok", result.reason
        for file in benchmarks.get(trial.benchmark).answer_files:
            if (result.out / file.name).is_file():
                there, here = (numbers_of(out / file.name) for out in (outward, result.out))
                np.testing.assert_allclose(there, here, rtol=0, atol=1e-5 * np.abs(here).max())
