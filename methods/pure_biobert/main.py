"""PURE over BioBERT: the mean of the start markers' vectors of a set of drugs names its class."""

from __future__ import annotations

from combination_method import fit_predict
from combos_sdk import run

run(fit_predict)
