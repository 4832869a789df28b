"""The figures of the study of collaborative filters as sheets, with text and drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from harness.benchmarks.repurposing.study.drawings import correlograms, panels, times
from harness.benchmarks.repurposing.study.figures import TIMED_SPLIT, Figures
from harness.compare.paper import Place
from harness.compare.statistics import Array
from harness.study.extension import Maker
from harness.study.sheets import NONE, Sheet, runs_at
from harness.study.sides import Row, Sides
from harness.study.specs import Spec


def makers(sides: Sides, figures: Figures) -> Mapping[str, Maker]:
    """The makers of Figures 2b, 3 and 4."""
    return {
        "correlations": lambda spec: _correlations(spec, sides, figures),
        "best": lambda spec: _best(spec, sides, figures),
        "times": lambda spec: _times(spec, sides, figures),
    }


def _keys(sides: Sides, places: Iterable[Place]) -> list[str]:
    """The keys of our runs at these places."""
    rows = ((Row(one.method, sides.names.methods[one.method]), one) for one in places)
    return [key for row, place in rows for key in sides.keys(row, place.dataset, place.split)]


def _correlations(spec: Spec, sides: Sides, figures: Figures) -> Sheet:
    head = ["metrics", *(f"{one.title} ({one.runs:,} runs)" for one in figures.correlograms), "verdict", "reason"]
    rows: list[tuple[str, ...]] = []
    for place, pair in enumerate(figures.correlograms[0].pairs if figures.correlograms else ()):
        pairs = [one.pairs[place] for one in figures.correlograms]
        about = f"{figures.title(pair.first)}, {figures.title(pair.second)}"
        verdict, reason = figures.agreement[place]
        rows.append((about, *(f"{one.rho:+.2f} ({one.r2:.2f})" for one in pairs), str(verdict), reason))
    tally = Counter(verdict for verdict, _ in figures.agreement)
    keys = _keys(sides, sides.several.ours.values)
    runs = [runs_at((-3,), row, keys) for row in rows]
    return spec.sheet(head, rows, tally=tally, counted="pairs", pictures=correlograms(figures), runs=runs)


def _best(spec: Spec, sides: Sides, figures: Figures) -> Sheet:
    head = ("metric", "split", "dataset", "best three, authors' files", "ours", "seeds", "verdict", "reason")
    rows: list[tuple[str, ...]] = []
    runs = []
    for panel in figures.panels:
        for best in panel.datasets:
            theirs, ours = (", ".join(map(figures.title, three)) or NONE for three in (best.published, best.ours))
            about = (figures.title(panel.metric), figures.title(panel.split), figures.title(best.dataset))
            rows.append((*about, theirs, ours, str(best.n), str(best.verdict), best.reason))
            keys = _keys(sides, (Place(best.dataset, method, panel.split) for method in best.ours))
            runs.append(runs_at((-4, -3), rows[-1], keys))
    tally = Counter(best.verdict for panel in figures.panels for best in panel.datasets)
    return spec.sheet(head, rows, tally=tally, counted="rankings", pictures=panels(figures), runs=runs)


def _times(spec: Spec, sides: Sides, figures: Figures) -> Sheet:
    head = ("dataset", "method", "authors: wall seconds of training", "ours: CPU seconds of the whole run")
    rows = [
        (figures.title(one.dataset), figures.title(method), _spread(theirs), _spread(ours))
        for one in figures.times
        for method, theirs, ours in one.boxes
    ]
    places = [Place(one.dataset, method, TIMED_SPLIT) for one in figures.times for method, *_ in one.boxes]
    runs = [runs_at((-1,), row, _keys(sides, [place])) for row, place in zip(rows, places, strict=True)]
    return spec.sheet(head, rows, pictures=times(figures), runs=runs)


def _spread(values: Array) -> str:
    """`12.3 (10.1 to 15.0; 46)`: median, least and largest value, number of values."""
    if not len(values):
        return NONE
    return f"{np.median(values):.3g} ({values.min():.3g} to {values.max():.3g}; {len(values)})"
