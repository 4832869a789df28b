"""Names that stand somewhere more than once, found in one look at each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def repeated(names: Iterable[str]) -> list[str]:
    """Each name that occurs more than once, in the order of their first places."""
    return [name for name, count in Counter(names).items() if count > 1]
