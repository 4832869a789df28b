"""The tables that a person's own drug-target pairs are made from; docs/data.md says what each holds."""

from __future__ import annotations

from harness.benchmarks.own_data import OwnTable

CONVERTER = "dti_csv"
TABLES = {
    "pairs": OwnTable("pairs", "drug, target and, if wanted, value, part", required=True),
    "drugs": OwnTable("drugs", "drug, smiles", required=True),
    "targets": OwnTable("targets", "target, sequence", required=True),
    "edges": OwnTable("edges", "a network: head_type, head, tail_type, tail"),
    "groups": OwnTable("groups", "classes and diseases: group, drug, target"),
    "drug-similarity": OwnTable("drug_similarity", "drug, other, similarity"),
    "target-similarity": OwnTable("target_similarity", "target, other, similarity"),
}
