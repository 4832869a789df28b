"""Exports results as a Process Run Crate, which other tools read: records, logs, scores and checksums."""

from harness.export.pack import export

__all__ = ["export"]
