"""What a benchmark does not know is refused before anything is planned or run: by commands and in suites."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli import main
from harness.compare import load_names

Refused = Callable[..., str]
OF_DDI = ("--method", "majority_type", "--dataset", "synthetic_ddi", "--seed", "1")
BLOCK = 'methods = ["majority_type"]\ndatasets = ["synthetic_ddi"]\nsplits = ["random"]\nseeds = [1]\n'


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """What a command says that must end with exit code 2, without a plan, an engine or a result."""

    def reached(*_: object, **__: object) -> None:
        raise AssertionError("it went on")

    for place in (
        "harness.api.plans.make_plan",
        "harness.api.runs.find_engine",
        "harness.cli.notebook.find_engine",
    ):
        monkeypatch.setattr(place, reached)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "results"))

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        said = capsys.readouterr()
        assert ended.value.code == 2, said.err
        assert said.out == "" and not (tmp_path / "results").exists()
        return said.err

    return run


def test_an_option_that_the_benchmark_does_not_have(refused: Refused) -> None:
    said = refused("run", *OF_DDI, "--inner-folds", "3")
    assert "benchmark ddi has no inner folds" in said and "where: --inner-folds" in said and "leave it out" in said


def test_one_dataset_that_does_not_know_it_is_enough(refused: Refused) -> None:
    asked = ("--method", "constant", "--dataset", "synthetic", "--seed", "1", "--inner-folds", "3")
    assert "benchmark ddi has no inner folds" in refused("run", *asked, *OF_DDI[:4])


@pytest.mark.parametrize("count", ["-1", "101"])
def test_a_value_that_the_benchmark_does_not_take(refused: Refused, count: str) -> None:
    asked = ("--method", "constant", "--dataset", "synthetic", "--seed", "1")
    assert f"where: --inner-folds {count}" in refused("run", *asked, "--inner-folds", count)


@pytest.mark.parametrize("command", ["run", "plan", "status"])
@pytest.mark.parametrize(
    ("stray", "words"),
    [
        ("options = { inner_folds = 3 }", "benchmark ddi has no inner folds"),
        ("inner_folds = 3", "inner_folds: Extra inputs are not permitted"),
    ],
    ids=["an option", "a field"],
)
def test_a_suite_that_asks_for_it(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, stray: str, words: str
) -> None:
    (tmp_path / "ddi").mkdir()
    (tmp_path / "ddi" / "own.toml").write_text(f'name = "own"\nsummary = "x"\n[[blocks]]\n{BLOCK}{stray}\n')
    monkeypatch.setattr("harness.planning.suites._folder", lambda benchmark: tmp_path / benchmark)
    assert words in refused(command, "--suite", "own")


def test_published_names_that_ask_for_it(layout: Layout, tmp_path: Path) -> None:
    """An option that is misspelt there would hold no run against any claim."""
    copy = Layout(root=tmp_path, cache=layout.cache, local=tmp_path / "local")
    shutil.copytree(layout.published / "repurposing", copy.published / "repurposing")
    path = copy.published / "repurposing" / "names.toml"
    path.write_text(path.read_text().replace("inner_folds", "inner_fold"))
    with pytest.raises(UsageError, match="benchmark repurposing has no inner fold") as refusal:
        load_names(copy, "repurposing")
    assert refusal.value.where == f"{path}: options.inner_fold"
