"""R without comments, blank lines and indentation; strings, raw strings and names in quotes as they stand."""

from __future__ import annotations

import re

from harness.meaning.scripts import Unsure, script_text

_TOKEN = re.compile(
    r"""
      (?P<raw> (?<![\w.]) [rR] (?P<quote>["']) (?P<dashes>-*) (?P<open>[(\[{]) )
    | (?P<string> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*` )
    | (?P<operator> %[^%\n]*% )
    | (?P<line> [ \t]* (?:\#[^\n]*?)? \r?\n [ \t]* )
    | (?P<end> [ \t]* (?:\#[^\n]*)? \Z )
    | (?P<unsure> ["'`%\#] )
    | (?P<other> [ \t]+ | [\w.]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSE = {"(": ")", "[": "]", "{": "}"}


def r_meaning(content: bytes) -> str:
    """The code line by line."""
    text = script_text(content)
    pieces, at = ["\n"], len(text) - len(text.lstrip(" \t"))
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match["unsure"]:
            raise Unsure
        at = match.end()
        if match["line"]:
            if pieces[-1] != "\n":
                pieces.append("\n")
        elif match["raw"]:
            close = _CLOSE[match["open"]] + match["dashes"] + match["quote"]
            end = text.find(close, at)
            if end < 0:
                raise Unsure
            pieces += (match[0], text[at : (at := end + len(close))])
        elif not match["end"]:
            pieces.append(match[0])
    return "".join(pieces).strip("\n")
