"""The study of collaborative filters, made again from the book of its claims."""

from harness.benchmarks.repurposing.study.whole import make_study, measure_anew

__all__ = ["make_study", "measure_anew"]
