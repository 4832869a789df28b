"""Marked texts: a document with markers around the drugs of one candidate, cut to a window of words around them.

A document is cut into words once. A candidate's text is then some ranges of these words with markers between them,
so that neither its words nor its word pieces are made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from combos_sdk import Document

START, END = "<<m>>", "<</m>>"
MARKERS = (START, END)
Place = tuple[int, int]


class Words:
    """The words of a text that is cut at some places, besides at blanks."""

    def __init__(self, text: str, cuts: Sequence[int]) -> None:
        self.words: list[str] = []
        # how many words stand before each cut
        self.before: dict[int, int] = {}
        last = 0
        for cut in sorted({*cuts, len(text)}):
            self.words += text[last:cut].split()
            self.before[cut] = len(self.words)
            last = cut

    @cached_property
    def text(self) -> str:
        """The words, each followed by a blank."""
        return "".join(f"{word} " for word in self.words)

    @cached_property
    def offsets(self) -> list[int]:
        """Where each word begins in `text`, and the end."""
        return [0, *accumulate(len(word) + 1 for word in self.words)]


class Passage(NamedTuple):
    """Ranges of words, and which marker stands between each and the next."""

    words: Words
    ranges: list[tuple[int, int]]
    markers: list[str]

    @property
    def text(self) -> str:
        """Words and markers, joined by single blanks."""
        text, offsets = self.words.text, self.words.offsets
        parts = [text[offsets[begin] : offsets[end]] for begin, end in self.ranges]
        marked = [f"{part}{marker} " for part, marker in zip(parts, self.markers, strict=False)]
        return "".join([*marked, parts[-1]]).rstrip(" ")


class MarkedText:
    """A text in which drugs can be marked: `places` are the first character of each and the one behind it.

    A marker goes between two words, or cuts a word in two. Drugs may overlap: each has its own markers.
    """

    def __init__(self, text: str, places: Sequence[Place]) -> None:
        self.text = text
        self.places = tuple(places)
        cuts = [cut for place in places for cut in place]
        # where no place cuts a word in two, all candidates share the words of the text
        ends = (text[max(cut - 1, 0) : cut + 1] for cut in cuts)
        clean = all(len(around) < 2 or around[0].isspace() or around[1].isspace() for around in ends)
        self._words = Words(text, cuts) if clean else None

    def passage(self, drugs: Sequence[int], width: int) -> Passage:
        """The words around the markers of these drugs, at most `width` with the markers, cut as the authors do.

        The first half of what the markers leave goes to the left, and the rest to the right, less one word. What a
        side does not need is not given to the other. Where the markers leave nothing, they are cut themselves.
        """
        marks = self._marks(drugs)
        words = self._words or Words(self.text, [cut for cut, _ in marks])
        places = [words.before[cut] for cut, _ in marks]
        first, last = places[0], places[-1] + len(marks) - 1
        spare = width - (last - first)
        low = max(0, first - spare // 2)
        high = min(len(words.words) + len(marks), last + spare - spare // 2)
        before = sum(place + at < low for at, place in enumerate(places))
        kept = [at for at, place in enumerate(places) if low <= place + at < high]
        edges = [low - before, *(places[at] for at in kept), high - before - len(kept)]
        return Passage(words, list(pairwise(edges)), [marks[at][1] for at in kept])

    def whole(self, drugs: Sequence[int]) -> str:
        """The text with markers, its own blanks kept."""
        parts, last = [], 0
        for cut, marker in self._marks(drugs):
            left, right = self.text[last:cut], self.text[cut : cut + 1]
            if marker == END:
                parts.append(f"{left} {marker}" + ("" if not right or right == " " else " "))
            else:
                parts.append(left + ("" if not left or left[-1] == " " else " ") + f"{marker} ")
            last = cut
        return "".join([*parts, self.text[last:]])

    def _marks(self, drugs: Sequence[int]) -> list[tuple[int, str]]:
        """Where which marker is put, from left to right: of overlapping drugs ends go before starts."""
        cuts = [(cut, side == 0, side) for drug in drugs for side, cut in enumerate(self.places[drug])]
        return [(cut, MARKERS[side]) for cut, _, side in sorted(cuts)]


def marked_text(document: Document, context: bool) -> MarkedText:
    """The paragraph of a document with its drugs, or the sentence where it has none or none is wanted."""
    text, shift = document.sentence, 0
    if context and document.sentence in document.paragraph:
        text, shift = document.paragraph, document.paragraph.index(document.sentence)
    return MarkedText(text, [(span.start + shift, span.end + shift) for span in document.spans])
