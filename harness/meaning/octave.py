"""Octave without comments, blank lines and indentation.

A quote is a transposition or begins a string, a word at the beginning of a statement is a name or a command, and
in a matrix a space may be a comma. The characters around must decide it; in any other file the rule is not sure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from harness.meaning.scripts import Unsure, script_text

_BLOCK = re.compile(r"[ \t]*[%#](?P<brace>[{}])[ \t]*")
_TOKEN = re.compile(
    r"""
      (?P<space> [ \t]+ )
    | (?P<goes_on> \.\.\. )
    | (?P<unsure> \.\. | \\ (?= [ \t]* (?: [%\#] | \Z ) ) )
    | (?P<number> (?: \d+ \.? \d* | \. \d+ ) (?: [eEdD] [+-]? \d+ )? \w* )
    | (?P<word> [A-Za-z_] \w* )
    | (?P<double> " (?: [^"\\] | \\. | "" )* " )
    | (?P<single> ' )
    | (?P<comment> [%\#] .* )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<other> [^"] )
    """,
    re.VERBOSE,
)
_STRING = re.compile(r"'(?:[^']|'')*'")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_KEYWORDS = set(
    re.findall(
        r"\w+",
        """
        break case catch continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif
        endparfor endswitch endwhile for function global if otherwise parfor persistent return switch try until
        unwind_protect unwind_protect_cleanup while
        """,
    )
)
# A quote behind one of these begins a string.
_OPERATORS = set("([{,;=+-*/\\^&|<>!~@:")
# What may follow a name and a space; anything else makes the name a command, and what follows its words.
_NO_COMMAND = re.compile(r"[ \t]+(?:\Z|=(?!=)|[(,;%#)\]}]|[-+*/\\^&|<>!~:.=]{1,3}[ \t])")
_QUOTES = re.compile(r"""["'%#]|\.\.\.""")
# A comment may name the encoding of the file.
_ENCODING = re.compile(r"coding[:=]")


def octave_meaning(content: bytes) -> str:
    """The code line by line."""
    reader, blocks = _Reader(), 0
    for line in script_text(content).replace("\r\n", "\n").split("\n"):
        if block := _BLOCK.fullmatch(line):
            blocks += 1 if block["brace"] == "{" else -1
            if blocks < 0 or reader.inside:
                raise Unsure
        elif not blocks:
            reader.read(line)
    if blocks or reader.inside:
        raise Unsure
    return "\n".join(reader.lines)


@dataclass
class _Reader:
    """Reads one line after the other, and knows what is open at the end of each."""

    lines: list[str] = field(default_factory=list)
    brackets: list[str] = field(default_factory=list)
    before: str = ""
    goes_on: bool = False

    @property
    def inside(self) -> bool:
        """Whether the next line belongs to the same statement."""
        return self.goes_on or bool(self.brackets)

    def read(self, line: str) -> None:
        """Keep the code of a line. Spaces at its beginning may count inside a statement."""
        inside, goes_on = self.inside, self.goes_on
        if not (goes_on or self.brackets[-1:] == ["("]):
            self.before = ""
        code = self._code_of(line, begins=not inside)
        if not code.strip(" \t"):
            if goes_on:
                raise Unsure
            return
        self.lines.append(code if inside else code.lstrip(" \t"))

    def _code_of(self, line: str, *, begins: bool) -> str:
        at, self.goes_on = 0, False
        while at < len(line):
            match = _TOKEN.match(line, at)
            if match is None or match.lastgroup == "unsure":
                raise Unsure
            kind, token = match.lastgroup, match[0]
            if kind == "comment":
                if _ENCODING.search(token):
                    raise Unsure
                return line[:at].rstrip(" \t")
            if kind == "goes_on":
                # the rest of the line is no code, but its end is not always plain
                self.goes_on = True
                return line
            if kind == "single":
                token = self._quote(line, at)
            elif kind == "open":
                self.brackets.append(token)
            elif kind == "close" and (not self.brackets or self.brackets.pop() != _CLOSES[token]):
                raise Unsure
            elif kind == "word" and token not in _KEYWORDS and begins:
                _refuse_command(line, match.end())
            if kind != "space":
                self.before = token
                begins = not self.brackets and (token in _KEYWORDS or token in {",", ";", ")"})
            at += len(token)
        return line.rstrip(" \t")

    def _quote(self, line: str, at: int) -> str:
        """The token that a quote begins: a transposition, or a whole string."""
        spaced = not line[:at].strip(" \t") or line[at - 1] in " \t"
        first_of_row = not self.before and self.brackets[-1:] != ["("]
        in_matrix = bool(line[:at].strip(" \t")) and self.brackets[-1:] in (["["], ["{"])
        if (
            first_of_row
            or self.before in _OPERATORS
            or (spaced and (in_matrix or (self.before in _KEYWORDS and not self.brackets)))
        ):
            string = _STRING.match(line, at)
            if string is None:
                raise Unsure
            return string[0]
        if spaced or self.before in _KEYWORDS:
            raise Unsure
        return "'"


def _refuse_command(line: str, end: int) -> None:
    """Raise `Unsure` where a word is a command with quotes or comments behind it: it has own rules for them."""
    if line[end : end + 1] in {" ", "\t"} and not _NO_COMMAND.match(line, end) and _QUOTES.search(line, end):
        raise Unsure
