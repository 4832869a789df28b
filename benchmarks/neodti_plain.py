"""Runs in NeoDTI's image: steps of ours against the same steps written down plainly, from the same weights.

Plainly every network is a dense matrix, all pairs are scored and masked, and every reconstruction is made whole.
Prints one JSON object.
"""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from dti_sdk import Pairs
from model import Model
from networks import BINDINGS, KINDS, MESSAGES, NETWORKS, Network, counts_of, messages_of
from torch import Tensor
from training import Given, Trainer

torch.set_num_threads(1)
CPU = torch.device("cpu")
STEPS, WIDTH, PROJECTION = (int(os.environ[name]) for name in ("STEPS", "WIDTH", "PROJECTION"))
RATE, CLIP, EPSILON = 1e-3, 1.0, 1e-8


def plain_steps(
    start: list[Tensor], raw: Mapping[str, np.ndarray], mask: np.ndarray, steps: int
) -> tuple[Tensor, list[float], list[Tensor]]:
    """Scores after the steps, losses, and the first gradients."""
    weights = [one.clone().requires_grad_() for one in start]
    networks = {name: torch.tensor(one, dtype=torch.float32) for name, one in raw.items()}
    heard = {}
    for kind, name, _ in MESSAGES:
        if name in networks:
            one = networks[name] if NETWORKS[name][0] == kind else networks[name].T
            heard[kind, name] = one / (one.sum(1, keepdim=True) + 1e-12)
    among = torch.tensor(mask, dtype=torch.float32)
    first = [torch.zeros_like(one) for one in weights]
    second = [torch.zeros_like(one) for one in weights]
    losses: list[float] = []
    gradients: list[Tensor] = []
    for number in range(1, steps + 1):
        rebuilt = _rebuilt(weights, networks, heard)
        total = (among * (rebuilt[BINDINGS] - networks[BINDINGS])).square().sum()
        for name, one in rebuilt.items():
            total = total + ((one - networks[name]).square().sum() if name != BINDINGS else 0)
        total = total + sum(0.5 * one.square().sum() for one in weights if one.ndim > 1)
        found = torch.autograd.grad(total, weights, allow_unused=True)
        losses.append(float(total.detach()))
        cut = [torch.zeros_like(w) if one is None else one for w, one in zip(weights, found, strict=True)]
        gradients = gradients or cut
        norm = torch.sqrt(sum(one.square().sum() for one in cut))
        scale = CLIP / max(float(norm), CLIP)
        with torch.no_grad():
            rate = RATE * (1 - 0.999**number) ** 0.5 / (1 - 0.9**number)
            for w, m, v, g in zip(weights, first, second, cut, strict=True):
                m.mul_(0.9).add_(0.1 * scale * g)
                v.mul_(0.999).add_(0.001 * (scale * g) ** 2)
                w -= rate * m / (v.sqrt() + EPSILON)
    with torch.no_grad():
        return _rebuilt(weights, networks, heard)[BINDINGS], losses, gradients


def _rebuilt(
    weights: list[Tensor], networks: Mapping[str, Tensor], heard: Mapping[tuple[str, str], Tensor]
) -> dict[str, Tensor]:
    left = iter(weights)
    x = {kind: next(left) for kind in KINDS if any(kind in NETWORKS[name] for name in networks)}
    own, bias = next(left), next(left)
    sums = {kind: torch.zeros_like(one) for kind, one in x.items()}
    for kind, name, sender in MESSAGES:
        W, b = next(left), next(left)
        if (kind, name) in heard:
            sums[kind] = sums[kind] + heard[kind, name] @ torch.relu(x[sender] @ W + b)
    z = {}
    for kind, one in x.items():
        vector = torch.relu(torch.cat([sums[kind], one], dim=1) @ own + bias)
        z[kind] = vector / vector.square().sum(1, keepdim=True).clamp(min=1e-12).sqrt()
    rebuilt = {}
    for name, (one, other) in NETWORKS.items():
        P = next(left)
        Q = P if one == other else next(left)
        if name in networks:
            rebuilt[name] = (z[one] @ P) @ (z[other] @ Q).T
    return rebuilt


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What comes of it, and its CPU seconds."""
    started = time.process_time()
    return work(), time.process_time() - started


def main() -> None:
    """Both, from the arrays in /in: a network each, and `mask`."""
    raw = {path.stem: np.load(path) for path in Path("/in").glob("*.npy")}
    mask = raw.pop("mask")
    networks = {name: Network.of(one) for name, one in raw.items()}
    pairs = np.argwhere(mask)
    torch.manual_seed(11)
    model = Model(counts_of(networks), WIDTH, PROJECTION)
    start = [one.detach().clone() for one in model.in_order()]
    train = Pairs(pairs, raw[BINDINGS][tuple(pairs.T)])
    given = Given.of(networks, messages_of(networks), train, CPU)
    # the first step of a process loads what takes longer than many steps
    first = Trainer(copy.deepcopy(model), given, learning_rate=RATE, clip=CLIP)
    first.update(first.forward()[1])
    trainer = Trainer(model, given, learning_rate=RATE, clip=CLIP)
    losses, gradients = [], []

    def ours() -> None:
        for number in range(STEPS):
            terms = trainer.forward()[1]
            losses.append(sum(float(one.detach()) for one in terms.values()))
            trainer.update(terms)
            if not number:
                # cut by now, as all of them are
                gradients.extend(torch.zeros(1) if one.grad is None else one.grad for one in model.in_order())

    _, seconds = timed(ours)
    left, right = model.factors(trainer.forward()[0], BINDINGS)
    scores = (left @ right.T).detach()
    (expected, plain_losses, plain_gradients), plain_seconds = timed(lambda: plain_steps(start, raw, mask, STEPS))
    norm = float(torch.sqrt(sum(one.square().sum() for one in plain_gradients)))
    cut = [one * CLIP / max(norm, CLIP) for one in plain_gradients]
    apart = {
        "scores": float((scores - expected).abs().max() / expected.abs().max()),
        "losses": float(np.abs(np.array(losses) / np.array(plain_losses) - 1).max()),
        "gradients": max(float((a - b).abs().max()) for a, b in zip(gradients, cut, strict=True)),
    }
    print(json.dumps({"ours": seconds, "plain": plain_seconds, "apart": apart}))


main()
