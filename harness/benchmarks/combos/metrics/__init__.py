"""Metrics of `combos`."""
