"""What is held against DDI-Ben's claims: three seeds of the paper's methods, within one printed deviation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict
from harness.compare.claims import Claim
from harness.compare.comparison import Comparable
from harness.compare.judge import Single
from harness.compare.names import PublishedNames, Target, load_names
from harness.compare.runs import Obtained
from harness.study import make_study

HERE = Target("mlp", "drugbank", "released:which=random")
# Tables 10 and 11, as printed: ranks without and with distribution change, in the paper's order of methods.
RANKS = {
    "10": ([8, 9, 10, 5, 7, 1, 4, 6, 3, 2], [9, 8, 10, 6, 7, 3, 4, 5, 2, 1]),
    "11": ([4, 5, 10, 7, 8, 1, 6, 9, 3, 2], [9, 5, 10, 8, 6, 2, 7, 4, 1, 2]),
}
# as they are printed, in the paper's order of methods
AVERAGES = {
    ("10", "without"): "10.8 7.8 7.3 34.8 25.2 39.7 35.0 29.5 37.5 38.0",
    ("10", "with"): "5.9 6.8 2.7 12.8 7.1 18.6 15.2 14.3 23.8 24.0",
    ("11", "without"): "72.4 71.4 54.4 68.5 68.3 79.5 69.2 67.6 76.0 76.8",
    ("11", "with"): "63.0 67.6 54.2 64.5 66.6 72.7 66.3 71.7 72.9 72.7",
}


@pytest.fixture(scope="module")
def names(repository: Layout) -> PublishedNames:
    return load_names(repository, "ddi")


def claim_of(statistic: str, metric: str, sd: float | None) -> Claim:
    return Claim(
        "Table 10, MLP, Drugbank", statistic, "MLP", "Drugbank", "without", metric, "0.125", None, 0.0005, sd, 0
    )


def verdict_of(names: PublishedNames, claim: Claim, values: list[float]) -> ClaimVerdict:
    known = Comparable(frozenset({"mlp"}), frozenset({"drugbank"}), frozenset({"released"}))
    metric = names.metric(claim.metric).ours or ""
    runs = {
        seed: Obtained("k" * 64, Verdict.OK, "", {metric: value}, {})
        for seed, value in enumerate(values, start=124)
    }
    return Single(names, known, {HERE: runs}).judge(claim).verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.1479, 0.1480, 0.1481], ClaimVerdict.REPRODUCED),
        ([0.147, 0.148, 0.149], ClaimVerdict.NOT_COMPARABLE),
        ([0.148, 0.149, 0.150], ClaimVerdict.NOT_COMPARABLE),
        ([0.1489, 0.1490, 0.1491], ClaimVerdict.DEVIATES),
        ([0.098, 0.099, 0.100], ClaimVerdict.DEVIATES),
        ([0.125, 0.125], ClaimVerdict.NOT_COMPARABLE),
        ([0.9, 0.9], ClaimVerdict.NOT_COMPARABLE),
        ([], ClaimVerdict.PENDING),
    ],
)
def test_a_mean_beyond_the_printed_deviation_deviates(
    names: PublishedNames, values: list[float], verdict: ClaimVerdict
) -> None:
    assert verdict_of(names, claim_of("band", "S1 F1", 0.023), values) is verdict


def test_a_type_without_deviation_has_five_hundredths(names: PublishedNames) -> None:
    claim = claim_of("band", "S1 accuracy of type 48", None)
    assert verdict_of(names, claim, [0.17] * 3) is ClaimVerdict.REPRODUCED
    assert verdict_of(names, claim, [0.18] * 3) is ClaimVerdict.DEVIATES


def test_a_deviation_of_zero_leaves_the_printed_precision(names: PublishedNames) -> None:
    claim = claim_of("band", "S1 F1", 0.0)
    assert verdict_of(names, claim, [0.1254] * 3) is ClaimVerdict.REPRODUCED
    assert verdict_of(names, claim, [0.1256] * 3) is ClaimVerdict.DEVIATES


@pytest.mark.parametrize("value", [0.125, 0.9])
def test_a_method_that_lacks_data_of_the_paper_is_shown_and_not_judged(
    names: PublishedNames, value: float
) -> None:
    known = Comparable(frozenset({"emergnn"}), frozenset({"drugbank"}), frozenset({"released"}))
    runs = {seed: Obtained("k" * 64, Verdict.OK, "", {"S1 F1/as-published": value}, {}) for seed in range(3)}
    claim = claim_of("band", "S1 F1", 0.023)._replace(method="EmerGNN")
    found = Single(names, known, {replace(HERE, method="emergnn"): runs}).judge(claim)
    assert found.verdict is ClaimVerdict.NOT_COMPARABLE and found.ours == pytest.approx(value)
    assert "only a part is public" in found.reason


def test_a_band_tells_the_runs_it_is_without(names: PublishedNames) -> None:
    known = Comparable(frozenset({"mlp"}), frozenset({"drugbank"}), frozenset({"released"}))
    runs = {seed: Obtained("k" * 64, Verdict.OK, "", {"S1 F1/as-published": 0.125}, {}) for seed in range(3)}
    runs |= {seed: Obtained("f" * 64, Verdict.MEMORY, "killed", None, {}) for seed in (3, 4)}
    found = Single(names, known, {HERE: runs}).judge(claim_of("band", "S1 F1", 0.023))
    assert (found.verdict, found.n) == (ClaimVerdict.REPRODUCED, 3)
    assert found.reason == "within the printed deviation; all 3 values are equal; 2 of our 5 runs without a value"


def test_costs_are_never_judged(ddi_book: Book) -> None:
    costs = [one for one in ddi_book.comparisons if one.claim.statistic == "cost"]
    assert len(costs) == 20
    assert all(one.verdict is ClaimVerdict.NOT_COMPARABLE and "RTX 4090" in one.reason for one in costs)


def test_costs_are_of_one_split(elsewhere: Layout, ddi_book: Book) -> None:
    dear = {seed: replace(run, cpu_s=6e6, memory=10**12) for seed, run in ddi_book.runs[HERE].items()}
    study = make_study(elsewhere, replace(ddi_book, runs={**ddi_book.runs, HERE: dear}))
    assert study is not None
    (costs,) = study.only(("13",), ()).sheets
    row = next(row for row in costs.rows if row[0] == "MLP")
    assert row == ["MLP", "6", "10.0", "548", "1000", "3"]


def test_a_type_has_the_number_of_the_files(ddi_book: Book) -> None:
    """Number 1 too, though the paper explains it with the sentence of type 0."""
    found = [one for one in ddi_book.comparisons if "accuracy of type" in one.claim.metric]
    assert len(found) == 180
    for one in found:
        assert one.metric == one.claim.metric.replace("type ", "type/as-published ")


@pytest.mark.parametrize("values", [[], [0.167] * 3])
def test_a_type_without_test_items_waits_for_no_run(names: PublishedNames, values: list[float]) -> None:
    """Type 29 has none with distribution change in S2, and two without."""
    claim = claim_of("band", "S2 accuracy of type 29", None)
    assert verdict_of(names, claim, []) is ClaimVerdict.PENDING
    assert verdict_of(names, claim._replace(split="with"), values) is ClaimVerdict.NOT_COMPARABLE
    assert (
        verdict_of(names, claim._replace(metric="S2 accuracy of type 57"), values) is ClaimVerdict.NOT_COMPARABLE
    )


def test_other_variants_and_controls_never_enter_a_claim(ddi_book: Book, elsewhere: Layout) -> None:
    keys = {key for one in ddi_book.comparisons for key in one.keys}
    assert keys == {"k" * 64}
    study = make_study(elsewhere, ddi_book)
    assert study is not None
    for sheet in study.only(("4", "10", "12"), ()).sheets:
        titles = [row[1] if sheet.number == "10" else row[0] for row in sheet.rows]
        assert "mlp/corrected" in titles and titles[-1] == "majority_type"
        for title, chips in zip(titles, sheet.chips, strict=True):
            if title in ("mlp/corrected", "majority_type"):
                assert not any(chips)


def test_an_ensemble_is_a_row_and_no_claim(
    elsewhere: Layout, ddi_book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics: dict[str, float | None] = {"S1 F1/as-published": 0.77, "S2 F1/as-published": 0.33}
    without = Obtained("", Verdict.OK, "MLP, TIGER", None, {}, unscored="TIGER is not here")
    made = {124: Obtained("e" * 64, Verdict.OK, "MLP, MSTE", metrics, {}), 125: without, 126: without}
    place = Target("ensemble", "drugbank", "released:which=random")
    monkeypatch.setattr("harness.benchmarks.ddi.study.ensembles", lambda *_: {place: made})
    study = make_study(elsewhere, ddi_book)
    assert study is not None
    claims, types, costs = study.only(("10", "11", "13"), ()).sheets
    row, chips = next(both for both in zip(claims.rows, claims.chips, strict=True) if both[0][1] == "ensemble")
    assert row[:4] == ["ensemble", "ensemble", "77.0 (1)", "33.0 (1)"] and row[5] == "- / -" and not any(chips)
    told = ["1 ensemble of MLP, MSTE.", "2 ensembles of MLP, TIGER, without value: TIGER is not here."]
    assert set(told) <= set(claims.notes) and not set(told) & set(types.notes)
    assert all("ensemble" not in row for sheet in (types, costs) for row in sheet.rows)


def test_a_mean_that_was_moved_is_told_by_the_exit_code(elsewhere: Layout, moved_ddi_book: Book) -> None:
    study = make_study(elsewhere, moved_ddi_book)
    assert study is not None and study.deviates and study.only(("10",), ()).deviates
    assert not study.only(("13",), ("6",)).deviates


@pytest.mark.parametrize("number", RANKS)
def test_ranks_are_the_printed_ones(elsewhere: Layout, ddi_book: Book, number: str) -> None:
    study = make_study(elsewhere, ddi_book)
    assert study is not None
    (sheet,) = study.only((number,), ()).sheets
    for split, ranks in zip(("without", "with"), RANKS[number], strict=True):
        at = list(sheet.head).index(f"{split}, rank")
        printed = [int(row[at].split(" / ")[0]) for row in sheet.rows[: len(ranks)]]
        assert printed == ranks
        assert all(row[at].startswith("- / -") for row in sheet.rows[len(ranks) :]), "only the paper's have a rank"


@pytest.mark.parametrize("number", RANKS)
def test_an_average_that_is_printed_otherwise_is_named(elsewhere: Layout, ddi_book: Book, number: str) -> None:
    """Averages are of the printed means: where the paper prints another one, a note says so, and no other does."""
    study = make_study(elsewhere, ddi_book)
    assert study is not None
    (sheet,) = study.only((number,), ()).sheets
    others = list[str]()
    for split in ("without", "with"):
        at = list(sheet.head).index(f"{split}, average")
        for row, printed in zip(sheet.rows, AVERAGES[number, split].split(), strict=False):
            if row[at].split(" / ")[0] != printed:
                others.append(printed)
    told = [word.rstrip(".,") for note in sheet.notes if "average" in note.lower() for word in note.split()]
    named = [word for word in told if word[:1].isdigit()]
    assert others and sorted(named) == sorted(others)


def test_averages_of_our_rows_are_made_and_have_no_rank(elsewhere: Layout, ddi_book: Book) -> None:
    study = make_study(elsewhere, ddi_book)
    assert study is not None
    (sheet,) = study.only(("10",), ()).sheets
    rows = {row[1]: dict(zip(sheet.head, row, strict=True)) for row in sheet.rows}
    for split in ("without", "with"):
        assert rows["mlp/corrected"][f"{split}, average"] == "- / 99.0"
        assert rows["majority_type"][f"{split}, average"] == "- / 11.0"
        assert rows["majority_type"][f"{split}, rank"] == "- / -"
        assert rows["drug_frequency"][f"{split}, average"] == "- / -", "nothing was run of it"


def test_what_lacks_a_metric_has_no_average(elsewhere: Layout, ddi_book: Book) -> None:
    """An average over fewer metrics would stand beside those over all as if it were one of them."""
    here = Target("majority_type", "drugbank", "released:which=random")
    (run,) = ddi_book.runs[here].values()
    assert run.metrics is not None
    fewer = replace(run, metrics={name: value for name, value in run.metrics.items() if "S2" not in name})
    study = make_study(elsewhere, replace(ddi_book, runs={**ddi_book.runs, here: {124: fewer}}))
    assert study is not None
    (sheet,) = study.only(("10",), ()).sheets
    row = next(dict(zip(sheet.head, row, strict=True)) for row in sheet.rows if row[1] == "majority_type")
    assert (row["without, average"], row["with, average"]) == ("- / -", "- / 11.0")


def test_a_rank_among_fewer_says_so(elsewhere: Layout, moved_ddi_book: Book) -> None:
    """MLP, MSTE and EmerGNN were run: EmerGNN is first of three, though not all ten are here."""
    study = make_study(elsewhere, moved_ddi_book)
    assert study is not None
    (sheet,) = study.only(("10",), ()).sheets
    at = list(sheet.head).index("without, rank")
    ours = {row[1]: row[at].split(" / ")[1] for row in sheet.rows}
    assert (ours["EmerGNN"], ours["MLP"], ours["TIGER"]) == ("1 of 3", "2 of 3", "-")
