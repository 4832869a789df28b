"""Logistic matrix factorization of implicit feedback, as the published benchmark runs it.

Notation of Johnson (2014): users are diseases, items are drugs, c_ui = alpha where an association is known, else
0; a_ui = x_u y_i' + beta_u + beta_i, and p_ui = exp(a_ui) / (1 + exp(a_ui)). Users and items in turn take an
AdaGrad step along the gradient of the log posterior (equations 5 and 6), whose part for x_u is

    sum_i c_ui y_i - sum_i (1 + c_ui) p_ui y_i - lambda x_u
        = sum_i (1 + c_ui) / (1 + exp(a_ui)) y_i - sum_i y_i - lambda x_u

The second line is what is computed: one exponential, one quotient and two thin products for a half step. A bias is
one more entry of a vector, which the other side meets with a one; it is not regularised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Known = npt.NDArray[np.bool_]


@dataclass
class Side:
    """The users or the items: one row each of vector and bias, and the sums of squares that AdaGrad divides by."""

    values: Matrix
    squares: Matrix

    @staticmethod
    def of(vectors: Matrix, biases: Matrix) -> Side:
        """A side before its first step."""
        values = np.hstack([vectors, biases])
        return Side(values, np.zeros_like(values))

    @property
    def vectors(self) -> Matrix:
        """Without biases."""
        return self.values[:, :-1]

    @property
    def biases(self) -> Matrix:
        """The biases, as a column."""
        return self.values[:, -1:]

    @property
    def met(self) -> Matrix:
        """Vectors, ones, biases: the first ones are what the gradient of the other side is made of."""
        return np.hstack([self.vectors, np.ones_like(self.biases), self.biases])

    def climb(self, gradient: Matrix, gamma: float) -> None:
        """One step. As in the original nothing guards the division."""
        self.squares += np.square(gradient)
        self.values += gamma * gradient / np.sqrt(self.squares)


def weight(known: Known) -> float:
    """alpha: pairs not known per known pair. Where none is known there is none to weigh."""
    positives = int(known.sum())
    return (known.size - positives) / positives if positives else 0.0


def initial_sides(shape: tuple[int, ...], factors: int, stream: np.random.RandomState) -> tuple[Side, Side]:
    """Standard normal vectors of users and of items, then biases of users and of items."""
    X, Y, beta_users, beta_items = (
        stream.normal(size=(count, width)) for width in (factors, 1) for count in shape
    )
    return Side.of(X, beta_users), Side.of(Y, beta_items)


def odds(users: Side, items: Side) -> Matrix:
    """exp(a_ui) for all pairs; not a number where it overflows (a_ui > 709), as p_ui is in the original."""
    A = np.hstack([users.values, np.ones_like(users.biases)]) @ items.met.T
    np.exp(A, out=A)
    A[np.isinf(A)] = np.nan
    return A


def probabilities(users: Side, items: Side) -> Matrix:
    """p_ui for all pairs; not as one minus its complement, which would make small ones equal."""
    E = odds(users, items)
    return np.divide(E, E + 1.0, out=E)


def fit(users: Side, items: Side, known: Known, *, reg_param: float, gamma: float, iterations: int) -> None:
    """Climb: users first, then items against the new users. There is no stopping rule."""
    confidence = 1.0 + weight(known) * known
    for _ in range(iterations):
        for own, other in ((users, items), (items, users)):
            E = odds(users, items)
            E += 1.0
            np.divide(confidence, E, out=E)
            # the last column is not needed, but BLAS is faster with it
            gradient = ((E if own is users else E.T) @ other.met - other.met.sum(axis=0))[:, :-1]
            gradient[:, :-1] -= reg_param * own.vectors
            own.climb(gradient, gamma)
