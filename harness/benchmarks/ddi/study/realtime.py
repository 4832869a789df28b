"""How near drug splits come to approval times: Table 1 and Figures 5, 8 and 9, from measurements of the data.

The paper prints no numbers for them. Our splits are tested, and those that the authors released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from harness.benchmarks.ddi.study.data_facts import SplitFacts, SplitMeasures
from harness.benchmarks.ddi.study.drawings import Curve, lines
from harness.benchmarks.ddi.study.measurement import OF_GAMMA, OF_STRATEGIES, RELEASED
from harness.study.sheets import Picture, Sheet
from harness.study.sides import Sides
from harness.study.specs import Spec

# By our name: the paper's name, and its Table 1: keeps all data, controls the change, consistency.
_STRATEGIES = {
    "random": ("Random", "yes", "no", "low"),
    "frequency": ("Drug frequency", "yes", "no", "low"),
    "usage": ("Drug usage", "yes", "no", "low"),
    "scaffold": ("Scaffold", "yes", "no", "low"),
    "lohi": ("LoHi", "no", "no", "medium"),
    "spectra": ("SPECTRA", "no", "yes", "low"),
    "datasail": ("DataSAIL", "yes", "no", "medium"),
    "cluster": ("Cluster", "yes", "yes", "high"),
}
# Our parameter that makes known and new drugs less similar.
_CONTROLS = {"lohi": "threshold", "spectra": "spectral, gamma", "cluster": "gamma"}
_RANDOM, _CLUSTER = "released:which=random", "released:which=cluster"
SIGNIFICANT = 0.05
# A drug that is known in one split and new in another adds to one penalty: its year less the threshold.
_STRAIGHT = (
    "Between splits that discard no drug the difference of penalties is a straight line in the threshold year, so "
    "that several thresholds are not several observations: the differences at two of them give all others."
)
# A split has one colour in every panel.
_HUES = {name: number for number, name in enumerate((*_STRATEGIES, _RANDOM, _CLUSTER))}

Splits = dict[str, list[SplitMeasures]]


def strategies(sides: Sides, spec: Spec, facts: SplitFacts) -> Sheet:
    """Table 1: what the paper says about each strategy, and what was measured."""
    head = ["strategy", "keeps all drugs", "controls the change", "consistency with approval time"]
    head += ["largest similarity", "discarded drugs", "mean index", "nearer than chance"]
    rows = []
    splits = facts.group(OF_STRATEGIES)
    for name, (title, keeps, controls, consistent) in _STRATEGIES.items():
        if name not in splits:
            rows.append([title, f"{keeps} / -", f"{controls} / -", f"{consistent} / -", "-", "-", "-", "-"])
            continue
        members = splits[name]
        indices = [index for one in members for index in one.index if index is not None]
        near = [share <= SIGNIFICANT for one in members for share in one.better]
        far = sum(share <= SIGNIFICANT for one in members for share in one.worse)
        drugs = members[0].known + members[0].new + members[0].discarded
        rows.append(
            [
                title,
                f"{keeps} / {'no' if any(one.discarded for one in members) else 'yes'}",
                f"{controls} / {_CONTROLS.get(name, 'no')}",
                f"{consistent} / {_consistent(sum(near), far, len(near))}",
                f"{max(one.similarity for one in members):.3f}",
                f"{mean(one.discarded for one in members):,.0f} of {drugs:,}",
                f"{mean(indices):.3f}" if indices else "-",
                f"{sum(near)} of {len(near)}",
            ]
        )
    notes = [
        f"Printed / ours, on {facts.dataset}; ours over {_seeds(splits)} seeds and {len(facts.years)} "
        "thresholds. Consistency of ours: nearer to (or farther from) approval time than the same roles dealt "
        "at random, p <= 0.05, at more than half of them; else as chance.",
        "A discarded drug costs nothing, so that a split which discards many has a high index by that alone: "
        "the comparison with chance discards as many.",
        *left_out(facts),
    ]
    return spec.sheet(head, rows, notes=notes)


def by_year(sides: Sides, spec: Spec, facts: SplitFacts) -> Sheet:
    """The index of every strategy by year; the released splits are a group of their own."""
    groups = (facts.group(OF_STRATEGIES), facts.group(RELEASED))
    rows = [row for splits in groups for row in _rows(splits)]
    pictures = [
        *_picture(facts, "our splits that keep most drugs, mean of the seeds", _keeping(groups[0])),
        *_picture(facts, "released splits", groups[1]),
        *_beyond_chance(facts, groups[0] | groups[1]),
    ]
    notes = [*contradiction(facts), *nearest(facts), *left_out(facts)]
    notes.append(
        "The index is the largest penalty of the splits compared over a split's own: of the eight strategies by "
        "seed, and of both released splits. So it depends on what is compared; the penalty does not."
    )
    return spec.sheet(["split", *map(str, facts.years)], rows, notes=notes, pictures=pictures)


def differences(sides: Sides, spec: Spec, facts: SplitFacts) -> Sheet:
    """The penalties less those of the cluster split of the same seed, and how many differ significantly."""
    rows, curves = [], []
    for group, base in ((OF_STRATEGIES, "cluster"), (RELEASED, _CLUSTER)):
        splits = facts.group(group)
        by_seed = {one.seed: one for one in splits.get(base, ())}
        for name, members in splits.items():
            pairs = [(one, by_seed[one.seed]) for one in members if name != base and one.seed in by_seed]
            if not pairs:
                continue
            row, points = [f"{name} less {base}"], []
            for at, year in enumerate(facts.years):
                difference = mean(one.penalty[at] - other.penalty[at] for one, other in pairs)
                count = sum(one.differs[at] <= SIGNIFICANT for one, _ in pairs)
                row.append(f"{difference:+,.0f} ({count} of {len(pairs)})")
                points.append((float(year), difference))
            rows.append(row)
            if group == OF_STRATEGIES and name in _keeping(splits):
                curves.append(Curve(name, points, _HUES.get(name)))
    heading = "penalty less that of cluster; splits that keep most drugs"
    pictures = [Picture(heading, lines(heading, curves, "threshold year", form=",.0f"))] if curves else []
    head = ["penalties", *map(str, facts.years)]
    return spec.sheet(head, rows, notes=[_STRAIGHT], pictures=pictures)


def of_gamma(sides: Sides, spec: Spec, facts: SplitFacts) -> Sheet:
    """The index of cluster splits by gamma."""
    splits = facts.group(OF_GAMMA)
    pictures = list(_picture(facts, "cluster splits by gamma, mean of the seeds", splits))
    return spec.sheet(["split", *map(str, facts.years)], list(_rows(splits)), pictures=pictures)


def _keeping(splits: Splits) -> Splits:
    """The splits that keep most drugs; beside the others they could not be seen in a drawing."""
    return {name: those for name, those in splits.items() if those[0].discarded < those[0].known + those[0].new}


def _rows(splits: Splits) -> Iterator[list[str]]:
    for name, members in splits.items():
        row = [name]
        for at in range(len(members[0].penalty)):
            index = _index(members, at)
            index_text = "-" if index is None else f"{index:.3f}"
            penalty = mean(one.penalty[at] for one in members)
            row.append(f"{index_text} ({penalty:,.0f}; {mean(one.chance_mean[at] for one in members):,.0f})")
        yield row


def _index(members: Sequence[SplitMeasures], at: int) -> float | None:
    values = [value for one in members if (value := one.index[at]) is not None]
    return mean(values) if values else None


def _picture(facts: SplitFacts, heading: str, splits: Splits) -> Iterator[Picture]:
    """The picture of the index; none if no split has an index."""
    curves = []
    for name, members in splits.items():
        places = ((float(year), _index(members, at)) for at, year in enumerate(facts.years))
        if points := [(year, index) for year, index in places if index is not None]:
            curves.append(Curve(_short(name), points, _HUES.get(name)))
    if curves:
        yield Picture(heading, lines(f"Consistency index, {heading}", curves, "threshold year"))


def _short(name: str) -> str:
    """A short name of a split: `released random`, or `0.55` of a cluster split."""
    return name.replace("released:which=", "released ").rpartition("=")[2]


def _beyond_chance(facts: SplitFacts, splits: Splits) -> Iterator[Picture]:
    """The picture of penalties below chance; unlike the index they do not depend on the other splits."""
    curves = []
    for name, members in splits.items():
        points = []
        for at, year in enumerate(facts.years):
            gains = [(one.chance_mean[at] - one.penalty[at], one.chance_sd[at]) for one in members]
            points.append((float(year), mean(gain / sd if sd else 0.0 for gain, sd in gains)))
        curves.append(Curve(_short(name), points, _HUES.get(name)))
    if curves:
        heading = "nearer than chance, in standard deviations"
        yield Picture(heading, lines(heading, curves, "threshold year", form="+.2f"))


def contradiction(facts: SplitFacts) -> Iterator[str]:
    """Sentences on the paper's claim, from the released files."""
    splits = facts.group(RELEASED)
    if not {_RANDOM, _CLUSTER} <= splits.keys():
        return
    (random, *_), (cluster, *_) = splits[_RANDOM], splits[_CLUSTER]
    worse = [at for at in range(len(facts.years)) if cluster.penalty[at] > random.penalty[at]]
    if not worse:
        yield "The released cluster split is nearer to approval time than the random one at every threshold."
        return
    far = [str(facts.years[at]) for at in worse if cluster.worse[at] <= SIGNIFICANT]
    others = [str(year) for at, year in enumerate(facts.years) if at not in worse]
    penalties = "; ".join(
        f"{facts.years[at]}: {cluster.penalty[at]:,} against {random.penalty[at]:,}, chance "
        f"{cluster.chance_mean[at]:,.0f} ± {cluster.chance_sd[at]:,.0f}"
        for at in worse
    )
    yield (
        "The released files do not give the paper's figure: their cluster split is farther from approval time "
        f"than their random one at {', '.join(str(facts.years[at]) for at in worse)}, and not farther at "
        f"{', '.join(others) or 'no threshold'} (penalty of cluster against random: {penalties})."
        + (f" At {', '.join(far)} it is farther than chance (p <= 0.05)." if far else "")
    )
    count = sum(share <= SIGNIFICANT for share in random.differs)
    yield (
        f"The difference of both released splits is itself significant at {count} of {len(facts.years)} "
        "thresholds (Figure 8)."
    )
    yield from _line(facts, random, cluster)


def _line(facts: SplitFacts, random: SplitMeasures, cluster: SplitMeasures) -> Iterator[str]:
    """For splits that discard no drug: the slope of the difference per year, and its zero."""
    if random.discarded or cluster.discarded:
        return
    first, last = (random.penalty[at] - cluster.penalty[at] for at in (0, -1))
    slope = (last - first) / (facts.years[-1] - facts.years[0])
    zero = f"; it is 0 at {facts.years[0] - first / slope:.1f}" if slope else ""
    line = f"{first:+,} at {facts.years[0]} and {slope:+.0f} with every year{zero}"
    yield f"Random less cluster is {line}. {_STRAIGHT}"


def nearest(facts: SplitFacts) -> Iterator[str]:
    """A sentence on the number of thresholds at which our cluster splits have the highest mean index."""
    splits = facts.group(OF_STRATEGIES)
    if "cluster" not in splits:
        return
    places = range(len(facts.years))
    best = [max(_index(members, at) or 0.0 for members in splits.values()) for at in places]
    count = sum(_index(splits["cluster"], at) == best[at] for at in places)
    yield f"Of our splits, cluster has the highest mean index at {count} of {len(facts.years)} thresholds."


def _consistent(near: int, far: int, of: int) -> str:
    if 2 * near > of:
        return "nearer than chance"
    return "farther than chance" if 2 * far > of else "as chance"


def _seeds(splits: Splits) -> int:
    return max((len(members) for members in splits.values()), default=0)


def left_out(facts: SplitFacts) -> list[str]:
    return [f"Not measured: {name} ({reason})." for name, reason in facts.left_out.items()]
