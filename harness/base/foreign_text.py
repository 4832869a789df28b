"""Text that a program or a person wrote, such as a reason or a file's name, as a line of ours may show it."""

from __future__ import annotations

_LONGEST = 1000


def printable(text: str) -> str:
    """Text that a terminal and a table show as it is: what would control them is spelt out."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
