"""How the originals of `combos` are read."""
