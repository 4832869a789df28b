"""Exports results as a Process Run Crate, which other tools read: records, logs, scores and checksums."""

from harness.export.crate import METADATA, PROFILE, describe
from harness.export.pack import SUMS, export

__all__ = ["METADATA", "PROFILE", "SUMS", "describe", "export"]
