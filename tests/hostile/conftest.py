"""A repository of the test's own with hostile methods, and a dataset whose labels are worth reading."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.conformance.repurposing import problems
from harness.layout import Layout
from harness.splits import published_seeds
from tests.data.own_data import write_dataset

HOSTILE = Path(__file__).parent


@pytest.fixture
def hostile_layout(repository: Layout, tmp_path: Path) -> Layout:
    """The repository without its methods' results, to which hostile methods are added by two folders each."""
    root = tmp_path / "repository"
    for name in ("containers", "methods", "datasets"):
        shutil.copytree(getattr(repository, name), root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Dockerfile", "run_all.sh"):
        shutil.copy(repository.root / name, root / name)
    return Layout(root=root, cache=repository.cache, local=tmp_path / "local")


@pytest.fixture
def hostile_method(hostile_layout: Layout) -> Callable[..., None]:
    """Adds one of the methods that lie beside this file; `card` is more text for the head of its card."""

    def add(name: str, *, card: str = "", language: str = "_numpy", **files: str) -> None:
        folder = hostile_layout.methods / name
        shutil.copytree(HOSTILE / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "method.toml").write_text(card + (folder / "method.toml").read_text())
        for file, text in files.items():
            (folder / f"{file}.py").write_text(text)
        environment = hostile_layout.containers / name
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
def two_classes(hostile_layout: Layout) -> str:
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
    write_dataset(hostile_layout, tables=tables, statistics=statistics, name="two_classes")
    return "two_classes"


def _table(kind: str, names: tuple[str, ...], rows: list[list[float]]) -> str:
    head = ",".join([kind, *(f"feature {number}" for number in range(len(rows[0])))])
    lines = [",".join([name, *map(repr, row)]) for name, row in zip(names, rows, strict=True)]
    return "\n".join([head, *lines]) + "\n"
