"""What tests need that compare what is said word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import canonical_json, digest_of
from harness.base.layout import Layout
from tests.core.factories import planned_job, record_of

AGAIN = "remove that run's folder and run again; `harness audit` tells more"
RESTORE = "restore the file from the repository, or make it anew"


def recorded(calls: list[Any], answer: Any) -> Callable[..., Any]:
    """A function that notes what it is given."""

    def call(*given: Any, **named: Any) -> Any:
        calls.append((*given, *named.values()))
        return answer

    return call


def said(error: HarnessError) -> tuple[str, str, str]:
    return error.what, error.where, error.todo


def layout_of(folder: Path) -> Layout:
    return Layout(root=folder.parent, cache=folder.parent / "cache", local=folder)


def record_text(**changed: Any) -> bytes:
    """A record with other fields, and the digest that a forger would give it."""
    content = {name: one for name, one in record_of(planned_job()).to_json().items() if name != "digest"}
    content = {name: one for name, one in {**content, **changed}.items() if one is not ...}
    return canonical_json({**content, "digest": digest_of(content)})
