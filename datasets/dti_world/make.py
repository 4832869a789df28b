"""Makes the tables of dti_world and dti_world_affinity: `python make.py FOLDER_OF_BOTH`.

A drug is a scaffold with a group, a target has the fold of a family and a pocket. A scaffold fits three families,
a group three pockets; a drug binds where both fit, but not every binding is known. Diseases, effects and pathways
of the network follow from scaffolds, groups and families. Some drugs and targets have a single pair, and some of
these pairs stand alone. Odd ones are among them on purpose: a single atom, a salt, unusual residues, a long
sequence. All names are made up. The same bytes every time.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
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
)
GROUPS = ("C(=O)O", "CN(C)C", "C(=O)OCC", "CCO", "C(F)(F)F", "C#N", "NC(=O)N", "OCc1ccccc1")
ODD = ("[Li+]", "CC(N)Cc1ccccc1.Cl")
FAMILIES, POCKETS, TARGETS = 8, 6, 48
# which families a scaffold fits, and which pockets a group fits, counted from its own number
FITTING_FAMILIES, FITTING_POCKETS = (0, 1, 3), (0, 1, 2)
# drugs and targets whose only pairs are with each other; those with a single pair; all others have several
LONE, SINGLE_DRUGS, SINGLE_TARGETS = 12, 7, 5
# the last ones but the odd are in no pair
UNPAIRED = 5

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
LENGTHS, LONG = (80, 140), 1050
MUTATED, WRONG = 0.15, 0.03

DISEASES = tuple(f"made-up disorder {letter}" for letter in "ABCDEFGHIJKL")
EFFECTS = ("nausea", "headache", "rash", "insomnia", "dizziness", "dry mouth", "tremor", "cough")
PATHWAYS = tuple(f"made-up pathway {number}" for number in range(1, 7))
STUDIED = 10  # diseases of which Tests 5 and 6 ask
SEED = 20260211


@dataclass(frozen=True)
class Drug:
    """What is drawn for one drug; the odd ones have no scaffold and no group."""

    id: str
    smiles: str
    scaffold: int
    group: int


@dataclass(frozen=True)
class Target:
    """What is drawn for one target."""

    id: str
    sequence: str
    family: int
    pocket: int


@dataclass(frozen=True)
class World:
    """Everything there is; `pairs` are the bindings that are known."""

    drugs: Sequence[Drug]
    targets: Sequence[Target]
    pairs: Sequence[tuple[Drug, Target]]
    edges: Sequence[tuple[str, str, str, str]]


def made_drugs(draw: random.Random) -> list[Drug]:
    """All combinations of a scaffold and a group but two, and the odd ones, in a drawn order."""
    kinds = [(scaffold, group) for scaffold in range(len(SCAFFOLDS)) for group in range(len(GROUPS))]
    draw.shuffle(kinds)
    structures = [(SCAFFOLDS[one].format(GROUPS[other]), one, other) for one, other in kinds[: -len(ODD)]]
    structures += [(smiles, -1, -1) for smiles in ODD]
    return [Drug(f"WD{number:03}", *structure) for number, structure in enumerate(structures, 1)]


def made_targets(draw: random.Random) -> list[Target]:
    """Sequences of a family that differ in single residues and in their pockets."""
    folds = [(_residues(draw, draw.randint(*LENGTHS)), _residues(draw, 12)) for _ in range(FAMILIES)]
    pockets = [_residues(draw, 9) for _ in range(POCKETS)]
    kinds = [(family, pocket) for family in range(FAMILIES) for pocket in range(POCKETS)]
    draw.shuffle(kinds)
    targets = []
    for number, (family, pocket) in enumerate(kinds[:TARGETS], 1):
        fold, motif = folds[family]
        own = "".join(draw.choice(RESIDUES) if draw.random() < MUTATED else residue for residue in fold)
        third = len(own) // 3
        sequence = "".join(["M", own[:third], motif, own[third:-third], pockets[pocket], own[-third:]])
        if number == 1:
            sequence += _residues(draw, LONG - len(sequence))
        if number == 2:
            sequence = f"{sequence[:40]}XUB{sequence[43:]}"
        targets.append(Target(f"WT{number:03}", sequence, family, pocket))
    return targets


def _residues(draw: random.Random, length: int) -> str:
    return "".join(draw.choices(RESIDUES, k=length))


def fits(drug: Drug, target: Target) -> bool:
    """Whether a drug binds a target, be it known or not; the odd ones bind the last family."""
    if drug.scaffold < 0:
        return target.family == FAMILIES - 1
    family = (target.family - drug.scaffold) % FAMILIES in FITTING_FAMILIES
    return family and (target.pocket - drug.group) % POCKETS in FITTING_POCKETS


def known_pairs(
    drugs: Sequence[Drug], targets: Sequence[Target], draw: random.Random
) -> list[tuple[Drug, Target]]:
    """All bindings of ordinary drugs and targets with a few wrong ones, and a single one of each other."""
    ordinary_drugs = [*drugs[LONE + SINGLE_DRUGS : -UNPAIRED - len(ODD)], *drugs[-len(ODD) :]]
    ordinary_targets = list(targets[LONE + SINGLE_TARGETS : -UNPAIRED])
    pairs = [
        (drug, target)
        for drug in ordinary_drugs
        for target in ordinary_targets
        if fits(drug, target) or draw.random() < WRONG
    ]
    free = list(targets[:LONE])
    for drug in drugs[:LONE]:
        target = draw.choice([one for one in free if fits(drug, one)] or free)
        free.remove(target)
        pairs.append((drug, target))
    pairs += [
        (drug, draw.choice([one for one in ordinary_targets if fits(drug, one)] or ordinary_targets))
        for drug in drugs[LONE : LONE + SINGLE_DRUGS]
    ]
    pairs += [
        (draw.choice([one for one in ordinary_drugs if fits(one, target)] or ordinary_drugs), target)
        for target in targets[LONE : LONE + SINGLE_TARGETS]
    ]
    draw.shuffle(pairs)
    return pairs


def network(
    drugs: Sequence[Drug], targets: Sequence[Target], draw: random.Random
) -> list[tuple[str, str, str, str]]:
    """Edges that say something of what binds: of scaffolds, of groups, of families and of pockets."""
    edges = []
    usual = [drug for drug in drugs if drug.scaffold >= 0]
    for drug in usual:
        diseases = DISEASES[drug.scaffold], draw.choice(DISEASES)
        edges += [("drug", drug.id, "disease", disease) for disease in diseases]
        effects = EFFECTS[drug.group], draw.choice(EFFECTS)
        edges += [("drug", drug.id, "effect", effect) for effect in effects]
    for target in targets:
        edges.append(("target", target.id, "pathway", PATHWAYS[target.family % len(PATHWAYS)]))
        diseases = DISEASES[target.family], DISEASES[(target.family + target.pocket) % len(DISEASES)]
        edges += [("target", target.id, "disease", disease) for disease in diseases]
    alike = [(a, b) for a, b in combinations(usual, 2) if a.scaffold == b.scaffold or a.group == b.group]
    edges += [("drug", one.id, "drug", other.id) for one, other in draw.sample(alike, 150)]
    near = [(a, b) for a, b in combinations(targets, 2) if a.family == b.family]
    edges += [("target", one.id, "target", other.id) for one, other in draw.sample(near, 60)]
    edges += [("target", one.id, "target", other.id) for one, other in pairwise(targets[::5])]
    return sorted(set(edges))


def group_rows(world: World, draw: random.Random) -> Iterator[list[str]]:
    """Classes of drugs and of targets in three schemes each, and diseases with bindings that nobody knows yet."""
    yield ["group", "drug", "target"]
    usual = [drug for drug in world.drugs if drug.scaffold >= 0]
    classes = [(f"test2/category:category {drug.scaffold}", drug.id, "") for drug in usual]
    classes += [(f"test2/class:class {drug.group}", drug.id, "") for drug in usual]
    classes += [(f"test2/type:type {(drug.scaffold + drug.group) % 5}", drug.id, "") for drug in usual]
    for target in world.targets:
        classes.append((f"test3/family:family {target.family}", "", target.id))
        classes.append((f"test3/subfamily:subfamily {(target.family + target.pocket) % 7}", "", target.id))
        classes.append((f"test3/protein class:protein class {target.pocket}", "", target.id))
    yield from map(list, sorted(classes))
    paired_drugs, paired_targets = (set(ends) for ends in zip(*world.pairs, strict=True))
    bindings = {(drug.id, target.id) for drug in paired_drugs for target in paired_targets if fits(drug, target)}
    unknown = sorted(bindings - {(drug.id, target.id) for drug, target in world.pairs})
    for test in ("test5", "test6"):
        for disease in DISEASES[:STUDIED]:
            targets = [name for kind, name, *end in world.edges if [kind, *end] == ["target", "disease", disease]]
            yield from ([f"{test}/{disease}", "", target] for target in targets)
            new = [pair for pair in unknown if pair[1] in targets]
            yield from ([f"{test}/{disease}", *pair] for pair in sorted(draw.sample(new, min(len(new), 10))))
    nodes = [("network", drug.id, "") for drug in world.drugs] + [("network", "", one.id) for one in world.targets]
    yield from map(list, draw.sample(nodes, len(nodes)))


def similarity_rows(kind: str, texts: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
    """The share of three-letter pieces that two texts have in common, where it is a tenth or more."""
    yield [kind, "other", "similarity"]
    pieces = [(name, {text[place : place + 3] for place in range(max(len(text) - 2, 1))}) for name, text in texts]
    for (one, first), (other, second) in combinations(pieces, 2):
        share = len(first & second) / len(first | second)
        if share >= 0.1:
            yield [one, other, f"{share:.3f}"]


def affinity_rows(world: World, draw: random.Random) -> Iterator[list[str]]:
    """A measured affinity for most pairs of ordinary drugs and targets: what fits counts, the rest is noise."""
    yield ["drug", "target", "value", "part"]
    measured = [
        (drug, target) for drug in world.drugs[::2] for target in world.targets[::2] if draw.random() < 0.85
    ]
    parts = [("test", "0", "1", "2", "3", "4")[number % 6] for number in range(len(measured))]
    draw.shuffle(parts)
    for (drug, target), part in zip(measured, parts, strict=True):
        family = (target.family - drug.scaffold) % FAMILIES in FITTING_FAMILIES
        pocket = (target.pocket - drug.group) % POCKETS in FITTING_POCKETS
        value = 5 + family + pocket / 2 + 1.5 * fits(drug, target) + draw.gauss(0, 0.2)
        # as in real data: what does not bind has the lowest value that can be measured
        yield [drug.id, target.id, f"{max(value, 5.0):.3f}", part]


def tables() -> dict[str, dict[str, bytes]]:
    """The tables of both datasets."""
    draw = random.Random(SEED)
    drugs, targets = made_drugs(draw), made_targets(draw)
    world = World(drugs, targets, known_pairs(drugs, targets, draw), network(drugs, targets, draw))
    shared = {
        "drugs.csv": _csv([["drug", "smiles"], *([drug.id, drug.smiles] for drug in drugs)]),
        "targets.csv": _csv([["target", "sequence"], *([target.id, target.sequence] for target in targets)]),
        "edges.csv": _csv([["head_type", "head", "tail_type", "tail"], *map(list, world.edges)]),
        "drug_similarity.csv": _csv(similarity_rows("drug", ((drug.id, drug.smiles) for drug in drugs))),
        "target_similarity.csv": _csv(similarity_rows("target", ((one.id, one.sequence) for one in targets))),
    }
    pairs = [["drug", "target"], *([one.id, other.id] for one, other in world.pairs)]
    return {
        "dti_world": {**shared, "pairs.csv": _csv(pairs), "groups.csv": _csv(group_rows(world, draw))},
        "dti_world_affinity": {**shared, "pairs.csv": _csv(affinity_rows(world, draw))},
    }


def _csv(rows: Iterable[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    for dataset, files in tables().items():
        for file, content in files.items():
            (Path(sys.argv[1]) / dataset / file).write_bytes(content)
