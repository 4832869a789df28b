"""What is public is what the page shows: every member is there, typed, and has a first sentence."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from typing import get_type_hints

import pytest

from harness import api
from tests.conftest import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
_FUNCTIONS = [name for name in api.__all__ if inspect.isfunction(getattr(api, name))]


def test_the_page_shows_every_member_and_no_other() -> None:
    assert sorted(re.findall(r"^### `(\w+)`$", _PAGE, re.MULTILINE)) == sorted(api.__all__)
    assert dir(api) == api.__all__ == sorted(api.__all__)


@pytest.mark.parametrize("name", api.__all__)
def test_a_member_is_described_and_shown(name: str) -> None:
    member = getattr(api, name)
    assert member.__module__.startswith("harness.api.")
    assert member.__doc__ and re.match(r"[A-Z][^.]*[.:]", member.__doc__)
    section = _PAGE.split(f"### `{name}`")[1].split("\n### ")[0]
    assert "```python" in section


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_function_is_typed_and_takes_few_arguments_by_place(name: str) -> None:
    function: Callable[..., object] = getattr(api, name)
    parameters = inspect.signature(function).parameters.values()
    # pandas is named by `table` alone, and imported when it is called
    hints = {**function.__annotations__} if name == "table" else get_type_hints(function)
    assert set(hints) == {"return", *(one.name for one in parameters)}
    assert sum(one.kind is not one.KEYWORD_ONLY for one in parameters) <= 2


def test_what_nobody_asked_for_is_not_done() -> None:
    """Scripts rest on what a function assumes: all that is neither nothing nor empty is told here."""
    assumed = {
        f"{name}.{one.name}": one.default
        for name in _FUNCTIONS
        for one in inspect.signature(getattr(api, name)).parameters.values()
        if one.default is not one.empty and one.default is not None and one.default not in ((), "", {})
    }
    progress = {f"{name}.progress": "auto" for name in ("audit", "merge", "predict", "run")}
    assert assumed == progress | {
        "attest.reference": False,
        "audit.believing": "notes",
        "audit.reference": False,
        "audit.replay": 0,
        "audit.seed": 0,
        "confirm.reference": False,
        "contest.common_seeds": False,
        "contest.reference": False,
        "forget.dry_run": False,
        "open_repository.install": False,
        "plan.accelerator": "cpu",
        "plan.make_splits": True,
        "predict.both_orders": False,
        "predict.seed": 0,
        "report.unless_current": False,
        "run.on": "local",
        "run.remove_images": False,
        "run.verify": False,
        "scores.again": False,
        "status.reference": False,
        "stop.now": False,
        "verify.reference": False,
    }


def test_the_examples_of_the_page_are_valid_and_name_members_only() -> None:
    examples = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)
    assert len(examples) > len(api.__all__)
    for example in examples:
        compile(example, "docs/api.md", "exec")
        assert set(re.findall(r"permafrost\.(\w+)", example)) <= set(api.__all__)


def test_an_unknown_member_is_refused() -> None:
    with pytest.raises(AttributeError, match="'plans_of'"):
        _ = api.plans_of  # type: ignore[attr-defined]


def test_the_types_are_shipped() -> None:
    assert files("harness").joinpath("py.typed").is_file()


def test_importing_it_waits_for_nothing_heavy() -> None:
    code = (
        "import sys; from harness import api;"
        "print([name for name in ('numpy', 'pandas', 'pydantic', 'docker') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout.strip() == "[]"
