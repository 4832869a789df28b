"""Markdown that shows a text as it is: text of runs, logs and manifests can't become markup, links or HTML.

`plain` is for every text that a person did not write as Markdown; `prose` for the pages of cards and findings,
whose authors may use it: there only HTML is taken away. `code` is the form of names.
"""

from __future__ import annotations

import re
import unicodedata

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# `_` inside a word is no markup, and names are full of it; the rest are what links and bare addresses begin with
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)|(?<=:)//|(?<=\bwww)[.]|(?<=\w)@(?=\w)")
# headings, lists and rules, where a text begins
_START = re.compile(r"^(?:[#+=-](?=[\s#=-]|$)|\d+(?=[.)](?:\s|$)))")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain(text: object) -> str:
    """One line that shows exactly these words, wherever it stands."""
    words = " ".join(_without_controls(str(text)).split())
    harmless = re.sub(r"[&<>]", lambda match: _HTML[match[0]], words)
    escaped = _MARKUP.sub(r"\\\g<0>", harmless)
    return _START.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", escaped)


def prose(text: str) -> str:
    """Text that its author wrote as Markdown, without the HTML that Markdown lets through."""
    return _TAG.sub("&lt;", text.strip())


def code(text: object) -> str:
    """A name as code, also one with backticks in it."""
    words = " ".join(_without_controls(str(text)).split()).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", words)), default=0))
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{words}{space}{fence}"


def _without_controls(text: str) -> str:
    """The text with spaces in place of control characters, marks of writing direction among them."""
    return "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") else one for one in text)
