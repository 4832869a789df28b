"""A reason that a container chose must show its words in a page of Markdown, and be nothing else there."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.base.markdown import code, plain, prose
from harness.base.tables import markdown_table
from harness.base.vocabulary import Verdict
from harness.status import to_markdown
from tests.fabricate import plan_of, planned_of, put_run, table_of

ATTACKS = {
    "<script>alert(1)</script>": "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<img src=x onerror=alert(1)>": "&lt;img src=x onerror=alert(1)&gt;",
    "a & b &lt; c": "a &amp; b &amp;lt; c",
    "[free](https://evil.example)": r"\[free\](https:\//evil.example)",
    "https://evil.example www.evil.example": r"https:\//evil.example www\.evil.example",
    "![](x)": r"!\[\](x)",
    "`code` ``more``": r"\`code\` \`\`more\`\`",
    "| a | b |": r"\| a \| b \|",
    "**bold** _so_ ~~not~~ but_this": r"\*\*bold\*\* \_so\_ \~\~not\~\~ but_this",
    "two\nlines\r\nand\x1b[31mred\u202e": r"two lines and \[31mred",
    "# head": r"\# head",
    "- item": r"\- item",
    "1. item": r"1\. item",
    "--- ": r"\---",
    "-0.5 (+1.0)": "-0.5 (+1.0)",
    "p = 0.5, #1": "p = 0.5, #1",
    "back\\slash \\<": r"back\\slash \\&lt;",
}


@pytest.mark.parametrize(("text", "expected"), ATTACKS.items())
def test_text_of_others_is_escaped(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text())
def test_every_text_reads_as_it_was_and_opens_nothing(text: str) -> None:
    shown = plain(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*\[\]|~]", re.sub(r"\\[`*\[\]|~\\]", "", shown))
    assert not re.search("[<>]", shown)
    read = html.unescape(re.sub(r"\\([\\`*\[\]|~_/.@#+=-]|(?=[.)]))", r"\1", shown))
    visible = "".join(" " if not one.isprintable() and not one.isspace() else one for one in text)
    if text.isprintable():
        assert read == " ".join(visible.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", r"`a\|b`"), ("a\nb", "`a b`")],
)
def test_a_name_can_not_leave_its_code(text: str, expected: str) -> None:
    assert code(text) == expected


def test_an_authors_markdown_stays_without_its_html() -> None:
    assert prose("see `a` and *b*, p <= 0.05 <script>") == "see `a` and *b*, p <= 0.05 &lt;script>"


def test_a_table_has_a_line_for_each_row() -> None:
    assert markdown_table(["a", "b"], [["1", plain("x|y")]]) == ["| a | b |", "| --- | --- |", r"| 1 | x\|y |"]


@pytest.mark.parametrize("cells", [True, False])
def test_the_status_page_shows_a_reason_and_no_element(evidence: Layout, cells: bool) -> None:
    plan = plan_of(evidence, methods=("lrssl",))
    reason = "<script>alert(1)</script> [a](b) `c` | d\n# e"
    put_run(evidence, planned_of(plan.cells[0]), verdict=Verdict.ERROR, reason=reason)
    page = to_markdown(table_of(evidence, plan), cells=cells)
    assert plain(reason) in page
    assert "<script" not in page
