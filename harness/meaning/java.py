"""Java as its tokens: comments and the spaces between tokens mean nothing.

A token here is never shorter than the compiler's, so that two programs with the same tokens are the same program.
A file with `\\u` is one that the rule is not sure of: such an escape may stand for any character, also for one
that ends a comment.
"""

from __future__ import annotations

import re

from harness.meaning.scripts import Unsure

_TOKEN = re.compile(
    r"""
      (?P<silent> [ \t\f\r\n]+ | //[^\r\n]* | /\*.*?\*/ )
    | (?P<code>
          \"""[ \t\f]*[\r\n] (?: [^"\\] | \\. | "(?!"") )* \"""
        | "(?!"") (?: [^"\\\r\n] | \\[^\r\n] )* "
        | ' (?: [^'\\\r\n] | \\[^\r\n] )+ '
        | \.? \d (?: [eEpP][+-] | [\w.] )*
        | non-sealed\b | [A-Za-z_$] [\w$]*
        | >>>= | <<= | >>>? =? | \.\.\. | -> | :: | \+\+ | -- | && | \|\| | << | [-+*/%&|^!=<>]=
        | [-+*%&|^!=<>~?:;,.@(){}\[\]] | /(?![*/])
      )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def java_meaning(content: bytes) -> str:
    """The tokens, one a line."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise Unsure from None
    if "\\u" in text:
        raise Unsure
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unsure
        if match["code"]:
            tokens.append(match["code"])
        at = match.end()
    return "\n".join(tokens)
