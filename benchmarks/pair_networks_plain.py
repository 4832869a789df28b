"""Runs in the image of MLP, MSTE or Decagon: the same training steps plainly, then ours.

Plainly: as the definition reads, for every pair, type and edge anew, without dropout. Reads /in, prints CPU
seconds per step and of pairs that are only asked for, and how far both ways' logits are apart after the steps.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import torch
from ddi_examples import Batch, Examples
from ddi_sdk import Items, Problem
from ddi_training import adamw, loss_of_labels
from network import Network
from torch import Tensor, nn
from torch.nn import functional

METHOD = os.environ["METHOD"]
if METHOD == "mste":
    from training import OtherPairs, OtherTypes
if METHOD == "decagon":
    from neighbours import features_of, graph_of

TYPES, STEPS, HIDDEN, BATCH = (int(os.environ[name]) for name in ("TYPES", "STEPS", "HIDDEN", "BATCH"))
PARAMETERS = {"learning_rate": 1e-3, "weight_decay": 1e-5, "fingerprint": "counts", "clean_negatives": False}
# the kinds of edges that Decagon's graph has besides interactions
KINDS = (1, 5, 6, 7, 10, 18)
warnings.simplefilter("ignore")

Scores = Callable[[Tensor], Tensor]
Loss = Callable[[Batch], Tensor]


def given() -> tuple[Problem, Tensor]:
    """The problem, and pairs that are only asked for."""
    read = {name: np.load(f"/in/{name}.npy") for name in ("pairs", "labels", "asked", "fingerprints", "knowledge")}
    pairs, labels = read["pairs"].astype(np.int64), read["labels"]
    train = Items(pairs, labels, np.zeros(len(pairs), dtype=np.int8))
    problem = Problem(
        drugs=len(read["fingerprints"]),
        types=TYPES,
        entities=0,
        relations=0,
        multilabel=labels.ndim == 2,
        train=train,
        valid=train,
        test_pairs=pairs,
        test_setting=train.setting,
        inputs=read,
        parameters=PARAMETERS,
        seed=0,
    )
    return problem, torch.from_numpy(read["asked"].astype(np.int64))


def truth_of(problem: Problem) -> Callable[[Batch], Tensor]:
    """The labels of a batch, looked up pair by pair; a line of several labels has its own."""
    if problem.multilabel:
        lines = torch.from_numpy(problem.train.labels.astype(np.float32))
        return lambda batch: lines[batch.index]
    types = defaultdict(set)
    for pair, label in zip(problem.train.pairs.tolist(), problem.train.labels.tolist(), strict=True):
        types[tuple(pair)].add(label)

    def several(batch: Batch) -> Tensor:
        rows = [[float(r in types[tuple(pair)]) for r in range(TYPES)] for pair in batch.pairs.tolist()]
        return torch.tensor(rows)

    return several


def judged(logits: Tensor, truth: Tensor, problem: Problem) -> Tensor:
    """The loss, entry by entry of its formula."""
    if problem.multilabel:
        counts = [sum(1 for line in problem.train.labels[:, j] if line != 0) for j in range(TYPES)]
        weight = torch.tensor([min(one for one in counts if one) / one if one else 0.0 for one in counts]).double()
        chance = torch.sigmoid(logits)
        terms = torch.where(truth > 0, -torch.log(chance), -torch.log(1 - chance)) * (truth != 0)
        return (weight * terms).mean()
    share = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
    if METHOD == "decagon":
        return -(truth * torch.log(share)).sum(dim=1).mean()
    return -(truth * torch.log(share) + (1 - truth) * torch.log(1 - share)).mean()


class Perceptron(nn.Module):
    """MLP."""

    def __init__(self, problem: Problem, ours: Network) -> None:
        super().__init__()
        self.prints = torch.from_numpy(problem.inputs["fingerprints"].astype(np.float32))
        self.lin1, self.lin2 = nn.Linear(2 * self.prints.shape[1], HIDDEN), nn.Linear(HIDDEN, TYPES)
        self.multilabel = problem.multilabel
        given = ours.state_dict()
        self.load_state_dict({**given, "lin1.weight": given["lin1.weight"].T})

    def forward(self, pairs: Tensor) -> Tensor:
        both = torch.cat([self.prints[pairs[:, 0]], self.prints[pairs[:, 1]]], dim=1)
        logits = self.lin2(torch.relu(self.lin1(both)))
        return logits if self.multilabel else torch.relu(logits)


class Sines(nn.Module):
    """MSTE."""

    def __init__(self, problem: Problem, ours: Network) -> None:
        super().__init__()
        self.E, self.R = (nn.Parameter(one.detach().clone()) for one in ours.parameters())

    def length(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        return ((torch.sin(t * r) * h + torch.sin(t * h) * r - torch.sin(h * r) * t) ** 2).sum(dim=-1).sqrt()

    def score(self, pairs: Tensor, r: Tensor) -> Tensor:
        h, t = self.E[pairs[:, 0]], self.E[pairs[:, 1]]
        if self.R.dim() == 2:
            return self.length(h, self.R[r], t)
        return self.length(h, self.R[r, :, 1], t) - self.length(h, self.R[r, :, 0], t)

    def forward(self, pairs: Tensor) -> Tensor:
        return torch.stack([self.score(pairs, torch.full((len(pairs),), r)) for r in range(TYPES)], dim=1)


class Convolutions(nn.Module):
    """Decagon, on the whole graph."""

    def __init__(self, problem: Problem, ours: Network) -> None:
        super().__init__()
        labels, prints = problem.train.labels, problem.inputs["fingerprints"]
        edges = [
            (h, t)
            for (h, t), said in zip(problem.train.pairs.tolist(), labels, strict=True)
            if not problem.multilabel or (said > 0).any()
        ]
        kept = [(h, t) for h, t, kind in problem.inputs["knowledge"].tolist() if kind in KINDS]
        others = sorted({node for edge in kept for node in edge if node >= problem.drugs})
        place = {node: problem.drugs + i for i, node in enumerate(others)}
        edges += [(place.get(h, h), place.get(t, t)) for h, t in kept]
        nodes = problem.drugs + len(others)
        self.source, self.target = torch.tensor(edges + [(node, node) for node in range(nodes)]).T
        degree = torch.bincount(self.target, minlength=nodes)
        self.weight = ((degree[self.source] * degree[self.target]).double() ** -0.5).float()[:, None]
        # other nodes' features are random numbers: ours are drawn here too, and the same
        self.features = torch.zeros(nodes, prints.shape[1])
        graph, _ = graph_of(problem)
        np.random.seed(1)
        self.features[graph.far] = torch.from_numpy(features_of(problem, graph, nodes))
        state = {name.replace(".", "_"): one.detach().clone() for name, one in ours.named_parameters()}
        state["relation_param"] = state["relation_param"].transpose(0, 1).contiguous()
        self.weights = nn.ParameterDict(state)

    def convolved(self, X: Tensor, layer: str) -> Tensor:
        messages = (X @ self.weights[f"{layer}_lin_weight"].T)[self.source] * self.weight
        return (
            messages.new_zeros(len(X), HIDDEN).index_add(0, self.target, messages) + self.weights[f"{layer}_bias"]
        )

    def forward(self, pairs: Tensor) -> Tensor:
        X = self.convolved(self.convolved(self.features, "conv1"), "conv2")
        D, G = self.weights["relation_param"], self.weights["interaction_model"][0]
        head, tail = (X[side] @ D for side in pairs.T)
        return ((head @ G) * tail).sum(dim=2).T


def both_ways(problem: Problem) -> tuple[Network, Loss, nn.Module, Loss, Examples]:
    """Ours and the plain way, each with its loss, from the same weights; and the examples."""
    where, truth = torch.device("cpu"), truth_of(problem)
    if METHOD == "mste":
        ours = Network(
            problem.drugs, TYPES, dimension=HIDDEN, gamma=1.0, dropout=0.0, multilabel=problem.multilabel
        )
        # from where they start, lengths are so small that rounding would be all there is
        for one in ours.parameters():
            nn.init.normal_(one, std=0.5)
        opposed = (OtherPairs if problem.multilabel else OtherTypes).of(problem, where)
        plain = Sines(problem, ours)
        examples = Examples.of(opposed.items, TYPES, per_pair=False, device=where)
        return ours, lambda batch: opposed.loss(ours, batch), plain, against(plain, problem), examples
    examples = Examples.of(problem.train, TYPES, per_pair=True, device=where)
    if METHOD == "mlp":
        prints = problem.inputs["fingerprints"]
        ours = Network(prints, TYPES, hidden=HIDDEN, dropout=0.0, multilabel=problem.multilabel)
        loss, plain = loss_of_labels(problem), Perceptron(problem, ours)
    else:
        graph, nodes = graph_of(problem)
        np.random.seed(1)
        ours = Network(graph, features_of(problem, graph, nodes), TYPES, hidden=HIDDEN, dropout=0.0)
        loss, plain = loss_of_labels(problem, functional.cross_entropy), Convolutions(problem, ours)
    return (
        ours,
        lambda batch: loss(ours(batch.pairs), batch.target),
        plain,
        lambda batch: judged(plain(batch.pairs), truth(batch), problem),
        examples,
    )


def against(plain: Sines, problem: Problem) -> Loss:
    """MSTE's loss: another type for the same pair, or the pair of the next line for the same type."""
    pairs, labels = problem.train.pairs.tolist(), problem.train.labels.tolist()
    if not problem.multilabel:
        first: dict[tuple[int, ...], int] = {}
        for pair, label in zip(pairs, labels, strict=True):
            first.setdefault(tuple(pair), label)

        def of_types(batch: Batch) -> Tensor:
            own = [first[tuple(pair)] for pair in batch.pairs.tolist()]
            # the same numbers as ours draws
            drawn = torch.randint_like(torch.tensor(own), TYPES - 1).tolist()
            other = [
                [r for r in range(TYPES) if r != r_own][place] for r_own, place in zip(own, drawn, strict=True)
            ]
            margin = (
                1 + plain.score(batch.pairs, torch.tensor(other)) - plain.score(batch.pairs, torch.tensor(own))
            )
            return torch.log(1 + torch.exp(margin)).mean()

        return of_types
    counts = [sum(1 for line in labels if line[j] != 0) for j in range(TYPES)]
    weight = torch.tensor([min(one for one in counts if one) / one if one else 0.0 for one in counts]).double()
    following = {
        (*pairs[i], j): pairs[i + 1] for i, line in enumerate(labels) for j in range(TYPES) if line[j] > 0
    }

    def of_pairs(batch: Batch) -> Tensor:
        r = batch.target.argmax(dim=1)
        other = torch.tensor(
            [following[(*pair, j)] for pair, j in zip(batch.pairs.tolist(), r.tolist(), strict=True)]
        )
        margin = 1 + plain.score(other, r) - plain.score(batch.pairs, r)
        return torch.log(1 + torch.exp(margin * weight[r])).mean()

    return of_pairs


def train(model: nn.Module, loss: Loss, batches: list[Batch]) -> float:
    """CPU seconds of a step. The first, which pays for what later ones find ready, counts only if it is alone."""
    optimiser, seconds = adamw(model, PARAMETERS), []
    for number, batch in enumerate(batches):
        torch.manual_seed(number)
        started = time.process_time()
        optimiser.zero_grad()
        loss(batch).backward()
        optimiser.step()
        seconds.append(time.process_time() - started)
    return float(np.mean(seconds[1:] or seconds))


def asked(scores: Scores, pairs: Tensor) -> tuple[float, Tensor]:
    """CPU seconds and logits."""
    started = time.process_time()
    with torch.no_grad():
        logits = scores(pairs)
    return time.process_time() - started, logits


def main() -> None:
    """Both from the same weights, on the same batches."""
    torch.manual_seed(0)
    problem, pairs = given()
    ours, loss, plain, plain_loss, examples = both_ways(problem)
    batches = list(examples.shuffled(BATCH, drop_last=True))[:STEPS]
    found = {"ours": train(ours, loss, batches), "plain": train(plain, plain_loss, batches)}
    # all of them would take the plain way minutes
    few = pairs[torch.randperm(len(pairs))[:1000]]
    (asking, _), (plainly, expected) = asked(ours.scores, pairs), asked(plain, few)
    found |= {"asking": asking, "asking_plainly": plainly / len(few)}
    found["apart"] = float((asked(ours.scores, few)[1] - expected).abs().max() / expected.abs().max())
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
