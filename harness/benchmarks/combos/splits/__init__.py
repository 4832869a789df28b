"""Splits of `combos`: a part per document."""
