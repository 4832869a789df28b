"""Digests of values whose text is canonical already: it is hashed as it stands, in a fifth of the time."""

from __future__ import annotations

import hashlib
from typing import Any

from harness.base.files import digest_of


def digest_as_read(fields: dict[str, Any], stated: str, text: str) -> str:
    """The digest of the fields beside a `digest` that is stated among them, all parsed from this very text.

    Without text it is that of the fields alone.
    """
    # once only: a text that is right without several of them says more than was hashed
    content = text.replace(f'"digest":"{stated}",', "", 1).encode()
    is_right = text != "" and hashlib.sha256(content).hexdigest() == stated
    return stated if is_right else digest_of(fields)
