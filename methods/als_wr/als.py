"""Weighted alternating least squares for implicit feedback, as the published benchmark runs it.

Notation of Hu, Koren and Volinsky (2008): users are diseases, items are drugs, r_ui is the label, the confidence
is c_ui = 1 + alpha r_ui and the preference is 1 where r_ui is known. Each half step solves for every row u

    (Y'Y + Y'(C_u - I)Y + reg I) x_u = Y' C_u p_u        (equations 4 and 5)

With labels of -1 this system is indefinite and fifteen iterations of it are chaotic: a change in the last bit of a
sum becomes a different answer. So the sums are taken term by term in the order the original takes them, over all
rows at once: round k adds the k-th known label of every row that has one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Known:
    """The known labels of a matrix, round by round."""

    n_rows: int
    # that have a label; those with most first, so that the rows of a round are always the first ones
    rows: Indices
    # the columns of its labels; alpha r and c of each, standing upright
    rounds: list[tuple[Indices, Matrix, Matrix]]

    @staticmethod
    def of(R: npt.NDArray[np.int8], alpha: float) -> Known:
        """Those of R (0 = unknown)."""
        counts = np.count_nonzero(R, axis=1)
        rows = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        counts = counts[rows]
        row, columns = np.nonzero(R[rows])
        surplus = alpha * R[rows[row], columns, None].astype(float)
        confidence = surplus + 1
        first = np.cumsum(counts) - counts
        entries = [first[counts > k] + k for k in range(counts.max(initial=0))]
        return Known(len(R), rows, [(columns[k], surplus[k], confidence[k]) for k in entries])


def half_step(known: Known, Y: Matrix, reg: float) -> Matrix:
    """New factors of the rows, given those of the columns. A row without a label gets zeros."""
    factors = Y.shape[1]
    upper = np.triu_indices(factors)
    # both sides of the equations at once: half of a symmetric matrix, then a vector
    matrix, vector = np.s_[:, :-factors], np.s_[:, -factors:]
    products = np.hstack([Y[:, upper[0]] * Y[:, upper[1]], Y])
    sums = np.zeros((len(known.rows), products.shape[1]))
    sums[matrix] = (Y.T @ Y + reg * np.eye(factors))[upper]
    for columns, surplus, confidence in known.rounds:
        terms = products.take(columns, axis=0)
        terms[matrix] *= surplus
        terms[vector] *= confidence
        sums[: len(columns)] += terms
    place = np.zeros((factors, factors), dtype=np.intp)
    place[upper] = place.T[upper] = np.arange(len(upper[0]))
    X = np.zeros((known.n_rows, factors))
    X[known.rows] = np.linalg.solve(sums.take(place, axis=1), sums[vector][:, :, None])[:, :, 0]
    return X


def initial_factors(shape: tuple[int, ...], n_factors: int, random_state: int) -> tuple[Matrix, Matrix]:
    """Standard normal factors of users, then of items, from one stream."""
    generator = np.random.RandomState(random_state)
    return generator.normal(size=(shape[0], n_factors)), generator.normal(size=(shape[1], n_factors))


def als(
    R: npt.NDArray[np.int8],
    *,
    n_factors: int,
    n_iters: int,
    alpha: float,
    reg: float,
    random_state: int,
    all_drugs: bool,
) -> tuple[Matrix, Matrix]:
    """Factors of diseases and drugs after `n_iters` iterations; there is no other stopping rule.

    The published code counts drugs to the number of diseases: those beyond keep the factors they started with.
    (With fewer drugs than diseases the original stops with an error; here all drugs are updated.)
    """
    U, V = initial_factors(R.shape, n_factors, random_state)
    diseases, drugs = Known.of(R, alpha), Known.of(R.T if all_drugs else R.T[: len(R)], alpha)
    for _ in range(n_iters):
        U = half_step(diseases, V, reg)
        V[: drugs.n_rows] = half_step(drugs, U, reg)
    return U, V
