"""Golden cases of `ddi`: how each becomes runs, and what is compared."""
