"""TIGER and EmerGNN as their definitions read, path by path and node by node."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import torch
from making import Arrays, Labels, Made, Parameters, layer, linear
from torch import Tensor
from torch.nn import functional

ROWS = 5
TOWERS = {
    "mol": ("mol_atom_feature", "mol_representation_learning"),
    "sub": ("drug_node_feature", "node_representation_learning"),
}


def tiger(draw: np.random.Generator) -> Iterator[Made]:
    """No block to four, each with other widths, heads, types, relations, degrees, features and entities."""
    chosen = [(0, 6, 5, (7, 8), (9, 4)), (1, 4, 9, (5, 6), (7, 8)), (2, 6, 5, (9, 7), (6, 5))]
    chosen += [(3, 8, 16, (6, 11), (8, 9)), (4, 5, 7, (8, 5), (5, 10))]
    for blocks, width, hidden, drug, pair in chosen:
        dataset, types = ("drugbank", 4 + blocks) if blocks % 2 else ("twosides", 3 + blocks)
        degrees, relations, features, entities = 7 + blocks, 26 + blocks, 5 + blocks, 20 + blocks
        inputs = _graphs(draw, features, entities)
        labels = Labels.drawn(dataset, types, ROWS, draw)

        def answer(
            P: Parameters, inputs: Arrays = inputs, labels: Labels = labels, blocks: int = blocks
        ) -> dict[str, Tensor]:
            vectors, seen = [], []
            for slot in "12":
                parts = {name: _encoded(P, inputs, name, slot, blocks) for name in TOWERS}
                batch = {name: torch.tensor(inputs[f"{name}{slot}_batch"]) for name in TOWERS}
                own = parts["sub"][torch.tensor(inputs[f"sub{slot}_id"]) == 1]
                mean = torch.stack([parts["mol"][batch["mol"] == row].mean(dim=0) for row in range(ROWS)])
                vectors.append(_perceptron(P, "fc1", torch.cat([own, mean], dim=1)))
                seen += [(vectors[-1], parts[name], batch[name]) for name in TOWERS]
            logits = _perceptron(P, "fc2", torch.cat(vectors, dim=1))
            mutual = 0.1 * sum(_told_apart(P, *one) for one in seen)
            return {"logits": logits, "reserved_loss": mutual, "loss": labels.loss(logits) + mutual}

        shapes = {"disc.f_k.weight": (1, width, width), "disc.f_k.bias": (1,)}
        for name, sizes in (("fc1", (*drug, width)), ("fc2", (*pair, types))):
            for number, inward, outward in zip((0, 3, 6), (2 * width, *sizes), sizes, strict=False):
                shapes |= layer(f"{name}.{number}", outward, inward)
        shapes |= layer("mol_atom_feature.node_encoder", width, features)
        shapes["drug_node_feature.node_encoder.weight"] = (entities, width)
        constants = dict(labels.constants)
        for inward, transformer in TOWERS.values():
            shapes[f"{inward}.degree_encoder.weight"] = (degrees, width)
            for number in range(blocks):
                shapes |= _of_block(f"{transformer}.encoder.{number}", width, hidden)
            constants |= _inert(draw, transformer, blocks, width, relations)
        # what only weighs paths weighs nothing here, the number of heads included
        about = {"dataset": dataset, "heads": 1}
        others = {"smiles": np.array(["C"]), "h_index": np.arange(ROWS), "kg_rel": np.arange(3)}
        name = f"TIGER/{dataset}_{blocks:02}"
        yield Made(name, about, shapes, {**inputs, **others, **labels.inputs}, answer, constants)


def _graphs(draw: np.random.Generator, features: int, entities: int) -> Arrays:
    """Of both channels and slots: batches of graphs that some paths are missing from, and some are twice in."""
    told: Arrays = {}
    for channel, slot in product(TOWERS, "12"):
        sizes = draw.integers(2, 5, ROWS)
        firsts, batch = np.cumsum(sizes) - sizes, np.repeat(np.arange(ROWS), sizes)
        edges, paths = [], []
        for first, size in zip(firsts, sizes, strict=True):
            ring = np.arange(size)
            edges += [np.stack([ring, (ring + 1) % size]) + first, np.stack([(ring + 1) % size, ring]) + first]
            ends = np.array(list(product(ring, ring))).T
            drawn = draw.integers(0, ends.shape[1], ends.shape[1])
            paths.append(ends[:, drawn] + first)
        sp, nodes = np.concatenate(paths, axis=1), len(batch)
        own = np.zeros(nodes, dtype=np.int64)
        own[firsts + draw.integers(0, sizes)] = 1
        atoms = draw.normal(size=(nodes, features)).astype(np.float32)
        mine = {
            "x": atoms if channel == "mol" else draw.integers(0, entities, nodes),
            "edge_index": np.concatenate(edges, axis=1),
            "sp_edge_index": sp,
            "sp_value": draw.integers(1, 9, sp.shape[1]).astype(np.float32),
            "sp_edge_rel": draw.integers(0, 26, sp.shape[1]),
            "batch": batch,
        } | ({"id": own} if channel == "sub" else {})
        told |= {f"{channel}{slot}_{name}": one for name, one in mine.items()}
    return told


def _encoded(P: Parameters, inputs: Arrays, channel: str, slot: str, blocks: int) -> Tensor:
    inward, transformer = TOWERS[channel]
    x = torch.tensor(inputs[f"{channel}{slot}_x"])
    source, target = inputs[f"{channel}{slot}_sp_edge_index"]
    degree = np.bincount(inputs[f"{channel}{slot}_edge_index"][1], minlength=len(x))
    table = P[f"{inward}.node_encoder.weight"]
    found = linear(P, f"{inward}.node_encoder", x.double()) if channel == "mol" else table[x]
    found = found + P[f"{inward}.degree_encoder.weight"][degree]
    for number in range(blocks):
        name = f"{transformer}.encoder.{number}"
        normal = _normal(P, f"{name}.layernorm1", found)
        sent = linear(P, f"{name}.multiHeadAttention.wv", normal)[source]
        gathered = torch.zeros_like(normal).index_add(0, torch.tensor(target), sent)
        found = found + linear(P, f"{name}.multiHeadAttention.dense", gathered)
        inner = torch.relu(linear(P, f"{name}.ffn.0", _normal(P, f"{name}.layernorm2", found)))
        found = found + linear(P, f"{name}.ffn.2", inner)
    return found


def _normal(P: Parameters, name: str, given: Tensor) -> Tensor:
    return functional.layer_norm(given, given.shape[1:], P[f"{name}.weight"], P[f"{name}.bias"], 1e-6)


def _perceptron(P: Parameters, name: str, given: Tensor) -> Tensor:
    for number in (0, 3):
        given = torch.relu(linear(P, f"{name}.{number}", given))
    return linear(P, f"{name}.6", given)


def _told_apart(P: Parameters, vectors: Tensor, nodes: Tensor, batch: Tensor) -> Tensor:
    other = list(range(ROWS))[::-1]
    other[ROWS // 2] = other[ROWS // 2 + 1]
    logits = [
        torch.einsum("ni,ij,nj->n", one[batch], P["disc.f_k.weight"][0], nodes) + P["disc.f_k.bias"]
        for one in (vectors, vectors[other])
    ]
    truth = torch.tensor([1.0, 0.0]).double()[:, None].expand(2, len(nodes))
    return functional.binary_cross_entropy_with_logits(torch.stack(logits), truth)


def _of_block(name: str, width: int, hidden: int) -> dict[str, tuple[int, ...]]:
    shapes = layer(f"{name}.ffn.0", hidden, width) | layer(f"{name}.ffn.2", width, hidden)
    for part in ("wv", "dense"):
        shapes |= layer(f"{name}.multiHeadAttention.{part}", width, width)
    for number in "12":
        shapes |= {f"{name}.layernorm{number}.{part}": (width,) for part in ("weight", "bias")}
    return shapes


def _inert(draw: np.random.Generator, name: str, blocks: int, width: int, relations: int) -> Arrays:
    """What is never trained; relations and path values are one for all blocks, and stand in each of them too."""
    bias = {**layer("fnn.0", width, 1), **layer("fnn.2", 1, width)}
    shared = {"weight": draw.normal(size=(relations, width)).astype(np.float32)}
    values = {part: draw.normal(size=shape).astype(np.float32) for part, shape in bias.items()}
    told = {f"{name}.rel_encoder.weight": shared["weight"]}
    told |= {f"{name}.spatial_encoder.{part}": one for part, one in values.items()}
    for number in range(blocks):
        start = f"{name}.encoder.{number}.multiHeadAttention"
        told[f"{start}.rel_embedding.weight"] = shared["weight"]
        told |= {f"{start}.spatial_encoding.{part}": one for part, one in values.items()}
        own = layer(f"{start}.rel_encoding.0", 1, width)
        own |= layer(f"{start}.wq", width, width) | layer(f"{start}.wk", width, width)
        told |= {part: draw.normal(size=shape).astype(np.float32) for part, shape in own.items()}
    return told


def emergnn(draw: np.random.Generator) -> Iterator[Made]:
    """One hop to four, each with other widths, gates, types, relations, nodes and steps."""
    for hops, feat, width, gate in ((1, "M", 3, 4), (2, "E", 5, 3), (3, "M", 6, 5), (4, "E", 4, 6)):
        drugs, nodes, bits, types, kinds = 6 + hops, 11 + hops, 5 + hops, 2 + hops, 4 - hops // 2
        facts = np.column_stack([draw.integers(0, drugs, (14, 2)), draw.integers(0, types, 14)])
        ends = draw.integers(0, drugs, 16), draw.integers(0, nodes, 16)
        knowledge = np.column_stack([*ends, draw.integers(types, types + kinds, 16)])
        pairs, y = draw.integers(0, drugs, (2, 7)), draw.integers(0, types, 7)
        prints = draw.integers(0, 3, (drugs, bits)).astype(np.float64)
        relations = 2 * (types + kinds) + 1
        count = torch.zeros(relations, nodes, nodes).double()
        for head, tail, relation in np.concatenate([facts, knowledge]):
            count[relation, tail, head] += 1
            count[relation + types + kinds, head, tail] += 1
        count[-1] += torch.eye(nodes)

        def answer(
            P: Parameters,
            rows: slice = slice(None),
            given: tuple[Tensor, ...] = (count, torch.tensor(prints), torch.tensor(pairs), torch.tensor(y)),
            hops: int = hops,
        ) -> dict[str, Tensor]:
            count, prints, pairs, y = given
            own = "ent_kg.weight" in P
            known = P["ent_kg.weight"] if own else linear(P, "Went", prints)
            head, tail = (known[side] for side in pairs[:, rows])
            both = torch.cat([head, tail], dim=1)

            def arriving(start: Tensor, there: Tensor, end: Tensor) -> Tensor:
                hidden = torch.zeros(len(start), count.shape[1], start.shape[1]).double()
                hidden[torch.arange(len(start)), there] = start
                for hop in range(hops):
                    inner = torch.relu(linear(P, f"relation_linear.{hop}", both))
                    gates = torch.sigmoid(linear(P, f"attn_relation.{hop}", inner))
                    weights = gates[:, :, None] * P[f"rel_kg.{hop}.weight"]
                    hidden = torch.relu(
                        linear(P, f"linear.{hop}", torch.einsum("rts,brd,bsd->btd", count, weights, hidden))
                    )
                return hidden[torch.arange(len(start)), end]

            ends = pairs[:, rows]
            at_tail, at_head = arriving(head, ends[0], ends[1]), arriving(tail, ends[1], ends[0])
            encoded = torch.cat([*((head, tail) if own else ()), at_head, at_tail], dim=1)
            logits = linear(P, "Wr", encoded)
            loss = len(logits) * functional.cross_entropy(logits, y[rows], reduction="sum")
            return {"ht_embed": encoded, "logits": logits, "loss": loss}

        shapes = layer("Wr", types, (4 if feat == "E" else 2) * width) | layer("W", 1, width)
        for hop in range(hops):
            shapes |= {f"rel_kg.{hop}.weight": (relations, width)} | layer(f"linear.{hop}", width, width)
            shapes |= layer(f"relation_linear.{hop}", gate, 2 * width)
            shapes |= layer(f"attn_relation.{hop}", relations, gate)
        constants: Arrays = {}
        if feat == "E":
            shapes["ent_kg.weight"] = (drugs, width)
        else:
            shapes |= layer("Went", width, bits)
            constants["ent_kg"] = prints.astype(np.float32)
        rate, decay, size = 1e-3 * hops, 1e-4 / hops, 2 + hops
        yield Made(
            f"EmerGNN/drugbank_{hops:02}",
            {
                "dataset": "drugbank",
                "feat": feat,
                "eval_ent": drugs,
                "all_ent": nodes,
                "all_rel": types + kinds,
                "optimizer": f"Adam lr {rate} wd {decay} (L2), batch {size} in order",
            },
            shapes,
            {"morgan": prints, "ddi_facts": facts, "kg": knowledge, "head": pairs[0], "tail": pairs[1], "y": y},
            answer,
            constants,
            lambda P, rate=rate, decay=decay: torch.optim.Adam(P.values(), lr=rate, weight_decay=decay),
            batches=[slice(first, first + size) for first in range(0, 7, size)],
        )
