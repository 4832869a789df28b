"""How splits of `combos` are made."""
