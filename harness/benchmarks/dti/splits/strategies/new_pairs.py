"""Test 5 of BETA: drugs for the targets of a disease, by a later release of the database."""

from __future__ import annotations

from harness.benchmarks.dti.splits.generator.families import NEW_PAIRS, CategoryParameters

SUMMARY = "Test 5 of BETA: bindings of a disease's targets that a later release added"

Parameters = CategoryParameters
make, positives = NEW_PAIRS.make, NEW_PAIRS.positives
broken_promises, broken_draws = NEW_PAIRS.broken_promises, NEW_PAIRS.broken_draws
