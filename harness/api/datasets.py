"""Datasets of a person's own: made of tables, and accepted after a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.api.repository import Repository, opened
from harness.benchmarks import Dataset
from harness.data.own_dataset import Accepted, accept_changes, new_dataset
from harness.planning.jobs import PlannedJob
from harness.results.store import Store

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class AcceptedData:
    """A dataset after a change, what is different, and the stored runs that are of what it was."""

    accepted: Accepted
    outdated: tuple[tuple[str, PlannedJob], ...]


def new_data(
    name: str,
    *,
    title: str = "",
    parameters: Mapping[str, Any] = _NOTHING,
    repository: Repository | None = None,
    **tables: Path | str,
) -> Dataset:
    """A dataset of a person's own, made of files named as the options of `harness data new` are.

    `associations="matrix.csv"` names one. `parameters` are those of the benchmark's converter. All that is wrong
    with a file is raised together.
    """
    layout = opened(repository).layout
    return new_dataset(layout, name, _by_word(tables), title=title, parameters=parameters)


def accept_data(name: str, *, repository: Repository | None = None, **tables: Path | str) -> AcceptedData:
    """Record what the files of a dataset hold now; `tables` replace those it has."""
    here = opened(repository)
    accepted = accept_changes(here.layout, name, _by_word(tables))
    return AcceptedData(accepted, tuple(_outdated(here.store, name, accepted.dataset.digest)))


def _by_word(tables: Mapping[str, Path | str]) -> dict[str, Path | str]:
    return {word.replace("_", "-"): path for word, path in tables.items()}


def _outdated(store: Store, name: str, digest: str) -> list[tuple[str, PlannedJob]]:
    """Stored runs on other data of this name."""
    planned = ((key, store.standing(key).content.get("planned")) for key in store.finished())
    runs = [(key, PlannedJob.model_validate(content)) for key, content in planned if content]
    return [(key, one) for key, one in runs if one.job.dataset == name and one.dataset_digest != digest]
