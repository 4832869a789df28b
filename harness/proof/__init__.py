"""Proof of a set of results: an append-only log with a Merkle tree over it, a statement about it, signatures."""
