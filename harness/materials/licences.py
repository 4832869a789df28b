"""SPDX expressions for what parts say of their licences: a name that is known, or a reference that keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

REFERENCE = "LicenseRef-"
_NAMES = {
    # the short names of Debian's copyright format 1.0, 7.1
    **{f"gpl-{n}{plus}": f"GPL-{n}.0-{end}" for n in "123" for plus, end in (("", "only"), ("+", "or-later"))},
    **{f"agpl-3{plus}": f"AGPL-3.0-{end}" for plus, end in (("", "only"), ("+", "or-later"))},
    **{
        f"lgpl-{n}{plus}": f"LGPL-{n if '.' in n else n + '.0'}-{end}"
        for n in ("2", "2.1", "3")
        for plus, end in (("", "only"), ("+", "or-later"))
    },
    **{
        f"gfdl-niv-{n}{plus}": f"GFDL-{n}-no-invariants-{end}"
        for n in ("1.2", "1.3")
        for plus, end in (("", "only"), ("+", "or-later"))
    },
    "expat": "MIT",
    "artistic": "Artistic-1.0",
    "apache-2": "Apache-2.0",
    "psf": "PSF-2.0",
    "bsd-4-clause-uc": "BSD-4-Clause-UC",
    "libpng": "Libpng",
    # what wheels write into `License`, and the last words of their classifiers
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "mit license": "MIT",
    "bsd 3-clause license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "new bsd license": "BSD-3-Clause",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
}
_WORD = re.compile(r"\s+(and|or)\s+", re.IGNORECASE)


def expression_of(names: Iterable[str], writer: str) -> str:
    """One SPDX expression that demands every named licence; names that SPDX does not have become references.

    `writer` says whose names they are: two may use one name for different texts.
    """
    terms = sorted({_expression(name, writer) for name in names})
    return terms[0] if len(terms) == 1 else " AND ".join(_enclosed(term) for term in terms)


def references_in(expression: str) -> list[str]:
    """The references of an expression, each once."""
    return sorted(set(re.findall(rf"{REFERENCE}[A-Za-z0-9.-]+", expression)))


def _expression(name: str, writer: str) -> str:
    """The expression of one name, which may join several by `and` and `or`."""
    whole = _known(name)
    if whole:
        return whole
    # a comma changes which words belong together, and `and/or` is neither
    if "," in name or "/" in name or re.search(r"\bwith\b", name, re.IGNORECASE):
        return _reference(name, writer)
    words = _WORD.split(name)
    return " ".join(
        word.upper() if place % 2 else _known(word) or _reference(word, writer) for place, word in enumerate(words)
    )


def _known(name: str) -> str:
    plain = " ".join(name.split())
    if plain.lower() in _NAMES:
        return _NAMES[plain.lower()]
    try:
        return str(canonicalize_license_expression(plain))
    except InvalidLicenseExpression:
        return ""


def _reference(name: str, writer: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", name.replace("+", "-or-later")).strip("-")
    return f"{REFERENCE}{writer}-{slug or 'unnamed'}"


def _enclosed(term: str) -> str:
    return f"({term})" if " OR " in term else term
