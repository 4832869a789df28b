"""One's own drug interactions as tables, whole or with faults, and the manifest that goes with them."""

from __future__ import annotations

from pathlib import Path

from harness.base.layout import Layout
from tests.data.own_data import listed

DRUGS = (
    "drug,smiles,name,text,graph_text,year\nA,CCO,Alpha,A text.,alpha gene,1990\nB,[Li+],,,,\nC,c1ccccc1,,,,2001\n"
)
TRIPLETS = "head,tail,type\nC,A,raises\nA,B,raises\nA,B,lowers\n"
SIGNED = "head,tail,types,sign\nA,B,rash;cough,+\nC,B,rash;cough,-\nB,A,rash,1\n"
KNOWLEDGE = "head,tail,relation\nA,gene,binds\ngene,other,meets\nC,gene,binds\n"
TABLES = {"drugs.csv": DRUGS, "interactions.csv": TRIPLETS, "knowledge.csv": KNOWLEDGE}
STATISTICS = {
    "multilabel": False,
    "drugs": 3,
    "types": 2,
    "items": 3,
    "negatives": 0,
    "fingerprint": 64,
    "entities": 5,
    "relations": 2,
    "edges": 3,
    "dated": 2,
    "drug_texts": 1,
    "graph_texts": 1,
    "released": 0,
}
SIGNED_STATISTICS = {**STATISTICS, "multilabel": True, "negatives": 1}


def write_pairs(
    layout: Layout,
    *,
    tables: dict[str, str] | None = None,
    statistics: dict[str, int] | None = None,
    parameters: str = 'knowledge = "knowledge.csv"\nfingerprint = 64\n',
    converter: str = "ddi_csv",
) -> Path:
    """Write tables and a manifest that names their true checksums; returns the folder."""
    folder = layout.datasets / "mine"
    folder.mkdir()
    files = listed(folder, {**TABLES, **(tables or {})})
    numbers = "".join(f"{key} = {value}\n".lower() for key, value in (statistics or STATISTICS).items())
    (folder / "dataset.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nbenchmark = "ddi"\ncitation = "none"\nlicence = "mine"\n'
        f'converter = "{converter}"\n[parameters]\n{parameters}{files}[statistics]\n{numbers}',
        encoding="utf-8",
    )
    return folder
