"""Control: drugs that stand close to each other are combined, positively where the sentence has a trigger word."""

from __future__ import annotations

import re

from combos_sdk import Answer, Combination, Document, Problem, run

# what a sentence says that tells of treating with several drugs
TRIGGERS = re.compile(
    r"combin|\bplus\b|\+|regimen|synerg|together with|\bco-?(?:admin|treat)|concomitant|concurrent|adjunct|add-on"
    r"|addition of|followed by|additive|potentiat|cocktail|doublet|triplet"
)


def fit_predict(problem: Problem) -> Answer:
    """The groups of each document's drugs, or all of them where no two are close."""
    apart = int(problem.parameters["words_between"])
    return Answer([combinations_of(document, apart) for document in problem.asked])


def combinations_of(document: Document, apart: int) -> list[Combination]:
    """The groups of a document's drugs; of two drugs at least."""
    label = "POS" if TRIGGERS.search(document.sentence.lower()) else "COMB"
    close = [group for group in groups(document, apart) if len(group) > 1]
    everything = [range(len(document.spans))] if len(document.spans) > 1 else []
    return [Combination(group, label, 1.0) for group in close or everything]


def groups(document: Document, apart: int) -> list[list[int]]:
    """The drugs from left to right, in groups between whose neighbours there are at most `apart` words."""
    neighbours: list[list[int]] = []
    end = 0
    for start, stop, drug in sorted((span.start, span.end, drug) for drug, span in enumerate(document.spans)):
        if neighbours and len(document.sentence[end:start].split()) <= apart:
            neighbours[-1].append(drug)
        else:
            neighbours.append([drug])
        end = max(end, stop)
    return neighbours


run(fit_predict)
