"""Test 6 of BETA: drugs for the targets of a disease, by clinical trials."""

from __future__ import annotations

from harness.benchmarks.dti.splits.generator.families import ANNOTATED_PAIRS, CategoryParameters

SUMMARY = "Test 6 of BETA: bindings of a disease's targets that clinical trials examine"

Parameters = CategoryParameters
make, positives = ANNOTATED_PAIRS.make, ANNOTATED_PAIRS.positives
broken_promises, broken_draws = ANNOTATED_PAIRS.broken_promises, ANNOTATED_PAIRS.broken_draws
