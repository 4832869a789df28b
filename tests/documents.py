"""Whatever a test makes a command print as JSON is held against the schema of that command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

import harness.cli
from harness.cli import options
from harness.cli.documents import envelope

_document, _error = envelope.document, envelope.error_document


@cache
def forms(words: str) -> list[TypeAdapter[Any]]:
    """The forms of what a command prints; of all lists where a test calls `split list` by its last word."""
    from harness.cli.documents.answers import answers, form_of
    from harness.cli.documents.forms import ErrorAnswer

    of_commands = [form_of(one) for one in answers() if f" {one}".endswith(f" {words}")]
    # a group of commands has no answer of its own
    return of_commands or [TypeAdapter(ErrorAnswer)]


def check(words: str, document: dict[str, Any]) -> None:
    """Raise `ValidationError` where a document is not of its command's form."""
    if not words:
        # a test calls a command without the group that gives it its name
        return
    text = envelope.json_text(document)
    for form in forms(words)[:-1]:
        try:
            form.validate_json(text)
        except ValidationError:
            continue
        return
    forms(words)[-1].validate_json(text)


def _checked_document(value: Mapping[str, Any] | list[Any]) -> dict[str, Any]:
    document = _document(value)
    check(document["command"], document)
    return document


def _checked_error(*arguments: Any) -> dict[str, Any]:
    document = _error(*arguments)
    check(document["command"], document)
    return document


@pytest.fixture(autouse=True)
def every_document_is_of_its_schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command that prints another document than its schema tells fails the test that called it."""
    monkeypatch.setattr(options, "document", _checked_document)
    monkeypatch.setattr(harness.cli, "error_document", _checked_error)
    yield
