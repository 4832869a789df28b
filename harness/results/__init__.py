"""What came of runs: the store, records, scores, the reference, findings."""
