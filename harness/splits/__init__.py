"""Standard split files: which pairs are training, which are test, and which inner model does not see a pair.

A split file's checksum is recorded beside its dataset and never changes once published.
"""

from harness.splits.splits import (
    known_split_digest,
    load_split,
    make_split,
    recorded_split,
    split_digest,
    split_digest_offline,
)
from harness.splits.strategies import strategy_names

__all__ = [
    "known_split_digest",
    "load_split",
    "make_split",
    "recorded_split",
    "split_digest",
    "split_digest_offline",
    "strategy_names",
]
