"""statsmodels' two one-sided tests agree with every verdict that an interval gave, on the committed results."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest

from tests.judges import judge
from tests.recomputation.claims import Judged, Published, judged, published

_LEVEL = 0.05
_SCRIPT = Path(__file__).with_name("equivalence_by_statsmodels.py")
Case = tuple[Published, Judged]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Every mean of the committed results that has an interval, or is as printed."""
    claims = ((name, claim) for name in ("repurposing", "ddi", "dti", "combos") for claim in published(name))
    pairs = [(claim, judged(name, claim)) for name, claim in claims if claim.statistic in ("mean", "band")]
    return [(claim, one) for claim, one in pairs if one.low is not None or one.decided]


def p_values(cases: list[Case]) -> list[float]:
    """statsmodels' p of each: below 5 % our mean is equivalent to the published one."""
    questions = [
        {
            "ours": one.values,
            "mean": claim.value,
            "sd": claim.sd or 0.0,
            "n": claim.n if claim.statistic == "mean" else 0,
            "margin": one.margin,
        }
        for claim, one in cases
    ]
    done = subprocess.run(
        [str(judge("proof") / "python"), str(_SCRIPT)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[float] = json.loads(done.stdout)
    return answers


def test_what_is_reproduced_is_equivalent_and_nothing_else_is(cases: list[Case]) -> None:
    assert sum(one.decided == "reproduced" for _, one in cases) > 50
    for (claim, one), p in zip(cases, p_values(cases), strict=True):
        if one.low is None:
            # all seeds give the printed number: no interval was asked
            assert one.decided == "reproduced" and one.ours == pytest.approx(
                claim.value, abs=claim.rounding + 1e-9
            )
        elif math.isnan(p):
            # no test has a word on two sides without spread: what is left is that the numbers are the same
            assert not claim.sd and len(set(one.values)) == 1 and one.low == one.high
            assert one.decided == "reproduced" and one.ours == pytest.approx(claim.value, abs=claim.rounding)
        elif claim.statistic == "band" or one.decided != "deviates":
            assert (p <= _LEVEL) == (one.decided == "reproduced" or one.is_fit), (claim, one, p)


def test_another_margin_would_be_another_verdict(cases: list[Case]) -> None:
    """The test above can fail: with margins that the intervals do not fit into, statsmodels says so as well."""
    close = []
    for claim, one in cases:
        if one.decided == "reproduced" and one.low is not None and one.high is not None:
            reach = max(abs(one.low), abs(one.high))
            if one.high - one.low > 1e-9:
                close.append((claim, Judged("reproduced", margin=0.999 * reach, values=one.values)))
    assert len(close) > 30
    assert min(p_values(close)) > _LEVEL
