"""The metrics of this benchmark by name: `as-published` by the paper's code, `as-defined` by its formulas.

Each exists for both settings that are asked, S1 and S2; docs/metrics.md tells where the two kinds differ.
"""

from __future__ import annotations

from harness.benchmarks.metric import Metric

INPUTS = (
    "sizes",
    "train_pairs",
    "train_labels",
    "valid_pairs",
    "valid_labels",
    "valid_setting",
    "test_pairs",
    "test_setting",
    "fingerprints",
    "knowledge",
    "smiles",
    "drug_names",
    "drug_texts",
    "graph_texts",
    "type_names",
)

# The one file of an answer.
PREDICTIONS = "predictions.npy"

PUBLISHED, DEFINED = "as-published", "as-defined"
SETTING_NAMES = {1: "S1", 2: "S2"}
MULTICLASS = ("F1", "accuracy", "kappa")
MULTILABEL = ("ROC-AUC", "PR-AUC", "accuracy", "precision at half")

# a series: a value for every type
TYPE_ACCURACY = "accuracy of type"

_PAIRS = {"S1": "a known drug with a new one", "S2": "two new drugs"}
_DESCRIPTIONS = {
    "F1": (
        "mean F1 of the types that occur in truth or prediction; of a pair's types the lowest counts",
        "mean F1 of the types that occur in the test set; every item counts by its own type",
    ),
    "accuracy": (
        "one type per pair: share of items whose pair's lowest type is predicted; several: share of pairs on the "
        "right side of one half, mean over all types, a type without a pair counting 0",
        "one type per pair: share of items whose type is predicted; several: share of pairs on the right side of "
        "one half, mean over the types with both kinds of pairs",
    ),
    "kappa": (
        "Cohen's kappa of predicted types and of each pair's lowest type",
        "Cohen's kappa of predicted types and of each item's own type",
    ),
    "ROC-AUC": (
        "area under the ROC curve, mean over all types, a type without a pair counting 0",
        "area under the ROC curve, mean over the types with both kinds of pairs",
    ),
    "PR-AUC": (
        "average precision, mean over all types, a type without a pair counting 0",
        "average precision, mean over the types with both kinds of pairs",
    ),
    "precision at half": (
        "share of positives in the upper half of a type's pairs, ties in their favour; mean over types",
        None,
    ),
}


def flat_name(setting: str, metric: str, kind: str) -> str:
    """`S1 F1/as-published`."""
    return f"{setting} {metric}/{kind}"


METRICS = tuple(
    Metric(
        flat_name(setting, name, kind),
        f"{_PAIRS[setting]}: {text}",
        range=(-1.0, 1.0) if name == "kappa" else (0.0, 1.0),
    )
    for setting in SETTING_NAMES.values()
    for name, texts in _DESCRIPTIONS.items()
    for kind, text in zip((PUBLISHED, DEFINED), texts, strict=True)
    if text is not None
)
# of S1, because small datasets have few items of two new drugs
ORDER_FREE_METRICS = tuple(flat_name("S1", metric, DEFINED) for metric in ("accuracy", "ROC-AUC"))
KEY_METRICS = tuple(
    flat_name(setting, metric, PUBLISHED) for metric in ("F1", "ROC-AUC") for setting in SETTING_NAMES.values()
)
