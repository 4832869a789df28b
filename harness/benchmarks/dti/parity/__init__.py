"""Golden cases of `dti`."""
