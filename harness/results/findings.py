"""Findings: documented defects of an original or a paper, each with the test or command that demonstrates it."""

from __future__ import annotations

from harness import benchmarks
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.base.markdown import code, prose

_FILE = "findings.toml"
_HEAD = """# Findings
Generated from `results/published/*/findings.toml` by `harness list findings --markdown`; a test keeps it current
and sees that every demonstration exists.
"""


class Finding(Strict):
    """What an original or a paper does otherwise than it says."""

    title: str
    about: str
    # methods that it concerns, under our names
    methods: list[str] = []
    text: str
    # tests (path::name), or commands that start with `harness`
    shown_by: list[str]
    # published splits that break a promise for this reason, as `DATASET STRATEGY:NAME=VALUE`
    splits: list[str] = []
    # where the artifact undoes it: a variant of a method
    undone_in: str = ""

    @property
    def line(self) -> str:
        """`ABOUT: TITLE`, or the title where it begins with what it is about."""
        return self.title if self.title.startswith(self.about) else f"{self.about}: {self.title}"


class Findings(Strict):
    """`results/published/BENCHMARK/findings.toml`."""

    benchmark: str
    findings: list[Finding]


def load_findings(layout: Layout, benchmark: str) -> list[Finding]:
    """The findings of one benchmark; none where nobody wrote any down."""
    path = layout.published / benchmark / _FILE
    return load_toml(path, Findings).findings if path.is_file() else []


def findings_on(layout: Layout, benchmark: str, split: str) -> list[Finding]:
    """The findings that say why a published split breaks a promise."""
    return [one for one in load_findings(layout, benchmark) if split in one.splits]


def all_findings(layout: Layout) -> dict[str, list[Finding]]:
    """The findings of every benchmark that has some."""
    found = {name: load_findings(layout, name) for name in benchmarks.names()}
    return {name: members for name, members in found.items() if members}


def markdown(findings: dict[str, list[Finding]]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for benchmark, members in findings.items():
        parts.append(f"## {code(benchmark)}\n")
        parts += [_section(number, one) for number, one in enumerate(members, start=1)]
    return "\n".join(parts)


def _section(number: int, one: Finding) -> str:
    lines = [f"### {number}. {prose(one.title)}", f"About: {prose(one.about)}.", "", prose(one.text), ""]
    lines += [f"- methods: {', '.join(map(code, one.methods))}"] if one.methods else []
    lines += [f"- shown by {code(demonstration)}" for demonstration in one.shown_by]
    lines += [f"- undone in {prose(one.undone_in)}"] if one.undone_in else []
    return "\n".join(lines) + "\n"
