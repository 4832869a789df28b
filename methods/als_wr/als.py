"""Weighted alternating least squares for implicit feedback, as the published benchmark runs it.

Notation of Hu, Koren and Volinsky (2008): users are diseases, items are drugs, r_ui is the label, the confidence
is c_ui = 1 + alpha r_ui and the preference is 1 where r_ui is known. Each half step solves for every row u

    (Y'Y + Y'(C_u - I)Y + reg I) x_u = Y' C_u p_u        (equations 4 and 5)

With labels of -1 this system is indefinite and fifteen iterations of it are chaotic: a change in the last bit of a
sum becomes a different answer. So the sums are taken term by term in the order the original takes them, over all
rows at once: round k adds the k-th known label of every row that has one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


def half_step(R: Matrix, Y: Matrix, alpha: float, reg: float) -> Matrix:
    """New factors of the rows of R (labels, users x items, 0 = unknown), given the factors Y of its columns."""
    factors = Y.shape[1]
    upper = np.triu_indices(factors)
    outer = Y[:, upper[0]] * Y[:, upper[1]]
    # rows with most known labels first, so that those of one round are always the first ones
    order = np.argsort(-np.count_nonzero(R, axis=1), kind="stable")
    halves = np.tile((Y.T @ Y + reg * np.eye(factors))[upper], (len(R), 1))
    b = np.zeros((len(R), factors))
    for columns, labels in _rounds(R[order]):
        weight = alpha * labels[:, None]
        halves[: len(columns)] += weight * outer[columns]
        b[: len(columns)] += (weight + 1) * Y[columns]
    M = np.empty((len(R), factors, factors))
    M[:, upper[0], upper[1]] = halves
    M[:, upper[1], upper[0]] = halves
    solution = np.empty((len(R), factors))
    solution[order] = np.linalg.solve(M, b[:, :, None])[:, :, 0]
    return solution


def drug_half_step(R: Matrix, U: Matrix, V: Matrix, alpha: float, reg: float) -> Matrix:
    """The drugs' half step of the published code, which counts to the number of diseases.

    Drugs beyond that count keep the factors they have. (With fewer drugs than diseases the original stops with an
    error; here all drugs are updated.)
    """
    count = R.shape[0]
    updated = V.copy()
    updated[:count] = half_step(R.T[:count], U, alpha, reg)
    return updated


def initial_factors(shape: tuple[int, ...], n_factors: int, random_state: int) -> tuple[Matrix, Matrix]:
    """Standard normal factors of users, then of items, from one stream."""
    generator = np.random.RandomState(random_state)
    return generator.normal(size=(shape[0], n_factors)), generator.normal(size=(shape[1], n_factors))


def als(
    R: Matrix, *, n_factors: int, n_iters: int, alpha: float, reg: float, random_state: int
) -> tuple[Matrix, Matrix]:
    """Factors of diseases and drugs after `n_iters` iterations; there is no other stopping rule."""
    U, V = initial_factors(R.shape, n_factors, random_state)
    for _ in range(n_iters):
        U = half_step(R, V, alpha, reg)
        V = drug_half_step(R, U, V, alpha, reg)
    return U, V


def _rounds(R: Matrix) -> Iterator[tuple[Indices, Matrix]]:
    """Round k: column and label of the k-th known entry of every row that has one; rows with most come first."""
    known = R != 0
    counts = known.sum(axis=1)
    columns, labels = np.nonzero(known)[1], R[known]
    first = np.cumsum(counts) - counts
    for k in range(counts.max(initial=0)):
        entries = first[counts > k] + k
        yield columns[entries], labels[entries]
