"""Upkeep: is this machine ready for long work, and what may be removed from it."""

from __future__ import annotations

from harness.upkeep.clean import Removal, clean
from harness.upkeep.doctor import Examination, State, examine
from harness.upkeep.traces import clean_all

__all__ = ["Examination", "Removal", "State", "clean", "clean_all", "examine"]
