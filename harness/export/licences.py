"""Licences as cards and manifests state them, and which of them allow data to be handed on in a crate."""

from __future__ import annotations

import re

from harness.data.manifest import DatasetManifest

GENERATED = "generated"
# The words a statement may begin with, and the identifier on the SPDX list.
_KNOWN = {
    "MIT": "MIT",
    "Apache-2.0": "Apache-2.0",
    "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-Clause": "BSD-3-Clause",
    "GPL-3.0": "GPL-3.0-only",
    "CC0": "CC0-1.0",
    "CC0-1.0": "CC0-1.0",
    "CC-BY-4.0": "CC-BY-4.0",
    "CC BY 4.0": "CC-BY-4.0",
}
_BEHIND = re.compile(r"[,;:(]")


def spdx(statement: str) -> str:
    """The SPDX identifier that a statement begins with; empty where it names none, or says more than one thing."""
    return _KNOWN.get(_BEHIND.split(statement)[0].strip(), "")


def may_hand_on(manifest: DatasetManifest) -> bool:
    """Whether the converted arrays of a dataset may lie in a crate.

    They may where the manifest says that they are generated, or names a known licence before anything else. Data
    that a person brought or added to others never do.
    """
    if manifest.bring or manifest.brought or manifest.extends:
        return False
    statements = [manifest.licence, *(file.licence for file in manifest.files if file.licence)]
    return all(one.startswith(f"{GENERATED};") or spdx(one) for one in statements)
