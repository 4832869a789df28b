"""A program in the place of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

SHA = "a" * 64


class Runs:
    """A program in the place of another: notes what it is asked, does something, and ends."""

    def __init__(
        self, code: int = 0, out: str = "", err: str = "", does: Callable[[list[str]], object] | None = None
    ) -> None:
        self.code, self.out, self.err, self.does = code, out, err, does
        self.command: list[str] = []
        self.more: Any = None

    def __call__(self, command: Sequence[str], *more: Any, **named: Any) -> Any:
        self.command, self.more = list(command), (more, named)
        if self.does is not None:
            self.does(self.command)
        return SimpleNamespace(returncode=self.code, stdout=self.out, stderr=self.err)
