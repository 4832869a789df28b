"""Golden cases of `repurposing`: how each becomes runs, and what is compared."""
