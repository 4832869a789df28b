"""What the rules for languages share: the exception for a file that a rule can't read."""

from __future__ import annotations


class Unsure(Exception):
    """A rule can't tell what a file means, so its bytes count."""
