"""Matrix factorization trained by Bayesian personalised ranking, as the published benchmark runs it.

Notation of Rendle et al. (2009): users are diseases, items are drugs. For a user u, an item i it has and an item j
it has not, d = u (v_i - v_j)', and u, v_i and v_j take a gradient step on -log sigmoid(d) with weight decay, in
batches of users. Within a batch all gradients are those of the factors before it. Where an item occurs twice, its
last step alone counts: that is what assignment through repeated indices does. And the steps of the items j start
from what the steps of the items i have left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sampling import Indices, Sampler

Matrix = npt.NDArray[np.float64]


def initial_factors(shape: tuple[int, ...], n_factors: int, random_state: int) -> tuple[Matrix, Matrix]:
    """Standard normal factors of users, then of items, from one stream."""
    generator = np.random.RandomState(random_state)
    return generator.normal(size=(shape[0], n_factors)), generator.normal(size=(shape[1], n_factors))


def batch_step(
    U: Matrix, V: Matrix, users: Indices, i: Indices, j: Indices, learning_rate: float, reg: float
) -> None:
    """One step of a batch of distinct users, in place."""
    u, v_i, v_j = U.take(users, axis=0), V.take(i, axis=0), V.take(j, axis=0)
    to_i = v_i - v_j
    odds = np.exp(-np.einsum("kf,kf->k", u, to_i))
    rate = (learning_rate * odds / (1.0 + odds))[:, None]
    step, kept = rate * u, 1.0 - learning_rate * reg
    U[users] = kept * u + rate * to_i
    V[i] = kept * v_i + step
    V[j] -= step + (learning_rate * reg) * v_j


def bpr(
    R: npt.NDArray[np.bool_],
    U: Matrix,
    V: Matrix,
    *,
    fit_seed: int,
    n_iters: int,
    batch_size: int,
    shrink_batch: bool,
    learning_rate: float,
    reg: float,
) -> None:
    """Train U and V in place on R (users x items: what a user has). There is no stopping rule."""
    if shrink_batch:
        batch_size = min(batch_size, len(R))
    if len(R) < batch_size:
        raise ValueError(f"{len(R)} diseases are fewer than one batch of {batch_size} different ones")
    sampler = Sampler(R, fit_seed)
    for _ in range(n_iters * (len(R) // batch_size)):
        batch_step(U, V, *sampler.batch(batch_size), learning_rate, reg)
