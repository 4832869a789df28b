"""Splits of `ddi`: their form, and one module per strategy."""
