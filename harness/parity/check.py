"""Checking golden cases: methods in their own containers, metrics and splits with the harness's own functions."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from gzip import BadGzipFile
from pathlib import Path
from typing import Protocol, cast

from harness import benchmarks
from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.base.machine import processor_flags
from harness.execution.trials import Runner
from harness.methods.card import MethodCard
from harness.parity import references
from harness.parity.cases import METHOD, GoldenCase, Match, matches_of
from harness.parity.finding import CaseFinding, Standing
from harness.parity.goldens import Array, Golden, Incomplete
from harness.parity.traces import check_traces

# Raised over a file of an original that holds something else than its kind does, or lacks one beside it: that is a
# finding about this case, and the others are compared. A full disk or a lost engine is none.
_UNREADABLE = (
    *(CorruptData, ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(EOFError, BadGzipFile, FileNotFoundError, zlib.error),
)


class Answers(Protocol):
    """What `parity/answers.py` of a benchmark offers: golden cases of whole answers."""

    def check_answers(self, match: Match, arrays: Mapping[str, Array], run: Runner) -> CaseFinding | None:
        """What came of one case; None where the table's condition on it does not hold."""
        ...


def check_cases(
    layout: Layout,
    cases: Sequence[GoldenCase],
    cards: Sequence[MethodCard],
    run: Runner,
    *,
    mirrors: Sequence[Path] = (),
    only: Sequence[str] = (),
) -> Iterator[CaseFinding]:
    """One finding per case and table that covers it; a case that nothing covers is a finding too."""
    for case in cases:
        if references.covers(case):
            if not only or case.subject in only:
                yield _check_reference(layout, case, mirrors)
            continue
        matches = matches_of(case, cards) if case.path.is_file() else []
        selection = [match for match in matches if not only or match.card.name in only]
        if selection:
            yield from _check_matches(layout, case, selection, run, mirrors)
        elif not only:
            yield CaseFinding(case.name, METHOD, "", standing=Standing.NOT_IMPLEMENTED, note="no card covers it")


def is_covered(case: GoldenCase, cards: Sequence[MethodCard], subject: str) -> bool:
    """Whether a case is about `subject`: a method, the metrics or the splits."""
    if references.covers(case):
        return case.subject == subject
    return case.path.is_file() and any(match.card.name == subject for match in matches_of(case, cards))


def _check_reference(layout: Layout, case: GoldenCase, mirrors: Sequence[Path]) -> CaseFinding:
    try:
        return references.check(layout, case, mirrors)
    except _UNREADABLE as error:
        return CaseFinding(case.name, case.subject, case.subject, standing=Standing.FAILED, note=_why(error))


def _why(error: Exception) -> str:
    """What is told of a case that can't be read."""
    if isinstance(error, CorruptData):
        return f"{error.what} ({error.where})"
    return f"not as this golden is written: {type(error).__name__}: {error}"


def _check_matches(
    layout: Layout, case: GoldenCase, matches: Sequence[Match], run: Runner, mirrors: Sequence[Path]
) -> Iterator[CaseFinding]:
    try:
        golden = case.content(layout, mirrors)
    except MissingData as lack:
        note = f"{lack.what}; give its originals with --mirror"
        yield matches[0].finding(Standing.MISSING_DATA, note)
        return
    except _UNREADABLE as error:
        yield matches[0].finding(Standing.FAILED, _why(error))
        return
    applies = False
    for match in matches:
        try:
            finding = _check_one(match, golden, run, mirrors)
        except Incomplete as lack:
            finding = match.finding(Standing.FAILED, f"the case {lack}")
        except _UNREADABLE as error:
            finding = match.finding(Standing.FAILED, _why(error))
        if finding is not None:
            applies = True
            yield finding
    if not applies:
        note = f"no table of {matches[0].card.name}'s card applies to its labels"
        yield matches[0].finding(Standing.NOT_IMPLEMENTED, note)


def _check_one(match: Match, golden: Golden, run: Runner, mirrors: Sequence[Path]) -> CaseFinding | None:
    """What came of one case; None where the table's condition on it does not hold."""
    if lacking := sorted(set(match.table.processor) - set(processor_flags())):
        note = f"not run: the golden needs a processor with {', '.join(lacking)}"
        return match.finding(Standing.OTHER_PROCESSOR, note)
    if match.table.given:
        return check_traces(match, golden, run, mirrors)
    part = benchmarks.part(match.benchmark, "parity.answers")
    if part is None:
        note = f"benchmark {match.benchmark} has traces alone: the card's table must say what is given"
        return match.finding(Standing.FAILED, note)
    return cast(Answers, part).check_answers(match, golden.arrays, run)
