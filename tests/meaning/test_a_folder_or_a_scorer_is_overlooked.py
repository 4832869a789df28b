"""Which files of a folder, and which modules of a scorer, decide a digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.benchmarks import names
from harness.meaning import meaning_of
from harness.meaning.folders import is_code, meaning_of_folder
from harness.meaning.scorer import meaning_of_scorer, scorer_roots


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


FILES = {"main.py": "x = 1\n", "data/table.csv": "a,b\n", "data/more.py": "y = 2\n"}


def test_a_folder_means_the_same_wherever_it_lies(tmp_path: Path) -> None:
    here, there = (meaning_of_folder(written(tmp_path / name, FILES)) for name in ("here", "there"))
    assert here == there


@pytest.mark.parametrize("backwards", [False, True])
def test_the_order_in_which_files_are_found_means_nothing(tmp_path: Path, *, backwards: bool) -> None:
    names = [f"{letter}/{number}.py" for letter in "abc" for number in range(4)]
    folder = written(tmp_path / "folder", {name: f"x = '{name}'\n" for name in sorted(names, reverse=backwards)})
    expected = digest_of([[name, meaning_of(name, f"x = '{name}'".encode())] for name in names])
    assert meaning_of_folder(folder) == expected


@pytest.mark.parametrize(
    ("changed", "means_another"),
    [
        ({"main.py": "x = 2\n"}, True),
        ({"main.py": "x = 1  # why\n"}, False),
        ({"data/table.csv": "a,c\n"}, True),
        ({"data/new.csv": ""}, True),
        ({"new.py": ""}, True),
        ({"data/__pycache__/more.pyc": "?"}, False),
        ({"__pycache__/deep/more.txt": "?"}, False),
        ({"main.pyc": "?", "main.pyo": "?", "main.py~": "?", ".main.py.swp": "?", "a.swp": "?"}, False),
        ({"main.py.orig": "?", "main.py.rej": "?", ".git/config": "?", "data/.hidden": "?"}, False),
    ],
)
def test_what_belongs_to_a_folder_of_code(tmp_path: Path, changed: dict[str, str], means_another: bool) -> None:
    before = meaning_of_folder(written(tmp_path / "before", FILES))
    after = meaning_of_folder(written(tmp_path / "after", {**FILES, **changed}))
    assert (before != after) is means_another


def test_a_file_under_another_name_is_another(tmp_path: Path) -> None:
    moved = {"data/main.py": FILES["main.py"], **{name: FILES[name] for name in FILES if name != "main.py"}}
    assert meaning_of_folder(written(tmp_path / "a", FILES)) != meaning_of_folder(written(tmp_path / "b", moved))


def test_names_of_code() -> None:
    assert is_code("a/b.py") and is_code("pycache/b.py") and is_code("a~b/c.py")
    assert not any(is_code(name) for name in (".a/b.py", "a/.b", "a/__pycache__/b.py", "a/b~", "a~/b.py"))


SCORER = {
    "__init__.py": "",
    "shared.py": "def half(x):\n    return x / 2\n",
    "other.py": "z = 1\n",
    "benchmarks/__init__.py": "",
    "benchmarks/measures.py": "def mean(x):\n    return sum(x)\n",
    "benchmarks/one/__init__.py": "",
    "benchmarks/one/scoring.py": "from harness.shared import half\n\n\ndef score(x):\n    return half(x)\n",
    "benchmarks/two/__init__.py": "",
    "benchmarks/two/scoring.py": "def score(x):\n    return x\n",
}


@pytest.mark.parametrize(
    ("name", "old", "new", "means_another"),
    [
        ("benchmarks/one/scoring.py", "half(x)", "half(x + 1)", {"one"}),
        ("benchmarks/two/scoring.py", "return x", "return -x", {"two"}),
        ("benchmarks/measures.py", "sum(x)", "max(x)", {"one", "two"}),
        ("shared.py", "x / 2", "x / 3", {"one"}),
        ("other.py", "z = 1", "z = 2", set()),
        ("shared.py", "def half(x):", "def half(x):  # of it", set()),
    ],
)
def test_a_scorer_is_its_benchmarks_and_what_that_imports(
    tmp_path: Path, name: str, old: str, new: str, means_another: set[str]
) -> None:
    before = written(tmp_path / "before" / "harness", SCORER)
    after = written(tmp_path / "after" / "harness", {**SCORER, name: SCORER[name].replace(old, new)})
    assert {
        benchmark
        for benchmark in ("one", "two")
        if meaning_of_scorer(before, benchmark) != meaning_of_scorer(after, benchmark)
    } == means_another


def test_every_benchmark_has_its_roots(repository: Layout) -> None:
    for benchmark in names():
        paths = [repository.root / f"{root.replace('.', '/')}" for root in scorer_roots(benchmark)]
        assert len(paths) == 2
        assert all(path.with_suffix(".py").is_file() or (path / "__init__.py").is_file() for path in paths)
