"""What the rules for languages share: the exception for a file that a rule can't read."""

from __future__ import annotations

import re

_LONE_RETURN = re.compile(r"\r(?!\n)")


class Unsure(Exception):
    """A rule can't tell what a file means, so its bytes count."""


def script_text(content: bytes) -> str:
    """The text of a script, whose lines end with `\\n` or `\\r\\n`; `Unsure` where there may be others.

    Octave, and R's `source`, take a carriage return alone for the end of a line: it ends a comment, too.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise Unsure from None
    if _LONE_RETURN.search(text):
        raise Unsure
    return text
