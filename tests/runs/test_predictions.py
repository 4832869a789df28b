"""Predictions that break the protocol, written by real containers, are told apart by the benchmark's own check."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.answer import FoldQuestion
from tests.runs.helpers import NPY, Bench

pytestmark = pytest.mark.engine

# four test items, four training items in two inner folds
FOLDS = np.array([[-1, 0, 1, -2], [0, -1, -1, -1], [1, -2, -2, -2]], dtype=np.int8)
WRITE = (
    NPY
    + """
import json
def report():
    with open('/out/method.json', 'w') as f:
        json.dump({'protocol': 1, 'seconds': {'fit': [0.1], 'predict': [0.1]}}, f)
scores, validation = [0.1 * i for i in range(8)], [0.25] * 4
"""
)
GOOD = (
    "npy('/out/predictions.npy', scores, (2, 4)); npy('/out/validation.npy', validation); "
    "npy('/out/lowest.npy', [0.1, 0.25]); report()"
)
BAD = {
    "missing": ("npy('/out/validation.npy', validation); report()", "predictions.npy is missing"),
    "no validation": ("npy('/out/predictions.npy', scores, (2, 4)); report()", "validation.npy: is missing"),
    "no lowest scores": (GOOD.replace("npy('/out/lowest.npy', [0.1, 0.25]); ", ""), "lowest.npy: is missing"),
    "no report": (GOOD.replace("report()", "pass"), "method.json: is missing"),
    "half written": (
        GOOD + "; os.truncate('/out/predictions.npy', os.path.getsize('/out/predictions.npy') - 8)",
        "predictions.npy",
    ),
    "not a number": ("scores[5] = float('nan')\n" + GOOD, "first at model 1, item 1: nan"),
    "infinite": ("validation[2] = float('inf')\n" + GOOD, "validation.npy: 1 value is not finite"),
    "an item too many": (GOOD.replace("scores, (2, 4)", "scores + [1.0, 2.0], (2, 5)"), "predictions.npy"),
    "an item missing": (GOOD.replace("scores, (2, 4)", "scores[:6], (2, 3)"), "predictions.npy"),
    "models and items exchanged": (GOOD.replace("(2, 4)", "(4, 2)"), "predictions.npy"),
    "flattened": (GOOD.replace("(2, 4)", "(8,)"), "predictions.npy"),
    "oversized": (GOOD.replace("scores, (2, 4)", "scores * 10000, (2, 40000)"), "predictions.npy: has"),
    "no array at all": (GOOD + "; open('/out/predictions.npy', 'w').write('0.1,0.2')", "predictions.npy"),
    "a pickle": (
        GOOD + "\nimport pickle\nwith open('/out/predictions.npy', 'wb') as f: pickle.dump([1.0] * 8, f)",
        "predictions.npy",
    ),
    "another protocol": (
        GOOD.replace("report()", "open('/out/method.json', 'w').write('{\"protocol\": 9}')"),
        "protocol",
    ),
}
read = FoldQuestion(FOLDS, inner_folds=2).read


def test_good_predictions_pass(bench: Bench) -> None:
    outcome = bench.run(WRITE + GOOD, check=read)
    assert outcome.verdict is Verdict.OK, outcome.reason
    np.testing.assert_array_equal(read(outcome.out_folder).test, np.arange(8).reshape(2, 4) * 0.1)


@pytest.mark.parametrize("fault", BAD)
def test_bad_predictions_are_invalid_with_the_reason(bench: Bench, fault: str) -> None:
    program, words = BAD[fault]
    outcome = bench.run(WRITE + program, check=read)
    assert outcome.verdict is Verdict.INVALID and words in outcome.reason, outcome.reason
    assert len(outcome.attempts) == 1
