"""Claims beside our numbers: every published number gets a verdict, with its test and its reason."""

from harness.compare.book import Book, compare_claims
from harness.compare.claims import Claim, load_claims, load_external
from harness.compare.judge import ClaimVerdict, Comparison
from harness.compare.names import PublishedNames, claimed_benchmarks, load_names

__all__ = [
    "Book",
    "Claim",
    "ClaimVerdict",
    "Comparison",
    "PublishedNames",
    "claimed_benchmarks",
    "compare_claims",
    "load_claims",
    "load_external",
    "load_names",
]
