"""What the rules for languages without a parser of ours share."""

from __future__ import annotations


class Unsure(Exception):
    """A rule can't tell what a file means, so its bytes count."""
