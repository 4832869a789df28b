"""`harness new method` makes all of a method or nothing, and what it makes works as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks import names
from harness.cli import group
from harness.conformance import self_test
from harness.engine import Engine
from harness.execution.trials import InContainers
from harness.images import image_tree
from harness.methods.card import load_method, method_names
from harness.methods.scaffold import languages_of, new_method
from harness.planning.cells import Cell
from harness.planning.plan import make_plan
from harness.planning.suites import jobs_of, load_suite
from tests.methods.host import OnThisMachine

SKELETONS = [(language, name) for name in names() for language in languages_of(name)]
_COPIED = ("containers", "methods", "datasets", "Dockerfile", "run_all.sh")


@pytest.fixture
def own(repository: Layout, tmp_path: Path) -> Layout:
    """A copy of the repository that a test may add to, with the real cache."""
    root = tmp_path / "repository"
    root.mkdir()
    for name in _COPIED:
        source = repository.root / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, root / name)
    return Layout(root=root, cache=repository.cache, local=tmp_path / "local")


def everything(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


@pytest.mark.parametrize(("language", "benchmark"), SKELETONS)
def test_a_skeleton_is_a_method_at_once(own: Layout, language: str, benchmark: str) -> None:
    before = everything(own.root)
    made = new_method(own, "my_method", language, benchmark)
    added = {str(path.relative_to(own.root)) for path in made} | {"methods/my_method", "containers/my_method"}
    assert everything(own.root) - before == added
    card = load_method(own, "my_method")
    assert (card.language, card.title) == (language, "MY METHOD")
    assert "@" not in "".join(path.read_text() for path in made).replace("@fit_predict", "")


def cells_of(own: Layout, suite: str) -> list[Cell]:
    plan = make_plan(own, suite, jobs_of(own, load_suite(suite)))
    return [cell for cell in plan.cells if cell.job.method == "my_method"]


@pytest.mark.parametrize(("language", "benchmark"), SKELETONS)
def test_it_appears_in_the_table_of_every_method(own: Layout, language: str, benchmark: str) -> None:
    new_method(own, "my_method", language, benchmark)
    cells = cells_of(own, "smoke")
    assert len(cells) == {"repurposing": 2, "ddi": 1, "dti": 1, "combos": 1}[benchmark]
    assert {(cell.job.benchmark, cell.verdict) for cell in cells} == {(benchmark, Verdict.PENDING)}
    assert image_tree(own, "my_method")
    datasets = {cell.job.dataset for cell in cells_of(own, "ddi-smoke")}
    assert datasets == ({"synthetic_ddi", "synthetic_ddi_multilabel"} if benchmark == "ddi" else set())


@pytest.mark.parametrize("benchmark", names())
def test_it_passes_its_self_test_on_this_machine(own: Layout, tmp_path: Path, benchmark: str) -> None:
    new_method(own, "my_method", "python", benchmark)
    results = list(self_test(load_method(own, "my_method"), OnThisMachine(own, tmp_path)))
    assert not [result for result in results if not result.passed]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("language", "benchmark"),
    [
        pytest.param(*one, marks=() if one == ("python", "repurposing") else pytest.mark.thorough)
        for one in SKELETONS
    ],
)
def test_it_builds_and_passes_its_self_test_in_its_container(
    own: Layout, engine: Engine, language: str, benchmark: str
) -> None:
    new_method(own, "my_method", language, benchmark)
    results = list(self_test(load_method(own, "my_method"), InContainers(own, engine)))
    assert results
    assert not [result for result in results if not result.passed]


@pytest.mark.parametrize(
    "name", ["", "a", "My_method", "1st", "my-method", "../escape", "a/b", "_base", "x" * 41, "metrics", "ünï"]
)
def test_a_bad_name_is_refused_and_nothing_is_written(own: Layout, name: str) -> None:
    before = everything(own.root)
    with pytest.raises(UsageError):
        new_method(own, name, "python", "repurposing")
    assert everything(own.root) == before


@pytest.mark.parametrize("taken", ["methods", "containers"])
def test_an_existing_name_is_refused_and_kept(own: Layout, taken: str) -> None:
    folder = own.root / taken / "my_method"
    folder.mkdir()
    (folder / "work").write_text("mine")
    before = everything(own.root)
    with pytest.raises(UsageError, match="already"):
        new_method(own, "my_method", "r", "repurposing")
    assert everything(own.root) == before


@pytest.mark.parametrize(
    ("language", "benchmark"), [("perl", "repurposing"), ("octave", "ddi"), ("python", "weather")]
)
def test_unknown_words_are_refused(own: Layout, language: str, benchmark: str) -> None:
    before = everything(own.root)
    with pytest.raises(UsageError):
        new_method(own, "my_method", language, benchmark)
    assert everything(own.root) == before


@pytest.mark.parametrize(("fails", "first"), [("containers", []), ("methods", ["containers"])])
def test_a_failure_between_the_two_folders_leaves_neither(
    own: Layout, monkeypatch: pytest.MonkeyPatch, fails: str, first: list[str]
) -> None:
    """The card is moved last: before it is there, nobody takes the rest for a method."""
    before, rename, moved = everything(own.root), Path.rename, list[str]()

    def failing(self: Path, target: Path) -> Path:
        if self.name == fails:
            raise OSError(28, "No space left on device")
        moved.append(self.name)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(HarnessError, match="No space left"):
        new_method(own, "my_method", "python", "repurposing")
    monkeypatch.undo()
    assert everything(own.root) == before and moved == first
    assert "my_method" not in method_names(own)


def test_the_command_says_what_comes_next(own: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.root)
    result = CliRunner().invoke(group, ["new", "method", "my_method", "--language", "r", "--title", "Mine"])
    assert result.exit_code == 0, result.output
    assert "methods/my_method/main.R" in result.output
    assert "harness new check my_method" in result.output
    assert load_method(own, "my_method").title == "Mine"
