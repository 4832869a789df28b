"""The tables that a person's own drugs and diseases are made from; docs/data.md says what each holds."""

from __future__ import annotations

from harness.benchmarks.own_data import OwnTable

CONVERTER = "csv"
TABLES = {
    "associations": OwnTable(
        "associations",
        "known pairs: drug, disease and, if wanted, label, part; or a matrix of drugs and diseases",
        required=True,
    ),
    "drugs": OwnTable("drug_features", "features of each drug"),
    "diseases": OwnTable("disease_features", "features of each disease"),
}
