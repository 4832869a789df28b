"""The one statistical test of `compare`: Welch's interval for a difference of two means."""

from __future__ import annotations

import math

CONFIDENCE = 0.99


def welch_half_width(sd_ours: float, n_ours: int, sd_theirs: float, n_theirs: int) -> float:
    """Half the width of the two-sided interval, unequal variances, Satterthwaite's degrees of freedom."""
    from scipy.special import stdtrit

    ours, theirs = sd_ours**2 / n_ours, sd_theirs**2 / n_theirs
    if ours + theirs == 0.0:
        return 0.0
    # Written with shares, so that tiny variances do not vanish when squared.
    share = ours / (ours + theirs)
    freedom = 1 / (share**2 / max(n_ours - 1, 1) + (1 - share) ** 2 / max(n_theirs - 1, 1))
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(ours + theirs)
