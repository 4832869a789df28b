"""Made-up runs for the tests of this folder."""

from tests.evidence import evidence, fabricated, made_up

__all__ = ["evidence", "fabricated", "made_up"]
