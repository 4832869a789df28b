"""Names of inputs, answer and metrics of this benchmark."""

from __future__ import annotations

from harness.benchmarks.metric import Metric

# what a method is given if it declares it; the others always
TEXTS = ("paragraphs", "span_texts")
INPUTS = ("sentences", "spans", "relations", "relation_spans", "train", "asked", *TEXTS)

# the one file of an answer
ANSWER = "combinations.jsonl"

PUBLISHED, DEFINED = "as-published", "as-defined"
# a rule of what counts: whether only equal sets match, whether only positive relations are looked at
RULES = {
    "exact positive": (True, True),
    "partial positive": (False, True),
    "exact any": (True, False),
    "partial any": (False, False),
}
# two parts of relations and predictions
BUCKETS = {
    "arity": ("two drugs", "more drugs"),
    "seen": ("unseen combinations", "seen combinations"),
    "context": ("sentences", "contexts"),
}

_KINDS = {PUBLISHED: "each with its best match", DEFINED: "matched one to one"}
_MEANINGS = {
    "F1": "harmonic mean of precision and recall of {}",
    "precision": "share of predicted {} that are true",
    "recall": "share of true {} that are found",
}
_PARTS = {
    **{"two drugs": "of two drugs", "more drugs": "of three or more drugs"},
    "unseen combinations": "of drugs that no training document combines",
    "seen combinations": "of drugs that a training document combines",
    "sentences": "in documents where no relation needs the context",
    "contexts": "in documents where all relations need the context",
}


def flat_name(rule: str, measure: str, kind: str, bucket: str = "") -> str:
    """`exact positive recall of two drugs/as-published`."""
    return f"{rule} {measure}{f' of {bucket}' if bucket else ''}/{kind}"


def _described(rule: str) -> str:
    exact, positive = RULES[rule]
    return f"{'positive ' if positive else ''}combinations{'' if exact else ', parts counting as parts'}"


METRICS = tuple(
    Metric(flat_name(rule, measure, kind), f"{meaning.format(_described(rule))}; {text}")
    for measure, meaning in _MEANINGS.items()
    for kind, text in _KINDS.items()
    for rule in RULES
) + tuple(
    Metric(flat_name(rule, measure, PUBLISHED, bucket), f"{_MEANINGS[measure].format(_described(rule))}, {part}")
    for bucket, part in _PARTS.items()
    for measure in ("precision", "recall")
    for rule in RULES
)
KEY_METRICS = tuple(flat_name(rule, "F1", PUBLISHED) for rule in RULES)
ORDER_FREE_METRICS = tuple(flat_name(rule, "F1", DEFINED) for rule in RULES)
