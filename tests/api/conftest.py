"""Made-up results for tests of the functions that commands and notebooks call."""

from tests.evidence import evidence, fabricated, made_up

__all__ = ["evidence", "fabricated", "made_up"]
