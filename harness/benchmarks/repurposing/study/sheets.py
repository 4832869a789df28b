"""The figures of the study of collaborative filters as sheets, with text and drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from harness.benchmarks.repurposing.study.drawings import correlograms, panels, times
from harness.benchmarks.repurposing.study.figures import Figures
from harness.compare.statistics import Array
from harness.study.extension import Maker
from harness.study.sheets import NONE, Sheet
from harness.study.specs import Spec


def makers(figures: Figures) -> Mapping[str, Maker]:
    """The makers of Figures 2b, 3 and 4."""
    return {
        "correlations": lambda spec: _correlations(spec, figures),
        "best": lambda spec: _best(spec, figures),
        "times": lambda spec: _times(spec, figures),
    }


def _correlations(spec: Spec, figures: Figures) -> Sheet:
    head = ["metrics", *(f"{one.title} ({one.runs:,} runs)" for one in figures.correlograms), "verdict", "reason"]
    rows: list[tuple[str, ...]] = []
    for place, pair in enumerate(figures.correlograms[0].pairs if figures.correlograms else ()):
        pairs = [one.pairs[place] for one in figures.correlograms]
        about = f"{figures.title(pair.first)}, {figures.title(pair.second)}"
        verdict, reason = figures.agreement[place]
        rows.append((about, *(f"{one.rho:+.2f} ({one.r2:.2f})" for one in pairs), str(verdict), reason))
    tally = Counter(verdict for verdict, _ in figures.agreement)
    return spec.sheet(head, rows, tally=tally, counted="pairs", pictures=correlograms(figures))


def _best(spec: Spec, figures: Figures) -> Sheet:
    head = ("metric", "split", "dataset", "best three, authors' files", "ours", "seeds", "verdict", "reason")
    rows: list[tuple[str, ...]] = []
    for panel in figures.panels:
        for best in panel.datasets:
            theirs, ours = (", ".join(map(figures.title, three)) or NONE for three in (best.published, best.ours))
            about = (figures.title(panel.metric), figures.title(panel.split), figures.title(best.dataset))
            rows.append((*about, theirs, ours, str(best.n), str(best.verdict), best.reason))
    tally = Counter(best.verdict for panel in figures.panels for best in panel.datasets)
    return spec.sheet(head, rows, tally=tally, counted="rankings", pictures=panels(figures))


def _times(spec: Spec, figures: Figures) -> Sheet:
    head = ("dataset", "method", "authors: wall seconds of training", "ours: CPU seconds of the whole run")
    rows = [
        (figures.title(one.dataset), figures.title(method), _spread(theirs), _spread(ours))
        for one in figures.times
        for method, theirs, ours in one.boxes
    ]
    return spec.sheet(head, rows, pictures=times(figures))


def _spread(values: Array) -> str:
    """`12.3 (10.1 to 15.0; 46)`: median, least and largest value, number of values."""
    if not len(values):
        return NONE
    return f"{np.median(values):.3g} ({values.min():.3g} to {values.max():.3g}; {len(values)})"
