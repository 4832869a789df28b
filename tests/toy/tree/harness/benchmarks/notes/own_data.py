"""The file that a person's own notes are made from."""

from __future__ import annotations

from harness.benchmarks.own_data import OwnTable

CONVERTER = "jsonl"
TABLES = {"notes": OwnTable("notes", "id, text, subject, in JSON Lines", required=True)}
