"""Windows of marked texts as goldens hold them: already cut, so that nothing is left to be cut or paired."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from marked_texts import MARKERS, MarkedText, Passage, Words


class GivenWindow(MarkedText):
    """A marked text as it stands: its window may have cut off one marker of a drug, so that nothing is paired."""

    def __init__(self, text: str) -> None:
        parts: list[list[str]] = [[]]
        markers = []
        for word in text.split():
            if word in MARKERS:
                markers.append(word)
                parts.append([])
            else:
                parts[-1].append(word)
        edges = [0, *accumulate(map(len, parts))]
        words = Words(" ".join(word for part in parts for word in part), ())
        self._whole = Passage(words, list(pairwise(edges)), markers)

    def passage(self, drugs: Sequence[int], width: int) -> Passage:
        """All of it: it is the window already."""
        return self._whole
