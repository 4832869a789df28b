"""Interval, margin and the runs that would decide stand beside every mean, in each form of a comparison."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from harness.api import table
from harness.base.vocabulary import Verdict
from harness.compare import Book
from harness.compare.book import group_of
from harness.compare.claims import Claim
from harness.compare.comparison import ClaimVerdict, Comparison, Recomputed
from harness.compare.judge import Single
from harness.compare.names import Target
from harness.compare.text import comparison_json, counts_by_group, to_json, to_markdown, to_text
from harness.report.content import Shared, claim_entry
from tests.compare.test_a_claim_is_misjudged import KNOWN, NAMES, PLACE, claim, run

# means of three runs that fit into the band, and that would with five
SURE, UNSURE, VALUE = (0.500, 0.501, 0.502), (0.45, 0.50, 0.55), (0.5,)


def judged(values: tuple[float, ...], **changes: object) -> Comparison:
    one = claim("0.5", **{"statistic": "band", "seed": None, "sd": 0.05, "n": 0, "sheet": "Table 3", **changes})
    return Single(NAMES, KNOWN, {PLACE: {seed: run(value) for seed, value in enumerate(values)}}).judge(one)


@pytest.fixture
def book() -> Book:
    """A mean that is decided, one that is not, and nothing else."""
    return Book("repurposing", ("a paper",), (judged(SURE), judged(UNSURE, metric="NDCG")))


def test_a_table_has_columns_for_them(book: Book) -> None:
    head, sure, unsure, *rest = [line.split("  ") for line in to_text(book).splitlines() if line.startswith("  ")][
        1:
    ]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in (head, sure, unsure)]
    assert cells[0] == [
        "verdict",
        "metric",
        "published",
        "ours",
        "difference",
        "90 % interval",
        "margin",
        "needed",
    ]
    half = 2.91998558 * 0.001 / 3**0.5
    interval = f"{0.001 - half:+.2e} to {0.001 + half:+.2e}"
    assert cells[1] == [
        "reproduced",
        "NS-AUC band",
        "0.5 ± 0.05",
        "0.50100 (3)",
        "+1.00e-03",
        interval,
        "5.00e-02",
        "-",
    ]
    assert cells[2][0] == "not-comparable" and cells[2][-2:] == ["5.00e-02", "5 runs"]
    text = " ".join(word for line in rest for word in line).replace("   ", " ")
    assert "2 more would decide" in " ".join(text.split())


def test_a_document_has_them_too(book: Book) -> None:
    text = to_markdown(book)
    assert (
        "| verdict | metric | published | ours | difference | 90 % interval | margin | needed | test | reason |"
        in text
    )
    assert "5 runs" in text and "2 more would decide" in text and "90% t interval, n = 3, within ± 0.05" in text


def test_every_test_that_decided_is_told_once(book: Book) -> None:
    other = judged((*SURE, 0.503))
    told = [line.strip() for line in to_text(replace(book, comparisons=(*book.comparisons, other))).splitlines()]
    wanted = [f"test: {one.test}" for one in (book.comparisons[0], other)]
    assert len({*wanted}) == 2 and [line for line in told if line.startswith("test: ")] == wanted


def test_programs_read_them(book: Book) -> None:
    sure, unsure = to_json(book)["comparisons"]
    assert sure["interval_low"] < sure["difference"] < sure["interval_high"] < sure["margin"]
    assert (sure["needed"], unsure["needed"], unsure["n"]) == (None, 5, 3)
    assert unsure["interval_low"] == pytest.approx(-unsure["interval_high"])
    assert unsure["reason"].endswith("; 2 more would decide")
    shared = Shared()
    assert shared.values[claim_entry(book.comparisons[1], shared)["reason"]] == unsure["reason"]
    frame = table(book)
    assert frame["needed"].tolist()[1] == 5 and frame["margin"].tolist() == pytest.approx([0.05, 0.05])
    assert frame["interval_low"].tolist()[0] == pytest.approx(sure["interval_low"])
    assert frame["interval_high"].tolist()[0] == pytest.approx(sure["interval_high"])


def test_what_has_no_interval_has_no_column(book: Book) -> None:
    one = Single(NAMES, KNOWN, {PLACE: {0: run(0.5)}}).judge(claim("0.5", seed=0))
    assert one.verdict is ClaimVerdict.REPRODUCED
    text = to_text(replace(book, comparisons=(one,)))
    assert "interval" not in text and "needed" not in text and "test: |difference| <= 1e-09" in text
    told = comparison_json(one, ())
    assert told["interval_low"] is None and told["margin"] == pytest.approx(1e-9)


def test_what_was_not_run_has_columns_of_ours_all_the_same() -> None:
    lines = to_text(Book("repurposing", (), tuple(waiting_for_runs(2)))).splitlines()
    table = [line.split() for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert table[0] == ["verdict", "metric", "published", "ours", "difference"]
    assert [row[-2:] for row in table[1:]] == [["-", "-"], ["-", "-"]]


def test_a_reason_names_each_metric_once() -> None:
    """Two claims about one metric, in two tables, and one about another."""
    claims = (judged(UNSURE), judged(UNSURE, sheet="Table 4"), judged(UNSURE, metric="NDCG"))
    assert "\n    NS-AUC, NDCG: too few runs" in to_text(Book("repurposing", (), claims))


def test_a_number_of_published_runs_is_shown_where_it_is_known() -> None:
    for n, text in ((0, "0.5 ± 0.05  "), (3, "0.5 ± 0.05 (3)")):
        assert text in to_text(Book("repurposing", (), (judged(SURE, n=n),)))


def test_programs_read_how_many_runs_each_side_had() -> None:
    told = comparison_json(judged(SURE, n=7), ())
    assert (told["published_n"], told["n"]) == (7, 3)


def test_programs_read_each_value_under_its_own_name() -> None:
    """The claim's under those of the paper, ours under ours; no two values of this claim are the same."""
    one = Comparison(
        Claim("a paper", "band", "M", "D", "S", "AUROC", "0.50", 7, rounding=0.005, sd=0.05, n=9, sheet="Table 3"),
        Target("m", "d", "s", "corrected"),
        "AUC/as-published",
        ClaimVerdict.NOT_COMPARABLE,
        "too few runs",
        test="90 % interval",
        ours=0.75,
        n=3,
        margin=0.1,
        files=Recomputed(0.51, 5, agrees=False),
        interval=(-0.25, 0.625),
        needed=8,
    )
    assert comparison_json(one, ("key",)) == {
        "source": "a paper",
        "statistic": "band",
        "published_names": {"method": "M", "dataset": "D", "split": "S", "metric": "AUROC"},
        "method": "m",
        "dataset": "d",
        "split": "s",
        "variant": "corrected",
        "seed": 7,
        "metric": "AUC/as-published",
        "published": "0.50",
        "published_sd": 0.05,
        "published_n": 9,
        "authors_files": {"value": 0.51, "n": 5, "agrees": False},
        "ours": 0.75,
        "n": 3,
        "difference": 0.25,
        "interval_low": -0.25,
        "interval_high": 0.625,
        "margin": 0.1,
        "needed": 8,
        "test": "90 % interval",
        "verdict": "not-comparable",
        "reason": "too few runs; 5 more would decide",
        "keys": ["key"],
    }


def test_zeros_are_shown_and_are_not_what_is_not_known() -> None:
    """Of a deviation, a number of ours, a margin, the ends of an interval; and there is a seed 0."""
    claim = Claim("a paper", "mean", "M", "D", "S", "AUROC", "0.0", None, sd=0.0, n=9)
    none = Comparison(claim, Target("m", "d", "s"), "AUC", ClaimVerdict.PENDING, "")
    zeros = none._replace(verdict=ClaimVerdict.REPRODUCED, ours=0.0, n=3, margin=0.0, interval=(0.0, 0.0))
    seeded = zeros._replace(claim=claim._replace(statistic="value", seed=0, sd=None), interval=None, margin=None)
    entries = {
        none: ("0.0 ± 0 (9)", "-", "-", "-", "-"),
        zeros: ("0.0 ± 0 (9)", "0.00000 (3)", "0", "+0.00e+00 to +0.00e+00", "0.00e+00"),
        seeded: ("0.0", "0.0", "0", "-", "-"),
    }
    for one, (published, ours, difference, interval, margin) in entries.items():
        told = to_markdown(Book("repurposing", (), (one,))).replace("\\", "")
        row = [cell.strip() for cell in told.splitlines()[-1].strip("|").split("|")]
        assert row[2:7] == [published, ours, difference, interval, margin]
        assert ("seed 0" in told) is (one is seeded)


def waiting_for_runs(count: int) -> list[Comparison]:
    """Claims that nothing was run for yet."""
    one = judged(())
    assert one.verdict is ClaimVerdict.PENDING
    return [one._replace(claim=one.claim._replace(metric=f"metric {number}")) for number in range(count)]


@pytest.mark.parametrize(("count", "listed"), [(60, 60), (61, 0)])
def test_up_to_sixty_claims_are_all_listed_whatever_became_of_them(count: int, listed: int) -> None:
    text = to_text(Book("repurposing", (), tuple(waiting_for_runs(count))))
    assert len({*re.findall(r"metric \d+", text)}) == listed
    assert (f"{count} claims not listed" in text) is (listed == 0)


def test_up_to_sixty_groups_are_counted_each_and_more_by_method() -> None:
    """Where a method has several datasets or splits, how many; where it has one, which."""
    one, other = judged(()), judged(SURE)
    other = other._replace(target=replace(other.target, method="another"))
    many = tuple(
        one._replace(target=replace(one.target, dataset=f"d{number % 30}", split=f"s{number // 30}"))
        for number in range(60)
    )
    kind, _, dataset, split = group_of(other)
    each = counts_by_group(Book("repurposing", (), many))
    assert len(each) == 60 and {count.total() for count in each.values()} == {1}
    assert counts_by_group(Book("repurposing", (), (*many, other))) == {
        (group_of(one)[0], one.target.method, "all 30", "all 2"): Counter({ClaimVerdict.PENDING: 60}),
        (kind, "another", dataset, split): Counter({ClaimVerdict.REPRODUCED: 1}),
    }


def test_a_mean_that_lacks_runs_is_listed_with_the_decided_ones() -> None:
    """Also where there are too many claims to list them all; those that wait for a run are not."""
    waiting = waiting_for_runs(80)
    text = to_text(Book("repurposing", (), (judged(UNSURE), *waiting)))
    assert "5 runs" in text and "80 claims not listed" in text and "metric 7 " not in text
    # those that no number of runs decides have none to name
    edge = judged((0.50, 0.55, 0.60))
    assert edge.needed is None and edge.verdict is ClaimVerdict.NOT_COMPARABLE


def test_what_deviates_is_listed_wherever_it_was_published() -> None:
    """Of more decided claims than are listed, those of tables and those that deviate stay, the latter up to 60."""

    def many(values: tuple[float, ...], number: int, sheet: str, name: str) -> list[Comparison]:
        one = judged(values, sheet=sheet)
        return [one._replace(claim=one.claim._replace(metric=f"{name}{at}")) for at in range(number)]

    far = (0.900, 0.901, 0.902)
    for deviating in (2, 70):
        claims = [
            *many(SURE, 61, "", "metric a"),
            *many(SURE, 3, "Table 3", "metric b"),
            *many(far, deviating, "", "metric c"),
        ]
        book = Book("repurposing", (), tuple(claims))
        for text in (to_text(book), to_markdown(book)):
            # those of tables first, the others in their order
            shown = [*dict.fromkeys(re.findall(r"metric ([abc]\d+)", text))]
            assert shown == ["b0", "b1", "b2", *(f"c{at}" for at in range(min(deviating, 60)))]
            assert f"{len(claims) - len(shown)} claims not listed" in text


def test_a_failed_run_needs_no_more_runs() -> None:
    one = claim("0.5")._replace(statistic="band", seed=None, sd=0.05, n=0)
    failed = Single(NAMES, KNOWN, {PLACE: {seed: run(None, Verdict.MEMORY) for seed in range(3)}}).judge(one)
    assert failed.verdict is ClaimVerdict.NOT_COMPARABLE and failed.needed is None and failed.lacking == ""


def test_a_group_in_which_something_is_comparable_keeps_its_line(book: Book) -> None:
    """Groups of which nothing is share one line, with their number of claims."""
    other = judged(SURE, dataset="TRANSCRIPT")
    assert other.verdict is ClaimVerdict.NOT_COMPARABLE
    text = to_text(replace(book, comparisons=(*book.comparisons, other)))
    (line,) = (
        line.split() for line in text.splitlines() if "als_wr" in line and line.split()[-4:].count("0") == 2
    )
    assert line[-4:] == ["1", "0", "1", "0"]
    assert "in groups where nothing is comparable: 1 (files)" in text


@pytest.mark.parametrize(
    ("published", "changes", "ours", "expected"),
    [
        # a tolerance is no margin of an interval, and a value is one of its own, however many there are
        ("0.5", {"n": 5}, (0.5,), "reproduced|NS-AUC|0.5|0.5|0|-|-|-"),
        ("0.5", {"n": 5}, (0.25,), "deviates|NS-AUC|0.5|0.25|-2.50e-01|-|-|-"),
        ("0.5", {"n": 5}, (), "pending|NS-AUC|0.5|-|-|-|-|-"),
        # of how many runs a mean is stands beside its deviation
        (
            "0.5",
            {"seed": None, "statistic": "mean", "n": 100},
            (0.505, 0.506) * 6,
            "deviates|NS-AUC|0.5|0.50550 (12)|+5.50e-03|+5.23e-03 to +5.77e-03|1.00e-09|-",
        ),
        (
            "0.5",
            {"seed": None, "statistic": "mean", "n": 100, "sd": 0.05},
            (0.505, 0.506) * 6,
            "reproduced|NS-AUC|0.5 ± 0.05 (100)|0.50550 (12)|+5.50e-03|-2.81e-03 to +1.38e-02|5.00e-02|-",
        ),
        ("ran", {"seed": None, "statistic": "status", "n": 3}, SURE, "reproduced|status|ran|3 runs|-|-|-|-"),
    ],
)
def test_what_is_said_of_no_such_claim_has_no_entry(
    published: str, changes: dict[str, Any], ours: tuple[float, ...], expected: str
) -> None:
    runs = {seed: run(value) for seed, value in enumerate(ours, start=1)}
    one = Single(NAMES, KNOWN, {PLACE: runs}).judge(claim(published, **changes))
    line = to_markdown(Book("repurposing", (), (one,))).splitlines()[-1].replace("\\-", "-")
    assert [cell.strip() for cell in line.strip("|").split("|")][:8] == expected.split("|")


def test_each_table_stands_once_with_its_decided_claims_first_and_a_legend_below() -> None:
    of_two = [
        judged(values, source=f"Table {number}, A")
        for number in (4, 3)
        for values in ((), UNSURE, SURE, (0.9, 0.9, 0.9))
    ]
    text = to_text(Book("repurposing", (), tuple(of_two)))
    listed = [line.split()[0] for line in text.splitlines() if line.split()[:1] and "NS-AUC band" in line]
    own = ["reproduced", "deviates", "not-comparable", "pending"]
    titles = [line for line in text.splitlines() if line.startswith("als_wr on")]
    assert listed == own * 2
    assert titles == [f"als_wr on fdataset, random (Table {number})" for number in (3, 4)]
    assert text.splitlines()[-4:] == [
        "reproduced      our number agrees with the published one by the stated test",
        "deviates        our number differs from the published one by the stated test",
        "not-comparable  no run, or too few, can decide; the reason says why",
        "pending         a run would decide; it has not been made or scored yet",
    ]


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        (
            (0.51, 0.53, 0.503),
            "of the 3 values per seed that deviate, half do so by no more than 1.0e-02, and none by",
        ),
        ((0.51, 0.47), "of the 2 values per seed that deviate, half do so by no more than 2.0e-02, and none by"),
        # one stands for itself, and what is reproduced is none
        ((0.53, 0.5), ""),
        ((0.5, 0.5), ""),
    ],
)
def test_it_is_told_how_far_values_per_seed_lie_off(ours: tuple[float, ...], told: str) -> None:
    """A thousand deviations in the last digits are something else than a thousand other results."""
    runs = {seed: run(value) for seed, value in enumerate(ours)}
    single = Single(NAMES, KNOWN, {PLACE: runs})
    values = [single.judge(claim("0.5", seed=seed)) for seed in runs]
    # a mean that is farther off is no value per seed, nor is one that is not run yet
    mean = judged((0.9, 0.9, 0.9))
    book = Book("repurposing", ("a paper",), (mean, *values, single.judge(claim("0.9", seed=7))))
    for text in (to_text(book), to_markdown(book)):
        words = " ".join(text.split())
        assert (f"{told} more than 3.0e-02" in words) if told else ("values per seed that deviate" not in words)


def test_it_is_told_how_many_reproduced_values_are_the_same_for_every_seed() -> None:
    """An accuracy of 1 whatever the seed is reproduced, and says little of a method."""
    ours = {0: run(0.5), 1: run(0.5), 2: run(0.9), 3: run(0.7), 4: run(0.8)}
    names = NAMES.model_copy(update={"splits": {**NAMES.splits, "weakly_correlated": "weakly_correlated"}})
    known = replace(KNOWN, splits=frozenset(names.splits.values()))
    single = Single(names, known, {PLACE: ours, replace(PLACE, split="weakly_correlated"): ours})

    def words(*values: Claim) -> list[str]:
        book = Book("repurposing", ("a paper",), tuple(map(single.judge, values)))
        return [" ".join(text.split()) for text in (to_text(book), to_markdown(book))]

    same = [claim("0.5", seed=seed) for seed in (0, 1, 2)]
    other = [claim(value, seed=seed, split="weakly_correlated") for seed, value in ((3, "0.7"), (4, "0.8"))]
    # what is alone in its cell says nothing of other seeds
    alone = claim("0.7", seed=3, metric="NDCG")
    told = "published as the same for every seed of their cell"
    for text in words(*same, *other, alone):
        assert f"of the 5 values per seed reproduced, 2 are {told}" in text
    # one other seed in the cell, though it deviates here, and they are not the same
    for text in words(*same, claim("0.6", seed=3), *other):
        assert told not in text


def test_a_reproduced_mean_that_a_control_has_too_is_told_with_it() -> None:
    """Of what is reproduced the reason is told where it takes something back."""
    coin = {PLACE: dict.fromkeys(range(3), run(0.5)), replace(PLACE, method="coin"): {1: run(0.5)}}
    one = claim("0.5", statistic="band", seed=None, sd=0.05, n=0, sheet="Table 3")
    book = Book("repurposing", ("a paper",), (Single(NAMES, KNOWN, coin, ("coin",)).judge(one),))
    for text in (to_text(book), to_markdown(book)):
        assert "a control is within the margin as well: coin" in " ".join(text.split())
    assert to_json(book)["comparisons"][0]["reason"].endswith("a control is within the margin as well: coin")
