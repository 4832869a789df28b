"""Makes the tables of synthetic_ddi and synthetic_ddi_multilabel: `python make.py FOLDER_OF_BOTH`.

Every drug is a scaffold with a group, so that a method can learn: the type of an interaction follows from the
head's scaffold and the tail's group, side effects from both drugs' groups. Odd drugs are among them on purpose: a
single atom, a salt, some without a text or a node of the graph. All names are made up. The same bytes every time.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SCAFFOLDS = (
    "CCNC(=O)c1ccc({})cc1",
    "Cc1ccnc({})c1",
    "CCc1c[nH]c2ccc({})cc12",
    "CN1CCN(CC1)c1ccc({})cc1",
    "COc1ccc2nccc({})c2c1",
    "NS(=O)(=O)c1ccc({})cc1",
    "Cc1nc(C)c({})s1",
    "CC1CCC({})CC1",
    "O=C1CCc2cc({})ccc2N1",
)
GROUPS = ("C(=O)O", "CN(C)C", "C(=O)OCC", "CCO", "C(F)(F)F", "C#N", "NC(=O)N", "OCc1ccccc1")
ODD = ("[Li+]", "CC(N)Cc1ccccc1.Cl")

EFFECTS = ("sedative", "hypotensive", "diuretic")
CHANGES = (
    "#Drug1 may increase the {} activities of #Drug2.",
    "#Drug1 may decrease the {} activities of #Drug2.",
    "The risk of adverse effects can be increased when #Drug1, being {}, is combined with #Drug2.",
    "The serum concentration of #Drug2 can be increased when it is combined with #Drug1, which is {}.",
)
RARE = "The absorption of #Drug2 can be decreased when combined with #Drug1."
SIDE_EFFECTS = ("nausea", "headache", "rash", "insomnia", "dizziness", "dry mouth", "tremor", "cough")
RARE_SIDE_EFFECT = "hiccups"
ENZYMES = tuple(f"Gene::S{number}" for number in range(1, 9))
DISEASES = ("Disease::unrest", "Disease::low mood", "Disease::cramp")
CLASSES = ("Pharmacologic Class::calmers", "Pharmacologic Class::openers", "Pharmacologic Class::rinsers")
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "ro", "su", "ta", "ve", "xi", "zo")

SEED, INTERACTIONS, POSITIVES, SEVERAL, YEARS = 20260101, 1400, 450, 25, range(1982, 2024)


@dataclass(frozen=True)
class Drug:
    """What is drawn for one drug; the odd ones have no scaffold and no group."""

    id: str
    name: str
    smiles: str
    scaffold: int
    group: int
    year: str


def made_drugs(draw: random.Random) -> list[Drug]:
    """All combinations of scaffold and group, in a drawn order, and the odd ones."""
    made = [(scaffold, group) for scaffold in range(len(SCAFFOLDS)) for group in range(len(GROUPS))]
    draw.shuffle(made)
    structures = [(SCAFFOLDS[one].format(GROUPS[other]), one, other) for one, other in made]
    structures += [(smiles, -1, -1) for smiles in ODD]
    names: list[str] = []
    while len(names) < len(structures):
        name = "".join(draw.sample(SYLLABLES, 3)).capitalize() + "syn"
        if name not in names:
            names.append(name)
    return [
        Drug(f"SYN{number:02}", name, *structure, str(draw.choice(YEARS)) if number % 3 else "")
        for number, (name, structure) in enumerate(zip(names, structures, strict=True))
    ]


def edges(drugs: Sequence[Drug], draw: random.Random) -> list[tuple[str, str, str]]:
    """Hetionet's kinds of edges: a scaffold has enzymes and a class, a group its side effect."""
    found = [(one, other, "GiG") for one, other in pairwise(ENZYMES)]
    for drug in drugs:
        if drug.scaffold < 0 or drug.id.endswith("7"):
            continue
        found.append((drug.id, ENZYMES[drug.scaffold % len(ENZYMES)], "CbG"))
        found.append((drug.id, draw.choice(ENZYMES), "CuG"))
        found.append((drug.id, DISEASES[drug.scaffold % 3], "CtD"))
        found.append((CLASSES[drug.scaffold % 3], drug.id, "PCiC"))
        found.append((drug.id, f"Side Effect::{SIDE_EFFECTS[drug.group]}", "CcSE"))
    alike = [(a, b) for a in drugs for b in drugs if a.id < b.id and a.scaffold == b.scaffold >= 0]
    found += [(one.id, other.id, "CrC") for one, other in draw.sample(alike, 40)]
    return found


def drug_rows(drugs: Sequence[Drug], graph: Sequence[tuple[str, str, str]]) -> Iterator[list[str]]:
    """The table of drugs; every ninth has no text, those without an edge none of the graph but the name."""
    yield ["drug", "smiles", "name", "text", "graph_text", "year"]
    for number, drug in enumerate(drugs):
        text = (
            f"{drug.name} is a made-up drug with the scaffold number {drug.scaffold + 1} and the group number "
            f"{drug.group + 1}. It is said to be {EFFECTS[drug.scaffold % 3]}. "
            f"It may cause {SIDE_EFFECTS[drug.group]}."
        )
        near = [other for head, other, kind in graph if head == drug.id and kind in ("CbG", "CtD", "CcSE")]
        told = "  ".join([drug.name, *(name.replace("::", " ").lower() for name in near)])
        yield [drug.id, drug.smiles, drug.name, text if number % 9 else "", f"{told} ", drug.year]


def triplets(drugs: Sequence[Drug], draw: random.Random) -> Iterator[list[str]]:
    """Types by rule, one in twenty at random; some pairs have two types, and one type has a single pair."""
    yield ["head", "tail", "type"]
    types = [change.format(effect) for effect in EFFECTS for change in CHANGES]
    pairs = [(head, tail) if draw.random() < 0.5 else (tail, head) for head, tail in _all_pairs(drugs)]
    chosen = draw.sample(pairs, INTERACTIONS)
    for number, (head, tail) in enumerate(chosen):
        kind = types[head.scaffold % 3 * len(CHANGES) + tail.group // 2 % len(CHANGES)]
        if draw.random() < 0.05:
            kind = draw.choice(types)
        yield [head.id, tail.id, kind]
        if number < SEVERAL:
            yield [head.id, tail.id, types[(types.index(kind) + 1) % len(types)]]
    yield [chosen[-1][1].id, chosen[-1][0].id, RARE]


def signed_pairs(drugs: Sequence[Drug], draw: random.Random) -> Iterator[list[str]]:
    """A positive pair with the side effects of both groups, then a negative for the same ones."""
    yield ["head", "tail", "types", "sign"]
    pairs = _all_pairs(drugs)
    draw.shuffle(pairs)
    positives, rest = pairs[:POSITIVES], pairs[POSITIVES:]
    for number, ((head, tail), negative) in enumerate(zip(positives, rest, strict=False)):
        caused = {
            SIDE_EFFECTS[head.group],
            SIDE_EFFECTS[tail.group],
            SIDE_EFFECTS[(head.scaffold + tail.scaffold) % 8],
        }
        types = ";".join(sorted(caused if number else {RARE_SIDE_EFFECT}))
        yield [head.id, tail.id, types, "+"]
        yield [negative[0].id, negative[1].id, types, "-"]


def _all_pairs(drugs: Sequence[Drug]) -> list[tuple[Drug, Drug]]:
    return [(one, other) for place, one in enumerate(drugs) for other in drugs[place + 1 :]]


def tables() -> dict[str, dict[str, bytes]]:
    """The tables of both datasets."""
    draw = random.Random(SEED)
    drugs = made_drugs(draw)
    graph = edges(drugs, draw)
    shared = {
        "drugs.csv": _csv(drug_rows(drugs, graph)),
        "knowledge.csv": _csv([["head", "tail", "relation"], *map(list, graph)]),
    }
    return {
        "synthetic_ddi": {**shared, "interactions.csv": _csv(triplets(drugs, draw))},
        "synthetic_ddi_multilabel": {**shared, "interactions.csv": _csv(signed_pairs(drugs, draw))},
    }


def _csv(rows: Iterator[list[str]] | list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    for dataset, files in tables().items():
        for file, content in files.items():
            (Path(sys.argv[1]) / dataset / file).write_bytes(content)
