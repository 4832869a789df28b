"""Both sides of a study without a single run: ours is drawn from the published values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.study import STUDY, sheets_of_data
from harness.benchmarks.ddi.study.data_facts import SplitFacts
from harness.compare import Book, compare_claims, load_claims, load_names
from harness.compare.claims import Claim
from harness.compare.comparison import Comparable
from harness.compare.groups import Several
from harness.compare.names import Target, target_of
from harness.compare.paper import ALL_DATASETS, load_paper
from harness.compare.runs import Obtained, Runs
from harness.compare.values import TIME, our_side, published_side
from harness.report.html import CLAIM_SYMBOLS, page_environment
from harness.results.store import Store
from harness.study.sheets import Sheet, Study
from harness.study.sides import Sides
from harness.study.specs import load_description

HERE = {"Synthetic": "synthetic", "Fdataset": "fdataset", "Cdataset": "cdataset", "LRSSL": "lrssl"}
Drawn = Callable[..., Several]
MakeSheets = Callable[[SplitFacts], dict[tuple[str, str], Sheet]]


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
    known = Comparable(
        frozenset(names.methods.values()), frozenset(HERE.values()), frozenset(names.splits.values())
    )
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
        patch.setattr("harness.compare.book.obtain", lambda *_: {"published": runs})
        store = Store(tmp_path_factory.mktemp("nothing") / "runs")
        return compare_claims(repository, store, "repurposing")


def ddi_runs_like(layout: Layout, *, moved: float = 0.0, methods: Iterable[str] = ()) -> Runs:
    """Three seeds of what DDI-Ben prints about DrugBank, and costs; of some methods, moved from its means."""
    names = load_names(layout, "ddi")
    runs: Runs = {}
    for claim in load_claims(layout, names):
        metric = names.metric(claim.metric).ours
        target = target_of(names, claim.method, claim.dataset, claim.split)
        if claim.dataset != "Drugbank" or metric is None or (methods and claim.method not in methods):
            continue
        for seed, step in ((124, -1.0), (125, 0.0), (126, 1.0)):
            run = runs.setdefault(target, {}).setdefault(
                seed, Obtained("k" * 64, Verdict.OK, "", {}, {}, cpu_s=600.0, memory=1_000_000_000)
            )
            assert run.metrics is not None
            run.metrics[metric] = claim.value + moved + step * (claim.sd or 0.0)
    return runs


def ddi_book_of(layout: Layout, runs: Runs, beside: Runs) -> Book:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "harness.compare.book.obtain",
            lambda _layout, _store, names, *_: {
                **{variant: {} for variant in names.beside},
                "published": runs,
                "corrected": beside,
            },
        )
        return compare_claims(layout, Store(layout.root / "nowhere"), "ddi")


@pytest.fixture(scope="session")
def elsewhere(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """The repository where nothing was run."""
    return Layout(repository.root, repository.cache, tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session")
def ddi_book(repository: Layout) -> Book:
    """Everything of DrugBank as printed, gammas, a corrected MLP that is better and a control that is worse."""
    runs = ddi_runs_like(repository)
    splits = ("released:which=random", "released:which=cluster")
    other = {"S1 F1/as-published": 0.99, "S2 F1/as-published": 0.99, "S1 accuracy of type/as-published 48": 0.99}
    beside: Runs = {
        Target("mlp", "drugbank", split): {124: Obtained("b" * 64, Verdict.OK, "", dict(other), {})}
        for split in splits
    }
    for split in splits:
        poor: dict[str, float | None] = {name: value / 9 for name, value in other.items()}
        runs[Target("majority_type", "drugbank", split)] = {124: Obtained("c" * 64, Verdict.OK, "", poor, {})}
    for number, gamma in enumerate((0.55, 0.6, 0.65)):
        metrics: dict[str, float | None] = {
            f"{setting} {metric}/as-published": 0.2 + number / 10
            for setting in ("S1", "S2")
            for metric in ("F1", "accuracy", "kappa")
        }
        found = {124: Obtained("g" * 64, Verdict.OK, "", metrics, {})}
        runs[Target("mlp", "drugbank", f"cluster:gamma={gamma}")] = found
    return ddi_book_of(repository, runs, beside)


@pytest.fixture(scope="session")
def moved_ddi_book(repository: Layout) -> Book:
    """Three methods of the ten, all of it 0.1 above what is printed."""
    return ddi_book_of(repository, ddi_runs_like(repository, moved=0.1, methods=("MLP", "MSTE", "EmerGNN")), {})


@pytest.fixture(scope="session", name="sheets_of_data")
def of_data(repository: Layout, ddi_book: Book) -> MakeSheets:
    """Makes the sheets of ddi that need no run."""
    names = load_names(repository, "ddi")
    sides = Sides(repository, ddi_book, names, ())
    description = load_description(repository, names, STUDY.makers(sides))
    assert description is not None
    specs = description.sheets

    def made(measured: SplitFacts) -> dict[tuple[str, str], Sheet]:
        makers = sheets_of_data(sides, measured)
        sheets = [makers[spec.made](spec) for spec in specs if spec.made in makers]
        return {(one.kind, one.number): one for one in sheets if one}

    return made


@pytest.fixture
def page_of() -> Callable[[Study], str]:
    """The part of the page that shows a study."""
    symbols = {str(verdict): symbol for verdict, symbol in CLAIM_SYMBOLS.items()}
    part = '{% import "parts.html" as parts with context %}{{ parts.study_part(study) }}'
    template = page_environment().from_string(part)
    return lambda study: template.render(study=study, claim_symbols=symbols, href=lambda keys: "")
