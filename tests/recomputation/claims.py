"""The verdict of every claim from the committed records and published files: the rules of docs/comparing.md."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from scipy import stats

from tests.recomputation.records import ROOT, Run, deviation, mean, names, runs_of

# Both are the level of a test at either end: 5 % for each of two one-sided tests, 1 % for a difference.
NARROW, WIDE = 0.95, 0.995
MOST = 10_000


@dataclass(frozen=True)
class Published:
    """One published number, in published names."""

    statistic: str
    method: str
    dataset: str
    split: str
    metric: str
    text: str
    seed: int | None = None
    sd: float | None = None
    n: int = 1
    rounding: float = 0.0
    sheet: str = ""

    @property
    def value(self) -> float:
        return float(self.text)


@dataclass(frozen=True)
class Judged:
    """What became of it. `decided` is None where it is neither reproduced nor deviates."""

    decided: str | None
    ours: float | None = None
    n: int = 0
    low: float | None = None
    high: float | None = None
    margin: float | None = None
    needed: int | None = None
    keys: tuple[str, ...] = ()
    values: tuple[float, ...] = field(default=(), compare=False)
    # near enough to be reproduced, by parameters that were fitted to it
    is_fit: bool = False


UNDECIDED = Judged(None)


def rows(benchmark: str, file: str) -> list[dict[str, str]]:
    """The rows of one published file."""
    path = ROOT / "results" / "published" / benchmark / file
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def half_unit(text: str) -> float:
    """Half a unit of the last digit."""
    digits, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def half_unit_of(texts: list[str]) -> float:
    """Of a column of numbers, by the longest of them; full precision is not rounded."""
    decimals = max((13 if "e" in text.lower() else len(text.partition(".")[2]) for text in texts), default=0)
    return 0.0 if decimals >= 13 else 0.5 * 10.0**-decimals


def published(benchmark: str) -> Iterator[Published]:
    """All claims in the order of the files: values per seed, means, printed tables."""
    about = ("dataset", "method", "split", "iteration", "seed", "train_time_s")
    per_seed = rows(benchmark, "per_seed.csv")
    metrics = [name for name in (per_seed[0] if per_seed else {}) if name not in about]
    rounding = {name: half_unit_of([row[name] for row in per_seed if row[name]]) for name in metrics}
    for row in per_seed:
        for name in metrics:
            if row[name]:
                place = row["method"], row["dataset"], row["split"], name
                yield Published("value", *place, row[name], int(row["seed"]), rounding=rounding[name])
    summary = rows(benchmark, "summary.csv")
    for row in summary:
        for name in ("NS-AUC", "AUC"):
            if row[f"{name}_mean"]:
                place = row["method"], row["dataset"], row["split"], name
                own = half_unit_of([one[f"{name}_mean"] for one in summary if one[f"{name}_mean"]])
                sd, n = float(row[f"{name}_std"]), int(row[f"{name}_count"])
                yield Published("mean", *place, row[f"{name}_mean"], sd=sd, n=n, rounding=own)
    for row in rows(benchmark, "tables.csv"):
        if row["statistic"] != "shown":
            yield Published(
                row["statistic"],
                row["method"],
                row["dataset"],
                row["split"],
                row["metric"],
                row["value"],
                sd=float(row["sd"]) if row["sd"] else None,
                n=int(row["n"]),
                rounding=0.0 if row["statistic"] == "status" else half_unit(row["value"]),
                sheet=f"Table {row['table']}" if row["table"][0].isdigit() else row["table"],
            )


def judged(benchmark: str, claim: Published) -> Judged:
    """The verdict on a claim about one method, from the committed runs alone."""
    own = names(benchmark)
    method, _, variant = own["methods"].get(claim.method, "").partition("/")
    dataset, split = own["datasets"].get(claim.dataset), own["splits"].get(claim.split)
    if not method or dataset is None or split is None or claim.statistic == "cost":
        return UNDECIDED
    members = runs_of(benchmark, method, variant or own["variant"], dataset, split)
    if not members:
        return UNDECIDED
    if claim.statistic == "status":
        return _status(claim, members)
    metric = next((one.get("ours") for one in own["metrics"] if one["published"] == claim.metric), None)
    if metric is None:
        return UNDECIDED
    result = _value(claim, own, members, metric) if claim.statistic == "value" else _mean(claim, members, metric)
    if result.decided == "reproduced" and any(_is_about(remark, claim) for remark in own.get("fitted", ())):
        result = replace(result, decided=None, is_fit=True)
    is_shown = any(_is_about(remark, claim) for remark in own.get("other_data", ()))
    return Judged(None, result.ours, result.n) if is_shown else result


def _is_about(remark: dict[str, str], claim: Published) -> bool:
    about = {"method": claim.method, "dataset": claim.dataset, "split": claim.split, "metric": claim.metric}
    return all(remark.get(name, "") in ("", value) for name, value in about.items())


def _status(claim: Published, members: tuple[Run, ...]) -> Judged:
    finished = [run for run in members if run.verdict not in ("infrastructure", "interrupted", "pending")]
    failed = [run.verdict for run in finished if run.verdict != "ok"]
    keys = tuple(run.key for run in finished)
    if claim.text == "ran":
        decided = "deviates" if failed else "reproduced" if len(finished) >= min(10, claim.n) else None
    elif len(failed) < len(finished):
        decided = "deviates"
    else:
        likewise = {"memory error": "memory", "runtime error": "error"}[claim.text]
        decided = "reproduced" if set(failed) == {likewise} else None
    return Judged(decided, None, len(finished), keys=keys)


def _value(claim: Published, own: dict[str, Any], members: tuple[Run, ...], metric: str) -> Judged:
    run = next((run for run in members if run.seed == claim.seed), None)
    value = run.metrics.get(metric) if run is not None and run.verdict == "ok" else None
    if any(_is_about(remark, claim) for remark in own.get("distribution_only", ())):
        return Judged(None, value)
    if run is None or value is None:
        return UNDECIDED
    margin = 1e-9 * max(1.0, abs(claim.value)) + claim.rounding
    decided = "reproduced" if abs(value - claim.value) <= margin else "deviates"
    return Judged(decided, value, 1, margin=margin, keys=(run.key,), values=(value,))


def _mean(claim: Published, members: tuple[Run, ...], metric: str) -> Judged:
    scored = [(run, value) for run in members if (value := run.metrics.get(metric)) is not None]
    if not scored:
        return UNDECIDED
    values, keys = [value for _, value in scored], tuple(run.key for run, _ in scored)
    count, middle = len(values), mean(values)
    difference = middle - claim.value
    sd = deviation(values) if count > 1 else None
    precision = claim.rounding + 1e-9

    def result(decided: str | None, half: float | None, margin: float | None, needed: int | None) -> Judged:
        low, high = (None, None) if half is None else (difference - half, difference + half)
        return Judged(decided, middle, count, low, high, margin, needed, keys, tuple(values))

    if claim.statistic == "band":
        fewest = max(3, claim.n)
        margin = (0.05 if claim.sd is None else claim.sd) + precision

        def half(n: int) -> float:
            return float(stats.t.ppf(NARROW, n - 1)) * (sd or 0.0) / math.sqrt(n)

        def decides(n: int) -> bool:
            return abs(difference) + half(n) <= margin or abs(difference) - half(n) >= margin

        needed = _fewest(decides, max(count, fewest)) if sd is not None else None
        if count < fewest or sd is None:
            return result(None, None, margin, needed)
        own_half = half(count)
        if abs(difference) + own_half <= margin:
            return result("reproduced", own_half, margin, None)
        if abs(difference) - own_half > margin:
            return result("deviates", own_half, margin, None)
        return result(None, own_half, margin, needed)

    if count >= claim.n and abs(difference) <= precision:
        return result("reproduced", None, precision, None)
    fewest, theirs, ours = min(10, claim.n), (claim.sd or 0.0) ** 2 / claim.n, (sd or 0.0) ** 2
    margin = (claim.sd or 0.0) + precision

    def welch(n: int, quantile: float) -> float:
        both = ours / n + theirs
        if both == 0:
            return 0.0
        freedom = both**2 / ((ours / n) ** 2 / max(n - 1, 1) + theirs**2 / max(claim.n - 1, 1))
        return float(stats.t.ppf(quantile, freedom)) * math.sqrt(both)

    def differs(n: int) -> bool:
        return abs(difference) > welch(n, WIDE) + precision

    def fits(n: int) -> bool:
        return abs(difference) + welch(n, NARROW) <= margin

    needed = None
    if sd is not None:
        needed = _fewest(lambda n: differs(n) or fits(n), max(count, fewest))
    if count < fewest:
        return result(None, None, None, needed)
    own_half = welch(count, NARROW)
    if differs(count):
        return result("deviates", own_half, margin, None)
    return result("reproduced", own_half, margin, None) if fits(count) else result(None, own_half, margin, needed)


def _fewest(decides: Callable[[int], bool], least: int) -> int | None:
    """One run more at a time, as far as anybody would go in a test; then in larger steps, back by single ones."""
    number, step = least, 1
    while not decides(number):
        if number >= MOST:
            return None
        step = 1 if number < least + 50 else step * 2
        number = min(number + step, MOST)
    while number > least and decides(number - 1):
        number -= 1
    return number
