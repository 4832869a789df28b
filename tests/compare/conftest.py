"""Made-up runs for the tests of this folder, and both sides of a study without a single run."""

from tests.evidence import evidence, fabricated, made_up
from tests.study.conftest import claims, drawn, nothing_run

__all__ = ["claims", "drawn", "evidence", "fabricated", "made_up", "nothing_run"]
