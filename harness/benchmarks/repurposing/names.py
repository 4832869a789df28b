"""The metrics of this benchmark by name: `as-published` by the paper's code, `as-defined` by its formulas.

Where both exist they differ, sometimes in what they measure: docs/metrics.md tells each difference.
"""

from __future__ import annotations

from harness.benchmarks.metric import Metric

INPUTS = (
    "associations",
    "folds",
    "drug_features",
    "disease_features",
    "drug_standardised",
    "disease_standardised",
    "drug_similarity",
    "disease_similarity",
    "drug_views",
)

# The files of an answer, and whether each must be there: inner models alone answer for training pairs.
PREDICTIONS, VALIDATION, LOWEST = "predictions.npy", "validation.npy", "lowest.npy"
ANSWER_FILES = {PREDICTIONS: True, VALIDATION: False, LOWEST: True}

PUBLISHED, DEFINED = "as-published", "as-defined"
HIT_RATES = (2, 5, 10)
ORDER_FREE_METRICS = (f"NS-AUC/{DEFINED}", f"AUC/{DEFINED}")

_DESCRIPTIONS = {
    "NS-AUC": (
        "share of pairs of one drug's test diseases that are in the right order, ties counting as wrong; "
        "mean over drugs",
        "share of pairs of one disease's test drugs that are in the right order, ties counting as wrong; "
        "mean over diseases",
    ),
    "AUC": (
        "area under the ROC curve over all pairs: those outside the test set enter as unknown, with score 0",
        "area under the ROC curve over the test pairs, positive against all others",
    ),
    "disease-wise AUC": (
        "area under the ROC curve of scores cut to -1 and +1 for one disease's test drugs; mean over diseases",
        "area under the ROC curve for one disease's test drugs; mean over diseases",
    ),
    "drug-wise AUC": (
        "area under the ROC curve of scores cut to -1 and +1 for one drug's test diseases; mean over drugs "
        "(the published code for diseases, applied to drugs)",
        "area under the ROC curve for one drug's test diseases; mean over drugs",
    ),
    "NDCG": (
        "discounted gain of one disease's test drugs ordered by scores cut to -1 and +1, ties as numpy 1.23 "
        "leaves them; mean over diseases",
        "discounted gain of one disease's best-ranked test drugs, as many as it has positives; mean over diseases",
    ),
    "global NDCG": (
        "discounted gain of all pairs in one ranking: those outside the test set enter as unknown, with score 0",
        "discounted gain of the best-ranked test pairs, as many as there are positives",
    ),
    "accuracy": (
        "share of the test pairs with a known label whose score is on the right side of 0",
        "share of the test pairs with a known label whose score is on the right side of 0; a score of 0 is wrong",
    ),
    "F-score": (
        "F1 of scores cut to -1 and +1 for one disease's test drugs, averaged over its labels by their number; "
        "mean over diseases",
        None,
    ),
    **{
        f"HR@{best}": (f"share of the positive test pairs among the {best} best-ranked of all pairs", None)
        for best in HIT_RATES
    },
}

# With labels of -1, gains can be negative.
_UNBOUNDED = frozenset({"NDCG", "global NDCG"})


def flat_name(metric: str, kind: str) -> str:
    """`NS-AUC/as-published`."""
    return f"{metric}/{kind}"


def metric_names(kind: str) -> list[str]:
    """The metrics that exist in one of the two kinds."""
    place = (PUBLISHED, DEFINED).index(kind)
    return [name for name, texts in _DESCRIPTIONS.items() if texts[place] is not None]


METRICS = tuple(
    Metric(flat_name(name, kind), text, range=None if name in _UNBOUNDED else (0.0, 1.0))
    for name, texts in _DESCRIPTIONS.items()
    for kind, text in zip((PUBLISHED, DEFINED), texts, strict=True)
    if text is not None
)
KEY_METRICS = tuple(flat_name(name, PUBLISHED) for name in ("NS-AUC", "AUC", "NDCG"))
