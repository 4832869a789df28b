"""`harness notebook` opens what was named, says how to reach it, and ends well when it is told to."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli import notebook as door
from harness.cli.notebook import _own_dataset
from harness.data import load_manifest
from harness.images.fetch import Supply
from harness.images.locks import Part
from harness.methods.card import load_method
from harness.notebook import NotebookImage
from harness.planning.jobs import Job
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

BELOW: Any = SimpleNamespace(name="permafrost/bnnr:1", environment_tree="e" * 64, code_tree="c" * 64)
IMAGE = NotebookImage("permafrost/notebook:1", "sha256:1", BELOW, "_notebook_octave", "octave")
BNNR = ("notebook", "bnnr", "--dataset", "synthetic")


pytestmark = pytest.mark.usefixtures("repository_here")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """What is asked for; a kernel that has ended at once, without an engine."""
    case = SimpleNamespace(
        pinned=[],
        engines=[],
        images=[],
        kernels=[],
        registered=[],
        words="",
        waits=False,
        interrupted=False,
        parts=0,
    )

    def pin(_layout: object, job: Job, mirrors: tuple[Path, ...]) -> object:
        case.pinned.append((job, mirrors))
        return SimpleNamespace(job=job, key="k" * 64)

    def find(_layout: object, *, install: bool) -> Any:
        case.engines.append(install)
        return nullcontext("an engine")

    def ensure(engine: str, _layout: object, method: str, *, supply: Supply) -> NotebookImage:
        case.images.append((engine, method, supply.mirrors))
        for number in range(1, case.parts + 1):
            assert supply.progress is not None
            supply.progress(number, case.parts, cast(Part, None))
        return IMAGE

    @asynccontextmanager
    async def kernel(*given: Any, mirrors: tuple[Path, ...]) -> AsyncIterator[SimpleNamespace]:
        case.kernels.append((given[0], given[2].key, given[3], given[4], mirrors))
        ended = asyncio.create_task(asyncio.sleep(60 if case.waits else 0))
        if case.waits:
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), case.waits)
        if case.interrupted:
            raise KeyboardInterrupt
        yield SimpleNamespace(file=tmp_path / "kernel.json", log=tmp_path / "log", ended=ended)

    def register(job: Job, title: str, language: str, arguments: list[str]) -> Path:
        case.registered.append((job.dataset, title, language, arguments))
        return tmp_path / "kernels"

    monkeypatch.setattr("harness.notebook.pin", pin)
    monkeypatch.setattr(door, "find_engine", find)
    monkeypatch.setattr("harness.notebook.ensure_notebook_image", ensure)
    monkeypatch.setattr("harness.notebook.open_kernel", kernel)
    monkeypatch.setattr("harness.notebook.register", register)
    monkeypatch.setattr("harness.notebook.new_connection", lambda: "a new one")
    monkeypatch.setattr("harness.notebook.read_connection", lambda path: f"that of {path.name}")
    monkeypatch.setattr("harness.notebook.last_words", lambda _log: case.words)
    return case


def test_what_is_open_is_said_with_how_to_reach_it(opened: SimpleNamespace, tmp_path: Path) -> None:
    result = harness_of(*BNNR)
    lines = result.stdout.splitlines()
    assert result.return_value == 0 and result.stderr == ""
    head = r"bnnr/published on synthetic, random-1: the kernel listens after \d+\.\d s"
    assert re.fullmatch(head, lines[0])
    assert lines[1:] == [
        f"  job key      {'k' * 64}",
        f"  image        permafrost/bnnr:1, environment tree {'e' * 16}, code tree {'c' * 16}",
        "  on top of it _notebook_octave, in permafrost/notebook:1",
        "  loaded       problem (what the first model may know), fit_predict; "
        "try: answer = fit_predict (problem);",
        "  network      none; nothing computed here is stored or counted as a run",
        f"  connect      jupyter console --existing {tmp_path / 'kernel.json'}",
        "  end          Ctrl-C here, or shut the kernel down from the client",
        "the kernel has ended and its container is removed",
    ]
    (job, mirrors) = opened.pinned[0]
    assert (job.split.strategy, job.split.seed, job.variant, job.options["inner_folds"], mirrors) == (
        "random",
        1,
        "published",
        5,
        (),
    )
    assert opened.engines == [False] and opened.images == [("an engine", "bnnr", ())]
    assert opened.kernels == [("an engine", "k" * 64, IMAGE, "a new one", ())]


def test_what_is_fetched_for_a_kernel_is_told_meanwhile(opened: SimpleNamespace) -> None:
    """It may take minutes, the first time."""
    opened.parts = 3
    result = harness_of(*BNNR)
    assert result.return_value == 0
    assert [line for line in result.stderr.splitlines() if "fetched" in line] == [
        "  fetched 1 of 3 parts",
        "  fetched 3 of 3 parts",
    ]


def test_a_program_gets_one_document(opened: SimpleNamespace, tmp_path: Path) -> None:
    opened.words = "it is broken"
    words = ["--split", "cluster:gamma=0.5", "--seed", "7", "--variant", "corrected"]
    words += ["--inner-folds", "2", "--mirror", str(tmp_path), "--install"]
    (tmp_path / "file.json").write_text("{}")
    words += ["--connection-file", str(tmp_path / "file.json"), "--json"]
    result = harness_of("notebook", "scpmf", "--dataset", "synthetic", *words)
    told = document(result)
    assert result.return_value == 0
    assert (told["key"], told["connection_file"]) == ("k" * 64, str(tmp_path / "kernel.json"))
    assert told["label"] == opened.pinned[0][0].label == "scpmf/corrected on synthetic, cluster-gamma=0.5-7"
    assert result.stderr.splitlines()[-3:] == [
        "the kernel's last words:",
        "it is broken",
        "the kernel has ended and its container is removed",
    ]
    job, mirrors = opened.pinned[0]
    assert (job.split.seed, job.options["inner_folds"], mirrors) == (7, 2, (tmp_path,))
    assert opened.engines == [True] and opened.images[0][2] == (tmp_path,)
    assert opened.kernels[0][3:] == ("that of file.json", (tmp_path,))


def test_a_parameter_reaches_the_job(opened: SimpleNamespace) -> None:
    harness_of(*BNNR, "--set", "maxiter=3")
    assert opened.pinned[0][0].parameters["maxiter"] == 3


def test_an_interrupt_before_it_listens_is_the_ordinary_end_too(opened: SimpleNamespace) -> None:
    opened.interrupted = True
    result = harness_of(*BNNR)
    ended = "the kernel has ended and its container is removed\n"
    assert (result.return_value, result.stdout) == (0, ended)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_the_ordinary_end(number: signal.Signals, opened: SimpleNamespace) -> None:
    def unheard(*_: object) -> None:
        raise SystemExit("the notebook does not hear of it")

    signal.signal(number, unheard)
    opened.waits = number
    result = harness_of(*BNNR)
    assert result.return_value == 0
    assert result.stdout.endswith("the kernel has ended and its container is removed\n")


def test_clients_are_told_of_a_kernel_with_all_that_was_named(
    opened: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Layout
) -> None:
    title = load_method(repository, "bnnr").title
    monkeypatch.chdir(REPOSITORY / "docs")
    result = harness_of(*BNNR, "--register")
    assert (result.return_value, result.stdout) == (0, f"registered: {tmp_path / 'kernels'}\n")
    told = document(
        harness_of(
            *(*BNNR, "--register", "--json", "--set", "maxiter=3", "--set", "tol1=0.5", "--inner-folds", "0"),
            *("--mirror", "../docs", "--mirror", str(tmp_path)),
        )
    )
    assert told["registered"] == str(tmp_path / "kernels")
    usual = ["bnnr", "--dataset=synthetic", "--split=random", "--seed=1", "--variant=published"]
    assert opened.registered == [
        ("synthetic", f"{title} on synthetic", "octave", [*usual, "--inner-folds=5"]),
        (
            "synthetic",
            f"{title} on synthetic",
            "octave",
            [
                *(*usual, "--inner-folds=0", "--set=maxiter=3", "--set=tol1=0.5"),
                *(f"--mirror={REPOSITORY / 'docs'}", f"--mirror={tmp_path}"),
            ],
        ),
    ]
    assert opened.engines == [] and opened.kernels == []


@pytest.mark.parametrize(
    ("language", "attempt"),
    [
        ("octave", "answer = fit_predict (problem);"),
        ("python", "answer = fit_predict(problem)"),
        ("r", "%R answer <- fit_predict(problem)"),
    ],
)
def test_what_to_try_is_in_the_language_of_the_cells(language: str, attempt: str) -> None:
    job: Any = SimpleNamespace(label="a job")
    planned: Any = SimpleNamespace(job=job, key="k")
    image = NotebookImage("n", "i", BELOW, "added", language)
    kernel: Any = SimpleNamespace(file=Path("f"))
    text = door._instructions(planned, image, kernel, 1.26)
    assert text.startswith("a job: the kernel listens after 1.3 s\n") and f"; try: {attempt}\n" in text


def test_a_method_without_a_kernel_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        harness_of("notebook", "biolne")
    assert error.value.what == "there is no notebook for methods in java: Debian has no kernel for it"
    assert error.value.where == "harness notebook biolne" and "docs/by-hand.md" in error.value.todo


def test_without_a_name_the_dataset_is_one_of_the_repository(
    opened: SimpleNamespace, repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in ("bnnr", "mlp", "majority_type"):
        card = load_method(repository, method)
        manifest = _own_dataset(repository, card)
        assert manifest.benchmark in card.benchmarks and manifest.files == manifest.own_files
        assert not manifest.bring and not manifest.extends
    harness_of("notebook", "bnnr")
    assert opened.pinned[0][0].dataset == "synthetic"
    usual = {name: load_manifest(repository, name) for name in ("hdvd", "synthetic", "synthetic_ddi")}
    changed: list[Callable[[Any], Any]] = [
        lambda one: one.model_copy(update={"extends": "synthetic"}),
        lambda one: one.model_copy(update={"bring": usual["hdvd"].files[:1]}),
        lambda one: one.model_copy(update={"benchmark": "ddi"}),
        lambda one: usual["hdvd"],
    ]
    bnnr = load_method(repository, "bnnr")
    monkeypatch.setattr(door, "manifest_names", lambda _layout: ["synthetic"])
    for change in changed:
        monkeypatch.setattr(door, "load_manifest", lambda _layout, name, change=change: change(usual[name]))
        with pytest.raises(
            UsageError, match="no dataset of benchmark repurposing lies in the repository"
        ) as error:
            _own_dataset(repository, bnnr)
        assert error.value.where == "harness notebook bnnr"
        assert error.value.todo == "name one with --dataset (harness list datasets)"
    several = bnnr.model_copy(update={"benchmarks": ["repurposing", "dti"]})
    with pytest.raises(UsageError, match="no dataset of benchmark repurposing or dti lies in the repository"):
        _own_dataset(repository, several)
