"""A deliberate defect that survived is planted again where it was: texts, calls and statements alike."""

from __future__ import annotations

from pathlib import Path

from benchmarks.mutants.changes import mutants_of

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
