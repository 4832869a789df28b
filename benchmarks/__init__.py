"""Measurements of what the project promises: ratios and seconds, never part of the tests."""
