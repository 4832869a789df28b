"""What the study says of data alone is measured, repeats, and is told as outdated where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from harness.base.errors import CorruptData, EngineError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.study import changes_since, facts, page
from harness.benchmarks.ddi.study import measurement as measuring
from harness.benchmarks.ddi.study.data_facts import (
    SplitFacts,
    SplitMeasures,
    outdated,
)
from harness.benchmarks.ddi.study.drawings import scatter
from harness.benchmarks.ddi.study.realtime import nearest
from harness.compare import load_claims, load_names
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.data import load_dataset
from harness.splits.spec import parse_split
from harness.splits.strategies import strategy_source
from harness.study import measure_anew
from harness.study.extension import OwnSheets, own_sheets
from harness.study.measurements import load_measured, save_measured
from harness.study.sides import Sides
from harness.study.specs import Spec
from tests.study.conftest import MakeSheets


@pytest.fixture(scope="module")
def committed(repository: Layout) -> SplitFacts:
    found = load_measured(repository, "ddi", SplitFacts)
    assert found is not None
    return found


def test_the_kept_measures_are_of_every_strategy(committed: SplitFacts) -> None:
    assert set(committed.group("strategies")) == set(measuring.STRATEGIES), committed.left_out
    assert all(len(members) == 3 for members in committed.group("strategies").values())
    assert len(committed.group("gamma")) == 4 and len(committed.group("released")) == 2
    assert len(committed.drug_map) == committed.dated == 886


def test_the_released_splits_have_the_penalties_that_were_counted_by_hand(committed: SplitFacts) -> None:
    at = [committed.years.index(year) for year in (1990, 2000, 2010, 2015, 2020)]
    released = committed.group("released")
    (random,), (cluster,) = released["released:which=random"], released["released:which=cluster"]
    assert [random.penalty[one] for one in at] == [7209, 3825, 2830, 3063, 3830]
    assert [cluster.penalty[one] for one in at] == [7548, 4024, 2889, 3052, 3749]


def test_the_contradiction_is_said_with_its_numbers(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    notes = " ".join(sheets_of_data(committed)["figure", "5"].notes)
    assert "farther from approval time than their random one at 1985, 1990, 1995, 2000, 2005, 2010" in notes
    assert "not farther at 2015, 2020" in notes and "1990: 7,548 against 7,209" in notes
    assert "significant at 0 of 8 thresholds" in notes
    assert "Random less cluster is -409 at 1985 and +14 with every year; it is 0 at 2014.2." in notes


@pytest.mark.parametrize("of", ["", "random", "cluster"])
def test_a_split_that_discards_drugs_is_no_line(
    committed: SplitFacts, sheets_of_data: MakeSheets, of: str
) -> None:
    """Be it one of both or both."""
    fewer = [one.model_copy(update={"discarded": 1 if one.split.endswith(of) else 0}) for one in committed.splits]
    sheet = sheets_of_data(committed.model_copy(update={"splits": fewer}))["figure", "5"]
    assert not any("Random less cluster" in note for note in sheet.notes)


def test_thresholds_of_splits_that_keep_all_drugs_are_one_line(committed: SplitFacts) -> None:
    """The finding: eight thresholds are no eight observations."""
    keeping = [one.penalty for one in committed.splits if not one.discarded]
    assert len(keeping) > 10
    assert not np.diff(np.subtract(keeping, keeping[0]), n=2).any()
    (random,), (cluster,) = committed.group("released").values()
    line = np.subtract(random.penalty, cluster.penalty).tolist()
    assert line == [-409, -339, -269, -199, -129, -59, 11, 81]
    assert min(random.differs) > 0.05


def test_a_split_has_one_colour_in_all_panels(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    found = sheets_of_data(committed)
    hues: dict[str, set[str]] = {}
    for number in ("5", "8"):
        for picture in found["figure", number].pictures:
            named = re.findall(r'class="tick (hue-\d)"[^>]*>([^<]+)<', picture.svg)
            assert len({hue for hue, _ in named}) == len(named) > 1, picture.heading
            for hue, name in named:
                hues.setdefault(name, set()).add(hue)
    assert len(hues) == 10 and all(len(those) == 1 for those in hues.values())


def test_the_documentation_says_of_cluster_splits_what_was_measured(committed: SplitFacts) -> None:
    """docs/splits.md: never nearer than chance; the released one is farther at 1985 to 1995; never the highest."""
    ours, (released,) = committed.group("strategies"), committed.group("released")["released:which=cluster"]
    assert all(share > 0.05 for one in (*ours["cluster"], released) for share in one.better)
    far = [year for year, share in zip(committed.years, released.worse, strict=True) if share <= 0.05]
    assert far == [1985, 1990, 1995]
    assert [*nearest(committed)] == ["Of our splits, cluster has the highest mean index at 0 of 8 thresholds."]


def test_the_page_tells_a_split_once_and_every_seed_of_it(committed: SplitFacts) -> None:
    lines = page.markdown(committed).splitlines()
    assert sum(line.startswith("| `cluster` |") for line in lines) == 2
    assert not any("gamma=0.55" in line for line in lines)
    (row,) = (line for line in lines if line.startswith("| `lohi` |") and " to " in line)
    found = [
        (one.penalty[0] - one.chance_mean[0]) / one.chance_sd[0] for one in committed.group("strategies")["lohi"]
    ]
    assert f"({min(found):+.1f} to {max(found):+.1f})" in row and f"{sum(found) / len(found):+.1f}" in row
    without = committed.model_copy(update={"splits": [], "left_out": {"datasail": "there is no engine"}})
    assert "Not measured: datasail (there is no engine)." in page.markdown(without)
    # without a cluster split, none is compared with the others
    others = [one for one in committed.splits if one.split != "cluster"]
    assert "Rank of our cluster splits" in page.markdown(committed)
    assert "our cluster splits" not in page.markdown(committed.model_copy(update={"splits": others}))


def test_the_cluster_split_is_held_against_what_is_printed(
    committed: SplitFacts, sheets_of_data: MakeSheets
) -> None:
    """The printed number and that of the random split happen to be one."""
    sizes = [one.model_copy(update={"triplets": {**one.triplets, "random": 7}}) for one in committed.sizes]
    notes = " ".join(sheets_of_data(committed.model_copy(update={"sizes": sizes}))["table", "6"].notes)
    assert "188,509 is the number of the random split (7); the cluster split has +2,038." in notes


def test_periods_hold_the_drugs_that_are_printed(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    for row in sheets_of_data(committed)["table", "9"].rows:
        printed, ours = row[2].split(" / ")
        assert printed == ours
    assert [row[1] for row in sheets_of_data(committed)["figure", "4"].rows] == ["253", "267", "189", "177"]


def test_sizes_that_differ_have_a_reason(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    sheet = sheets_of_data(committed)["table", "6"]
    assert sheet.rows[0][3].startswith("188,509 / 188,509 random, 190,547 cluster")
    assert any("+2,038" in note for note in sheet.notes)
    assert sheet.rows[1][3].startswith("116,650 / ") and "247,447 all" in sheet.rows[1][3]
    assert any("eight files" in note for note in sheet.notes)


def test_a_strategy_that_is_not_here_is_left_empty(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    without = [one for one in committed.splits if one.split != "datasail"]
    partly = committed.model_copy(update={"splits": without, "left_out": {"datasail": "there is no engine"}})
    sheet = sheets_of_data(partly)["table", "1"]
    assert [row for row in sheet.rows if row[0] == "DataSAIL"] == [
        ["DataSAIL", "yes / -", "no / -", "medium / -", "-", "-", "-", "-"]
    ]
    assert any("there is no engine" in note for note in sheet.notes)
    assert all(row[0] != "datasail" for row in sheets_of_data(partly)["figure", "5"].rows)


def test_a_split_without_penalty_has_no_index(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    nothing = [one.model_copy(update={"index": [None] * 8, "penalty": [0] * 8}) for one in committed.splits]
    found = sheets_of_data(committed.model_copy(update={"splits": nothing}))
    assert found["figure", "5"].rows[0][1].startswith("- (0;") and found["table", "1"].rows[0][6] == "-"


def test_nothing_measured_is_no_error(committed: SplitFacts, sheets_of_data: MakeSheets) -> None:
    for sheet in sheets_of_data(committed.model_copy(update={"splits": []})).values():
        assert all(len(row) == len(sheet.head) for row in sheet.rows)


def test_outdated_measures_say_so(repository: Layout, committed: SplitFacts) -> None:
    splits = [
        one.model_copy(update={"source": "0" * 64} if one.split == "lohi" else {}) for one in committed.splits
    ]
    splits.append(splits[0].model_copy(update={"split": "gone"}))
    other = committed.model_copy(update={"digest": "0" * 64, "code": "0" * 64, "splits": splits})
    told = outdated(repository, other)
    assert any("dataset drugbank is another one" in one for one in told)
    assert any("gone" in one and "lohi" in one for one in told)
    assert any("code that measures" in one for one in told)


def test_a_measured_dataset_that_is_here_no_more_is_told(
    repository: Layout, committed: SplitFacts, tmp_path: Path
) -> None:
    """A study is made all the same."""
    (tmp_path / "datasets").mkdir()
    elsewhere = Layout(tmp_path, repository.cache, repository.local)
    names = {committed.dataset, *(one.dataset for one in committed.sizes)}
    assert changes_since(elsewhere, committed) == [
        f"dataset {name}, which was measured, is here no more" for name in sorted(names)
    ]
    assert changes_since(repository, committed) == outdated(repository, committed)


def test_other_splits_than_the_published_ones_are_told(repository: Layout, committed: SplitFacts) -> None:
    # by the present code, so that checksums are looked at
    sources = {one.split: strategy_source("ddi", parse_split(one.split, 1).strategy) for one in committed.splits}
    splits = [one.model_copy(update={"source": sources[one.split]}) for one in committed.splits]
    present = committed.model_copy(update={"splits": splits})
    assert not any("splits" in one for one in outdated(repository, present))
    wrong = {("cluster:gamma=0.6", 2), ("released:which=random", 1)}
    splits = [
        one.model_copy(update={"sha256": "0" * 64} if (one.split, one.seed) in wrong else {}) for one in splits
    ]
    told = " ".join(outdated(repository, present.model_copy(update={"splits": splits})))
    assert "the published splits cluster-gamma=0.6-2, released-which=random-1 are not those" in told


def test_kept_measures_are_read_as_they_were_written(tmp_path: Path, committed: SplitFacts) -> None:
    place = Layout(tmp_path, tmp_path, tmp_path)
    assert load_measured(place, "ddi", SplitFacts) is None
    save_measured(place, "ddi", committed)
    assert load_measured(place, "ddi", SplitFacts) == committed
    (path,) = place.reference.rglob("measured.json")
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    with pytest.raises(CorruptData, match="can't be read"):
        load_measured(place, "ddi", SplitFacts)


def test_an_edited_measure_is_found_out(tmp_path: Path, committed: SplitFacts) -> None:
    place = Layout(tmp_path, tmp_path, tmp_path)
    save_measured(place, "ddi", committed)
    (path,) = place.reference.rglob("measured.json")
    path.write_text(path.read_text(encoding="utf-8").replace('"penalty":[', '"penalty":[1', 1), encoding="utf-8")
    with pytest.raises(CorruptData, match="differs from its own digest") as found:
        load_measured(place, "ddi", SplitFacts)
    assert found.value.where == str(path) and "--measure" in found.value.todo


def test_printed_numbers_of_the_data_are_no_claims(repository: Layout) -> None:
    claims = load_claims(repository, load_names(repository, "ddi"))
    printed = load_printed(repository.published / "ddi" / TABLES)
    assert sum(row["statistic"] == SHOWN for row in printed) == 17 and len(claims) == 280
    assert {claim.statistic for claim in claims} == {"band", "cost"}


def test_a_lost_printed_number_is_named(
    committed: SplitFacts, sheets_of_data: MakeSheets, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = {"table": "9", "split": "1990-2000", "metric": "interactions"}
    monkeypatch.setattr(
        facts, "load_printed", lambda path: [row for row in load_printed(path) if not lost.items() <= row.items()]
    )
    with pytest.raises(CorruptData, match="Table 9 has no number 'interactions' of drugbank 1990-2000") as found:
        sheets_of_data(committed)
    assert found.value.where.endswith("tables.csv") and found.value.todo


def test_a_printed_number_is_the_first_that_is_shown_of_its_place(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = cast(Sides, SimpleNamespace(layout=repository, names=load_names(repository, "ddi")))
    place = {"table": "9", "dataset": "Drugbank", "split": "some", "metric": "drugs"}
    others = [{**place, name: "another"} for name in place]
    rows = [
        *({**row, "statistic": SHOWN, "value": "1"} for row in others),
        *({**place, "statistic": name, "value": "2"} for name in ("a claim", "zero")),
        {**place, "statistic": SHOWN, "value": ""},
        {**place, "statistic": SHOWN, "value": "3.5"},
        {**place, "statistic": SHOWN, "value": "4"},
    ]
    monkeypatch.setattr(facts, "load_printed", lambda _: rows)
    assert facts.printed(sides, "9", "drugbank", "some", "drugs") == 3.5
    with pytest.raises(CorruptData) as found:
        facts.printed(sides, "6", "drugbank", "", "drugs")
    path = repository.published / "ddi" / TABLES
    assert (found.value.what, found.value.where) == ("Table 6 has no number 'drugs' of drugbank", str(path))
    assert found.value.todo == "restore the file from the repository"


def test_drugs_of_a_period_lie_on_the_map_above_all_others(committed: SplitFacts) -> None:
    spec = Spec(kind="figure", number="4", title="", made="map")
    pictures = facts.drug_map(cast(Sides, None), spec, committed).pictures
    for picture, period in zip(pictures, sorted(committed.periods, key=lambda one: one.after), strict=True):
        last = period.until or 2025
        here = [(x, y) for x, y, year in committed.drug_map if period.after < year <= last]
        others = [(x, y) for x, y, year in committed.drug_map if not period.after < year <= last]
        years = f"{period.after + 1} to {last}" if period.until else f"from {period.after + 1} on"
        assert picture.heading == f"approved {years}: {len(here)} of {len(here) + len(others)} drugs"
        assert picture.svg == scatter(picture.heading, here, others, 999.0) and here and others


@pytest.fixture(scope="module")
def small(repository: Layout) -> DdiDataset:
    return load_dataset(repository, "synthetic_ddi", DdiDataset)


def test_splits_that_no_engine_can_make_are_left_out(
    layout: Layout, small: DdiDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.splits import load_split

    def without_engine(*given: object) -> object:
        if getattr(given[2], "strategy", "") == "datasail":
            raise EngineError("there is no engine")
        return load_split(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("harness.splits.load_split", without_engine)
    left_out: dict[str, str] = {}
    found = measuring._Group(layout, small, "strategies", 1, ()).measures(
        ["random", "datasail", "cluster"], left_out
    )
    assert left_out == {"datasail": "there is no engine"}
    assert [one.split for one in found] == ["random", "cluster"]
    random, cluster = found
    assert isinstance(random, SplitMeasures) and random.known + random.new == 74
    assert cluster.similarity <= 0.55 < random.similarity
    assert cluster.differs == [1.0] * 8, "cluster is compared with itself"


def test_what_is_measured_is_what_the_sheets_need(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, sheets_of_data: MakeSheets
) -> None:
    for name, value in (("STRATEGIES", ("random", "cluster")), ("SEEDS", (1,)), ("_SIZED", ())):
        monkeypatch.setattr(measuring, name, value)
    monkeypatch.setattr(measuring, "_map", lambda data: [(1, 2, 1990)] * int((data.years > 0).sum()))
    said: list[str] = []
    measured = measuring.measure(layout, "synthetic_ddi", (), said.append)
    assert said == [
        "splits: strategies, seed 1",
        "splits: gamma, seed 1",
        "splits: released, seed 1",
        "map of drugs",
    ]
    assert measured.dated == 49 == sum(period.drugs for period in measured.periods)
    found = sheets_of_data(measured)
    assert all(len(row) == len(sheet.head) for sheet in found.values() for row in sheet.rows)
    assert [row[0] for row in found["figure", "5"].rows] == ["random", "cluster"]
    assert outdated(layout, measured) == []


def test_equal_drugs_lie_near_each_other_and_the_map_repeats(small: DdiDataset) -> None:
    dated = np.flatnonzero(small.years > 0)
    fingerprints = small.fingerprints.copy()
    fingerprints[dated[1]] = fingerprints[dated[0]]
    twins = replace(small, fingerprints=fingerprints)
    places = measuring._map(twins)
    assert places == measuring._map(twins) and len(places) == len(dated)
    assert all(0 <= x <= 999 and 0 <= y <= 999 for x, y, _ in places)
    assert [year for _, _, year in places] == small.years[dated].tolist()
    far = np.hypot(*np.subtract(places[0][:2], [place[:2] for place in places[1:]]).T)
    assert far.argmin() == 0


def test_distances_are_those_of_the_papers_similarity() -> None:
    counts = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert measuring._distances(counts) == pytest.approx(
        np.array([[0, 1 - 2 / 4, 1], [1 - 2 / 4, 0, 1], [1, 1, 0]]), abs=1e-12
    )


def test_other_benchmarks_have_nothing_to_measure(layout: Layout) -> None:
    with pytest.raises(UsageError) as found:
        measure_anew(layout, "repurposing", (), say=lambda _: None)
    assert (found.value.what, found.value.where, found.value.todo) == (
        "nothing is measured of the data of benchmark 'repurposing'",
        "--measure",
        "leave it out; its study rests on runs alone",
    )


def test_a_benchmark_without_a_package_of_its_own_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def part(benchmark: str, name: str) -> None:
        asked.append((benchmark, name))

    monkeypatch.setattr("harness.benchmarks.part", part)
    own = own_sheets("toy")
    assert asked == [("toy", "study")] and type(own) is OwnSheets
    sides = cast(Sides, None)
    assert own.derived(sides, ()) == () and own.makers(sides) == {}


def test_what_is_measured_again_is_drugbank_and_is_kept(
    tmp_path: Path, committed: SplitFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, said = Layout(tmp_path, tmp_path, tmp_path), list[str]()
    given: list[tuple[object, ...]] = []

    def measure(*some: object) -> SplitFacts:
        given.append(some)
        return committed

    monkeypatch.setattr(measuring, "measure", measure)
    measure_anew(place, "ddi", [tmp_path], say=said.append)
    assert given == [(place, "drugbank", [tmp_path], said.append)]
    assert load_measured(place, "ddi", SplitFacts) == committed
    assert [path.name for path in (place.reference / "ddi").iterdir()] == ["measured.json"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda text: text[:-9], "what was measured can't be read: "),
        (lambda text: "[]", "what was measured can't be read: "),
        (lambda text: text.replace('"dataset":', '"data":', 1), "what was measured can't be read: Field required"),
        (
            lambda text: text.replace('"dated":886', '"dated":887', 1),
            "what was measured differs from its own digest",
        ),
        # an emptied digest vouches for nothing
        (
            lambda text: text.replace(text[len('{"digest":"') :][:64], "", 1),
            "what was measured differs from its own digest",
        ),
    ],
)
def test_a_damaged_measurement_is_told_word_for_word(
    tmp_path: Path, committed: SplitFacts, change: Callable[[str], str], what: str
) -> None:
    place = Layout(tmp_path, tmp_path, tmp_path)
    save_measured(place, "ddi", committed)
    path = place.reference / "ddi" / "measured.json"
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and text.count("\n") == 1
    path.write_text(change(text), encoding="utf-8")
    with pytest.raises(CorruptData) as found:
        load_measured(place, "ddi", SplitFacts)
    assert found.value.what.startswith(what) and found.value.where == str(path)
    todo = "restore the file from the repository, or run `harness study --benchmark ddi --measure`"
    assert found.value.todo == todo


def test_what_is_outdated_is_told_word_for_word(
    repository: Layout, committed: SplitFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name, each once; what nobody here can tell is not told."""
    present = {"drugbank": committed.digest, "twosides": "2" * 64}

    def digest(_: Layout, name: str) -> str:
        if name not in present:
            raise MissingData("not here", where="", todo="")
        return present[name]

    monkeypatch.setattr("harness.data.dataset_digest", digest)
    monkeypatch.setattr("harness.benchmarks.ddi.study.data_facts.measuring_code", lambda: committed.code)
    monkeypatch.setattr("harness.splits.strategies.strategy_source", lambda _, name: f"source of {name}")
    monkeypatch.setattr("harness.splits.splits.recorded_split", lambda *_: None)
    splits = [
        one.model_copy(update={"source": f"source of {parse_split(one.split, 1).strategy}"})
        for one in committed.splits
    ]
    sizes = [committed.sizes[0], committed.sizes[1].model_copy(update={"dataset": "gone"})]
    whole = committed.model_copy(update={"splits": splits, "sizes": sizes})
    assert outdated(repository, whole) == []
    others = [one.model_copy(update={"dataset": "twosides", "digest": "1" * 64}) for one in (*sizes, *sizes)]
    assert outdated(repository, whole.model_copy(update={"sizes": others, "code": "x", "digest": "0" * 64})) == [
        f"dataset drugbank is another one by now ({'0' * 12} was measured)",
        f"dataset twosides is another one by now ({'1' * 12} was measured)",
        "the code that measures has changed since",
    ]
    changed = [one.model_copy(update={"source": "x"} if "a" in one.split[:2] else {}) for one in splits]
    changed.append(splits[0].model_copy(update={"split": "nowhere"}))
    assert outdated(repository, whole.model_copy(update={"splits": changed})) == [
        "the code of datasail, nowhere, random splits has changed since they were measured"
    ]
    line = SimpleNamespace(sha256="x")
    monkeypatch.setattr(
        "harness.splits.splits.recorded_split",
        lambda _, data, spec: (
            line
            if (data, spec.strategy, spec.seed) in (("drugbank", "lohi", 2), ("drugbank", "usage", 1))
            else None
        ),
    )
    assert outdated(repository, whole) == ["the published splits lohi-2, usage-1 are not those that were measured"]
