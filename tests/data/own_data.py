"""One's own dataset of three tables, whole or with faults, and the manifest that goes with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from harness.base.layout import Layout
from harness.data.manifest import SourceFile

TABLES = {
    "associations.csv": "drug,disease,label\naspirin,pain,1\naspirin,flu,-1\nibuprofen,pain,+1\n",
    "drug_features.csv": "drug,mass,rings\naspirin,180.2,1\nibuprofen,206.3,1\nzinc,65.4,\n",
    "disease_features.csv": "disease,chronic\npain,1\nflu,0\n",
}
STATISTICS = {
    "drugs": 3,
    "diseases": 2,
    "positives": 2,
    "negatives": 1,
    "drug_features": 2,
    "disease_features": 1,
}


def write_dataset(
    layout: Layout,
    *,
    tables: dict[str, str] | None = None,
    statistics: dict[str, int] | None = None,
    more: str = "",
    name: str = "mine",
) -> Path:
    """Write tables and a manifest that names their true checksums; returns the manifest's path."""
    folder = layout.datasets / name
    folder.mkdir()
    files = listed(folder, {**TABLES, **(tables or {})})
    numbers = "".join(f"{key} = {value}\n" for key, value in {**STATISTICS, **(statistics or {})}.items())
    manifest = folder / "dataset.toml"
    manifest.write_text(
        f'name = "{name}"\ntitle = "Mine"\nbenchmark = "repurposing"\ncitation = "none"\nlicence = "mine"\n'
        f'converter = "csv"\n{files}[statistics]\n{numbers}{more}',
        encoding="utf-8",
    )
    return manifest


def listed(folder: Path, tables: Mapping[str, str | bytes]) -> str:
    """Write tables into a folder; the part of a manifest that names their true checksums."""
    files = ""
    for file, text in tables.items():
        content = text if isinstance(text, bytes) else text.encode()
        (folder / file).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        files += f'[[files]]\nname = "{file}"\nbytes = {len(content)}\nsha256 = "{digest}"\n'
    return files


def source(content: bytes, *urls: str, name: str = "file.bin") -> SourceFile:
    """A manifest's entry for some bytes."""
    return SourceFile(name=name, urls=list(urls), sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
