"""docs/architecture.md shows the packages as their imports are, and no package imports one above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.docs import house, pages

AGAIN = "run: python -m tests.docs.pages"


def test_no_package_imports_one_above_it() -> None:
    graph = house.arrows()
    assert house.cycles(graph) == []
    assert sorted(name for layer in house.layers(graph) for name in layer) == sorted(graph)


def test_no_package_imports_a_benchmark() -> None:
    """Benchmarks are found by their places: only so one more needs no edit elsewhere."""
    plugged_in = {name for name in house.arrows() if name.startswith("benchmarks.")}
    assert plugged_in
    assert {name: below & plugged_in for name, below in house.arrows().items() if below & plugged_in} == {}


def test_the_picture_is_current() -> None:
    assert (REPOSITORY / "docs" / "architecture.md").read_text() == pages.current("architecture.md"), AGAIN


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A house of four packages; `top` imports in a function and for types alone."""
    files = {
        "harness/__init__.py": '"""The root."""',
        "harness/base/__init__.py": '"""The base."""\nfrom harness import __version__',
        "harness/left/__init__.py": '"""Left.\n\nMore."""\nfrom harness.base import one',
        "harness/left/part.py": "import harness.base",
        "harness/top.py": '"""Top."""\ndef late():\n    from harness import left\n'
        "if TYPE_CHECKING:\n    from harness.benchmarks.one import x\n",
        "harness/benchmarks/__init__.py": '"""Both."""',
        "harness/benchmarks/one/__init__.py": '"""One."""\nfrom harness.benchmarks import names',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_imports_are_seen_wherever_they_stand(made_up: Path) -> None:
    assert house.arrows(made_up) == {
        "harness": set(),
        "base": {"harness"},
        "left": {"base"},
        "top": {"left", "benchmarks.one"},
        "benchmarks": set(),
        "benchmarks.one": {"benchmarks"},
    }


def test_a_package_stands_above_all_that_it_imports(made_up: Path) -> None:
    assert house.layers(house.arrows(made_up)) == [
        ["benchmarks", "harness"],
        ["base", "benchmarks.one"],
        ["left"],
        ["top"],
    ]


def test_a_cycle_is_named_and_stands_in_no_layer(made_up: Path) -> None:
    with (made_up / "harness" / "base" / "__init__.py").open("a") as file:
        file.write("\ndef late():\n    from harness.left import part\n")
    graph = house.arrows(made_up)
    assert house.cycles(graph) == ["base -> left", "left -> base"]
    assert house.layers(graph) == [["benchmarks", "harness"], ["benchmarks.one"]]


def test_a_package_says_what_it_does_in_its_first_paragraph(made_up: Path) -> None:
    assert "| `left` | Left. | base |" in pages.rooms(house.arrows(made_up), made_up)
