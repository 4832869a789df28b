"""Metrics within drugs and within targets: whether bindings are told from negatives of the same drug, or target.

All pairs together can be ranked well by what is known of drugs alone, or of targets alone. Pairs are taken chunk
by chunk, as in `bindings`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.metrics.bindings import CHUNK, CUT, Numbers, Truth

Nodes = npt.NDArray[np.integer]


def within_metrics(truth: Truth, scores: Numbers, drugs: Nodes, targets: Nodes) -> dict[str, float | str]:
    """Means over the drugs, and over the targets, that are asked with a binding and a negative."""
    positives, nodes = np.flatnonzero(truth), {"drugs": drugs, "targets": targets}
    own = {kind: numbers[positives].astype(np.int64) for kind, numbers in nodes.items()}
    thresholds = np.append(np.unique(scores[positives]), np.inf)
    ranks, span = 2 * np.searchsorted(thresholds, scores[positives]) + 1, 2 * len(thresholds)
    # of a binding's node the negatives that score less, ties one half; of a node the pairs, and positive answers
    below = {kind: np.zeros(len(positives)) for kind in nodes}
    counts = {kind: np.zeros((2, int(numbers.max(initial=-1)) + 1)) for kind, numbers in nodes.items()}
    for start in range(0, len(scores), CHUNK):
        rows = slice(start, start + CHUNK)
        negative, part = ~truth[rows], scores[rows]
        # between two thresholds an even number, at one an odd
        places = np.searchsorted(thresholds, part)
        places = 2 * places + (thresholds[places] == part)
        for kind, numbers in nodes.items():
            chunk = numbers[rows].astype(np.int64)
            for count, chosen in zip(counts[kind], (chunk, chunk[part >= CUT]), strict=True):
                count += np.bincount(chosen, minlength=len(count))
            keys = np.sort((chunk * span + places)[negative])
            least, most = (np.searchsorted(keys, own[kind] * span + ranks, side) for side in ("left", "right"))
            below[kind] += (least + most) / 2 - np.searchsorted(keys, own[kind] * span)
    values: dict[str, float | str] = {}
    for kind, (pairs, answers) in counts.items():
        bindings = np.bincount(own[kind], minlength=len(pairs))
        both = (bindings > 0) & (bindings < pairs)
        if not both.any():
            reason = f"none of the {kind} is asked with a binding and a negative"
            values |= {f"AUROC/{kind}": reason, f"one answer/{kind}": reason}
            continue
        ordered = np.bincount(own[kind], below[kind], len(pairs))[both]
        values[f"AUROC/{kind}"] = float((ordered / (bindings * (pairs - bindings))[both]).mean())
        values[f"one answer/{kind}"] = float(((answers == 0) | (answers == pairs))[both].mean())
    return values
