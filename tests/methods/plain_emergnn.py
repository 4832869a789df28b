"""EmerGNN's definition, written down plainly: every node, every edge, pair by pair; and made-up golden cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DRUGS, NODES, TYPES, KINDS, WIDTH, BITS = 7, 12, 3, 2, 4, 9
_ORDERS = {
    ("M", False): ("at head", "at tail"),
    ("M", True): ("at head", "at tail"),
    ("E", False): ("head", "tail", "at head", "at tail"),
    ("E", True): ("head", "at head", "at tail", "tail"),
}


def made_case(dataset: str, feat: str, layers: int) -> tuple[dict[str, Array], dict[str, Any]]:
    """A graph with equal edges, with pairs joined by several relations, and a drug nothing is known of."""
    draw = np.random.default_rng(20260107 + layers)
    multilabel = dataset == "twosides"
    facts = np.column_stack([draw.integers(0, DRUGS - 1, (14, 2)), draw.integers(0, TYPES, 14)])
    kinds = draw.integers(1, KINDS + 1, 16) if multilabel else draw.integers(TYPES, TYPES + KINDS, 16)
    knowledge = np.column_stack([draw.integers(0, DRUGS - 1, 16), draw.integers(0, NODES, 16), kinds])
    knowledge[:, 1] += knowledge[:, 1] == DRUGS - 1
    pairs = np.concatenate([facts[:2, :2], draw.integers(0, DRUGS, (5, 2)), [[0, DRUGS - 1], [DRUGS - 1, 1]]])
    arrays = {
        "in/morgan": draw.integers(0, 3, (DRUGS, BITS)),
        "in/ddi_facts": np.concatenate([facts, facts[:3]]),
        "in/kg": np.concatenate([knowledge, knowledge[:2]]),
        "in/head": pairs[:, 0],
        "in/tail": pairs[:, 1],
        "in/y": draw.integers(0, TYPES, len(pairs)),
    }
    if multilabel:
        bits = draw.integers(0, 2, (len(pairs), TYPES))
        arrays["in/pos"], arrays["in/neg"] = np.hstack([pairs, bits]), np.hstack([pairs[::-1], bits])
    relations = 2 * (TYPES + KINDS) - TYPES * multilabel + 1
    shapes = {"Wr.weight": (TYPES, (4 if feat == "E" else 2) * WIDTH), "Wr.bias": (TYPES,)}
    shapes |= {"W.weight": (1, WIDTH), "W.bias": (1,)}
    if feat == "E":
        shapes["ent_kg.weight"] = (DRUGS, WIDTH)
    else:
        arrays["param/ent_kg"] = arrays["in/morgan"].astype(np.float32)
        shapes |= {"Went.weight": (WIDTH, BITS), "Went.bias": (WIDTH,)}
    for number in range(layers):
        shapes |= {
            f"rel_kg.{number}.weight": (relations, WIDTH),
            f"linear.{number}.weight": (WIDTH, WIDTH),
            f"linear.{number}.bias": (WIDTH,),
            f"relation_linear.{number}.weight": (5, 2 * WIDTH),
            f"relation_linear.{number}.bias": (5,),
            f"attn_relation.{number}.weight": (relations, 5),
            f"attn_relation.{number}.bias": (relations,),
        }
    arrays |= {f"param/{name}": draw.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}
    about = {"dataset": dataset, "feat": feat, "L": layers, "n_dim": WIDTH, "eval_ent": DRUGS, "all_ent": NODES}
    about |= {
        "eval_rel": TYPES,
        "all_rel": TYPES + KINDS,
        "optimizer": "Adam lr .003 wd 1e-4 (L2), batch 7 in order",
    }
    return arrays, about


def plain(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> tuple[Array, Array]:
    """Encodings and logits of a case, in double precision."""
    parameters = {name[6:]: value.astype(float) for name, value in arrays.items() if name.startswith("param/")}
    multilabel, adjacency = about["dataset"] == "twosides", _adjacency(arrays, about)
    vectors = parameters.get("ent_kg.weight")
    if vectors is None:
        vectors = arrays["in/morgan"] @ parameters["Went.weight"].T + parameters["Went.bias"]
    encoded = []
    for head, tail in zip(arrays["in/head"], arrays["in/tail"], strict=True):
        both = np.concatenate([vectors[head], vectors[tail]])
        at_tail, at_head = (
            _arriving(start, end, vectors, both, adjacency, parameters, about["L"])
            for start, end in ((head, tail), (tail, head))
        )
        parts = {"head": vectors[head], "tail": vectors[tail], "at head": at_head, "at tail": at_tail}
        encoded.append(np.concatenate([parts[name] for name in _ORDERS[about["feat"], multilabel]]))
    found = np.array(encoded)
    return found, found @ parameters["Wr.weight"].T + parameters["Wr.bias"]


def _arriving(
    start: int, end: int, vectors: Array, both: Array, adjacency: Array, parameters: dict[str, Array], layers: int
) -> Array:
    hidden = np.zeros((adjacency.shape[1], vectors.shape[1]))
    hidden[start] = vectors[start]
    for number in range(layers):
        inner = parameters[f"relation_linear.{number}.weight"] @ both
        inner = np.maximum(inner + parameters[f"relation_linear.{number}.bias"], 0)
        gate = parameters[f"attn_relation.{number}.weight"] @ inner + parameters[f"attn_relation.{number}.bias"]
        relations = parameters[f"rel_kg.{number}.weight"] / (1 + np.exp(-gate))[:, None]
        # relation, target, source; relation, dimension; source, dimension
        hidden = np.einsum("rts,rd,sd->td", adjacency, relations, hidden)
        weight, bias = (parameters[f"linear.{number}.{name}"] for name in ("weight", "bias"))
        hidden = np.maximum(hidden @ weight.T + bias, 0)
    return np.asarray(hidden[end])


def _adjacency(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> Array:
    """How many edges of each relation lead to each target from each source."""
    n, types, multilabel = about["all_rel"], about["eval_rel"], about["dataset"] == "twosides"
    loop = 2 * n - types if multilabel else 2 * n
    found = np.zeros((loop + 1, about["all_ent"], about["all_ent"]))
    for head, tail, relation in arrays["in/ddi_facts"]:
        found[0 if multilabel else relation, tail, head] += 1
        found[0 if multilabel else relation + n, head, tail] += 1
    for head, tail, relation in arrays["in/kg"]:
        found[relation, tail, head] += 1
        found[relation + n - types * multilabel, head, tail] += 1
    found[loop] += np.eye(about["all_ent"])
    return found


def loss_of(logits: Array, types: Array) -> float:
    """Cross entropy of all pairs, summed as often as there are pairs."""
    largest = logits.max(axis=1)
    each = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1)) - logits[np.arange(len(types)), types]
    return float(len(types) * each.sum())
