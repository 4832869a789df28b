"""Part of the benchmark of notes."""
