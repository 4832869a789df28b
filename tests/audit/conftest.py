"""A run on a dataset whose files lie in a mirror alone."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.data.manifest import mirror_path
from harness.planning.jobs import PlannedJob
from harness.planning.plan import make_plan
from harness.results.records import Record
from tests.audit.forging import refresh
from tests.data.own_data import write_dataset
from tests.fabricate import job_of, planned_of, put_run


@dataclass
class Mirrored:
    """A run on a dataset whose files lie in a mirror."""

    layout: Layout
    planned: PlannedJob
    record: Record
    mirror: Path

    def forget(self) -> None:
        """As on a machine where nothing was made yet."""
        for name in ("datasets", "splits", "audit"):
            shutil.rmtree(self.layout.cache / name, ignore_errors=True)
        refresh()


LABELS = {(drug, disease): (drug * disease + drug) % 3 > 0 for drug in range(12) for disease in range(9)}
TABLES = {
    "associations.csv": "drug,disease,label\n"
    + "".join(f"drug{drug},disease{one},{1 if label else -1}\n" for (drug, one), label in LABELS.items()),
    "drug_features.csv": "drug,mass\n" + "".join(f"drug{drug},{drug * drug}\n" for drug in range(12)),
    "disease_features.csv": "disease,size\n" + "".join(f"disease{one},{one % 4}\n" for one in range(9)),
}
COUNTS = {
    "drugs": 12,
    "diseases": 9,
    "positives": sum(LABELS.values()),
    "negatives": len(LABELS) - sum(LABELS.values()),
    "drug_features": 1,
    "disease_features": 1,
}


@pytest.fixture
def mirrored(evidence: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirrored:
    """One run on it; the mirror is named to the audit and nowhere else."""
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    mirror, manifest = tmp_path / "mirror", write_dataset(evidence, tables=TABLES, statistics=COUNTS)
    text = manifest.read_text()
    for name in TABLES:
        url = f"https://example.invalid/{name}"
        copy = mirror / mirror_path(url)
        copy.parent.mkdir(parents=True, exist_ok=True)
        (manifest.parent / name).rename(copy)
        text = text.replace(f'name = "{name}"\n', f'name = "{name}"\nurls = ["{url}"]\n')
    manifest.write_text(text)
    job = job_of(evidence, "constant", 1, "mine")
    (cell,) = make_plan(evidence, "mirrored", [job], mirrors=[mirror]).cells
    planned = planned_of(cell)
    made = Mirrored(evidence, planned, put_run(evidence, planned), mirror)
    made.forget()
    return made
