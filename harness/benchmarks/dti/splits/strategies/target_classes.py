"""Test 3 of BETA: drugs for targets inside and outside a class."""

from __future__ import annotations

from harness.benchmarks.dti.splits.generator.families import TARGET_CLASSES, FoldParameters

SUMMARY = "Test 3 of BETA: a fold of the bindings of a class of targets, against pairs inside or outside it"

Parameters = FoldParameters
make, positives, broken_promises = TARGET_CLASSES.make, TARGET_CLASSES.positives, TARGET_CLASSES.broken_promises
