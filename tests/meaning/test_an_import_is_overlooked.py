"""Code that scores depend on and that no digest covers: it could change, and every score would look fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.meaning.modules import WHOLE, meaning_of_modules

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


def digest(house: Path, *functions: str) -> str:
    return meaning_of_modules(house, {"house.top": functions or WHOLE})


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
    with pytest.raises(ModuleNotFoundError, match=r"house\.stairs\.deep"):
        digest(house)  # `.deep` is another place there
    assert len(digests) == 3


def test_modules_that_import_each_other_end(house: Path) -> None:
    (house / "top.py").write_text("import house.step\n")
    (house / "step.py").write_text("import house.top\n")
    assert digest(house)


@pytest.mark.parametrize("text", ["import house.nowhere", "from house.nowhere import A", "from .nowhere import A"])
def test_a_module_that_is_not_there_is_no_module_without_meaning(house: Path, text: str) -> None:
    (house / "top.py").write_text(text)
    with pytest.raises(ModuleNotFoundError, match=r"house\.nowhere"):
        digest(house)


FRONT = """
from typing import TYPE_CHECKING
from house.other import O
if TYPE_CHECKING:
    from house.deep.used import A

LIMIT = 1

def score(x: A): return helped(x)
def helped(x): return LIMIT
def shown(x):
    from house import step
    return O
"""


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("return helped(x)", "return helped(x) + 1", True),
        ("return LIMIT", "return -LIMIT", True),
        ("LIMIT = 1", "LIMIT = 2", True),
        ("return O", "return -O", False),
        ("return helped(x)", "return helped(x)  # why", False),
    ],
)
def test_of_a_root_with_functions_only_what_they_use_counts(
    house: Path, old: str, new: str, *, counts: bool
) -> None:
    (house / "top.py").write_text(FRONT)
    before = digest(house, "score")
    (house / "top.py").write_text(FRONT.replace(old, new))
    assert (digest(house, "score") != before) == counts


@pytest.mark.parametrize(("name", "counts"), [("deep/used", True), ("other", False), ("step", False)])
def test_of_a_root_with_functions_only_their_imports_count(house: Path, name: str, *, counts: bool) -> None:
    (house / "top.py").write_text(FRONT)
    before = digest(house, "score")
    path = house / f"{name}.py"
    path.write_text(path.read_text() + "MORE = 1\n")
    assert (digest(house, "score") != before) == counts
    (house / "top.py").write_text(FRONT.replace("return LIMIT", "return O"))
    assert digest(house, "score") != before
