"""Run by a judge's Python, not by ours: p values of statsmodels' tests of equivalence, from JSON to JSON.

A question has our values, the published mean, deviation and number of runs (0: the mean alone), and the margin.
"""

import json
import sys
import warnings

import numpy as np
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW  # type: ignore[import-not-found]

# values without spread divide by 0, and have a p of 0 or 1
warnings.simplefilter("ignore")
p_values = []
for one in json.load(sys.stdin):
    ours, mean, sd, n, margin = (one[name] for name in ("ours", "mean", "sd", "n", "margin"))
    if n:
        # any sample with this mean and deviation: the test depends on nothing else
        step = np.where(np.arange(n) % 2, 1.0, -1.0)
        step -= step.mean()
        theirs = mean + step * (sd / step.std(ddof=1))
        pair = CompareMeans(DescrStatsW(ours), DescrStatsW(theirs))
        p_values.append(float(pair.ttost_ind(-margin, margin, usevar="unequal")[0]))
    else:
        p_values.append(float(DescrStatsW(ours).ttost_mean(mean - margin, mean + margin)[0]))
json.dump(p_values, sys.stdout)
