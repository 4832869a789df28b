"""Both sides of a study without a single run, for the tests of this folder."""

from tests.study.conftest import claims, drawn, nothing_run

__all__ = ["claims", "drawn", "nothing_run"]
