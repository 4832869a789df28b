"""The tables that a person may bring for each benchmark: their words, what each holds, and where it ends up."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from harness import benchmarks
from harness.benchmarks.combos import own_data as of_texts
from harness.benchmarks.ddi import own_data as of_pairs
from harness.benchmarks.dti import own_data as of_targets
from harness.benchmarks.own_data import OwnTable
from harness.data import own_dataset

# the converter, then every table: the parameter that names its file, and what the help says that it holds
EXPECTED: dict[str, tuple[str, dict[str, OwnTable]]] = {
    "ddi": (
        "ddi_csv",
        {
            "interactions": OwnTable(
                "interactions", "head, tail, type and, if wanted, part, a line per triplet", required=True
            ),
            "drugs": OwnTable("drugs", "drug, smiles and, if wanted, name, text, graph_text, year", required=True),
            "knowledge": OwnTable("knowledge", "a graph: head, tail, relation", required=False),
        },
    ),
    "dti": (
        "dti_csv",
        {
            "pairs": OwnTable("pairs", "drug, target and, if wanted, value, part", required=True),
            "drugs": OwnTable("drugs", "drug, smiles", required=True),
            "targets": OwnTable("targets", "target, sequence", required=True),
            "edges": OwnTable("edges", "a network: head_type, head, tail_type, tail", required=False),
            "groups": OwnTable("groups", "classes and diseases: group, drug, target", required=False),
            "drug-similarity": OwnTable("drug_similarity", "drug, other, similarity", required=False),
            "target-similarity": OwnTable("target_similarity", "target, other, similarity", required=False),
        },
    ),
    "combos": (
        "combos_jsonl",
        {
            "sentences": OwnTable("train", "annotated sentences to learn from, in JSON Lines", required=True),
            "test-sentences": OwnTable("test", "annotated sentences to test with", required=False),
            "open-sentences": OwnTable(
                "unannotated", "sentences that nobody has annotated, to be asked about", required=False
            ),
        },
    ),
}
OWN: dict[str, ModuleType] = {"ddi": of_pairs, "dti": of_targets, "combos": of_texts}


@pytest.mark.parametrize("benchmark", OWN)
def test_tables_are_called_and_described_as_ever(benchmark: str) -> None:
    """A name that changes makes commands of yesterday fail."""
    converter, tables = EXPECTED[benchmark]
    assert (OWN[benchmark].CONVERTER, [*OWN[benchmark].TABLES.items()]) == (converter, [*tables.items()])
    assert benchmarks.part(benchmark, "own_data") is OWN[benchmark]


@pytest.mark.parametrize("benchmark", OWN)
def test_the_converter_knows_a_file_for_every_table(benchmark: str) -> None:
    own = OWN[benchmark]
    converter = importlib.import_module(f"harness.benchmarks.{benchmark}.converters.{own.CONVERTER}")
    assert {table.parameter for table in own.TABLES.values()} <= {*converter.Parameters.model_fields}


def test_a_file_may_be_called_as_a_sheet_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "all.xlsx#pairs"
    file.write_text("drug,disease,label\n")
    _, paths, _ = own_dataset._tables("repurposing", {"associations": file})
    assert [*paths.values()] == [file]
