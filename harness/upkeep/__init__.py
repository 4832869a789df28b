"""Upkeep: is this machine ready for long work, and what may be removed from it."""

from __future__ import annotations

from harness.upkeep.clean import Removal, clean
from harness.upkeep.doctor import Examination, State, examine

__all__ = ["Examination", "Removal", "State", "clean", "examine"]
