"""Programs in pieces: which of their characters mean something is known from how they are put together."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import strategies as st

REPOSITORY = Path(__file__).resolve().parents[2]
# What a comment may hold: quotes, brackets and everything else that means something in code.
NOISE = st.text(st.sampled_from(" \t'\"`%#()[]{}\\.,;=xé1"), max_size=12)


def sources(*suffixes: str) -> list[Path]:
    """The methods' own files in a language."""
    folder = REPOSITORY / "methods"
    return sorted(path for path in folder.rglob("*") if path.name.endswith(suffixes) and path.is_file())


@st.composite
def commented(draw: st.DrawFn, lines: list[str], *, mark: str) -> str:
    """The same lines with comments behind them and between them, blank lines, and other ends and indentation."""
    written: list[str] = []
    end = draw(st.sampled_from(["\n", "\r\n"]))
    for line in lines:
        for _ in range(draw(st.integers(0, 2))):
            written.append(draw(st.sampled_from(["", "  ", "\t"])))
            if draw(st.booleans()):
                written[-1] += mark + " " + draw(NOISE)
        behind = draw(st.sampled_from(["", " ", f" {mark} ", f"  {mark}{mark}"]))
        noise = draw(NOISE) if mark in behind else ""
        written.append(draw(st.sampled_from(["", " ", "\t  "])) + line + behind + noise)
    return end.join(written) + end * draw(st.integers(0, 2))


def documented(tree: ast.Module, text: str) -> ast.Module:
    """The same program with this docstring wherever there may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body.insert(0, ast.Expr(ast.Constant(text)))
    return ast.fix_missing_locations(tree)
