"""Permafrost's harness: plans, runs, scores and audits published predictors in frozen containers."""

__version__ = "0.1.0"
