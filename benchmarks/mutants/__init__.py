"""Deliberate defects: each is planted by itself, and the tests that reach it must notice. See docs/testing.md.

python -m benchmarks.mutants run [PACKAGE ...]     sample, plant, test; resumes where it was stopped
python -m benchmarks.mutants plant FILE            defects that a person wrote down, instead of a sample
python -m benchmarks.mutants again [PACKAGE ...]   plant once more what survived the last time
python -m benchmarks.mutants table                 the score of each package, and what survived
"""
