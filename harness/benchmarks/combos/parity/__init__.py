"""Goldens of drug combinations: texts, orders and decoding, networks, and the evaluator."""
