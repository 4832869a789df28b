"""Skeletons: a new method that builds, passes its self-test and appears in the table before a line is written."""

from __future__ import annotations

from harness.methods.scaffold.method import LANGUAGES, languages_of, new_method

__all__ = ["LANGUAGES", "languages_of", "new_method"]
