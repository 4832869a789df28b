"""Runs in SAGAN's image: its own architecture pair by pair and bond by bond, held to the network.

Prints how far apart logits and representations are, and how much a pair's change with what else is in the batch.
"""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import torch
from bond_messages import BondMessages, Pool
from drug_pairs import DrugPairs
from molecule_graphs import Molecules
from molecules import Molecule, molecules_of
from networks import OwnNetwork
from torch import Tensor, nn

ROUNDS, HIDDEN, TYPES = 3, 6, 5


def weights_of(scores: list[float]) -> list[float]:
    """Their softmax."""
    raised = [math.exp(score - max(scores)) for score in scores]
    return [one / sum(raised) for one in raised]


def pooled(nodes: list[Tensor], links: list[list[int]], pool: Pool) -> Tensor:
    """Nodes weighed by what reaches them along their links."""
    said = [float(pool.project(node)) for node in nodes]
    scores = []
    for node, sources in enumerate(links):
        ends = [float(pool.attention[0]) * said[one] + float(pool.attention[1]) * said[node] for one in sources]
        shares = weights_of([end if end > 0 else 0.2 * end for end in ends])
        scores.append(sum(share * said[one] for share, one in zip(shares, sources, strict=True)))
    found = torch.zeros(HIDDEN, dtype=torch.float64)
    for share, node in zip(weights_of(scores), nodes, strict=True) if nodes else ():
        found += share * node
    return found


def with_messages(atoms: Tensor, molecule: Molecule, layer: BondMessages) -> Tensor:
    """Bond by bond: what reached the bond's source from elsewhere is passed on."""
    bonds = [(int(source), int(target)) for source, target in molecule.bonds.T]
    before = [
        [place for place, (_, end) in enumerate(bonds) if end == source and bonds[place] != (target, source)]
        for source, target in bonds
    ]
    first = [
        (layer.source(atoms[source]) + layer.target(atoms[target]) + layer.kind.weight[:, kind]) / 3
        for (source, target), kind in zip(bonds, molecule.kinds, strict=True)
    ]
    messages, rounds, strengths = first, [], []
    for number in range(ROUNDS):
        messages = [
            own + sum((messages[one] for one in earlier), torch.zeros_like(own))
            for own, earlier in zip(first, before, strict=True)
        ]
        rounds.append(messages)
        links = [[place, *earlier] for place, earlier in enumerate(before)]
        summary = torch.tanh(layer.summary(pooled(messages, links, layer.pool)))
        strengths.append(float(summary @ layer.round_weights[number] + layer.round_bias[number]))
    shares, found = weights_of(strengths), atoms.clone()
    for number, share in enumerate(shares):
        for (_, target), message in zip(bonds, rounds[number], strict=True):
            found[target] += share * message
    return found


def judged(network: OwnNetwork, head: Molecule, tail: Molecule) -> tuple[Tensor, Tensor]:
    """One pair."""
    encoder, sides = network.encoder, []
    for molecule in (head, tail):
        inward = encoder.inward(torch.from_numpy(molecule.atoms).double())
        sides.append(encoder.outward(with_messages(inward, molecule, encoder.messages)))
    links = [
        [
            [atom, *(int(one) for one, end in molecule.bonds.T if end == atom)]
            for atom in range(len(molecule.atoms))
        ]
        for molecule in (head, tail)
    ]
    summaries = [pooled(list(sides[side]), links[side], network.pools[side]) for side in (0, 1)]
    found = []
    for side in (0, 1):
        question = network.questions[side](summaries[1 - side])
        shares = weights_of([float(atom @ question) for atom in sides[side]])
        seen = sum((share * atom for share, atom in zip(shares, sides[side], strict=True)), torch.zeros(HIDDEN))
        found.append(seen * summaries[1 - side])
    features = torch.cat(found)
    return network.pair(features) @ network.types.weight.T, features


def main() -> None:
    """Weights and running statistics that are nobody's default."""
    torch.manual_seed(3)
    molecules = molecules_of(json.loads(str(np.load("/in/smiles.npy"))))
    pairs = torch.from_numpy(np.load("/in/pairs.npy"))
    network = OwnNetwork(TYPES, HIDDEN, rounds=ROUNDS, widening=2).eval()
    for value in network.state_dict().values():
        if value.is_floating_point():
            value.add_(0.2 * torch.rand_like(value))
    ours = DrugPairs(network, Molecules.of(molecules, torch.device("cpu")))
    with torch.no_grad():
        found, features = ours.judge(pairs)
        alone = torch.cat([ours.judge(pair[None])[0] for pair in pairs])
        many = ours.scores(pairs.repeat(700, 1))[-len(pairs) :]
        double: nn.Module = network.double()
        plain = [judged(double, molecules[head], molecules[tail]) for head, tail in pairs.tolist()]
    scale = float(found.abs().max())
    told = {
        "logits": float((torch.stack([one for one, _ in plain]) - found).abs().max()) / scale,
        "features": float((torch.stack([one for _, one in plain]) - features).abs().max() / features.abs().max()),
        "alone": float((alone - found).abs().max()) / scale,
        "many": float((many - found).abs().max()) / scale,
    }
    sys.stdout.write(json.dumps(told) + "\n")


main()
