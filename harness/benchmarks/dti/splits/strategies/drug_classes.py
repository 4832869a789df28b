"""Test 2 of BETA: targets for drugs inside and outside a class."""

from __future__ import annotations

from harness.benchmarks.dti.splits.generator.families import DRUG_CLASSES, FoldParameters

SUMMARY = "Test 2 of BETA: a fold of the bindings of a class of drugs, against pairs inside or outside it"

Parameters = FoldParameters
make, positives, broken_promises = DRUG_CLASSES.make, DRUG_CLASSES.positives, DRUG_CLASSES.broken_promises
