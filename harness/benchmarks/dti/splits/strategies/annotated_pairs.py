"""Test 6 of BETA: drugs for the targets of a disease, by clinical trials."""

from __future__ import annotations

from harness.benchmarks.dti.splits.generator.families import ANNOTATED_PAIRS, CategoryParameters

SUMMARY = "Test 6 of BETA: bindings of a disease's targets that clinical trials examine"

Parameters = CategoryParameters
make, positives, broken_promises = ANNOTATED_PAIRS.make, ANNOTATED_PAIRS.positives, ANNOTATED_PAIRS.broken_promises
