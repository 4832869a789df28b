"""Tables and figures of every study follow from records and published files, by code that is not ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.study.figures import PANELS, make_figures
from harness.compare import Book, compare_claims, load_names
from harness.compare.claims import STATISTICS
from harness.compare.comparison import ClaimVerdict
from harness.results.store import Store
from harness.study import make_study
from harness.study.sheets import Sheet, Study
from harness.study.sides import Sides
from tests.recomputation import buckets, groups, studies
from tests.recomputation.claims import Published, published
from tests.recomputation.records import mean, names, runs_of
from tests.study.conftest import Drawn

Sheets = dict[str, Sheet]
# Rows that are made of predictions, which are no part of the repository.
DERIVED = ("ensemble",)


@pytest.fixture(scope="module")
def study_of(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sheets]:
    """Makes the study of a benchmark from the committed results alone: its sheets by label."""
    layout = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("nothing"))
    made: dict[str, Sheets] = {}

    def make(benchmark: str) -> Sheets:
        if benchmark not in made:
            study: Study | None = make_study(layout, compare_claims(layout, Store(layout.runs), benchmark))
            assert study is not None
            made[benchmark] = {f"{one.kind.capitalize()} {one.number}": one for one in study.sheets}
        return made[benchmark]

    return make


GRIDS = [
    *(("ddi", f"Table {number}") for number in (4, 10, 11, 12)),
    *(("combos", f"Table {number}") for number in (2, 3)),
    *(("dti", f"Figure {number}") for number in ("3", "4A", "4BC", "4D", "5")),
]


@pytest.mark.parametrize(("benchmark", "label"), GRIDS)
def test_means_averages_and_ranks_are_those_of_the_records(
    study_of: Callable[[str], Sheets], benchmark: str, label: str
) -> None:
    sheet, expected = study_of(benchmark)[label], studies.grid(benchmark, label)
    spec = studies.specs(benchmark)[label]
    names = list(spec["rows"])
    own = {
        tuple(text for name, text in zip(names, row, strict=False) if name != "category"): list(row[len(names) :])
        for row in sheet.rows
    }
    own = {place: row for place, row in own.items() if not set(place) & set(DERIVED)}
    assert own == expected and len(expected) > 1


def test_costs_are_medians(study_of: Callable[[str], Sheets]) -> None:
    rows = {row[0]: list(row[1:]) for row in study_of("ddi")["Table 13"].rows}
    assert rows == studies.costs("ddi", "Table 13") and len(rows) > 10


@pytest.mark.parametrize("label", ["Figure 6", "Figure 11", "Figure 12", "Figure 15"])
def test_bars_are_means(study_of: Callable[[str], Sheets], label: str) -> None:
    rows = [list(row) for row in study_of("ddi")[label].rows if row[3] not in DERIVED]
    assert rows == studies.bars("ddi", label)


def test_the_accuracy_of_a_type_is_a_mean(study_of: Callable[[str], Sheets]) -> None:
    rows = [list(row) for row in study_of("ddi")["Figure 13"].rows if row[2] not in DERIVED]
    assert rows == studies.types("ddi", "Figure 13") and len(rows) > 100


def test_splits_and_approval_times_are_as_measured(study_of: Callable[[str], Sheets]) -> None:
    sheets = study_of("ddi")

    def rows(label: str) -> list[list[str]]:
        return [list(row) for row in sheets[label].rows]

    assert rows("Figure 5") == studies.index_rows("strategies") + studies.index_rows("released")
    assert rows("Figure 9") == studies.index_rows("gamma")
    assert rows("Figure 8") == studies.differences()
    assert rows("Figure 4") == studies.map_counts()
    assert sorted(rows("Table 9")) == sorted(studies.periods())
    titles = dict(
        zip(("Random", "Drug frequency", "Drug usage", "Scaffold", "LoHi"), studies.strategies(), strict=False)
    )
    assert titles["Random"] == "random" and len(rows("Table 1")) == 8
    for row, (_, expected) in zip(rows("Table 1"), studies.strategies().items(), strict=True):
        _, keeps, _, consistency, *numbers = row
        assert [keeps.partition(" / ")[2], consistency.partition(" / ")[2], *numbers] == expected


def test_sentences_on_approval_times_follow_from_the_measurement(study_of: Callable[[str], Sheets]) -> None:
    notes = " ".join(study_of("ddi")["Figure 5"].notes)
    worse, far, differing = studies.released_worse()
    years = studies.measured("ddi")["years"]
    others = [str(year) for year in years if year not in worse]
    assert worse and others
    assert (
        f"than their random one at {', '.join(map(str, worse))}, and not farther at {', '.join(others)} (" in notes
    )
    assert (f"At {', '.join(map(str, far))} it is farther than chance" in notes) == bool(far)
    assert f"significant at {differing} of {len(years)} thresholds" in notes
    first, slope, zero = studies.straight_line()
    assert (
        f"Random less cluster is {first:+,} at {years[0]} and {slope:+.0f} with every year; it is 0 at {zero:.1f}."
        in notes
    )
    count, thresholds = studies.nearest()
    assert f"cluster has the highest mean index at {count} of {thresholds} thresholds" in notes


def test_tasks_of_beta_are_as_measured(study_of: Callable[[str], Sheets]) -> None:
    assert [list(row) for row in study_of("dti")["Table 1"].rows] == studies.task_rows()


def test_the_best_of_several_is_the_highest(study_of: Callable[[str], Sheets]) -> None:
    assert [list(row) for row in study_of("combos")["Table 1"].rows] == studies.agreement()


@pytest.mark.parametrize("label", ["Figure 4", "Figure 5"])
def test_precision_and_recall_of_parts_are_means(study_of: Callable[[str], Sheets], label: str) -> None:
    sheet = study_of("combos")[label]
    parts = [str(name) for name in sheet.head[3:5]]
    assert parts in (["two drugs", "more drugs"], ["unseen combinations", "seen combinations"])
    expected = studies.bucket_means(label, parts)
    assert sorted([*row[:5], row[-1]] for row in sheet.rows) == sorted(expected) and len(expected) > 20
    tests = [float(row[7]) for row in sheet.rows if row[7] != studies.NONE]
    count = sum(p < studies.LEVEL for p in tests)
    assert any(
        note == f"Paired, {count} of {len(tests)} differences are significant at 5%." for note in sheet.notes
    )


@pytest.mark.parametrize(("label", "bucket"), [("Figure 4", "arity"), ("Figure 5", "seen")])
def test_parts_differ_as_draws_of_documents_and_seeds_say(
    study_of: Callable[[str], Sheets], label: str, bucket: str
) -> None:
    """For matches of whole sets, where who matches whom is no question."""
    sheet, spec = study_of("combos")[label], studies.specs("combos")[label]
    ((_, split),) = spec["splits"].items()
    shown = {tuple(row[:3]): tuple(row[6:8]) for row in sheet.rows}
    compared = 0
    for side in studies.sides("combos", spec["dataset"], [split]):
        members = side.runs(spec["dataset"], split)
        for rule in ("exact positive", "exact any") if members else ():
            tests = buckets.paired(members, bucket, positive=rule == "exact positive")
            for measure in ("precision", "recall"):
                texts = (studies.NONE, studies.NONE)
                if measure in tests:
                    difference, low, high, p = tests[measure]
                    ends = f"{100 * low:+.1f} to {100 * high:+.1f}"
                    texts = (f"{100 * difference:+.1f} ({ends})", f"{p:.3f}")
                assert shown[side.title, rule, measure] == texts
                compared += measure in tests
    assert compared >= 20


def test_what_ran_is_counted(study_of: Callable[[str], Sheets]) -> None:
    sheet, own = study_of("repurposing")["Table 14"], names("repurposing")
    marks = studies.specs("repurposing")["Table 14"]["marks"]
    splits = studies.specs("repurposing")["Table 14"]["splits"]
    checked = 0
    for row in sheet.rows:
        (dataset,) = (name for name in own["datasets"] if studies.title(name) == row[0])
        split = splits[row[1]]
        for heading, text in zip(sheet.head[2:], row[2:], strict=True):
            methods = [name for name in own["methods"] if studies.title(name) == heading]
            if not methods:
                continue
            claim = studies.claims_of("repurposing").get(("Table 14", methods[0], dataset, split, ""))
            place = own["datasets"][dataset], own["splits"][split]
            runs = runs_of("repurposing", own["methods"][methods[0]], own["variant"], *place)
            if claim is None or not runs:
                continue
            counts = Counter(run.verdict for run in runs)
            assert text.split()[0] == marks[claim.text]
            for verdict, count in counts.items():
                assert f"{verdict} {count}" in text
            is_other = {"ran": set(counts) != {"ok"}}.get(claim.text, "ok" in counts)
            assert text.endswith("≠") == is_other
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("number", [5, 6, 7, 8, 9, 10])
def test_what_controls_reach_stands_beside_claims(study_of: Callable[[str], Sheets], number: int) -> None:
    label = f"Table {number}"
    sheet = study_of("repurposing")[label]
    claims = [one for one in published("repurposing") if one.sheet == label]
    own = names("repurposing")
    here = [name for name in groups.paper()["datasets"] if any(name == place[0] for place in groups.ours())]
    seen = 0
    for row in sheet.values["rows"]:
        if row["verdict"] == "control":
            place = (claims[0].dataset, claims[0].split)
            side = next(
                one for one in studies.sides("repurposing", place[0], [place[1]]) if one.title == row["about"]
            )
            values = side.values(*place, row["quantity"])
            assert (row["ours"], row["n"]) == (pytest.approx(mean(values)), len(values))
            seen += 1
        elif row["statistic"] in STATISTICS:
            claim = _claim_of(claims, row)
            datasets = here if _is_part(row) else ()
            every = groups.paper()["datasets"]
            asked = [claim.dataset] if claim.dataset in every else every
            # a mean over some of the datasets is none over all of them
            is_whole = _is_part(row) or {*asked} <= {*here}
            assert row["control"] == (studies.best_control(claim, claim.metric, datasets) if is_whole else "")
            if _is_part(row):
                files = groups.from_files(claim, here)
                assert row["authors_files"]["value"] == pytest.approx(files.value, rel=1e-9)
                if row["ours"] is not None:
                    parts = groups.groups_of(claim, here)
                    seeds = groups.shared_seeds(groups.ours(), [place for group in parts for place in group])
                    expected = groups.statistic(claim.statistic, groups.ours(), parts, seeds)
                    assert (row["ours"], row["n"]) == (pytest.approx(expected, rel=1e-9), len(seeds))
            seen += 1
    assert seen > 3 and own


def _is_part(row: dict[str, Any]) -> bool:
    return str(row["published_names"]["dataset"]).endswith(" datasets")


def _claim_of(claims: list[Published], row: dict[str, Any]) -> Published:
    """The printed number that a row is about, or of which it is a part."""
    about = row["published_names"]
    (claim,) = (
        one
        for one in claims
        if (one.statistic, one.method, one.split) == (row["statistic"], about["method"], about["split"])
        and one.dataset == ("all" if _is_part(row) else about["dataset"])
    )
    return claim


def test_metrics_correlate_as_another_library_finds(study_of: Callable[[str], Sheets]) -> None:
    """Spearman's correlation and R² of all published runs, of those where we have some, and of ours."""
    shared = [place for place in groups.theirs() if place in groups.ours()]
    worlds = [
        studies.correlations(groups.theirs(), list(groups.theirs())),
        studies.correlations(groups.theirs(), shared),
        studies.correlations(groups.ours(), shared),
    ]
    rows = [row[1:4] for row in study_of("repurposing")["Figure 2b"].rows]
    assert len(rows) == 10
    for place, row in enumerate(rows):
        assert list(row) == [f"{world[place][0]:+.2f} ({world[place][1]:.2f})" for world in worlds]


def test_the_three_best_are_those_with_the_highest_means(study_of: Callable[[str], Sheets]) -> None:
    own = names("repurposing")
    rows = {tuple(row[:3]): list(row[3:6]) for row in study_of("repurposing")["Figure 3"].rows}
    places = list(product(PANELS, groups.paper()["datasets"]))
    assert len(rows) == len(places) == 36
    titles = {**own["splits"], **groups.paper()["metrics"]}
    for (metric, split), dataset in places:
        theirs, ours, n = studies.best_of_panel(groups.ours(), metric, split, dataset)
        heads = [titles.get(name, name).replace("_", " ") for name in (metric, split)]
        texts = [", ".join(map(studies.title, three)) or studies.NONE for three in (theirs, ours)]
        assert rows[(*heads, studies.title(dataset))] == [*texts, str(n)]


def test_times_are_of_the_fastest_of_the_best(study_of: Callable[[str], Sheets]) -> None:
    assert [list(row) for row in study_of("repurposing")["Figure 4"].rows] == studies.times()


@pytest.mark.parametrize(
    ("seeds", "shift", "of"),
    [
        (10, 0.0, ()),
        (10, 0.012, ("PMF", "SCPMF", "LibMF")),
        (20, -0.012, ("BNNR", "LogisticMF", "HAN")),
        (20, -0.03, ("DRRS", "LogisticMF", "HAN")),
        (40, 0.3, ("NIMCGCN",)),
        (40, 0.0, ()),
    ],
)
def test_three_best_of_a_made_up_world_are_judged_alike(
    repository: Layout, book: Book, drawn: Drawn, seeds: int, shift: float, of: tuple[str, ...]
) -> None:
    """Whether they are the authors', equal to them as printed, or what draws of the authors' runs never give."""
    several = drawn(seeds, shift=shift, of=of)
    sides = Sides(repository, replace(book, several=several), load_names(repository, "repurposing"), ())
    values = {(place.dataset, place.method, place.split): runs for place, runs in several.ours.values.items()}
    kinds = Counter[str | None]()
    for panel in make_figures(sides).panels:
        for best in panel.datasets:
            if several.why_without(best.dataset):
                continue
            expected = studies.same_three(values, panel.metric, panel.split, best.dataset)
            decided = (ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES)
            assert (str(best.verdict) if best.verdict in decided else None) == expected, best
            kinds[expected] += 1
    assert sum(kinds.values()) == 16
    if shift > 0.1:
        assert kinds["deviates"]
