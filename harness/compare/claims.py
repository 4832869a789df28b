"""Claims: published numbers, read from CSV files, each with its source and its precision."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare.names import PublishedNames

PER_SEED, TABLES = "per_seed.csv", "tables.csv"
# Statistics over the runs of several methods.
MEDIAN, H, DIFFERENCE, ADJUSTED_P = "median", "Kruskal-Wallis H", "difference of means", "adjusted p"
STATISTICS = frozenset({MEDIAN, H, DIFFERENCE, ADJUSTED_P})
# The statistic of a printed number about the data: a study shows it beside ours, but it is no claim about a run.
SHOWN = "shown"
# What a number of a paper's table may be.
_PRINTED = STATISTICS | {"mean", "band", "cost", "status", SHOWN}
# What a paper's table of what ran may say, and how one of our runs fails likewise.
RAN = "ran"
FAILURES = {"memory error": Verdict.MEMORY, "runtime error": Verdict.ERROR}
# A column with so many decimals holds binary numbers in full, not rounded.
_FULL_PRECISION = 13
# Columns of the files of runs that are no metrics.
_ABOUT_A_RUN = ("dataset", "method", "split", "iteration", "seed", "train_time_s")
_WORDS = frozenset({"dataset", "method", "split"})
_WHOLE = frozenset({"seed", "iteration", "n"})
_NUMBERS = frozenset({*_WHOLE, "value", "sd"})


class Claim(NamedTuple):
    """One published number, with published names.

    There are forty thousand, and a tuple is made in a third of the time.
    """

    source: str
    statistic: str
    method: str
    dataset: str
    split: str
    metric: str
    published: str
    seed: int | None = None
    rounding: float = 0.0
    sd: float | None = None
    n: int = 1
    note: str = ""
    # the table or figure that prints it, such as `Table 10`; empty for values of the authors' files
    sheet: str = ""

    @property
    def value(self) -> float:
        """The number. A claim about a status has none."""
        return float(self.published)


def load_claims(layout: Layout, names: PublishedNames) -> list[Claim]:
    """All committed claims of one benchmark: the paper's tables, and published values of runs with their means."""
    folder = layout.published / names.benchmark
    claims: list[Claim] = []
    if (folder / PER_SEED).is_file():
        claims += _per_seed(names, read_rows(folder / PER_SEED, "seed", "iteration"), wide=True)
        claims += _summaries(names, read_rows(folder / "summary.csv", "NS-AUC_mean", "AUC_mean"))
    claims += _tables(row for row in load_printed(folder / TABLES) if row["statistic"] != SHOWN)
    return claims


def load_printed(path: Path) -> list[dict[str, str]]:
    """The printed numbers of a paper's tables: claims, and those that are only shown."""
    return read_rows(path, "table", "metric", "statistic", "value", "sd", "n")


def load_external(names: PublishedNames, path: Path) -> list[Claim]:
    """Claims in the published long format, .csv or .csv.gz: a row per method, dataset, split, seed and metric."""
    rows = read_rows(path, "seed", "iteration", "metric", "value", filled=("dataset", "method", "split", "metric"))
    claims = list(_per_seed(names, rows, wide=False))
    if not claims:
        raise CorruptData(
            "the file claims nothing: no row has a value",
            where=f"{path}: value",
            todo="write a line for each claim",
        )
    return claims


def rounding_of(text: str) -> float:
    """Half a unit of the last printed digit."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(5).scaleb(exponent - 1))


def _per_seed(names: PublishedNames, rows: list[dict[str, str]], *, wide: bool) -> Iterator[Claim]:
    values = list(_long(rows) if wide else _stated(rows))
    rounding = _rounding_by_metric((row["metric"], row["value"]) for row in values)
    for row in values:
        yield Claim(
            source=f"{names.sources.files}; iteration {row['iteration']}",
            statistic="value",
            method=row["method"],
            dataset=row["dataset"],
            split=row["split"],
            metric=row["metric"],
            published=row["value"],
            seed=int(row["seed"]),
            rounding=rounding[row["metric"]],
        )


def _long(rows: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """One row per metric from one column per metric; empty fields are left out."""
    for row in rows:
        about = {name: row[name] for name in _ABOUT_A_RUN}
        for metric, value in row.items():
            if metric not in _ABOUT_A_RUN and value:
                yield {**about, "metric": metric, "value": value}


def _stated(rows: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    return (row for row in rows if row["value"].lower() not in ("", "nan"))


def _summaries(names: PublishedNames, rows: list[dict[str, str]]) -> list[Claim]:
    rounding = _rounding_by_metric(
        (metric, row[f"{metric}_mean"]) for row in rows for metric in ("NS-AUC", "AUC") if row[f"{metric}_mean"]
    )
    return [
        Claim(
            source=f"{names.sources.files}; mean of {row[f'{metric}_count']}",
            statistic="mean",
            method=row["method"],
            dataset=row["dataset"],
            split=row["split"],
            metric=metric,
            published=row[f"{metric}_mean"],
            rounding=rounding[metric],
            sd=float(row[f"{metric}_std"]),
            n=int(row[f"{metric}_count"]),
        )
        for row in rows
        for metric in ("NS-AUC", "AUC")
        if row[f"{metric}_mean"]
    ]


def _tables(rows: Iterable[dict[str, str]]) -> list[Claim]:
    return [
        Claim(
            sheet=sheet_of(row),
            source=f"{sheet_of(row)}, {row['method']}, {row['dataset']}",
            statistic=row["statistic"],
            method=row["method"],
            dataset=row["dataset"],
            split=row["split"],
            metric=row["metric"],
            published=row["value"],
            rounding=0.0 if row["statistic"] == "status" else rounding_of(row["value"]),
            sd=float(row["sd"]) if row["sd"] else None,
            n=int(row["n"]),
            note=row["note"],
        )
        for row in rows
    ]


def sheet_of(row: Mapping[str, str]) -> str:
    """`Table 10` where a row's column `table` says `10`; `Figure 3` says itself what it is."""
    return f"Table {row['table']}" if row["table"][:1].isdigit() else row["table"]


def _rounding_by_metric(values: Iterable[tuple[str, str]]) -> dict[str, float]:
    """How each metric was rounded, by its longest number: `0.5` in a column of full precision is exactly 0.5."""
    decimals: dict[str, int] = {}
    for metric, text in values:
        # where none was measured there is no number
        exponent = Decimal(text or "nan").as_tuple().exponent
        digits = -exponent if isinstance(exponent, int) else 0
        decimals[metric] = max(decimals.get(metric, 0), digits)
    return {metric: 0.0 if count >= _FULL_PRECISION else 0.5 * 10.0**-count for metric, count in decimals.items()}


def read_rows(path: Path, *columns: str, filled: Collection[str] = ()) -> list[dict[str, str]]:
    """The rows of a CSV file of claims; every error names file and line. No field of `filled` columns is empty."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MissingData(
            f"claims can't be read: {error.strerror}", where=str(path), todo="name an existing file"
        ) from None
    try:
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise CorruptData(
            f"claims can't be read: {error}", where=str(path), todo="obtain the file again"
        ) from None
    reader = csv.DictReader(io.StringIO(text))
    try:
        lines = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise CorruptData(
            f"claims can't be read: {error}",
            where=f"{path}: line {reader.reader.line_num}",
            todo="correct the line, or obtain the file again",
        ) from None
    rows = [row for _, row in lines]
    required = {"dataset", "method", "split", *columns}
    if not required <= {*(reader.fieldnames or ())}:
        raise CorruptData(
            "not a file of claims",
            where=f"{path}: line 1",
            todo=f"it needs the columns {', '.join(sorted(required))}",
        )
    if not rows:
        raise CorruptData("the file claims nothing", where=str(path), todo="write a line for each claim")
    # a file with a column `value` may have other columns, which are ignored; else every other column is a metric
    numbers = _NUMBERS & {*columns} if "value" in columns else rows[0].keys() - _WORDS
    for number, row in lines:
        if None in row or None in row.values():
            raise CorruptData(
                "a row has another number of fields than the header",
                where=f"{path}: line {number}",
                todo="obtain the file again, or complete the line",
            )
        if empty := next((name for name in filled if not row[name].strip()), None):
            where = f"{path}: line {number}: {empty}"
            raise CorruptData("the field is empty", where=where, todo="fill it in, or remove the line")
        has_statistic = "statistic" in columns
        if has_statistic and row["statistic"] not in _PRINTED:
            raise CorruptData(
                f"no statistic is called '{row['statistic']}'",
                where=f"{path}: line {number}: statistic",
                todo=f"known: {', '.join(sorted(_PRINTED))}",
            )
        # a word stands for a number only where the form of the file has a column that says so
        is_word = has_statistic and row["statistic"] == "status"
        _check_numbers(path, number, row, numbers - {"value"} if is_word else numbers)
        if has_statistic:
            _check_printed(path, number, row)
    return rows


def _check_printed(path: Path, number: int, row: dict[str, str]) -> None:
    """Refuse a row of a paper's table that lacks what the verdict on its statistic rests on."""
    statistic, value = row["statistic"], row["value"]
    if statistic == "status" and not value:
        fault = "value", "the field is empty", f"write how the runs ended, such as {', '.join((RAN, *FAILURES))}"
    elif statistic != "status" and not math.isfinite(float(value or "nan")):
        fault = "value", f"'{value}' is no finite number", "write the printed number, or remove the line"
    elif row["sd"] and float(row["sd"]) < 0:
        fault = "sd", f"'{row['sd']}' is no deviation", "write it as it is printed, or nothing where none is"
    elif int(row["n"]) < 0:
        fault = "n", f"'{row['n']}' is no number of runs", "write 0 where the paper does not say it"
    elif statistic in ("mean", "status") and int(row["n"]) == 0:
        todo = "write how many runs the paper says; a mean over it does not say how many is a `band`"
        fault = "n", f"a {statistic} is of one run at least", todo
    elif statistic == "mean" and not row["sd"]:
        fault = "sd", "a mean needs the deviation of its runs", "write it; a mean without one is a `band`"
    else:
        return
    field, what, todo = fault
    raise CorruptData(what, where=f"{path}: line {number}: {field}", todo=todo)


def _check_numbers(path: Path, number: int, row: dict[str, str], numbers: Collection[str]) -> None:
    for name in numbers:
        text = row[name]
        try:
            if name in _WHOLE:
                int(text)
            elif text:
                # where none was measured, the authors' files say NaN
                is_left_out = name == "value" and text.lower() == "nan"
                if not (is_left_out or math.isfinite(float(text))):
                    raise ValueError
        except ValueError:
            kind = "whole number" if name in _WHOLE else "finite number"
            raise CorruptData(
                f"'{text}' is no {kind}", where=f"{path}: line {number}: {name}", todo="correct the field"
            ) from None
