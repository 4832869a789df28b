"""How near drug splits come to approval times: Table 1 and Figures 5, 8 and 9, from what was measured of the data.

The paper prints no number for them. Both tests are of our splits; what the authors released is held beside them.
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

# Our name, the paper's, and what its Table 1 says: keeps all data, controls the change, consistency.
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
# By which parameter of ours known and new drugs get less similar.
_CONTROLS = {"lohi": "threshold", "spectra": "spectral, gamma", "cluster": "gamma"}
_RANDOM, _CLUSTER = "released:which=random", "released:which=cluster"
SIGNIFICANT = 0.05
# A drug that is known in one split and new in another costs the one more, by its year less the threshold.
_STRAIGHT = (
    "Between splits that discard no drug the difference of penalties is a straight line in the threshold year, so "
    "that several thresholds are not several observations: the differences at two of them give all others."
)
# A split has one colour in every panel.
_HUES = {name: number for number, name in enumerate((*_STRATEGIES, _RANDOM, _CLUSTER))}

Splits = dict[str, list[SplitMeasures]]


def strategies(sides: Sides, spec: Spec, measured: SplitFacts) -> Sheet:
    """Table 1: what the paper says of each strategy, and what was measured of it."""
    head = ["strategy", "keeps all drugs", "controls the change", "consistency with approval time"]
    head += ["largest similarity", "discarded drugs", "mean index", "nearer than chance"]
    rows = []
    found = measured.group(OF_STRATEGIES)
    for name, (title, keeps, controls, consistent) in _STRATEGIES.items():
        if name not in found:
            rows.append([title, f"{keeps} / -", f"{controls} / -", f"{consistent} / -", "-", "-", "-", "-"])
            continue
        members = found[name]
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
        f"Printed / ours, on {measured.dataset}; ours over {_seeds(found)} seeds and {len(measured.years)} "
        "thresholds. Consistency of ours: nearer to (or farther from) approval time than the same roles dealt "
        "at random, p <= 0.05, at more than half of them; else as chance.",
        "A discarded drug costs nothing, so that a split which discards many has a high index by that alone: "
        "the comparison with chance discards as many.",
        *left_out(measured),
    ]
    return spec.sheet(head, rows, notes=notes)


def by_year(sides: Sides, spec: Spec, measured: SplitFacts) -> Sheet:
    """The index of every strategy; the released splits in a group of their own."""
    groups = (measured.group(OF_STRATEGIES), measured.group(RELEASED))
    rows = [row for found in groups for row in _rows(found)]
    pictures = [
        *_picture(measured, "our splits that keep most drugs, mean of the seeds", _keeping(groups[0])),
        *_picture(measured, "released splits", groups[1]),
        *_beyond_chance(measured, groups[0] | groups[1]),
    ]
    notes = [*contradiction(measured), *nearest(measured), *left_out(measured)]
    notes.append(
        "The index is the largest penalty of the splits compared over a split's own: of the eight strategies by "
        "seed, and of both released splits. So it depends on what is compared; the penalty does not."
    )
    return spec.sheet(["split", *map(str, measured.years)], rows, notes=notes, pictures=pictures)


def differences(sides: Sides, spec: Spec, measured: SplitFacts) -> Sheet:
    """Penalties beside cluster's, by seed; significant ones are counted."""
    rows, curves = [], []
    for group, base in ((OF_STRATEGIES, "cluster"), (RELEASED, _CLUSTER)):
        found = measured.group(group)
        by_seed = {one.seed: one for one in found.get(base, ())}
        for name, members in found.items():
            pairs = [(one, by_seed[one.seed]) for one in members if name != base and one.seed in by_seed]
            if not pairs:
                continue
            row, points = [f"{name} less {base}"], []
            for at, year in enumerate(measured.years):
                difference = mean(one.penalty[at] - other.penalty[at] for one, other in pairs)
                counted = sum(one.differs[at] <= SIGNIFICANT for one, _ in pairs)
                row.append(f"{difference:+,.0f} ({counted} of {len(pairs)})")
                points.append((float(year), difference))
            rows.append(row)
            if group == OF_STRATEGIES and name in _keeping(found):
                curves.append(Curve(name, points, _HUES.get(name)))
    heading = "penalty less that of cluster; splits that keep most drugs"
    pictures = [Picture(heading, lines(heading, curves, "threshold year", form=",.0f"))] if curves else []
    head = ["penalties", *map(str, measured.years)]
    return spec.sheet(head, rows, notes=[_STRAIGHT], pictures=pictures)


def of_gamma(sides: Sides, spec: Spec, measured: SplitFacts) -> Sheet:
    """The index of cluster splits by gamma."""
    found = measured.group(OF_GAMMA)
    pictures = list(_picture(measured, "cluster splits by gamma, mean of the seeds", found))
    return spec.sheet(["split", *map(str, measured.years)], list(_rows(found)), pictures=pictures)


def _keeping(found: Splits) -> Splits:
    """Without those that discard most drugs: nothing else would be seen beside them."""
    return {name: those for name, those in found.items() if those[0].discarded < those[0].known + those[0].new}


def _rows(found: Splits) -> Iterator[list[str]]:
    for name, members in found.items():
        row = [name]
        for at in range(len(members[0].penalty)):
            index = _index(members, at)
            told = "-" if index is None else f"{index:.3f}"
            penalty = mean(one.penalty[at] for one in members)
            row.append(f"{told} ({penalty:,.0f}; {mean(one.chance_mean[at] for one in members):,.0f})")
        yield row


def _index(members: Sequence[SplitMeasures], at: int) -> float | None:
    known = [value for one in members if (value := one.index[at]) is not None]
    return mean(known) if known else None


def _picture(measured: SplitFacts, heading: str, found: Splits) -> Iterator[Picture]:
    """Curves of the index; none where no split has one."""
    curves = []
    for name, members in found.items():
        places = ((float(year), _index(members, at)) for at, year in enumerate(measured.years))
        if points := [(year, index) for year, index in places if index is not None]:
            curves.append(Curve(_short(name), points, _HUES.get(name)))
    if curves:
        yield Picture(heading, lines(f"Consistency index, {heading}", curves, "threshold year"))


def _short(name: str) -> str:
    """`released random`, `0.55` of the cluster splits, else as it is."""
    return name.replace("released:which=", "released ").rpartition("=")[2]


def _beyond_chance(measured: SplitFacts, found: Splits) -> Iterator[Picture]:
    """How much less than chance splits pay, which does not depend on what they are compared with."""
    curves = []
    for name, members in found.items():
        points = []
        for at, year in enumerate(measured.years):
            gains = [(one.chance_mean[at] - one.penalty[at], one.chance_sd[at]) for one in members]
            points.append((float(year), mean(gain / sd if sd else 0.0 for gain, sd in gains)))
        curves.append(Curve(_short(name), points, _HUES.get(name)))
    if curves:
        heading = "nearer than chance, in standard deviations"
        yield Picture(heading, lines(heading, curves, "threshold year", form="+.2f"))


def contradiction(measured: SplitFacts) -> Iterator[str]:
    """What the released files say of the paper's claim."""
    found = measured.group(RELEASED)
    if not {_RANDOM, _CLUSTER} <= found.keys():
        return
    (random, *_), (cluster, *_) = found[_RANDOM], found[_CLUSTER]
    worse = [at for at in range(len(measured.years)) if cluster.penalty[at] > random.penalty[at]]
    if not worse:
        yield "The released cluster split is nearer to approval time than the random one at every threshold."
        return
    far = [str(measured.years[at]) for at in worse if cluster.worse[at] <= SIGNIFICANT]
    others = [str(year) for at, year in enumerate(measured.years) if at not in worse]
    told = "; ".join(
        f"{measured.years[at]}: {cluster.penalty[at]:,} against {random.penalty[at]:,}, chance "
        f"{cluster.chance_mean[at]:,.0f} ± {cluster.chance_sd[at]:,.0f}"
        for at in worse
    )
    yield (
        "The released files do not give the paper's figure: their cluster split is farther from approval time "
        f"than their random one at {', '.join(str(measured.years[at]) for at in worse)}, and not farther at "
        f"{', '.join(others) or 'no threshold'} (penalty of cluster against random: {told})."
        + (f" At {', '.join(far)} it is farther than chance (p <= 0.05)." if far else "")
    )
    differing = sum(share <= SIGNIFICANT for share in random.differs)
    yield (
        f"The difference of both released splits is itself significant at {differing} of {len(measured.years)} "
        "thresholds (Figure 8)."
    )
    yield from _line(measured, random, cluster)


def _line(measured: SplitFacts, random: SplitMeasures, cluster: SplitMeasures) -> Iterator[str]:
    """Where no drug is discarded: by how much a year the difference changes, and when it is none."""
    if random.discarded or cluster.discarded:
        return
    first, last = (random.penalty[at] - cluster.penalty[at] for at in (0, -1))
    slope = (last - first) / (measured.years[-1] - measured.years[0])
    crossed = f"; it is 0 at {measured.years[0] - first / slope:.1f}" if slope else ""
    line = f"{first:+,} at {measured.years[0]} and {slope:+.0f} with every year{crossed}"
    yield f"Random less cluster is {line}. {_STRAIGHT}"


def nearest(measured: SplitFacts) -> Iterator[str]:
    """At how many thresholds our cluster splits have the highest mean index."""
    found = measured.group(OF_STRATEGIES)
    if "cluster" not in found:
        return
    places = range(len(measured.years))
    best = [max(_index(members, at) or 0.0 for members in found.values()) for at in places]
    count = sum(_index(found["cluster"], at) == best[at] for at in places)
    yield f"Of our splits, cluster has the highest mean index at {count} of {len(measured.years)} thresholds."


def _consistent(near: int, far: int, of: int) -> str:
    if 2 * near > of:
        return "nearer than chance"
    return "farther than chance" if 2 * far > of else "as chance"


def _seeds(found: Splits) -> int:
    return max((len(members) for members in found.values()), default=0)


def left_out(measured: SplitFacts) -> list[str]:
    return [f"Not measured: {name} ({reason})." for name, reason in measured.left_out.items()]
