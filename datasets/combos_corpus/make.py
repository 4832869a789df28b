"""Makes the files of combos_corpus: `python make.py FOLDER`.

A document is a sentence with marked drugs and its abstract. What a sentence says of its drugs follows from its
words: drugs are combined, with or without an effect, or only named. Some need the rest of the abstract.
All drugs, disorders and findings are made up. Odd documents are there on purpose: drugs that are not listed as
they stand in the text, combinations that share drugs, characters of several code points before a drug, a drug list
of thirteen, two sentences of one abstract on both sides of the split. The same bytes every time.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = 20261122
TRAIN, TEST = 120, 40
# pairs of drugs that are often together, and how often
FAMILIAR_PAIRS, FAMILIAR = 6, 0.3
# of the sentences that only say that drugs are given, those whose abstract says that it helped
HELPED_SHARE = 0.5

DRUGS = (
    "abrevolin", "bractimab", "caldorine", "dremoxan", "eltavisen", "fenzorbide", "galtucane", "hexaprolin",
    "ilvomicin", "jutarelix", "kelvotinib", "lumadrane", "mervazole", "nexobarin", "orvatidine", "pelquinone",
    "quenosol", "ribavexin", "soltracept", "tivarexin", "ulmofene", "vestacline", "wolframin", "xeltuzumab",
    "ybrovanide", "zorvelast", "ambrotide", "betoxaline", "corvamune", "dolquetine",
)  # fmt: skip
DISORDERS = (
    "glass fever", "harbour cough", "slate anaemia", "violet neuritis", "amber colitis", "winter ataxia",
    "paper dermatitis", "tide arthritis", "ash lymphoma", "willow carcinoma",
)  # fmt: skip
OUTCOMES = (
    "overall survival", "the response rate", "pain at rest", "walking distance", "viral clearance", "tumour size",
    "sleep quality", "renal function", "lesion counts", "time to relapse",
)  # fmt: skip
PATIENTS = (
    "adults with {disorder}", "children with {disorder}", "patients with refractory {disorder}",
    "a mouse model of {disorder}", "elderly patients with {disorder}",
)  # fmt: skip
BETTER = ("markedly improved", "significantly improved", "synergistically improved", "additively improved")
WORSE = ("worsened", "antagonistically impaired", "rather impaired", "added harm without improving")
JOINED = ("combined with", "plus", "in combination with", "together with")
LEADS = ("", "In this trial , ", "Taken together , ", "During follow-up , ", "In our cohort , ", "Notably , ")
# several code points each, or characters beyond 16 bits, before the first drug
ODD_LEADS = ("\U0001f48a ", "Nai\u0308ve arm : ", "\U0001f9ea\U0001f48a : ", "Tre\u0301sor study : ")

# the words of a sentence, what is combined (drugs by letter), and how often it is made
Pattern = tuple[str, tuple[tuple[str, str], ...], int]
PATTERNS: tuple[Pattern, ...] = (
    # together, and it helps
    ("{A} {joined} {B} {better} {outcome} in {patients}", (("POS", "AB"),), 16),
    ("{A} {joined} {B} {better} {outcome} compared with {C} alone", (("POS", "AB"),), 14),
    ("adding {B} to {A} {better} {outcome} , while {C} and {D} had little effect", (("POS", "AB"),), 8),
    ("the triple regimen of {A} , {B} and {C} {better} {outcome} in {patients}", (("POS", "ABC"),), 8),
    ("the four-drug schedule of {A} , {B} , {C} and {D} {better} {outcome}", (("POS", "ABCD"),), 4),
    ("{A} , {B} , {C} , {D} , {E} and {F} given together {better} {outcome}", (("POS", "ABCDEF"),), 2),
    ("{A} {joined} {B} {better} {outcome} more than {C} {joined} {D}", (("POS", "AB"), ("POS", "CD")), 6),
    ("{A} with either {B} or {C} {better} {outcome} in {patients}", (("POS", "AB"), ("POS", "AC")), 6),
    ("{A} {joined} {B} {better} {outcome} , even more so with {C}", (("POS", "AB"), ("POS", "ABC")), 5),
    # together; whether it helps, the rest of the abstract says
    ("{patients} received {A} {joined} {B} for {weeks} weeks", (("COMB", "AB"),), 12),
    ("{A} , {B} and {C} were co-administered to {patients} for {weeks} weeks", (("COMB", "ABC"),), 5),
    ("{A} {joined} {B} was given to {patients} , with {C} as rescue", (("COMB", "AB"),), 6),
    # together, and it does not help
    ("{A} {joined} {B} {worse} {outcome} in {patients}", (("NEG", "AB"),), 7),
    ("adding {B} to {A} {worse} {outcome} , whereas {C} was well tolerated", (("NEG", "AB"),), 5),
    # only named
    ("{A} was compared with {B} in {patients}", (), 12),
    ("{patients} were randomised to {A} , {B} or {C}", (), 12),
    ("resistance to {A} , {B} and {C} was common in {patients}", (), 6),
    ("after failure of {A} , treatment of {patients} was changed to {B}", (), 8),
    ("plasma levels of {A} , {B} , {C} and {D} were measured separately", (), 5),
    ("{A} alone {better} {outcome} , but {B} alone did not", (), 8),
    ("five agents , {A} , {B} , {C} , {D} and {E} , were screened for {outcome} one by one", (), 3),
)
HELPED = "This regimen {better} {outcome} ."
FILLERS = (
    "Treatment of {disorder} remains difficult .",
    "Records of {weeks} centres were read .",
    "Adverse events were mild .",
    "The protocol was approved before the first visit .",
    "Further studies of {disorder} are under way .",
    "Kinetics were described in a separate paper .",
    "The primary endpoint was {outcome} .",
)


@dataclass(frozen=True)
class Sentence:
    """Text of parts between blanks, its drugs with where they start, and what is combined by their numbers."""

    text: str
    drugs: tuple[tuple[str, int], ...]
    relations: tuple[tuple[str, tuple[int, ...]], ...]


def files() -> dict[str, bytes]:
    """Both files."""
    draw = random.Random(SEED)
    patterns = [pattern for pattern in PATTERNS for _ in range(pattern[2])]
    draw.shuffle(patterns)
    sentences = {
        sentence.text: sentence for sentence in (written(one, number, draw) for number, one in enumerate(patterns))
    }
    rows = [document(sentence, number, draw) for number, sentence in enumerate(sentences.values())]
    sisters = of_one_abstract(draw)
    # the last rows are for the odd ones
    train, test = rows[: TRAIN - 2], rows[TRAIN - 2 :][: TEST - 1]
    parts = {
        "train.jsonl": [*train, document(thirteen(draw), 900, draw), sisters[0]],
        "test.jsonl": [*test, sisters[1]],
    }
    return {name: "".join(json.dumps(row) + "\n" for row in part).encode("ascii") for name, part in parts.items()}


def written(pattern: Pattern, number: int, draw: random.Random, lead: str = "") -> Sentence:
    """A sentence of the pattern; every tenth has odd characters before its drugs."""
    words, relations, _ = pattern
    letters = sorted(set(re.findall(r"\{([A-F])\}", words)))
    if not lead:
        lead = draw.choice(ODD_LEADS if number % 10 == 4 else LEADS)
    template = (
        f"{lead}{words} ." if lead else f"{words[0].upper()}{words[1:]} ." if words[0] != "{" else f"{words} ."
    )
    return marked(filled(template, draw), dict(zip(letters, chosen(len(letters), draw), strict=True)), relations)


def chosen(count: int, draw: random.Random) -> list[str]:
    """Different drugs; some pairs are drawn far more often than others."""
    if draw.random() < FAMILIAR:
        first = 2 * draw.randrange(FAMILIAR_PAIRS)
        pair = list(DRUGS[first : first + 2])
        return pair + draw.sample([drug for drug in DRUGS if drug not in pair], count - 2)
    return draw.sample(DRUGS, count)


def filled(template: str, draw: random.Random) -> str:
    """The words with disorders, outcomes and the like; drugs keep their letters."""
    for name, words in (
        ("patients", PATIENTS),
        ("disorder", DISORDERS),
        ("outcome", OUTCOMES),
        ("better", BETTER),
        ("worse", WORSE),
        ("joined", JOINED),
        ("weeks", tuple(map(str, range(2, 40)))),
    ):
        while f"{{{name}}}" in template:
            template = template.replace(f"{{{name}}}", draw.choice(words), 1)
    return template


def marked(template: str, drugs: dict[str, str], relations: tuple[tuple[str, str], ...]) -> Sentence:
    """The sentence with its drugs, listed as they stand in the text."""
    text, places, order = "", [], ""
    for part in re.split(r"(\{[A-Z]\})", template):
        if part[:1] == "{":
            places.append((drugs[part[1]], len(text)))
            order += part[1]
        text += drugs[part[1]] if part[:1] == "{" else part
    numbers = tuple((label, tuple(sorted(map(order.index, letters)))) for label, letters in relations)
    return Sentence(text, tuple(places), numbers)


def plain(text: str) -> str:
    """The text as it is printed: no blank before a comma, a colon or a full stop."""
    return re.sub(r" ([.,:])", r"\1", text)


def document(sentence: Sentence, number: int, draw: random.Random, others: Sequence[str] = ()) -> dict[str, Any]:
    """The sentence in an abstract of its own; every eighth lists its drugs in another order than the text."""
    before, after = (filled(one, draw) for one in draw.sample(FILLERS, 2))
    helped = [label for label, _ in sentence.relations] == ["COMB"] and draw.random() < HELPED_SHARE
    rest = [*others, filled(HELPED, draw) if helped else after]
    order = list(range(len(sentence.drugs)))
    if number % 8 == 3:
        draw.shuffle(order)
    spans = [
        {
            "span_id": span,
            "text": name,
            "start": start,
            "end": start + len(name),
            "token_start": (first := len(sentence.text[:start].split())),
            "token_end": first + 1,
        }
        for span, (name, start) in enumerate(sentence.drugs[place] for place in order)
    ]
    relations = [
        {
            "class": "POS" if helped else label,
            "spans": sorted(order.index(drug) for drug in drugs),
            "is_context_needed": helped,
        }
        for label, drugs in sentence.relations
    ]
    return {
        "doc_id": hashlib.md5(sentence.text.encode(), usedforsecurity=False).hexdigest(),
        "sentence": sentence.text,
        "spans": spans,
        "rels": relations,
        "paragraph": " ".join([plain(before), sentence.text, *map(plain, rest)]),
        "source": f"https://example.org/abstracts/{number:04}",
    }


def thirteen(draw: random.Random) -> Sentence:
    """A list of thirteen drugs, two of which are combined."""
    letters = "ABCDEFGHIJKLM"
    listed = " , ".join(f"{{{letter}}}" for letter in letters[:11])
    template = f"the panel held {listed} , but only {{L}} plus {{M}} {{better}} {{outcome}} ."
    drugs = dict(zip(letters, draw.sample(DRUGS, len(letters)), strict=True))
    return marked(filled(template, draw), drugs, (("POS", "LM"),))


def of_one_abstract(draw: random.Random) -> list[dict[str, Any]]:
    """Two documents of one abstract: in each its own sentence is split at blanks, the other is as printed."""
    first, second = (written(PATTERNS[number], 0, draw, "In both arms , ") for number in (0, 14))
    one, other = document(first, 901, draw, [second.text]), document(second, 901, draw)
    other["paragraph"] = (
        one["paragraph"].replace(first.text, plain(first.text)).replace(plain(second.text), second.text)
    )
    return [one, other]


if __name__ == "__main__":
    for file, content in files().items():
        (Path(sys.argv[1]) / file).write_bytes(content)
