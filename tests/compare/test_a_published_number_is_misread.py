"""A claim is the number that stands in the file, to the digits that stand there, about what its row says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.compare import Book, ClaimVerdict, Comparison, load_claims, load_external, load_names
from harness.compare.book import _is_about, _judge_single, group_of
from harness.compare.claims import Claim, _rounding_by_metric, load_printed, read_rows, sheet_of
from harness.compare.comparison import Recomputed
from harness.compare.names import PublishedNames, Target, is_of_split
from harness.compare.paper import Place

CLAIM = Claim("Table 5, A, One", "mean", "A", "One", "s", "NS-AUC", "0.5", sheet="Table 5")
TARGET = Target("a", "one", "random")


@pytest.fixture
def names(repository: Layout) -> PublishedNames:
    return load_names(repository, "repurposing")


@pytest.mark.parametrize(
    ("texts", "rounding"),
    [
        (["0.5", "0.81", "0.123"], 0.0005),
        (["1", "0.5"], 0.05),
        (["3", "4"], 0.5),
        # written in full: half a unit of nothing
        (["0.1234567890123", "0.5"], 0.0),
        (["0.123456789012", "0.5"], 0.5e-12),
        # however they are written
        (["1.5e-07", "0.5"], 0.5e-8),
        (["1E-3"], 0.0005),
        (["0.5000", "1e-04 "], 0.00005),
        (["0.25 ", "0.5"], 0.005),
        (["1.5e-13", "0.5"], 0.0),
        (["25e1", "nan", ""], 0.5),
    ],
)
def test_a_column_is_as_exact_as_its_longest_number(texts: list[str], rounding: float) -> None:
    told = [("x", text) for text in texts] + [("y", "0.25")]
    found = _rounding_by_metric(told)
    assert found["x"] == pytest.approx(rounding, abs=0) and found["y"] == pytest.approx(0.005)


def test_a_file_of_ones_own_may_have_other_columns_and_needs_its_own(
    tmp_path: Path, names: PublishedNames
) -> None:
    path, head = tmp_path / "claims.csv", "dataset,method,split,seed,iteration,metric,value,n,sd"
    row = "Fdataset,BNNR,random_simple,1,1,AUC,0.5,ten,unknown"
    path.write_text(f"{head}\n{row}\n")
    (one,) = load_external(names, path)
    assert (one.method, one.value) == ("BNNR", 0.5)
    for text, what, where, todo in (
        (head, "the file claims nothing", str(path), "write a line for each claim"),
        (
            f"{head.replace('metric', 'metrics')}\n{row}",
            "not a file of claims",
            f"{path}: line 1",
            "it needs the columns dataset, iteration, method, metric, seed, split, value",
        ),
        ("", "not a file of claims", f"{path}: line 1", None),
        (f"{head}\n{row.replace('1,1', '1,x')}", "'x' is no whole number", f"{path}: line 2: iteration", None),
    ):
        path.write_text(text)
        with pytest.raises(CorruptData) as refused:
            load_external(names, path)
        assert (refused.value.what, refused.value.where) == (what, where)
        assert todo in (None, refused.value.todo)


def test_a_summary_claims_its_mean_with_its_deviation_and_number(
    repository: Layout, names: PublishedNames
) -> None:
    """Every row and metric of the summary file, and nothing else."""
    rows = read_rows(repository.published / "repurposing" / "summary.csv", "NS-AUC_mean")
    means = [one for one in load_claims(repository, names) if one.statistic == "mean" and "mean of" in one.source]
    expected = [
        (row["method"], row["dataset"], row["split"], metric, float(row[f"{metric}_mean"]))
        for row in rows
        for metric in ("NS-AUC", "AUC")
        if row[f"{metric}_mean"]
    ]
    assert [(one.method, one.dataset, one.split, one.metric, one.value) for one in means] == expected
    by_place = {(row["method"], row["dataset"], row["split"]): row for row in rows}
    for one in means:
        row = by_place[one.method, one.dataset, one.split]
        assert (one.sd, one.n) == (float(row[f"{one.metric}_std"]), int(row[f"{one.metric}_count"]))
        assert one.source == f"{names.sources.files}; mean of {one.n}" and one.seed is None


def test_a_value_per_seed_is_claimed_for_every_metric_of_its_row(
    repository: Layout, names: PublishedNames
) -> None:
    rows = read_rows(repository.published / "repurposing" / "per_seed.csv", "seed")
    about = {"dataset", "method", "split", "iteration", "seed", "train_time_s"}
    values = [one for one in load_claims(repository, names) if one.statistic == "value"]
    assert len(values) == sum(1 for row in rows for name, text in row.items() if name not in about and text)
    found = {(one.method, one.dataset, one.split, one.seed, one.metric): one for one in values}
    assert len(found) == len(values)
    for row in rows[:50]:
        one = found[row["method"], row["dataset"], row["split"], int(row["seed"]), "NS-AUC"]
        assert one.published == row["NS-AUC"] and one.sd is None and one.n == 1
        assert one.source == f"{names.sources.files}; iteration {row['iteration']}"


@pytest.mark.parametrize(
    ("table", "sheet"),
    [("10", "Table 10"), ("4a", "Table 4a"), ("Figure 3", "Figure 3"), ("text", "text"), ("", "")],
)
def test_a_number_is_that_of_a_table_and_all_else_says_what_it_is(table: str, sheet: str) -> None:
    assert sheet_of({"table": table}) == sheet


LONG = "dataset,method,split,seed,iteration,metric,value,more\n"


def test_a_value_that_is_none_claims_nothing(tmp_path: Path, names: PublishedNames) -> None:
    path = tmp_path / "claims.csv"
    rows = [
        f"One,A,s,{seed},0,NS-AUC,{value},x" for seed, value in enumerate(("0.25", "", "nan", "NaN", "0.5", "NAN"))
    ]
    path.write_text(LONG + "\n".join(rows) + "\n")
    found = load_external(names, path)
    assert [(one.seed, one.value, one.rounding) for one in found] == [(0, 0.25, 0.005), (4, 0.5, 0.005)]
    # the last of many may be the longest
    texts = ["0.5"] * 1999 + ["0.125"]
    rows = [f"One,A,s,{seed},0,NS-AUC,{text},x" for seed, text in enumerate(texts)]
    path.write_text(LONG + "\n".join(rows) + "\n")
    assert [(one.published, one.rounding) for one in load_external(names, path)] == [
        (one, 0.0005) for one in texts
    ]


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ("One,A,s,1.5,0,NS-AUC,0.5,x", "line 2: seed"),
        ("One,A,s,,0,NS-AUC,0.5,x", "line 2: seed"),
        ("One,A,s,1,x,NS-AUC,0.5,x", "line 2: iteration"),
        ("One,A,s,1,0,NS-AUC,high,x", "line 2: value"),
        # any value of ours is as near to it as the tolerance, which is infinite, too
        ("One,A,s,1,0,NS-AUC,inf,x", "line 2: value"),
        ("One,A,s,1,0,NS-AUC,-Infinity,x", "line 2: value"),
        # a field that nothing can be compared by
        ("One,A,s,1,0,,0.5,x", "line 2: metric"),
        ("One,A, ,1,0,NS-AUC,0.5,x", "line 2: split"),
        ("One,,s,1,0,NS-AUC,0.5,x", "line 2: method"),
        (",A,s,1,0,NS-AUC,0.5,x", "line 2: dataset"),
        ("One,A,s,1,0,NS-AUC,0.5", "line 2"),
        ("One,A,s,1,0,NS-AUC,0.5,x,y", "line 2"),
        # as an editor counts lines: empty ones, and those within a field
        ("\n\nOne,A,s,1,0,NS-AUC,high,x", "line 4: value"),
        ('One,A,s,1,0,NS-AUC,0.5,"x\ny"\nOne,A,s,1,0,NS-AUC,high,x', "line 4: value"),
        (f"One,A,s,1,0,NS-AUC,0.5,{'x' * 200_000}", "line 2"),
        ("One,A,s,1,0,NS-AUC,0.5,x\ry", "line 2"),
    ],
    ids=lambda text: text[:40],
)
def test_a_field_that_is_no_number_is_refused_by_line_and_name(
    tmp_path: Path, names: PublishedNames, row: str, where: str
) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{LONG}{row}\n")
    with pytest.raises(CorruptData) as refused:
        load_external(names, path)
    assert refused.value.where == f"{path}: {where}"


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ("status,NaN runs,,1", ""),
        ("status,NaN runs,,x", "line 2: n"),
        ("status,NaN runs,wide,1", "line 2: sd"),
        ("mean,NaN runs,,0", "line 2: value"),
        ("mean,0.5,,", "line 2: n"),
        ("band,0.5,,3", ""),
        # a value may be left out, and nothing else
        ("mean,0.5,NaN,3", "line 2: sd"),
        ("mean,0.5,inf,3", "line 2: sd"),
    ],
)
def test_of_a_printed_status_the_value_alone_may_be_a_word(tmp_path: Path, row: str, where: str) -> None:
    path = tmp_path / "tables.csv"
    path.write_text(f"dataset,method,split,table,metric,statistic,value,sd,n\nOne,A,s,Table 3,AUC,{row}\n")
    if not where:
        assert [one["value"] for one in load_printed(path)] == [row.split(",")[1]]
        return
    with pytest.raises(CorruptData) as refused:
        load_printed(path)
    assert refused.value.where == f"{path}: {where}"


@pytest.mark.parametrize(
    ("row", "field", "what", "todo"),
    [
        ("mean,nan,0.1,3", "value", "'nan' is no finite number", "write the printed number, or remove the line"),
        ("shown,NaN,,0", "value", "'NaN' is no finite number", "write the printed number, or remove the line"),
        ("band,,0.1,0", "value", "'' is no finite number", "write the printed number, or remove the line"),
        ("status,,,9", "value", "the field is empty", None),
        ("status,ran,,0", "n", "a status is of one run at least", None),
        ("mean,0.5,0.1,0", "n", "a mean is of one run at least", None),
        ("mean,0.5,0.1,-3", "n", "'-3' is no number of runs", "write 0 where the paper does not say it"),
        ("band,0.5,-0.1,0", "sd", "'-0.1' is no deviation", "write it as it is printed, or nothing where none is"),
        ("mean,0.5,,3", "sd", "a mean needs the deviation of its runs", None),
    ],
)
def test_a_row_that_nothing_could_be_judged_by_is_refused(
    tmp_path: Path, row: str, field: str, what: str, todo: str | None
) -> None:
    """By a deviation or a number of runs that is not there a mean would be judged as though it had no spread."""
    path = tmp_path / "tables.csv"
    path.write_text(f"dataset,method,split,table,metric,statistic,value,sd,n\nOne,A,s,Table 3,AUC,{row}\n")
    with pytest.raises(CorruptData) as refused:
        load_printed(path)
    assert (refused.value.what, refused.value.where) == (what, f"{path}: line 2: {field}")
    assert todo in (None, refused.value.todo)


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "high"])
def test_in_a_column_of_a_metric_nothing_stands_for_no_value_but_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "per_seed.csv"
    path.write_text("dataset,method,split,seed,NS-AUC,AUC\nOne,A,s,1,,0.5\n")
    assert [(one["NS-AUC"], one["AUC"]) for one in read_rows(path, "seed")] == [("", "0.5")]
    path.write_text(f"dataset,method,split,seed,NS-AUC,AUC\nOne,A,s,1,{text},0.5\n")
    with pytest.raises(CorruptData, match=f"'{text}' is no finite number") as refused:
        read_rows(path, "seed")
    assert refused.value.where == f"{path}: line 2: NS-AUC"


def test_a_table_as_a_spreadsheet_writes_it_is_read(tmp_path: Path, names: PublishedNames) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{LONG}One,A,s,1,0,NS-AUC,0.5,x\n", encoding="utf-8-sig")
    assert [(one.dataset, one.value) for one in load_external(names, path)] == [("One", 0.5)]


@pytest.mark.parametrize(
    ("split", "wanted", "meant"),
    [
        ("random", ["random"], True),
        ("released:which=random", ["random", "released"], True),
        ("released:which=random", ["released:which=random"], True),
        ("released:which=random", ["released:which=cluster"], False),
        ("released:which=random", ["random"], False),
        ("random", ["random:test_share=0.2"], False),
        ("random", [], False),
    ],
)
def test_a_split_is_meant_by_its_strategy_or_with_its_parameters(
    split: str, wanted: list[str], meant: bool
) -> None:
    assert is_of_split(split, wanted) == meant


@pytest.mark.parametrize(
    ("changed", "group"),
    [
        ({}, ("Table 5", "a", "one", "random")),
        ({"statistic": "value"}, ("value per seed", "a", "one", "random")),
        ({"source": "files; mean of 100", "sheet": ""}, ("mean over seeds", "a", "one", "random")),
        ({"source": "Table 6", "statistic": "median"}, ("Table 6", "a", "one", "random")),
        ({"source": "files, x", "statistic": "cost"}, ("files", "a", "one", "random")),
    ],
)
def test_a_claim_stands_with_those_of_its_kind(changed: dict[str, Any], group: tuple[str, ...]) -> None:
    one = Comparison(CLAIM._replace(**changed), TARGET, None, ClaimVerdict.PENDING, "")
    assert group_of(one) == group
    variant = one._replace(target=Target("a", "one", "random", "corrected"))
    assert group_of(variant) == (group[0], "a/corrected", "one", "random")
    unknown = one._replace(target=Target(None, None, None))
    assert group_of(unknown) == (group[0], "A", "One", "s")


@pytest.mark.parametrize(
    ("mean", "agrees"), [(0.85, True), (0.855, True), (0.845, True), (0.85501, False), (0.84499, False)]
)
def test_a_mean_of_the_files_that_may_be_rounded_to_the_printed_one_agrees(mean: float, agrees: bool) -> None:
    """Half a unit of the last digit, which no float is to the last bit."""
    claim = CLAIM._replace(published="0.85", rounding=0.005)
    judged = Comparison(claim, TARGET, None, ClaimVerdict.PENDING, "")
    single: Any = SimpleNamespace(judge=lambda _: judged, names=SimpleNamespace(seeds=60))
    means = {(Place(claim.dataset, claim.method, claim.split), claim.metric): mean}
    several: Any = SimpleNamespace(published=SimpleNamespace(means=means))
    assert _judge_single(claim, single, several).files == Recomputed(mean, 60, agrees)
    # of what is no printed mean, or of no file, nothing is said
    for other in (claim._replace(statistic="value"), claim._replace(sheet=""), claim._replace(metric="AUC")):
        assert _judge_single(other, single, several).files is None
    assert _judge_single(claim, single, None).files is None


def test_a_book_counts_its_claims() -> None:
    verdicts = [ClaimVerdict.REPRODUCED, ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES]
    comparisons = tuple(Comparison(CLAIM, TARGET, None, verdict, "") for verdict in verdicts)
    book = Book("repurposing", ("a paper",), comparisons)
    assert book.tally == Counter(verdicts)
    assert list(book.groups.values()) == [list(comparisons)]


@pytest.mark.parametrize(
    ("asked", "is_wanted"),
    [
        ({}, True),
        ({"methods": ["als_wr"]}, True),
        ({"methods": ["ALSWR"]}, True),
        ({"methods": ["lrssl"]}, False),
        ({"datasets": ["fdataset"]}, True),
        ({"datasets": ["Fdataset"]}, True),
        ({"datasets": ["cdataset"]}, False),
        ({"splits": ["random_simple"]}, True),
        ({"splits": ["random"]}, True),
        ({"splits": ["weakly_correlated"]}, False),
        ({"seeds": [1, 2]}, True),
        ({"seeds": [2]}, False),
        ({"seeds": [0]}, False),
        ({"methods": ["als_wr"], "datasets": ["cdataset"]}, False),
    ],
)
def test_claims_are_chosen_by_every_name_that_was_given(
    names: PublishedNames, asked: dict[str, list[str]], is_wanted: bool
) -> None:
    claim = CLAIM._replace(method="ALSWR", dataset="Fdataset", split="random_simple", seed=1)
    told = {name: asked.get(name, ()) for name in ("methods", "datasets", "splits", "seeds")}
    # a strategy's name stands for its splits with any parameters
    others = names.model_copy(update={"splits": {"random_simple": "random:test_share=0.3"}})
    for own in (names, others):
        assert _is_about(claim, own, *told.values()) is is_wanted  # type: ignore[arg-type]
    # 0 is a seed as others are, and no seed is none of them
    for seed in (0, None):
        of_seed = claim._replace(seed=seed)
        assert [_is_about(of_seed, names, (), (), (), seeds) for seeds in ((), (0,), (1,))] == [
            True,
            seed == 0,
            False,
        ]


def test_a_share_has_as_many_digits_as_its_printed_percent(repository: Layout) -> None:
    """BETA's text prints two digits behind the point of a percent, but 97.2 % and 88.2 %."""
    claims = load_claims(repository, load_names(repository, "dti"))
    shorter = {(one.split, one.method): one.published for one in claims if one.rounding > 0.0001}
    assert shorter == {
        ("Test 6, myocardial infarction", "NeoDTI"): "0.972",
        ("Test 5, HDL cholesterol", "NeoDTI"): "0.882",
    }
    assert {one.rounding for one in claims} == {0.0005, 0.00005}
