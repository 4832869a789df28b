"""Control: a set of drugs is what training says of a set with the same names. It does not read the sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from combos_sdk import Answer, Combination, Document, Problem, Relation, run

Names = tuple[str, ...]


def fit_predict(problem: Problem) -> Answer:
    """Every set of an asked document whose names are those of a training relation, with its usual class."""
    known: dict[Names, Counter[str]] = defaultdict(Counter)
    for document in problem.train:
        for relation in document.relations:
            known[names_of(document, relation.spans)][class_of(relation)] += 1
    return Answer([[*combinations_in(document, known)] for document in problem.asked])


def names_of(document: Document, drugs: Sequence[int]) -> Names:
    """The names of drugs in lower case; one that is marked twice counts twice."""
    return tuple(sorted(document.spans[drug].text.lower() for drug in drugs))


def class_of(relation: Relation) -> str:
    """The class that an answer may have."""
    return "POS" if relation.label == "POS" else "COMB"


def combinations_in(document: Document, known: dict[Names, Counter[str]]) -> Iterator[Combination]:
    """The sets of a document that are known; the class is COMB where both are as frequent."""
    places: dict[str, list[int]] = defaultdict(list)
    for drug, span in enumerate(document.spans):
        places[span.text.lower()].append(drug)
    for names, counts in known.items():
        needed = Counter(names)
        ways = [combinations(places.get(name, ()), count) for name, count in needed.items()]
        label = max(("COMB", "POS"), key=lambda one: counts[one])
        for way in product(*ways):
            drugs = sorted(drug for part in way for drug in part)
            yield Combination(drugs, label, counts[label] / counts.total())


run(fit_predict)
