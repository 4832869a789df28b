"""Stands in for the package wget, which DeepPurpose imports and calls only to download; an image has no network.

The index has it as a zip archive alone, which no lock here can hold.
"""

from __future__ import annotations

from typing import NoReturn


def download(url: str, folder: str) -> NoReturn:
    """Refused."""
    raise RuntimeError(f"DeepPurpose wants to download {url} to {folder}: a container has no network")
