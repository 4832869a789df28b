"""Both sides of a study without a single run: ours is drawn from the published values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from harness.compare import Book, compare_claims, load_claims, load_names
from harness.compare.claims import Claim
from harness.compare.judge import Known
from harness.compare.names import Target
from harness.compare.obtained import Obtained, Runs
from harness.compare.paper import ALL_DATASETS, load_paper
from harness.compare.several import Several
from harness.compare.values import TIME, our_side, published_side
from harness.layout import Layout
from harness.store import Store
from harness.vocabulary import Verdict

HERE = {"Synthetic": "synthetic", "Fdataset": "fdataset", "Cdataset": "cdataset", "LRSSL": "lrssl"}
Drawn = Callable[..., Several]


@pytest.fixture(scope="session")
def claims(repository: Layout) -> dict[tuple[str, str, str], Claim]:
    """The claims of the paper's tables, by table, what they are about, and statistic."""
    names = load_names(repository, "repurposing")
    found = {}
    for claim in load_claims(repository, names):
        table, what, _ = (part.strip() for part in f"{claim.source},,".split(",", 2))
        if table.startswith("Table"):
            about = what if claim.dataset == ALL_DATASETS else claim.dataset
            found[table, about, claim.statistic] = claim
    return found


@pytest.fixture(scope="session")
def nothing_run(repository: Layout) -> Several:
    """The published side, four of its datasets here, and no runs."""
    names, paper = load_names(repository, "repurposing"), load_paper(repository, "repurposing")
    known = Known(frozenset(names.methods.values()), frozenset(HERE.values()), frozenset(names.splits.values()))
    return Several(names, paper, known, published_side(repository, names, paper), our_side(names, paper, {}))


@pytest.fixture(scope="session")
def drawn(nothing_run: Several) -> Drawn:
    """Makes our side: so many seeds drawn from the published values, shifted for some methods, without others."""

    def make(
        seeds: int = 10, *, shift: float = 0.0, of: Iterable[str] = (), without: Iterable[str] = ()
    ) -> Several:
        runs = runs_like(nothing_run, seeds, shift=shift, of=of, without=without)
        return replace(nothing_run, ours=our_side(nothing_run.names, nothing_run.paper, runs))

    return make


def runs_like(
    several: Several, seeds: int, *, shift: float = 0.0, of: Iterable[str] = (), without: Iterable[str] = ()
) -> Runs:
    """Runs with published values of so many seeds, drawn once for all methods."""
    names, values = several.names, several.published.values
    chosen = np.random.default_rng(1).choice(sorted(next(iter(values.values()))), size=seeds, replace=seeds > 46)
    runs: Runs = {}
    for place, published in values.items():
        if place.dataset not in HERE or place.method in set(without):
            continue
        target = Target(names.methods[place.method], HERE[place.dataset], names.splits[place.split])
        moved = shift if place.method in set(of) else 0.0
        for number, seed in enumerate(chosen.tolist()):
            metrics = {
                names.metric(name).ours or "": value + moved
                for name, value in published[seed].items()
                if name != TIME
            }
            cpu_s = published[seed][TIME] / 10
            runs.setdefault(target, {})[number] = Obtained(
                "k" * 64, Verdict.OK, "", dict(metrics), {}, cpu_s=cpu_s
            )
    return runs


@pytest.fixture(scope="session")
def book(repository: Layout, nothing_run: Several, tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A book whose runs are ten drawn seeds of everything that is here, and a control."""
    runs = runs_like(nothing_run, 10)
    for dataset in HERE.values():
        for split in nothing_run.names.splits.values():
            control = {"NS-AUC/as-published": 0.5, "AUC/as-published": 0.9}
            runs[Target("constant", dataset, split)] = {
                seed: Obtained("c" * 64, Verdict.OK, "", dict(control), {}) for seed in range(10)
            }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.compare.book.obtain", lambda *_: runs)
        store = Store(tmp_path_factory.mktemp("nothing") / "runs")
        return compare_claims(repository, store, "repurposing")
