"""Digests of values whose text is canonical already: it is hashed as it stands, in a fifth of the time."""

from __future__ import annotations

import hashlib
from typing import Any

from harness.base.files import digest_of
from harness.base.plain_json import parse_plain


def digest_as_read(fields: dict[str, Any], stated: str, text: str) -> str:
    """The digest of the fields beside a `digest` that is stated among them, all parsed from this very text.

    Without text it is that of the fields alone. `ValueError` where a name stands twice in the text: other programs
    read the first.
    """
    # once only: a text that is right without several of them says more than was hashed
    content = text.replace(f'"digest":"{stated}",', "", 1).encode()
    is_right = text != "" and hashlib.sha256(content).hexdigest() == stated
    if is_right:
        return stated
    if text:
        parse_plain(text)
    return digest_of(fields)
