"""The self-test of a method of `dti`."""
