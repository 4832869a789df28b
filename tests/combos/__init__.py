"""Tests of the benchmark of drug combinations in texts."""
