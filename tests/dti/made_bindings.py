"""A small dataset with every kind of group, and its names."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from tests.dti.java_twin import Pair

# so many drugs and targets have each other only, and two of each have nothing
LONE = 24


def made_bindings(seed: int = 5, drugs: int = 64, targets: int = 58, pairs: int = 120) -> DtiDataset:
    """Drugs and targets of which some have no binding; classes, and diseases with new bindings."""
    draw = np.random.default_rng(seed)
    drug_ids = tuple(f"db{number:05}" for number in draw.permutation(99)[:drugs])
    target_ids = tuple(f"be{number:07}" for number in draw.permutation(99)[:targets])
    # few nodes with many bindings and many with one, as in BETA
    weights = [
        1 / (1 + np.arange(count)) ** power
        for count, power in ((drugs - LONE - 2, 0.8), (targets - LONE - 2, 0.6))
    ]
    chosen: dict[tuple[int, int], None] = {}
    while len(chosen) < pairs:
        ends = [int(draw.choice(len(part), p=part / part.sum())) for part in weights]
        chosen[ends[0], ends[1]] = None
    chosen |= {(drugs - 3 - one, targets - 3 - one): None for one in range(LONE)}
    known = np.array(list(chosen), dtype=np.int32)[draw.permutation(len(chosen))]
    names: list[str] = []
    sizes: list[int] = []
    members: list[tuple[int, int, int]] = []
    rows: list[tuple[int, int, int]] = []

    def add(name: str, size: int, own: list[int], leading: list[int], bindings: np.ndarray) -> None:
        members.extend((len(names), MEMBER, node) for node in own)
        members.extend((len(names), LEADING, node) for node in leading)
        rows.extend((len(names), drug, target) for drug, target in bindings.tolist())
        names.append(name)
        sizes.append(size)

    for scheme in ("category", "class"):
        for number in range(3):
            own = sorted(draw.choice(drugs - LONE - 2, 6, replace=False).tolist())
            bindings = np.concatenate([known[known[:, 0] == drug] for drug in own])
            hidden = scheme == "class"
            add(f"test2/{scheme}:{number}", len(own) + hidden, own, own[:1] if hidden else [], bindings)
    for number in range(3):
        own = sorted(draw.choice(targets - LONE - 2, 8, replace=False).tolist())
        bindings = np.concatenate([known[known[:, 1] == target] for target in own])
        add(f"test3/family:{number}", len(own), [drugs + node for node in own], [], bindings)
        free = [
            (drug, target) for drug in range(drugs - LONE - 2) for target in own if (drug, target) not in chosen
        ]
        new = np.array(free)[draw.permutation(len(free))[:9]]
        for test in (5, 6):
            add(f"test{test}/disease {number}", len(own), [drugs + node for node in own], [], new)
    add(
        "network",
        drugs + targets,
        draw.permutation(drugs + targets).tolist(),
        [],
        np.empty((0, 2), dtype=np.int32),
    )
    return DtiDataset(
        name="made",
        pairs=known,
        values=np.ones(len(known)),
        drug_ids=drug_ids,
        target_ids=target_ids,
        smiles=("C",) * drugs,
        sequences=("A",) * targets,
        group_names=tuple(names),
        group_sizes=np.array(sizes, dtype=np.int32),
        group_members=np.array(members, dtype=np.int32),
        group_pairs=np.array(rows, dtype=np.int32),
    )


def named(dataset: DtiDataset, pairs: np.ndarray) -> list[Pair]:
    """Pairs by the names of their nodes."""
    return [(dataset.drug_ids[drug], dataset.target_ids[target]) for drug, target in pairs.tolist()]


def members_of(dataset: DtiDataset, group: str) -> list[str]:
    """The members of a group by name, in their order."""
    rows, ids = dataset.group_members, (*dataset.drug_ids, *dataset.target_ids)
    return [
        ids[node] for _, _, node in rows[(rows[:, 0] == dataset.group_names.index(group)) & (rows[:, 1] == MEMBER)]
    ]


def pairs_of(dataset: DtiDataset, group: str) -> list[Pair]:
    """The bindings of a group, in their order."""
    rows = dataset.group_pairs
    return named(dataset, rows[rows[:, 0] == dataset.group_names.index(group)][:, 1:])
