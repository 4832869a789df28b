"""Names of inputs, answer and metrics of this benchmark."""

from __future__ import annotations

from harness.benchmarks.metric import Metric

# what a method is given if it declares it; the others always
FACTS = ("smiles", "sequences", "edges", "relation_names", "drug_similarity", "target_similarity")
INPUTS = ("sizes", "train_pairs", "train_values", "test_pairs", *FACTS)

# the one file of an answer
SCORES = "scores.npy"

# how many of a drug's best targets count; of a task with one target, of its best drugs
DEPTHS = (10, 20, 50, 100)
_AT = {"precision": "share that binds", "recall": "share of its bindings found", "F1": "harmonic mean of both"}
# what average precision at k is divided by
_DIVISORS = {"min": "the least of k and its bindings", "all": "its bindings", "hits": "the bindings among them"}
MAP_READINGS = tuple(_DIVISORS)

BINDING = (
    Metric("AUROC", "area under the ROC curve of all test pairs"),
    Metric("AUPR", "average precision of all test pairs"),
    Metric("AUPR/trapezoid", "area under the precision-recall curve by trapezoids"),
    Metric("precision", "of the pairs scored 0.5 or more, the share that binds"),
    Metric("recall", "of the pairs that bind, the share scored 0.5 or more"),
    Metric("F1", "harmonic mean of precision and recall at 0.5"),
    Metric("best F1", "highest F1 of any threshold of the precision-recall curve"),
    Metric("general score", "mean of AUROC, AUPR and F1 at 0.5"),
    Metric("general score/best F1", "mean of AUROC, AUPR and best F1"),
)
_ASKED = "asked with bindings and negatives"
WITHIN = tuple(
    metric
    for kind in ("drugs", "targets")
    for metric in (
        Metric(
            f"AUROC/{kind}", f"area under the ROC curve of the pairs of one of the {kind} {_ASKED}, their mean"
        ),
        Metric(
            f"one answer/{kind}",
            f"share of {kind} {_ASKED} that have one answer: all 0.5 or more, or all less",
            "lower",
        ),
    )
)
RANKING = tuple(
    Metric(f"{name}@{depth}", f"{text} among a drug's {depth} best targets, mean over drugs that bind")
    for depth in DEPTHS
    for name, text in _AT.items()
) + tuple(
    Metric(f"MAP@{depth}/{reading}", f"mean average precision of a drug's {depth} best targets, divided by {text}")
    for depth in DEPTHS
    for reading, text in _DIVISORS.items()
)
AFFINITY = (
    Metric("MSE", "mean squared error of affinities", better="lower", range=None),
    Metric("CI", "concordance index: share of pairs of unequal affinity in the right order, ties count one half"),
)
METRICS = (*BINDING, *WITHIN, *RANKING, *AFFINITY)
KEY_METRICS = ("AUROC", "AUPR", "CI", "MSE")
ORDER_FREE_METRICS = ("AUROC", "CI")
