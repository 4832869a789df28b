"""A repository of the test's own with hostile methods, a dataset with labels worth reading, a small disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from tests.campaigns.conftest import probe_layout
from tests.data.own_data import write_dataset

__all__ = ["probe_layout"]

HOSTILE = Path(__file__).parent
_SMALL = 1 << 30


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 GiB that nothing else writes to."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("needs root and mkfs.ext4 to make a disk")
    image, place = tmp_path / "disk", tmp_path / "mounted"
    with image.open("wb") as stream:
        stream.truncate(_SMALL)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"needs a loop device: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        # lazily: this process holds the lock of its own folder there until it ends
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def hostile_method(probe_layout: Layout) -> Callable[..., None]:
    """Adds one of the methods that lie beside this file; `card` is more text for the head of its card."""

    def add(name: str, *, card: str = "", language: str = "_numpy", **files: str) -> None:
        folder = probe_layout.methods / name
        shutil.copytree(HOSTILE / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "method.toml").write_text(card + (folder / "method.toml").read_text())
        for file, text in files.items():
            (folder / f"{file}.py").write_text(text)
        environment = probe_layout.containers / name
        environment.mkdir()
        (environment / "environment.toml").write_text(f'summary = "For tests"\nextends = "{language}"\n')

    return add


@pytest.fixture
def order_reader(hostile_method: Callable[..., None]) -> Callable[..., None]:
    """The method that reads labels from the order, with the seeds that everybody knows."""

    def add(*, card: str = "") -> None:
        hostile_method("order_reader", card=card, seeds=f"PUBLISHED = {tuple(published_seeds())!r}\n")

    return add


@pytest.fixture
def two_classes(probe_layout: Layout) -> str:
    """A dataset with labels 0 and 1 that features explain; its name."""
    dataset = problems.as_published().dataset
    names = {"drug": dataset.drug_ids, "disease": dataset.disease_ids}
    tables = {
        f"{kind}_features.csv": _table(kind, names[kind], getattr(dataset, f"{kind}_features").tolist())
        for kind in names
    }
    positives = zip(*dataset.associations.nonzero(), strict=True)
    rows = [f"{names['drug'][drug]},{names['disease'][disease]},1" for drug, disease in positives]
    tables["associations.csv"] = "\n".join(["drug,disease,label", *rows]) + "\n"
    features = {f"{kind}_features": getattr(dataset, f"{kind}_features").shape[1] for kind in names}
    sizes = {"drugs": len(names["drug"]), "diseases": len(names["disease"])}
    statistics = {**sizes, "positives": len(rows), "negatives": 0, **features}
    write_dataset(probe_layout, tables=tables, statistics=statistics, name="two_classes")
    return "two_classes"


def _table(kind: str, names: tuple[str, ...], rows: list[list[float]]) -> str:
    head = ",".join([kind, *(f"feature {number}" for number in range(len(rows[0])))])
    lines = [",".join([name, *map(repr, row)]) for name, row in zip(names, rows, strict=True)]
    return "\n".join([head, *lines]) + "\n"
