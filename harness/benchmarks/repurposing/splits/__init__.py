"""Splits of `repurposing`: their form, and one module per strategy."""
