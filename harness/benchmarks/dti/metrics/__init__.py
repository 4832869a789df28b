"""Metrics of `dti`."""
