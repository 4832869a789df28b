"""A deliberate defect that survived is planted again where it was: texts, calls and statements alike."""

from __future__ import annotations

from pathlib import Path

from benchmarks.mutants.changes import mutants_of
from benchmarks.mutants.planting import functions_of
from benchmarks.mutants.reach import Reach, chosen_of

MODULE = '''"""A module."""
NAMES = {"one": 1, "other": 2}
def told(values):
    if len(values) > NAMES["one"]:
        raise ValueError("too many")
    values.append('last')
    return "\\n".join(
        sorted(values, key=str)
    )
'''


def test_every_defect_is_where_it_was_until_its_line_changes(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(MODULE)
    mutants = mutants_of(tmp_path, "module.py")
    assert {mutant.before for mutant in mutants} >= {"'one'", "'last'", "'\\n'", "values.append('last')"}
    assert all(mutant.is_there(tmp_path) for mutant in mutants) and len(mutants) >= 20
    (tmp_path / "module.py").write_text(MODULE.replace("NAMES = ", "NAMED = "))
    assert all(mutant.is_there(tmp_path) for mutant in mutants), "what stands beside it is all the same"
    (tmp_path / "module.py").write_text("\n" * 9 + MODULE)
    assert not any(mutant.is_there(tmp_path) for mutant in mutants if mutant.line > 1)


def test_a_test_that_only_builds_a_class_is_asked_too(tmp_path: Path) -> None:
    """It calls no function of the module: that it imports from it is what tells."""
    texts = {
        "one.py": "from harness.limits import Bounds",
        "two.py": "from harness import limits",
        "three.py": "from harness import limits_of_others",
        "four.py": "import os",
    }
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "limits.py").write_text("class Bounds:\n    least = 1\n")
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n")
    reaches = {name: [Reach(f"{name}::test", 1.0, frozenset())] for name in texts}
    called = Reach("five.py::test", 1.0, frozenset([("harness/limits.py", "Bounds.told")]))
    (tmp_path / "five.py").write_text("")
    mutant = mutants_of(tmp_path, "harness/limits.py")[0]
    chosen = chosen_of({**reaches, "five.py": [called]}, tmp_path, mutant, None)
    assert [one.test for one in chosen] == ["one.py::test", "two.py::test", "five.py::test"]


def test_what_fills_a_table_while_a_module_is_loaded_is_no_function(tmp_path: Path) -> None:
    """No test calls it: a new process has to load it, and every test of the module may notice."""
    path = tmp_path / "harness" / "names.py"
    path.parent.mkdir()
    path.write_text(
        "TABLE = tuple(2 * one for one in range(9))\n"
        "class Kept:\n    LIST = [3 * one for one in range(9)]\n"
        "def called():\n    return sum(4 * one for one in range(9))\n"
    )
    where = {
        mutant.line: None if (pairs := functions_of(tmp_path, mutant)) is None else bool(pairs)
        for mutant in mutants_of(tmp_path, "harness/names.py")
        if mutant.before in ("2", "3", "4")
    }
    assert where == {1: None, 3: None, 5: True}
