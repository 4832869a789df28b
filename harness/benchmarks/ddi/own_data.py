"""The tables that a person's own drug interactions are made from; docs/data.md says what each holds."""

from __future__ import annotations

from harness.benchmarks.own_data import OwnTable

CONVERTER = "ddi_csv"
TABLES = {
    "interactions": OwnTable(
        "interactions", "head, tail, type and, if wanted, part, a line per triplet", required=True
    ),
    "drugs": OwnTable("drugs", "drug, smiles and, if wanted, name, text, graph_text, year", required=True),
    "knowledge": OwnTable("knowledge", "a graph: head, tail, relation"),
}
