"""Documents: what commands print for programs, and the schemas of it."""
