"""Names of inputs, answer and metrics of this benchmark."""

from __future__ import annotations

from harness.benchmarks.metric import Metric

# what a method is given if it declares it; the others always
TEXTS = ("paragraphs", "span_texts")
INPUTS = ("sentences", "spans", "relations", "relation_spans", "train", "asked", *TEXTS)

# the one file of an answer
ANSWER = "combinations.jsonl"

EXACT = "exact F1"
METRICS = (
    Metric(f"{EXACT} positive", "harmonic mean of precision and recall of positive combinations"),
    Metric(f"{EXACT} any", "the same of combinations, whatever their effect"),
)
KEY_METRICS = tuple(metric.name for metric in METRICS)
ORDER_FREE_METRICS = KEY_METRICS
