"""The self-test of a method for `combos`."""
