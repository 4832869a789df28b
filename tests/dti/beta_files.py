"""Files of BETA's form with a few nodes, and what a converter makes of them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from harness.benchmarks.dti.converters.beta import convert
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data.manifest import DatasetManifest

NODE = "<http://bio2rdf.org/drugbank:{}>"
RELATION = "<http://bio2rdf.org/MultiPartiteNetwork_vocabulary:{}>"
PAIRS = [("db00002", "be0000007"), ("db00001", "be0000009"), ("db00002", "be0000008")]
POSITIVES = "".join(f"{NODE.format(drug)} {NODE.format(target)} true \n" for drug, target in PAIRS)
SMILES = "".join(
    f"{NODE.format(drug)}\t{text}\n" for drug, text in (("db00003", "C"), ("db00002", "CO"), ("db00001", "N"))
)
NEGATIVES = {"tt": "be0000008", "trt": "be0000005", "te": "be0000007", "tre": "be0000009"}
TASKS = {
    f"test6_some_pain_{space}.nt": (
        f"{NODE.format('db00003')} {NODE.format('be0000008')} true \n"
        f"{NODE.format('db00001' if target == 'be0000008' else 'db00003')} {NODE.format(target)} false \n"
    )
    for space, target in NEGATIVES.items()
}
FILES = {"positives.nt": POSITIVES, "smiles.txt": SMILES, **TASKS}
EDGES = [
    (NODE.format("DB00002"), "Drug-Target", NODE.format("BE0000007")),
    (NODE.format("DB00001"), "Drug-Drug-Interaction", NODE.format("DB00002")),
    ("<http://bio2rdf.org/omim:1>", "Disease-Possible-Drug", NODE.format("DB00003")),
    ("<http://bio2rdf.org/omim:1>", "Disease-Associated-Target", NODE.format("BE0000009")),
    (NODE.format("DB99999"), "Drug-Side-Effect", "<http://sider/side_effects/C01>"),
    (NODE.format("DB00001"), "Drug-Side-Effect", "<http://sider/side_effects/C01>"),
]


def manifest(**parameters: object) -> DatasetManifest:
    """A manifest of whatever files there are."""
    return DatasetManifest.model_validate(
        {
            "name": "small",
            "title": "Small",
            "benchmark": "dti",
            "citation": "none",
            "licence": "none",
            "converter": "beta",
            "parameters": parameters,
            "statistics": {"drugs": 3, "targets": 3},
        }
    )


def written(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, Path]:
    """The files by name."""
    paths = {name: folder / name for name in files}
    for name, content in files.items():
        paths[name].write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def converted(folder: Path, files: Mapping[str, str | bytes] = FILES, **parameters: object) -> DtiDataset:
    """The dataset of these files."""
    return convert(manifest(**parameters), written(folder, files))


def network(folder: Path, edges: list[tuple[str, str, str]] = EDGES, more: str = "") -> bytes:
    """The archive of a network."""
    path = folder / "made.zip"
    with zipfile.ZipFile(path, "w") as archive:
        lines = "".join(f"{head} {RELATION.format(relation)} {tail} .\n" for head, relation, tail in edges)
        archive.writestr("network.nt", lines + more)
    return path.read_bytes()
