"""Golden folders made here, and a runner that answers from a dictionary instead of a container."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.base.vocabulary import Verdict
from harness.execution.trials import Result, Trial
from harness.methods.card import MethodCard, ParityTable, Tolerance, load_method

Array = npt.NDArray[Any]


class Answers:
    """A method that writes the same arrays whatever it is asked; remembers what it was asked."""

    def __init__(
        self, folder: Path, pred: Array, trace: Mapping[str, Array], iterations: int | None = None
    ) -> None:
        self.folder = folder
        self.pred = pred
        self.trace = trace
        self.iterations = iterations
        self.verdict = Verdict.OK
        # files of the trace as they are, whatever they hold
        self.raw: dict[str, bytes] = {}
        self.asked: list[Trial] = []

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        self.asked.append(trial)
        out = self.folder / f"out-{len(self.asked)}"
        (out / "trace").mkdir(parents=True)
        (out / "predictions.npy").write_bytes(npy_bytes(self.pred.reshape(1, -1)))
        for name, array in self.trace.items():
            (out / "trace" / f"{name}.npy").write_bytes(npy_bytes(array))
        for name, content in self.raw.items():
            (out / "trace" / f"{name}.npy").write_bytes(content)
        report = {"protocol": 1, "iterations": None if self.iterations is None else [self.iterations]}
        (out / "method.json").write_text(json.dumps(report))
        yield Result(self.verdict, "made to fail" if self.verdict is not Verdict.OK else "", out, 1.5)


def save(path: Path, arrays: Mapping[str, Any]) -> None:
    """A golden file."""
    np.savez(path, **arrays)


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    """A method with one parity table over files called toy_DATASET_SEED."""
    table = ParityTable(
        cases="toy_{dataset}_{seed}",
        inputs={
            "associations": "golden:A_train",
            "drug_similarity": "features:X_s",
            "drug_standardised": "standardised:S",
        },
        parameters={"score": 2.0},
        compare={
            "factors": Tolerance(absolute=1e-8),
            "iterations": Tolerance(),
            "pred": Tolerance(relative=1e-6),
        },
    )
    inputs = ["associations", "folds", "drug_similarity", "drug_standardised"]
    return load_method(layout, "constant").model_copy(update={"name": "toy", "inputs": inputs, "parity": [table]})


@pytest.fixture
def arrays() -> dict[str, Array]:
    """The content of a golden case."""
    generator = np.random.default_rng(3)
    return {
        "A_train": (generator.random((5, 4)) < 0.4).astype(np.int8),
        "pred": np.asfortranarray(generator.normal(size=(5, 4)) * 100),
        "factors": generator.normal(size=(5, 2)),
        "iterations": np.array(7),
    }


@pytest.fixture
def golden(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    """A folder with one case and its features."""
    folder = tmp_path / "golden"
    folder.mkdir()
    save(folder / "toy_Small_12.npz", arrays)
    generator = np.random.default_rng(4)
    np.savez(folder / "_features_Small.npz", S=generator.normal(size=(5, 3)), X_s=generator.normal(size=(5, 5)))
    return folder


@pytest.fixture
def answers(tmp_path: Path, arrays: dict[str, Array]) -> Answers:
    """The right answers."""
    return Answers(tmp_path, arrays["pred"], {"factors": arrays["factors"]}, 7)
