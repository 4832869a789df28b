"""Claims beside our numbers: every published number gets a verdict, with its test and its reason."""

from harness.compare.accelerators import Accelerators, compare_accelerators
from harness.compare.book import Book, compare_claims
from harness.compare.claims import load_claims, load_external
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.compare.names import claimed_benchmarks, load_names

__all__ = [
    "Accelerators",
    "Book",
    "ClaimVerdict",
    "Comparison",
    "claimed_benchmarks",
    "compare_accelerators",
    "compare_claims",
    "load_claims",
    "load_external",
    "load_names",
]
