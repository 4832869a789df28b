"""Golden cases of other depths, widths, heads and types than the originals' are, made by plain definitions.

A replay agrees with them at all sizes, and with none that has a parameter more or less than the method's network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.trials import Result, Trial, write_trial
from harness.images import ensure_environment
from harness.images.identity import code_folders, parity_folders
from harness.methods.card import MethodCard, load_method
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from harness.parity.traces import ABOUT
from tests.conftest import asked_for
from tests.methods.frozen import run_in_image

Arrays = dict[str, npt.NDArray[Any]]
Change = Callable[[Arrays], None]

PLAIN = Path(__file__).parent / "plain"
# what takes long to load, an environment that has all that these methods need, and their folders of goldens
TOGETHER = {
    "torch": ("ssi_ddi", ("mlp", "mste", "decagon", "mrcgnn", "tiger", "emergnn", "ssi_ddi", "sagan")),
    "transformers.models.roberta.modeling_roberta": ("ddi_gpt", ("textddi", "ddi_gpt")),
}
# how many sizes are made of each
CASES = dict.fromkeys(["mlp", "mste", "decagon", "mrcgnn", "ssi_ddi", "sagan", "textddi"], 2)
CASES |= {"tiger": 5, "emergnn": 4, "ddi_gpt": 3}
NAMES = [name for _, names in TOGETHER.values() for name in names]


def one_more(arrays: Arrays) -> None:
    """As if the original had a layer that our network lacks."""
    for prefix in {name.split("/")[0] for name in arrays} & {"param", "after3", "after_train_epoch"}:
        arrays[f"{prefix}/another.weight"] = np.ones((2, 2), np.float32)


def one_less(arrays: Arrays) -> None:
    """As if our network had a layer that the original lacks: the last one that the first step reaches."""
    name = [name for name in arrays if name.startswith("grad0/")][-1].removeprefix("grad0/")
    for prefix in ("param", "grad0", "after3", "after_train_epoch"):
        arrays.pop(f"{prefix}/{name}", None)


# what is added to the number of the case that is changed
CHANGES: Mapping[int, Change] = {100: one_more, 200: one_less}


@dataclass(frozen=True)
class Together:
    """Trials whose answers are computed in one container, between two rounds of the same questions."""

    jobs: Path

    @contextmanager
    def ask(self, trial: Trial) -> Iterator[Result]:
        """Leave what the method is handed."""
        job = self._job(trial)
        for folder in (job / "in", job / "out"):
            folder.mkdir(parents=True)
        _open(job, job / "out")
        write_trial(trial, job / "in")
        yield Result(Verdict.ERROR, "not run yet", job, 0.0)

    @contextmanager
    def answer(self, trial: Trial) -> Iterator[Result]:
        """Take what it left."""
        job = self._job(trial)
        failed = (job / "code").read_text() != "0"
        said = (job / "said").read_text()
        yield Result(Verdict.ERROR if failed else Verdict.OK, said if failed else "", job / "out", 0.0)

    def _job(self, trial: Trial) -> Path:
        case = json.loads(trial.inputs[ABOUT][0])["case"]
        return self.jobs / trial.card.name / str(case).replace("/", "-")


@pytest.fixture(scope="module")
def findings(
    request: pytest.FixtureRequest, engine: Engine, repository: Layout, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[CaseFinding]]:
    """Of the methods that were asked for: one container makes all cases, one per environment replays them."""
    work = tmp_path_factory.mktemp("made-up")
    golden = work / "ddi"
    golden.mkdir()
    _run(engine, repository, "ssi_ddi", ["goldens.py"], {golden: "/goldens"})
    for method in golden.iterdir():
        _changed(min(method.glob("*.npz")))
    cases = find_cases(golden)
    asked = {name for test in TESTS for name in asked_for(request, test)}
    found: dict[str, list[CaseFinding]] = {}
    for library, (environment, names) in TOGETHER.items():
        cards = [load_method(repository, name) for name in names if name in asked]
        trials = Together(work / environment)
        for card in cards:
            list(check_cases(repository, cases, [card], trials.ask, only=[card.name]))
        if cards:
            command = ["replays.py", library, *(f"{card.name}={_path_of(repository, card)}" for card in cards)]
            _run(engine, repository, environment, command, {trials.jobs: "/jobs"})
        for card in cards:
            found[card.name] = list(check_cases(repository, cases, [card], trials.answer, only=[card.name]))
    return found


def _run(
    engine: Engine, repository: Layout, environment: str, command: list[str], writable: Mapping[Path, str]
) -> None:
    program, *arguments = command
    mounts = {here: (there, "rw") for here, there in writable.items()}
    mounts |= {
        repository.methods: ("/methods", "ro"),
        repository.benchmarks: ("/benchmarks", "ro"),
        PLAIN: ("/plain", "ro"),
    }
    _open(*writable)
    done = run_in_image(
        engine,
        ensure_environment(engine, repository, environment).image_id,
        ["/opt/venv/bin/python3", "-B", f"/plain/{program}", *arguments],
        mounts,
        {"OMP_NUM_THREADS": "1", "HOME": "/tmp"},
    )
    assert not done.returncode, done.stdout + done.stderr


def _open(*folders: Path) -> None:
    """A container's user is another one."""
    for folder in folders:
        folder.chmod(0o777)


def _path_of(repository: Layout, card: MethodCard) -> str:
    """Where the container finds the method's code, and what replays its cases."""
    folders = [*code_folders(repository, card.name), *parity_folders(repository, card)]
    tops = (repository.methods, Path("/methods")), (repository.benchmarks, Path("/benchmarks"))
    return ":".join(
        str(place / folder.relative_to(top))
        for folder in folders
        for top, place in tops
        if folder.is_relative_to(top)
    )


def _changed(path: Path) -> None:
    """Cases beside this one, each with its change, under another number."""
    start, _, number = path.stem.rpartition("_")
    for more, change in CHANGES.items():
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
        change(arrays)
        other = path.with_stem(f"{start}_{int(number) + more}")
        np.savez(other, **arrays)
        about = json.loads(path.with_suffix(".json").read_text())
        other.with_suffix(".json").write_text(json.dumps({**about, "case": f"{path.parent.name}/{other.stem}"}))


def of_change(found: list[CaseFinding], least: int) -> list[CaseFinding]:
    """Those whose number lies within the next hundred."""
    return [one for one in found if least <= int(one.case.rpartition("_")[2]) < least + 100]


@pytest.mark.engine
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_agrees_at_all_sizes(findings: dict[str, list[CaseFinding]], name: str) -> None:
    found = of_change(findings[name], 0)
    assert len(found) == CASES[name]
    assert not [(one.case, one.note) for one in found if one.standing is not Standing.OK]
    others = [(one.case, bad) for one in found for bad in one.arrays if bad.standing is not Standing.OK]
    # of one type the evaluation of several is not there to be compared
    lacking = {bad.array for _, bad in others if bad.standing is Standing.ABSENT}
    assert lacking == ({"out/eval_*"} if name == "emergnn" else set())
    assert [bad for _, bad in others if bad.standing is not Standing.ABSENT] == []
    assert all(len(one.arrays) > 4 for one in found)


@pytest.mark.engine
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_layer_more_or_less_fails(findings: dict[str, list[CaseFinding]], name: str, change: int) -> None:
    (found,) = of_change(findings[name], change)
    assert found.standing is Standing.FAILED and "the run ended with" in found.note, found.as_json()


TESTS = (test_a_replay_agrees_at_all_sizes, test_a_layer_more_or_less_fails)
