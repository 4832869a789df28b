"""Sentences of one's own beside those of a dataset: the drugs that a person names are marked in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

from harness.base.errors import UsageError
from harness.benchmarks.combos.checks import MOST_DRUGS
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import Document, MarkedDrug
from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name

KINDS = {
    "text": Kind("sentence", named=False, lists=("doc_ids",), between_lines=" "),
    "drug": Kind(),
}
USUAL = Usual("pure_minilm", ("combos", "combos_corpus"))

# a combining character belongs to the word before it
_LETTER = "[\\w\u0300-\u036f]"
# The data have blanks around these. In numbers and within words they stay where they are.
_PUNCTUATION = re.compile(r'(?<!\d)[,:]|[,:](?!\d)|[;!?()\[\]"]|(?<=\w\w)\.(?=\s|$)')


def with_new(dataset: CombosDataset, items: Sequence[NewItem]) -> CombosDataset:
    """The dataset with further sentences behind its own, which nobody has annotated."""
    texts, drugs = ([item for item in items if item.kind == kind] for kind in KINDS)
    if not texts:
        raise UsageError("there is no sentence to mark drugs in", where="--drug", todo="give it with --text")
    for own, names in ((texts, {*map(str.lower, dataset.doc_ids)}), (drugs, set[str]())):
        for item in own:
            check_name(item, names)
    places = {text.name: _places(text, drugs) for text in texts}
    for drug in drugs:
        if not any(drug.name == name for own in places.values() for _, _, name in own):
            raise _nowhere(drug, texts)
    for text in texts:
        if not 2 <= (count := len(places[text.name])) <= MOST_DRUGS:
            what = f"{count} drug{'' if count == 1 else 's'} marked in '{text.text[:60]}'"
            raise UsageError(what, where=text.where, todo=f"mark 2 to {MOST_DRUGS}, each with --drug NAME")
    documents = [_document(text, places[text.name]) for text in texts]
    released = [*dataset.released.tolist(), *(UNANNOTATED for _ in documents)]
    return dataset_of(dataset.name, [*dataset.documents, *documents], released)


def _places(text: NewItem, drugs: Sequence[NewItem]) -> list[tuple[int, int, str]]:
    """Where drugs stand in a sentence, as whole words in any case, and what they are called by whom asks."""
    found = sorted(
        (match.start(), match.end(), drug.name)
        for drug in drugs
        for match in re.finditer(f"(?<!{_LETTER}){re.escape(drug.name)}(?!{_LETTER})", text.text, re.IGNORECASE)
    )
    for (_, end, one), (start, _, other) in pairwise(found):
        if start < end:
            what = f"'{one}' and '{other}' overlap in '{text.text[start - 20 if start > 20 else 0 : end + 20]}'"
            raise UsageError(what, where=text.where, todo="name one of them, as it stands there")
    return found


def _document(text: NewItem, places: Sequence[tuple[int, int, str]]) -> Document:
    """The sentence as those of the data are written: with blanks around drugs and punctuation."""
    sentence, before, drugs = "", 0, []
    for start, end, _ in (*places, (len(text.text), len(text.text), "")):
        between = " ".join(_PUNCTUATION.sub(r" \g<0> ", text.text[before:start]).split())
        sentence = " ".join(filter(None, (sentence, between)))
        if start < end:
            first = len(sentence) + bool(sentence)
            sentence += " " * bool(sentence) + text.text[start:end]
            drugs.append(MarkedDrug(first, len(sentence), text.text[start:end]))
        before = end
    return Document(text.name, sentence, sentence, "", tuple(drugs), ())


def _nowhere(drug: NewItem, texts: Sequence[NewItem]) -> UsageError:
    words = {word.lower(): word for text in texts for word in re.findall(rf"{_LETTER}+", text.text)}
    near = ", ".join(words[one] for one in get_close_matches(drug.name.lower(), words, n=3))
    return UsageError(
        f"'{drug.name}' stands nowhere in the text as a whole word",
        where=drug.where,
        todo=f"name it as it stands there{f'; near it: {near}' if near else ''}",
    )
