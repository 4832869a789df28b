"""MLP, MSTE, Decagon and MRCGNN as their definitions read, on a few drugs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from making import Labels, Made, Parameters, layer, linear
from torch import Tensor
from torch.nn import functional

DRUGS, ROWS = 9, 16


def mlp(draw: np.random.Generator) -> Iterator[Made]:
    """Other features, hidden widths and types; with features and without."""
    for number, (dataset, width, hidden, types) in enumerate((("drugbank", 7, 5, 4), ("twosides", 10, 3, 6))):
        prints = draw.integers(0, 3, (DRUGS, width)).astype(np.float32)
        pairs, labels = draw.integers(0, DRUGS, (2, ROWS)), Labels.drawn(dataset, types, ROWS, draw)

        def answer(
            P: Parameters, prints: np.ndarray = prints, pairs: np.ndarray = pairs, labels: Labels = labels
        ) -> dict[str, Tensor]:
            known = torch.tensor(prints).double()
            logits = linear(
                P, "lin2", torch.relu(linear(P, "lin1", torch.cat([known[one] for one in pairs], dim=1)))
            )
            logits = torch.relu(logits) if labels.dataset == "drugbank" else logits
            return {"logits": logits, "loss": labels.loss(logits)}

        shapes = layer("lin1", hidden, 2 * width) | layer("lin2", types, hidden)
        about = {"model": "MLP", "dataset": dataset}
        inputs = {"head": pairs[0], "tail": pairs[1], **labels.inputs}
        constants = {"entity_embedding": prints, **labels.constants}
        yield Made(f"MLP/{dataset}_use_feat{number}_01", about, shapes, inputs, answer, constants)


def mste(draw: np.random.Generator) -> Iterator[Made]:
    """Other dimensions, types and margins."""
    for dataset, dimension, types, gamma in (("drugbank", 6, 5, 0.5), ("twosides", 11, 3, 2.0)):
        triple = np.column_stack([draw.integers(0, DRUGS, (ROWS, 2)), draw.integers(0, types, ROWS)])
        several, weight = dataset == "twosides", draw.uniform(0.1, 1, types)
        other = draw.integers(0, DRUGS, (ROWS, 2)) if several else (triple[:, 2:] + 1) % types

        def answer(
            P: Parameters,
            triple: np.ndarray = triple,
            other: np.ndarray = other,
            gamma: float = gamma,
            weight: np.ndarray | None = weight if several else None,
        ) -> dict[str, Tensor]:
            E, R = P["entity_embedding"], P["relation_embedding"]

            def length(h: Tensor, r: Tensor, t: Tensor) -> Tensor:
                return (torch.sin(t * r) * h + torch.sin(t * h) * r - torch.sin(h * r) * t).norm(dim=-1)

            def score(pairs: np.ndarray, kinds: np.ndarray) -> Tensor:
                h, t = (E[side] for side in pairs.T)
                if weight is None:
                    return length(h, R[kinds], t)
                return length(h, R[kinds, :, 1], t) - length(h, R[kinds, :, 0], t)

            pairs, own = triple[:, :2], triple[:, 2]
            positive = score(pairs, own)
            negative = score(pairs, other[:, 0]) if weight is None else score(other, own)
            scale = 1.0 if weight is None else torch.tensor(weight)[own]
            every = [score(pairs, np.full(len(pairs), kind)) for kind in range(len(R))]
            loss = functional.softplus((gamma + negative - positive) * scale).mean()
            told = {"pos_score": positive, "neg_score": negative, "loss": loss}
            return told | {"scores_all_relations": torch.stack(every, dim=1)}

        shapes = {
            "entity_embedding": (DRUGS, dimension),
            "relation_embedding": (types, dimension, 2) if several else (types, dimension),
        }
        inputs = {"triple": triple, "neg": other} | ({"loss_weight": weight} if several else {})
        constants = {"gamma": np.array([gamma], np.float32), "embedding_range": np.ones(1, np.float32)}
        yield Made(f"MSTE/{dataset}_01", {"dataset": dataset}, shapes, inputs, answer, constants)


def decagon(draw: np.random.Generator) -> Iterator[Made]:
    """Other numbers of nodes, features, widths and types."""
    for dataset, nodes, width, hidden, types in (("drugbank", 13, 6, 5, 4), ("twosides", 17, 8, 7, 3)):
        features = draw.normal(size=(nodes, width)).astype(np.float32)
        edges = draw.integers(0, nodes, (2, 40))
        pairs, labels = draw.integers(0, DRUGS, (2, ROWS)), Labels.drawn(dataset, types, ROWS, draw)

        def answer(
            P: Parameters,
            features: np.ndarray = features,
            edges: np.ndarray = edges,
            pairs: np.ndarray = pairs,
            labels: Labels = labels,
        ) -> dict[str, Tensor]:
            count = torch.eye(len(features)).double()
            count.index_put_((torch.tensor(edges[1]), torch.tensor(edges[0])), torch.tensor(1.0).double(), True)
            share = count.sum(dim=1) ** -0.5
            weights = share[:, None] * count * share
            first = weights @ (torch.tensor(features).double() @ P["conv1.lin.weight"].T) + P["conv1.bias"]
            X = weights @ (first @ P["conv2.lin.weight"].T) + P["conv2.bias"]
            D, G = P["relation_param"], P["interaction_model"][0]
            head, tail = (X[side] @ D for side in pairs)
            logits = ((head @ G) * tail).sum(dim=2).T
            return {"node_after_conv1": first, "logits": logits, "loss": labels.loss(logits, entropy=True)}

        shapes = {"relation_param": (types, hidden, hidden), "interaction_model": (1, hidden, hidden)}
        for number, inward in ((1, width), (2, hidden)):
            shapes |= {f"conv{number}.lin.weight": (hidden, inward), f"conv{number}.bias": (hidden,)}
        inputs = {"head": pairs[0], "tail": pairs[1], "edge_index": edges, "init_emb": features, **labels.inputs}
        constants = {"init_emb": features, "batchnorm.weight": np.ones(hidden, np.float32), **labels.constants}
        about = {"dataset": dataset, "drugs": DRUGS}
        yield Made(f"Decagon/{dataset}_01", about, shapes, inputs, answer, constants, spread=0.1)


def mrcgnn(draw: np.random.Generator) -> Iterator[Made]:
    """Other features, types and widths of all layers."""
    for dataset, width, types, (one, two), hidden in (
        ("drugbank", 7, 4, (6, 5), (9, 8)),
        ("twosides", 11, 3, (5, 7), (6, 10)),
    ):
        features = draw.integers(0, 3, (DRUGS, width)).astype(np.float32)
        edges, drawn = draw.integers(0, DRUGS, (2, 30)), draw.integers(0, types, 30)
        views = {"edge_type_shuffled": draw.permutation(drawn), "perm": draw.permutation(DRUGS)}
        pairs, labels = draw.integers(0, DRUGS, (2, ROWS)), Labels.drawn(dataset, types, ROWS, draw)
        given = {"feat": features, "edge_index": edges, "edge_type": drawn, **views}

        def answer(
            P: Parameters,
            given: dict[str, np.ndarray] = given,
            pairs: np.ndarray = pairs,
            labels: Labels = labels,
        ) -> dict[str, Tensor]:
            def encoded(X: Tensor, kinds: np.ndarray) -> tuple[Tensor, Tensor]:
                first = torch.relu(_relational(P, "encoder_o1", X, given["edge_index"], kinds))
                return first, _relational(P, "encoder_o2", first, given["edge_index"], kinds)

            X = torch.tensor(given["feat"]).double()
            first, second = encoded(X, given["edge_type"])
            others = (
                encoded(X[given["perm"]], given["edge_type"])[1],
                encoded(X, given["edge_type_shuffled"])[1],
            )
            direction = P["disc.f_k.weight"][0] @ torch.sigmoid(second.mean(dim=0))
            told = [
                torch.stack([view @ direction for view in (second, other)], 1) + P["disc.f_k.bias"]
                for other in others
            ]
            known = torch.cat([P["attt"][0] * first, P["attt"][1] * second, X], dim=1)
            found = torch.cat([known[side] for side in pairs], dim=1)
            for number in (0, 3):
                found = functional.elu(linear(P, f"mlp.{number}", found))
            logits = linear(P, "mlp.6", found)
            loss, truth = labels.loss(logits), torch.tensor([1.0, 0.0]).double().expand(DRUGS, 2)
            for weight, one in zip((0.05, 0.1), told, strict=True):
                loss = loss + weight * functional.binary_cross_entropy_with_logits(one, truth)
            return {"logits": logits, "ret_os": told[0], "ret_os_a": told[1], "x2_os": second, "loss": loss}

        shapes: dict[str, tuple[int, ...]] = {
            "attt": (2,),
            "disc.f_k.weight": (1, two, two),
            "disc.f_k.bias": (1,),
        }
        for name, inward, outward in (("encoder_o1", width, one), ("encoder_o2", one, two)):
            shapes |= {f"{name}.weight": (types, inward, outward), f"{name}.root": (inward, outward)}
            shapes |= {f"{name}.bias": (outward,)}
        sizes = (2 * (one + two + width), *hidden, types)
        for number, inward, outward in zip((0, 3, 6), sizes, sizes[1:], strict=False):
            shapes |= layer(f"mlp.{number}", outward, inward)
        inputs = {**given, "head": pairs[0], "tail": pairs[1], **labels.inputs}
        yield Made(f"MRCGNN/{dataset}_01", {"dataset": dataset}, shapes, inputs, answer, labels.constants)


def _relational(P: Parameters, name: str, X: Tensor, edges: np.ndarray, kinds: np.ndarray) -> Tensor:
    found = X @ P[f"{name}.root"] + P[f"{name}.bias"]
    for kind, weight in enumerate(P[f"{name}.weight"]):
        source, target = (torch.tensor(one) for one in edges[:, kinds == kind])
        count = torch.zeros(DRUGS, DRUGS).double()
        count.index_put_((target, source), torch.tensor(1.0).double(), True)
        found = found + count / count.sum(dim=1, keepdim=True).clamp(min=1) @ X @ weight
    return found
