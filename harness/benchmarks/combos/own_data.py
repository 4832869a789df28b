"""The files that a person's own annotated sentences are made from; docs/data.md says what each holds."""

from __future__ import annotations

from harness.benchmarks.own_data import OwnTable

CONVERTER = "combos_jsonl"
TABLES = {
    "sentences": OwnTable("train", "annotated sentences to learn from, in JSON Lines", required=True),
    "test-sentences": OwnTable("test", "annotated sentences to test with"),
    "open-sentences": OwnTable("unannotated", "sentences that nobody has annotated, to be asked about"),
}
