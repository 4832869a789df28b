"""A verification reads as it came out, as text and as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from harness.audit.steps import Audit, Checked, Lack, Step, failed, not_checked, ok
from harness.export.verdicts import to_json, to_text
from harness.export.verify import Verification, outcome
from tests.documents import check


def _audit(key: str, label: str, *steps: Step) -> Audit:
    return Audit(key, label, "", steps)


_FINE = ok("record", "as it was", found="f")


_BROKEN = Step("scores", Checked.FAILED, "differ", "1", "2", "a/path")


_BARE = failed("log", "is gone")


_UNSEEN = not_checked("data", "no labels", Lack.DATA)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), Checked.OK),
        ((_FINE,), Checked.OK),
        ((_FINE, _UNSEEN), Checked.NOT_CHECKED),
        ((_UNSEEN, _FINE, _BROKEN), Checked.FAILED),
        ((_BROKEN,), Checked.FAILED),
    ],
)
def test_the_worst_step_is_the_outcome(steps: tuple[Step, ...], expected: Checked) -> None:
    one = _audit("k", "l", *steps)
    assert outcome(one) is expected
    for runs in ((), (_audit("", "", _FINE),), (_audit("", "", _UNSEEN),)):
        assert Verification(one, runs, 0).failed is (expected is Checked.FAILED)
    assert Verification(_audit("", ""), (one,), 0).failed is (expected is Checked.FAILED)


_RUNS = (
    _audit("0123456789abcdef", "one", _FINE),
    _audit("1123456789abcdef", "two", _FINE, _BROKEN, _UNSEEN, _BARE),
    _audit("2123456789abcdef", "three", _UNSEEN),
    _audit("3123456789abcdef", "four", _UNSEEN, _FINE),
)


_TEXT = """ok           crate of x
{fine}ok           0123456789ab  one
{fine}FAILED       1123456789ab  two
{fine}    FAILED  scores: differ
      expected: 1
      found: 2
      where: a/path
{unseen}    FAILED  log: is gone
not checked  2123456789ab  three
{unseen}not checked  3123456789ab  four
{unseen}{fine}
Not checked
  data: no labels (3x)

FAILED
  1123456789ab  two
    scores: differ
    log: is gone

4 runs: 1 ok, 1 FAILED, 2 not checked; the crate as a whole: ok
planned, without a run in the crate: 1 cell
"""


def test_a_verification_reads_as_it_came_out() -> None:
    verification = Verification(_audit("", "crate of x", _FINE), _RUNS, 1)
    fine, unseen = "    ok  record: as it was\n", "    not checked  data: no labels\n"
    assert to_text(verification) == _TEXT.format(fine="", unseen="")
    assert to_text(verification, everything=True) == _TEXT.format(fine=fine, unseen=unseen)
    # each that failed is told again
    several = Verification(_audit("", "crate of x", _FINE), (_RUNS[1], _audit("4" * 16, "five", _BROKEN)), 0)
    again = to_text(several).partition("\nFAILED\n")[2]
    assert again.startswith("  1123456789ab  two\n") and "\n  444444444444  five\n    scores: differ\n" in again
    empty = Verification(_audit("", "crate of x", _BROKEN), (), 0)
    assert to_text(empty).splitlines()[-5:] == [
        "FAILED",
        "  crate of x",
        "    scores: differ",
        "",
        "0 runs: none; the crate as a whole: FAILED",
    ]
    assert "Not checked" not in to_text(empty)
    # what could not be checked of the crate as a whole counts among the reasons
    unseen = to_text(Verification(_audit("", "crate of x", _UNSEEN), _RUNS[:1], 0))
    assert unseen.splitlines()[-4:] == [
        "Not checked",
        "  data: no labels (1x)",
        "",
        "1 run: 1 ok; the crate as a whole: not checked",
    ]


def test_a_verification_as_json_has_every_step() -> None:
    def step(one: Step) -> dict[str, Any]:
        lack = str(one.lack) if one.lack else None
        told = {"name": one.name, "checked": str(one.checked), "what": one.what, "expected": one.expected}
        return {**told, "found": one.found, "where": one.where, "lack": lack}

    def audit(one: Audit, outcome: str) -> dict[str, Any]:
        return {"key": one.key, "label": one.label, "outcome": outcome, "steps": [*map(step, one.steps)]}

    crate = _audit("", "crate of x", _FINE)
    ends = ("ok", "FAILED", "not checked", "not checked")
    told = to_json(Verification(crate, _RUNS, 3))
    check("export", {"permafrost": 1, "command": "export", **told})
    assert told == {
        "failed": True,
        "runs": {"ok": 1, "FAILED": 1, "not checked": 2},
        "cells_without_run": 3,
        "crate": audit(crate, "ok"),
        "audits": [audit(one, end) for one, end in zip(_RUNS, ends, strict=True)],
    }
