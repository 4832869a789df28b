"""Tables and figures of the studies from records, published files and kept measurements, as texts.

Only the arithmetic is here: a sheet is a list of rows. What a table shows besides, the harness's own tests hold.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

from scipy import stats

from tests.recomputation import groups
from tests.recomputation.claims import Published, published, rows
from tests.recomputation.records import ROOT, Run, controls, deviation, mean, names, runs, runs_of, toml

Row = list[str]
NONE = "-"
LEVEL = 0.05


@cache
def specs(benchmark: str) -> dict[str, dict[str, Any]]:
    """The described sheets by label."""
    folder = ROOT / "harness" / "benchmarks" / benchmark
    description = toml(folder / "study.toml")
    return {f"{one['kind'].capitalize()} {one['number']}": one for one in description["sheets"]}


def percent(value: float | None) -> str:
    """A share in percent."""
    return NONE if value is None else format(100 * value, ".1f")


class Side:
    """A row of a table: a method of the paper, or one of ours."""

    def __init__(
        self, benchmark: str, title: str, method: str, variant: str, *, is_printed: bool, kind: str
    ) -> None:
        self.benchmark, self.title, self.kind = benchmark, title, kind
        self.method, self.variant, self.is_printed = method, variant, is_printed

    def runs(self, dataset: str, split: str) -> list[Run]:
        """The committed runs that ended ok. Dataset and split have published names, the split perhaps ours."""
        own = names(self.benchmark)
        place = own["datasets"].get(dataset, ""), own["splits"].get(split, split)
        members = runs_of(self.benchmark, self.method, self.variant, *place)
        return [run for run in sorted(members, key=lambda run: run.seed) if run.verdict == "ok"]

    def values(self, dataset: str, split: str, metric: str) -> list[float]:
        """The values of a metric, which has a published name or ours."""
        own = {one["published"]: one.get("ours") for one in names(self.benchmark)["metrics"]}
        name = own.get(metric) or (metric if "/" in metric else f"{metric}/as-published")
        return [value for run in self.runs(dataset, split) if (value := run.metrics.get(name)) is not None]


def sides(benchmark: str, dataset: str, splits: Sequence[str]) -> list[Side]:
    """The paper's methods, then other variants with runs here, own methods, controls."""
    own = names(benchmark)
    members = []
    for title, method in own["methods"].items():
        name, _, variant = method.partition("/")
        members.append(Side(benchmark, title, name, variant or own["variant"], is_printed=True, kind="paper"))
    here = {own["splits"].get(split, split) for split in splits}
    for variant in own.get("beside", ()):
        methods = {
            run.method
            for run in runs(benchmark)
            if run.variant == variant and run.dataset == own["datasets"].get(dataset) and run.split in here
        }
        members += [
            Side(benchmark, f"{name}/{variant}", name, variant, is_printed=False, kind="beside")
            for name in sorted(methods)
        ]
    for kind, others in (("own", own.get("own_methods", ())), ("control", controls(benchmark))):
        members += [Side(benchmark, name, name, own["variant"], is_printed=False, kind=kind) for name in others]
    return members


@cache
def claims_of(benchmark: str) -> dict[tuple[str, str, str, str, str], Published]:
    """Printed numbers by sheet, method, dataset, split and metric."""
    return {
        (claim.sheet, claim.method, claim.dataset, claim.split, claim.metric): claim
        for claim in published(benchmark)
        if claim.sheet
    }


def entry(claim: Published | None, values: Sequence[float]) -> str:
    """`12.5±2.3 / 12.1±0.4 (3)`."""
    ours = NONE
    if values:
        spread = f"±{100 * deviation(list(values)):.1f}" if len(values) > 1 else ""
        ours = f"{percent(mean(list(values)))}{spread} ({len(values)})"
    if claim is None:
        return ours
    return f"{percent(claim.value)}{'' if claim.sd is None else f'±{100 * claim.sd:.1f}'} / {ours}"


def rounded(values: Sequence[float]) -> float:
    """An average as it is printed, in tenths of a percent, halves upwards."""
    return round(sum(values) / len(values) + 1e-9, 3)


def rank(own: float, values: Sequence[float]) -> int:
    """1 for the highest."""
    return 1 + sum(value > own for value in values)


def grid(benchmark: str, label: str) -> dict[tuple[str, ...], Row]:
    """The entries of a table of methods, by what stands at the beginning of a row but for the category."""
    spec, claims = specs(benchmark)[label], claims_of(benchmark)
    own = [claim for place, claim in claims.items() if place[0] == label]
    datasets = [spec["dataset"]] if spec.get("dataset") else list(dict.fromkeys(one.dataset for one in own))
    splits = spec.get("splits") or {one.split: one.split for one in own}
    metrics = spec["metrics"]
    claimed, is_printed = {one.method for one in own}, spec.get("printed", True)
    lines = [one for dataset in datasets for one in sides(benchmark, dataset, list(splits.values()))]
    lines = [one for one in lines if one.title in claimed or not (one.is_printed and is_printed)]
    result: dict[tuple[str, ...], Row] = {}
    if list(spec["columns"]) == ["split", "metric"]:
        (dataset,) = datasets
        places = {split: _averages(benchmark, label, lines, dataset, split, metrics) for split in splits.values()}
        for one in lines:
            row: Row = []
            for split in splits.values():
                for metric in metrics.values():
                    claim = claims.get((label, one.title, dataset, split, metric)) if one.is_printed else None
                    row.append(entry(claim, one.values(dataset, split, metric)))
                if spec.get("averages"):
                    row += places[split][one.title]
            result[one.title,] = row
    elif list(spec["columns"]) == ["metric"] and "split" in spec["rows"] and "method" in spec["rows"]:
        for one, (heading, split) in product(lines, splits.items()):
            row = []
            for metric in metrics.values():
                claim = claims.get((label, one.title, datasets[0], split, metric)) if one.is_printed else None
                row.append(entry(claim, one.values(datasets[0], split, metric)))
            order = {"method": one.title, "split": heading}
            result[tuple(order[name] for name in spec["rows"] if name in order)] = row
    return result


def _averages(
    benchmark: str, label: str, lines: list[Side], dataset: str, split: str, metrics: Mapping[str, str]
) -> dict[str, Row]:
    """`printed / ours` of the average over metrics, and of its rank among the methods of the paper."""
    printed, ours = dict[str, float](), dict[str, float]()
    for one in lines:
        claims = [claims_of(benchmark).get((label, one.title, dataset, split, name)) for name in metrics.values()]
        if one.is_printed and all(claims):
            printed[one.title] = rounded([claim.value for claim in claims if claim])
        values = [one.values(dataset, split, name) for name in metrics.values()]
        if all(values):
            ours[one.title] = rounded([mean(own) for own in values])
    of_paper = {one.title: ours[one.title] for one in lines if one.is_printed and one.title in ours}
    count = sum(one.is_printed for one in lines)

    def place(title: str, averages: Mapping[str, float]) -> str:
        if title not in averages:
            return NONE
        number = rank(averages[title], list(averages.values()))
        return f"{number} of {len(averages)}" if len(averages) < count else str(number)

    return {
        one.title: [
            f"{percent(printed.get(one.title))} / {percent(ours.get(one.title))}",
            f"{place(one.title, printed)} / {place(one.title, of_paper)}",
        ]
        for one in lines
    }


def costs(benchmark: str, label: str) -> dict[str, Row]:
    """Printed costs beside the medians of ours, and the number of runs."""
    spec = specs(benchmark)[label]
    ((_, split),) = spec["splits"].items()
    claimed = {place[1] for place in claims_of(benchmark) if place[0] == label}
    result = {}
    for one in sides(benchmark, spec["dataset"], [split]):
        if one.is_printed and one.title not in claimed:
            continue
        members = [
            run for run in one.runs(spec["dataset"], split) if run.cpu_s is not None and run.memory is not None
        ]
        row: Row = []
        for cost in spec["costs"]:
            claim = claims_of(benchmark).get((label, one.title, spec["dataset"], split, cost["metric"]))
            row.append(claim.text if claim and one.is_printed else NONE)
            used = [float(getattr(run, cost["quantity"]) or 0) for run in members]
            row.append(
                format(statistics.median(used) / cost["unit"], f".{cost.get('digits', 0)}f") if used else NONE
            )
        result[one.title] = [*row, str(len(members))]
    return result


def bars(benchmark: str, label: str) -> list[Row]:
    """A figure with a bar per split: printed / ours."""
    spec, own = specs(benchmark)[label], names(benchmark)
    result = []
    for part, setting in product(spec["parts"], spec["settings"]):
        for one in sides(benchmark, part["dataset"], list(spec["splits"].values())):
            metric = part["metric"]
            for other in own.get("meanings", ()):
                is_its = own["methods"].get(other.get("method")) == own["methods"].get(one.title, one.method)
                if is_its and other["published"] == metric and other.get("dataset", "") in ("", part["dataset"]):
                    metric = other["ours"]
            texts, is_empty = [], True
            for split in spec["splits"].values():
                place = f"Table {part.get('table', '')}", one.title, part["dataset"], split
                claim = (
                    claims_of(benchmark).get((*place, f"{setting} {part['metric']}")) if one.is_printed else None
                )
                values = one.values(part["dataset"], split, f"{setting} {metric}")
                is_empty &= claim is None and not values
                ours = percent(mean(values)) if values else NONE
                texts.append(f"{percent(claim.value if claim else None)} / {ours}")
            if not is_empty:
                result.append([part["dataset"], metric, setting, one.title, *texts])
    return result


def types(benchmark: str, label: str) -> list[Row]:
    """The accuracy of every type: mean over the seeds that have it, and their number."""
    spec, result = specs(benchmark)[label], []
    for setting, split in product(spec["settings"], spec["splits"].values()):
        for one in sides(benchmark, spec["dataset"], ("without", "with")):
            begin = f"{setting} accuracy of type/as-published "
            kinds = {
                int(name.removeprefix(begin))
                for run in one.runs(spec["dataset"], split)
                for name in run.metrics
                if name.startswith(begin)
            }
            values = {kind: one.values(spec["dataset"], split, f"{begin}{kind}") for kind in sorted(kinds)}
            result += [
                [setting, split, one.title, f"#{kind}", percent(mean(own)), str(len(own))]
                for kind, own in values.items()
                if own
            ]
    return result


# --- ddi: kept measurements of splits -------------------------------------------------------------------------


@cache
def measured(benchmark: str) -> dict[str, Any]:
    """The content of `measured.json`."""
    path = ROOT / "results" / "reference" / benchmark / "measured.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["measured"]
    return content


def split_groups(group: str) -> dict[str, list[dict[str, Any]]]:
    """The measured splits of a group by name."""
    result: dict[str, list[dict[str, Any]]] = {}
    for one in measured("ddi")["splits"]:
        if one["group"] == group:
            result.setdefault(one["split"], []).append(one)
    return result


def index_rows(group: str) -> list[Row]:
    """Index, penalty and chance of every split by year, each a mean over seeds."""
    result = []
    for name, members in split_groups(group).items():
        row = [name]
        for at in range(len(measured("ddi")["years"])):
            known = [one["index"][at] for one in members if one["index"][at] is not None]
            index = format(mean(known), ".3f") if known else NONE
            penalty = mean([one["penalty"][at] for one in members])
            chance = mean([one["chance_mean"][at] for one in members])
            row.append(f"{index} ({penalty:,.0f}; {chance:,.0f})")
        result.append(row)
    return result


def differences() -> list[Row]:
    """Figure 8: above 0 the cluster split has the lower penalty, and so is nearer to approval time."""
    result = []
    for group, base in (("strategies", "cluster"), ("released", "released:which=cluster")):
        splits = split_groups(group)
        bases = {one["seed"]: one for one in splits[base]}
        for name, members in splits.items():
            if name == base:
                continue
            row = [f"{name} less {base}"]
            for at in range(len(measured("ddi")["years"])):
                apart = [one["penalty"][at] - bases[one["seed"]]["penalty"][at] for one in members]
                count = len([one for one in members if one["differs"][at] <= LEVEL])
                row.append(f"{mean(apart):+,.0f} ({count} of {len(apart)})")
            result.append(row)
    return result


def strategies() -> dict[str, Row]:
    """Table 1, what was measured: similarity, discarded drugs, mean index, how often nearer than chance."""
    result = {}
    for name, members in split_groups("strategies").items():
        indices = [index for one in members for index in one["index"] if index is not None]
        near = [share <= LEVEL for one in members for share in one["better"]]
        far = [share <= LEVEL for one in members for share in one["worse"]]
        drugs = members[0]["known"] + members[0]["new"] + members[0]["discarded"]
        words = "as chance"
        if sum(near) > len(near) / 2:
            words = "nearer than chance"
        elif sum(far) > len(far) / 2:
            words = "farther than chance"
        result[name] = [
            "no" if any(one["discarded"] for one in members) else "yes",
            words,
            format(max(one["similarity"] for one in members), ".3f"),
            f"{mean([one['discarded'] for one in members]):,.0f} of {drugs:,}",
            format(mean(indices), ".3f") if indices else NONE,
            f"{sum(near)} of {len(near)}",
        ]
    return result


def nearest() -> tuple[int, int]:
    """At how many of all thresholds cluster splits have the highest mean index."""
    splits, years = split_groups("strategies"), measured("ddi")["years"]
    count = 0
    for at in range(len(years)):
        means = {}
        for name, members in splits.items():
            known = [one["index"][at] for one in members if one["index"][at] is not None]
            means[name] = mean(known) if known else 0.0
        count += means["cluster"] == max(means.values())
    return count, len(years)


def released_worse() -> tuple[list[int], list[int], int]:
    """Years at which the released cluster split is farther than the random one; than chance; how many differ."""
    splits, years = split_groups("released"), measured("ddi")["years"]
    (random,), (cluster,) = splits["released:which=random"], splits["released:which=cluster"]
    worse = [at for at in range(len(years)) if cluster["penalty"][at] > random["penalty"][at]]
    far = [years[at] for at in worse if cluster["worse"][at] <= LEVEL]
    return [years[at] for at in worse], far, sum(share <= LEVEL for share in random["differs"])


def straight_line() -> tuple[int, float, float]:
    """Random less cluster of the released splits: in the first year, per year, and the year in which it is 0."""
    splits, years = split_groups("released"), measured("ddi")["years"]
    (random,), (cluster,) = splits["released:which=random"], splits["released:which=cluster"]
    first, last = (random["penalty"][at] - cluster["penalty"][at] for at in (0, -1))
    slope = (last - first) / (years[-1] - years[0])
    return first, slope, years[0] - first / slope


def periods() -> list[Row]:
    """Table 9: drugs and interactions, printed / ours."""
    printed = {
        (row["split"], row["metric"]): float(row["value"])
        for row in rows("ddi", "tables.csv")
        if row["table"] == "9" and row["statistic"] == "shown" and row["value"]
    }
    result = []
    for one in measured("ddi")["periods"]:
        period = f"{one['after']}-{one['until'] or 2025}"
        until = f"{one['after'] + 1} to {one['until']}" if one["until"] else f"from {one['after'] + 1} on"
        gap = f"{printed[period, 'average gap in years']:.0f} years" if one["until"] else "new drugs"
        drugs = f"{printed[period, 'drugs']:.0f} / {one['drugs']}"
        result.append([until, gap, drugs, f"{printed[period, 'interactions']:,.0f} / {one['items']:,}"])
    return result


def map_counts() -> list[Row]:
    """Figure 4: the drugs of the map by period."""
    result = []
    for one in sorted(measured("ddi")["periods"], key=lambda one: int(one["after"])):
        until = one["until"] or math.inf
        count = sum(one["after"] < year <= until for _, _, year in measured("ddi")["drug_map"])
        text = f"{one['after'] + 1} to {one['until']}" if one["until"] else f"from {one['after'] + 1} on"
        result.append([text, str(count)])
    return result


# --- dti ------------------------------------------------------------------------------------------------------


def task_rows() -> list[Row]:
    """Table 1 of BETA: printed / as published / as defined."""
    facts = {(one["row"], one["reading"]): one for one in measured("dti")["rows"]}
    quantities = ["training pairs", "drugs in training", "targets in training", "test pairs", "test positives"]
    quantities += ["test negatives", "drugs in test", "targets in test"]
    printed: dict[str, dict[str, str]] = {}
    for row in rows("dti", "tables.csv"):
        if row["statistic"] == "shown":
            printed.setdefault(row["split"], {})[row["metric"]] = row["value"]
    result = []
    for name, numbers in printed.items():
        both = [facts[name, reading] for reading in ("as-published", "as-defined")]
        line = [name, " / ".join([numbers["tasks"], *(str(one["made"]) for one in both)])]
        for place, quantity in enumerate(quantities):
            ours = [format(one["means"][place], ".0f") if one["means"] else NONE for one in both]
            line.append(" / ".join([numbers[quantity], *ours]))
        line.append(" / ".join(format(one["means"][8], ".3f") if one["means"] else NONE for one in both))
        result.append(line)
    return result


# --- combos ---------------------------------------------------------------------------------------------------


def agreement() -> list[Row]:
    """Table 1 of the drug combinations: annotators, and the highest of what is printed, ours, and of controls."""
    spec = specs("combos")["Table 1"]
    ((_, split),) = spec["splits"].items()

    def highest(means: dict[str, float]) -> str:
        if not means:
            return NONE
        name = max(means, key=lambda one: (means[one], one))
        return f"{percent(means[name])} ({name})"

    result = []
    for row in rows("combos", "tables.csv"):
        if row["table"] != "1" or row["statistic"] != "shown":
            continue
        metric = row["metric"]
        printed = {claim.method: claim.value for claim in published("combos") if claim.metric == metric}
        means = {
            one: mean(values)
            for one in sides("combos", spec["dataset"], [split])
            if (values := one.values(spec["dataset"], split, metric))
        }
        ours = {one.title: value for one, value in means.items() if one.kind != "control"}
        beaten = {one.title: value for one, value in means.items() if one.kind == "control"}
        result.append([metric, percent(float(row["value"])), highest(printed), highest(ours), highest(beaten)])
    return result


def bucket_means(label: str, parts: Sequence[str]) -> list[Row]:
    """Figures 4 and 5: precision and recall in both parts, and the number of runs."""
    spec = specs("combos")[label]
    ((_, split),) = spec["splits"].items()
    result = []
    for one in sides("combos", spec["dataset"], [split]):
        members = one.runs(spec["dataset"], split)
        rules = ("exact positive", "partial positive", "exact any", "partial any") if members else ()
        for rule, measure in product(rules, ("precision", "recall")):
            texts = []
            for part in parts:
                values = one.values(spec["dataset"], split, f"{rule} {measure} of {part}/as-published")
                spread = f"±{100 * deviation(values):.1f}" if len(values) > 1 else ""
                texts.append(f"{percent(mean(values))}{spread}" if values else NONE)
            result.append([one.title, rule, measure, *texts, str(len(members))])
    return result


# --- repurposing ----------------------------------------------------------------------------------------------


def title(name: str) -> str:
    """The paper's title of a method or dataset."""
    own = groups.paper()
    return str({**own["datasets"], **own["methods"]}.get(name, name))


def correlations(values: groups.Values, places: Sequence[groups.Where]) -> list[tuple[float, float]]:
    """Figure 2b: Spearman's correlation and R² of every pair of metrics, over runs that have all metrics."""
    metrics = list(groups.paper()["metrics"])
    members = [run for place in places for run in values[place].values() if all(name in run for name in metrics)]
    columns = [[run[name] for run in members] for name in metrics]
    result = []
    for one, other in combinations(columns, 2):
        is_flat = len(set(one)) == 1 or len(set(other)) == 1
        rho = 0.0 if is_flat else float(stats.spearmanr(one, other).statistic)
        r = 0.0 if is_flat else float(stats.pearsonr(one, other).statistic)
        result.append((rho, r * r))
    return result


def best_of_panel(
    values: groups.Values, metric: str, split: str, dataset: str
) -> tuple[list[str], list[str], int]:
    """Figure 3: the three best methods of both sides, and the seeds that all of ours have."""
    places = [(dataset, method, split) for method in groups.paper()["methods"]]
    places = [place for place in places if place in groups.theirs()]
    here = [place for place in places if place in values]
    both = [
        [place[1] for place in groups.best_three(side, own, metric)]
        for side, own in ((groups.theirs(), places), (values, here))
    ]
    counts = [len(groups.column(values, place, metric)) for place in here]
    return both[0], both[1], min(counts, default=0)


def same_three(values: groups.Values, metric: str, split: str, dataset: str) -> str | None:
    """Whether the three best are the authors', of a panel in which every method has ten seeds."""
    import numpy as np

    theirs, ours, n = best_of_panel(values, metric, split, dataset)
    places = [(dataset, method, split) for method in groups.paper()["methods"]]
    places = [place for place in places if place in groups.theirs()]
    if set(theirs) == set(ours):
        return "reproduced"
    means = {place[1]: groups.middle(groups.theirs(), place, metric) or 0.0 for place in places}
    third = min(means[name] for name in theirs)
    # printed with two decimals: less than half a unit of the second one apart
    if all(means[name] >= third - 0.005 for name in ours):
        return "reproduced"
    seeds = groups.shared_seeds(groups.theirs(), places, metric)
    draws = np.random.default_rng(0).integers(0, len(seeds), size=(groups.DRAWS, n)).tolist()
    same = 0
    for draw in draws:
        drawn = {
            place[1]: mean([groups.theirs()[place][seeds[number]][metric] for number in draw]) for place in places
        }
        order = sorted(drawn, key=lambda name: drawn[name], reverse=True)
        same += set(order[: len(theirs)]) == set(ours)
    return "deviates" if same / groups.DRAWS < 0.01 else None


def times() -> list[Row]:
    """Figure 4: of the methods that are twice among the best three, the fastest three of each dataset."""
    panels = product((("AUC"), ("NS-AUC")), ("random_simple", "weakly_correlated"), groups.paper()["datasets"])
    counts: Counter[str] = Counter()
    for metric, split, dataset in panels:
        places = [(dataset, method, split) for method in groups.paper()["methods"]]
        places = [place for place in places if place in groups.theirs()]
        counts.update(place[1] for place in groups.best_three(groups.theirs(), places, metric))
    result = []
    for dataset in groups.paper()["datasets"]:
        seconds = {
            name: own
            for name, count in counts.items()
            if count >= 2
            and (own := groups.column(groups.theirs(), (dataset, name, "random_simple"), "train_time_s"))
        }
        for name in sorted(seconds, key=lambda name: mean(seconds[name]))[:3]:
            ours = groups.column(groups.ours(), (dataset, name, "random_simple"), "train_time_s")
            result.append([title(dataset), title(name), _range(seconds[name]), _range(ours)])
    return result


def _range(values: list[float]) -> str:
    if not values:
        return NONE
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g}; {len(values)})"


def best_control(claim: Published, metric: str, datasets: Sequence[str] = ()) -> str:
    """The control with the highest mean over the datasets and splits of a claim."""
    own = names("repurposing")
    (name,) = (one["ours"] for one in own["metrics"] if one["published"] == metric)
    around = {(place[0], place[2]) for group in groups.groups_of(claim, datasets) for place in group}
    means = []
    for control in controls("repurposing"):
        values = [
            value
            for dataset, split in around
            for run in runs_of(
                "repurposing", control, own["variant"], own["datasets"].get(dataset, ""), own["splits"][split]
            )
            if (value := run.metrics.get(name)) is not None
        ]
        if values:
            means.append((mean(values), control))
    return f"{max(means)[0]:.3f} {max(means)[1]}" if means else ""
