"""Upkeep: is this machine ready for long work, and what may be removed from it."""

from __future__ import annotations

from harness.upkeep.clean import clean
from harness.upkeep.doctor import State, examine

__all__ = ["State", "clean", "examine"]
