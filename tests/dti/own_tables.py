"""One's own drug-target pairs as tables, whole or with faults, and the manifest that goes with them."""

from __future__ import annotations

from pathlib import Path

from harness.base.layout import Layout
from tests.data.own_data import listed

DRUGS = "drug,smiles\nA,CCO\nB,[Li+]\nC,\n"
TARGETS = "target,sequence\nT1,MKV\nT2,mkvl\nT3,\n"
PAIRS = "drug,target\nA,T2\nB,T1\nA,T1\n"
EDGES = (
    "head_type,head,tail_type,tail\ndrug,A,disease,Flu\ndisease,cold,drug,b\ntarget,T1,target,T3\n"
    "pathway,P1,disease,flu\n"
)
GROUPS = (
    "group,drug,target\ntest2/kind:all,B,\ntest2/kind:all,A,\ntest6/flu,,T3\ntest6/flu,C,T3\ntest3/fold:one,,T1\n"
    "network,,T2\nnetwork,A,\n"
)
DRUG_SIMILARITY = "drug,other,similarity\nB,A,0.25\nc,a,1e-1\n"
TABLES = {
    "drugs.csv": DRUGS,
    "targets.csv": TARGETS,
    "pairs.csv": PAIRS,
    "edges.csv": EDGES,
    "groups.csv": GROUPS,
    "drug_similarity.csv": DRUG_SIMILARITY,
}
STATISTICS = {
    "drugs": 3,
    "targets": 3,
    "pairs": 3,
    "affinity": "false",
    "structures": 2,
    "sequences": 2,
    "nodes": 3,
    "relations": 3,
    "edges": 4,
    "groups": 4,
}


def write_tables(layout: Layout, tables: dict[str, str | bytes] | None = None, **statistics: int | str) -> Path:
    """Write tables and a manifest that names their true checksums; returns the folder."""
    folder = layout.datasets / "mine"
    folder.mkdir()
    files = listed(folder, {**TABLES, **(tables or {})})
    numbers = "".join(f"{key} = {value}\n" for key, value in {**STATISTICS, **statistics}.items())
    names = "".join(f'{file.removesuffix(".csv")} = "{file}"\n' for file in list(TABLES)[3:])
    (folder / "dataset.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nbenchmark = "dti"\ncitation = "none"\nlicence = "mine"\n'
        f'converter = "dti_csv"\n[parameters]\n{names}{files}[statistics]\n{numbers}',
        encoding="utf-8",
    )
    return folder
