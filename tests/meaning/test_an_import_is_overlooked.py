"""Code that scores depend on and that no digest covers: it could change, and every score would look fresh."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import harness
from harness.base.errors import CorruptData
from harness.base.files import digest_of
from harness.meaning.modules import meaning_of_modules, meanings
from harness.meaning.python import python_meaning
from harness.splits import strategies

# A module, and how it may take something from the module `used`.
IMPORTS = {
    "a module": "import house.deep.used",
    "a module under another name": "import house.deep.used as u",
    "a name": "from house.deep.used import A",
    "a name under another": "from house.deep.used import A as B",
    "all names": "from house.deep.used import *",
    "a module of a package": "from house.deep import used",
    "a neighbour": "from .deep import used",
    "a neighbour's name": "from .deep.used import A",
    "in a function": "def f():\n    from house.deep.used import A",
    "in a method": "class C:\n    def f(self):\n        import house.deep.used",
    "in a branch": "if x:\n    pass\nelif y:\n    from house.deep import used",
    "in a loop": "for x in y:\n    pass\nelse:\n    from house.deep import used",
    "in an attempt": "try:\n    pass\nexcept E:\n    from house.deep import used",
    "at last": "try:\n    pass\nfinally:\n    from house.deep import used",
    "in a case": "match x:\n    case 1:\n        from house.deep import used",
    "with something": "with x:\n    from house.deep import used",
    "beside types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.deep.used import A",
    "in steps": "from house import step",
    "through a package": "from house.front import A",
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A package of a few modules."""
    folder = tmp_path / "house"
    (folder / "deep").mkdir(parents=True)
    (folder / "front").mkdir()
    (folder / "__init__.py").write_text("import nothing_of_ours, house.other\n")
    (folder / "deep" / "__init__.py").write_text("from house.other import O\n")
    (folder / "deep" / "used.py").write_text("A = 1\n")
    (folder / "step.py").write_text("from .deep.used import A\n")
    (folder / "front" / "__init__.py").write_text("from ..deep.used import A\n")
    (folder / "other.py").write_text("O = 1\n")
    (folder / "top.py").write_text("")
    return folder


def digest(house: Path, *within: str) -> str:
    return meaning_of_modules(house, ["house.top"], within)


@pytest.mark.parametrize("how", IMPORTS)
def test_whatever_is_imported_counts(house: Path, how: str) -> None:
    (house / "top.py").write_text(IMPORTS[how] + "\n")
    before = digest(house)
    (house / "deep" / "used.py").write_text("A = 1  # a comment\n")
    assert digest(house) == before
    (house / "deep" / "used.py").write_text("A = 2\n")
    assert digest(house) != before


@pytest.mark.parametrize("how", IMPORTS)
def test_what_is_not_imported_does_not_count(house: Path, how: str) -> None:
    """A package that something is taken through drags in nothing else."""
    (house / "top.py").write_text(IMPORTS[how] + "\n")
    before = digest(house)
    (house / "other.py").write_text("O = 2\n")
    assert digest(house) == before


def test_the_modules_own_code_its_name_and_its_place_count(house: Path) -> None:
    digests = {digest(house)}
    (house / "top.py").write_text("from house import step\n")
    digests.add(digest(house))
    (house / "top.py").write_text("from house import stairs\n")
    (house / "step.py").rename(house / "stairs.py")
    digests.add(digest(house))
    (house / "stairs").mkdir()
    (house / "stairs.py").rename(house / "stairs" / "__init__.py")
    with pytest.raises(CorruptData, match=r"house\.stairs\.deep"):
        digest(house)  # `.deep` is another place there
    assert len(digests) == 3


def test_a_folder_beside_a_module_of_its_name_is_no_package(house: Path) -> None:
    (house / "deep" / "used").mkdir()
    (house / "deep" / "used" / "A.py").write_text("")
    (house / "top.py").write_text("from house.deep.used import A\n")
    assert list(meanings(house, ["house.top"])) == ["house.top", "house.deep.used"]


def test_a_part_is_not_another_whose_name_begins_alike(house: Path) -> None:
    (house / "deeper.py").write_text("D = 1\n")
    (house / "top.py").write_text("from house.deep.used import A\nfrom house import deeper\n")
    assert set(meanings(house, ["house.top"], ["house.deep"])) == {"house.top", "house.deep.used"}
    assert set(meanings(house, ["house.top"])) == {"house.top", "house.deep.used", "house.deeper"}


def test_every_module_has_its_text_under_its_name(house: Path) -> None:
    (house / "top.py").write_text("from house.front import A\nfrom house import step\n")
    texts = meanings(house, ["house.top"])
    assert set(texts) == {"house.top", "house.front", "house.step", "house.deep.used"}
    assert texts["house.deep.used"] == python_meaning(b"A = 1\n")
    assert meaning_of_modules(house, ["house.top"]) == digest_of(texts)
    assert set(meanings(house, ["house.top", "house.other"], ["house.step"])) == {
        "house.top",
        "house.step",
        "house.other",
    }


@pytest.mark.parametrize(("use", "counts"), [("", False), ("print(__doc__)\n", True)])
def test_a_docstring_counts_where_it_is_read(house: Path, use: str, *, counts: bool) -> None:
    (house / "top.py").write_text("import house.deep.used\n")
    digests = set()
    for text in ("One.", "Two."):
        (house / "deep" / "used.py").write_text(f'"""{text}"""\n{use}')
        digests.add(digest(house))
    assert (len(digests) == 2) == counts


def test_a_folder_that_python_takes_in_place_of_a_module_counts(house: Path) -> None:
    (house / "top.py").write_text("from house.step import A\n")
    before = digest(house)
    (house / "step").mkdir()
    (house / "step" / "__init__.py").write_text("A = 0.97\n")
    assert digest(house) != before


def test_modules_that_import_each_other_end(house: Path) -> None:
    (house / "top.py").write_text("import house.step\n")
    (house / "step.py").write_text("import house.top\n")
    assert digest(house)


@pytest.mark.parametrize("text", ["import house.nowhere", "from house.nowhere import A", "from .nowhere import A"])
def test_a_module_that_is_not_there_is_no_module_without_meaning(house: Path, text: str) -> None:
    (house / "top.py").write_text(text)
    with pytest.raises(CorruptData, match=r"house\.nowhere"):
        digest(house)


@pytest.mark.parametrize(("name", "counts"), [("deep/used", True), ("other", False)])
def test_what_lies_elsewhere_does_not_count(house: Path, name: str, *, counts: bool) -> None:
    (house / "top.py").write_text("from house.deep.used import A\nfrom house.other import O\n")
    before = digest(house, "house.deep")
    path = house / f"{name}.py"
    path.write_text(path.read_text() + "MORE = 1\n")
    assert (digest(house, "house.deep") != before) == counts
    assert digest(house) != before


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ("splits/parts.py: OUTSIDE = -2 -> OUTSIDE = -3", True),
        ("splits/drugs/clusters.py:  -> # a remark\n", False),
        ("splits/strategies/cluster.py: default=0.55 -> default=0.65", True),
        ("splits/strategies/usage.py: import -> import ", False),
        ("molecules.py: RADIUS = 2 -> RADIUS = 3", False),
    ],
)
def test_a_split_depends_on_what_its_strategy_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, *, counts: bool
) -> None:
    """Of a copy of the harness, in which one module is changed."""
    copy = tmp_path / "harness"
    shutil.copytree(Path(harness.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(strategies, "_PACKAGE", copy)
    before = strategies.strategy_source.__wrapped__("ddi", "cluster")
    name, _, words = change.partition(": ")
    old, _, new = words.partition(" -> ")
    path = copy / "benchmarks" / "ddi" / name
    text = path.read_text()
    path.write_text(text.replace(old, new, 1) if old else new + text)
    assert (strategies.strategy_source.__wrapped__("ddi", "cluster") != before) == counts
