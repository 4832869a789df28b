"""The notebook that newcomers open runs from top to bottom, and is committed without what it printed."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.engine import Engine
from tests.conftest import REPOSITORY

_EXAMPLES = sorted((REPOSITORY / "examples").glob("*.ipynb"))


def _code(notebook: Path) -> list[str]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def test_there_is_an_example() -> None:
    assert _EXAMPLES


@pytest.mark.parametrize("notebook", _EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_committed_without_outputs(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.mark.engine
@pytest.mark.parametrize("notebook", _EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_to_its_end_and_resumes(
    notebook: Path, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notebook.parent)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for number, code in enumerate(_code(notebook)):
            exec(compile(code, f"{notebook.name}, code {number}", "exec"), names)
    assert names["campaign"].left == len(names["plan"].cells)
    again = api.run(names["plan"], progress=None)
    assert again.left == 0 and again.table.cells == names["campaign"].table.cells
    assert api.table(again).equals(names["frame"])
