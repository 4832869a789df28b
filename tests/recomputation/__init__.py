"""The arithmetic of claims and studies once more, by plain code that imports nothing of the harness.

It reads the committed records and the published files alone. What it gives is held against what the harness gives.
"""
