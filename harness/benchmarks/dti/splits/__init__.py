"""Splits of `dti`: their form, and one module per strategy."""
