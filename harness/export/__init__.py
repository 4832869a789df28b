"""Exports runs with all that they rest on as a Provenance Run Crate, and verifies such a crate."""

from harness.export.contents import Extent, Profile
from harness.export.pack import Exported, export

__all__ = ["Exported", "Extent", "Profile", "export"]
