"""Skeletons: a new method that builds, passes its self-test and appears in the table before a line is written."""

from __future__ import annotations

from harness.scaffold.method import LANGUAGES, new_method

__all__ = ["LANGUAGES", "new_method"]
