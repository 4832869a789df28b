"""Logistic regression of several classes on rows of few ones, with a penalty on the squares of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_MEMORY, _SHRINKAGE, _DECREASE, _HALVINGS = 8, 0.5, 1e-4, 30


class Rows:
    """Rows of a matrix by the columns in which they have a one, each divided by its length."""

    def __init__(self, columns: Sequence[Sequence[int]], width: int) -> None:
        self.shape = (len(columns), width)
        sizes = np.array([len(row) for row in columns], dtype=np.int64)
        self._row = np.repeat(np.arange(len(columns)), sizes)
        self._column = np.array([column for row in columns for column in row], dtype=np.int64)
        self._value = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)

    def times(self, weights: Array) -> Array:
        """The rows times a matrix."""
        return self._sums(self._row, weights, self._column, self.shape[0])

    def transposed_times(self, matrix: Array) -> Array:
        """The columns times a matrix."""
        return self._sums(self._column, matrix, self._row, self.shape[1])

    def _sums(self, into: Array, matrix: Array, of: Array, count: int) -> Array:
        columns = [np.bincount(into, self._value * column[of], count) for column in matrix.T]
        return np.column_stack(columns)


def fitted(rows: Rows, labels: Array, classes: int, penalty: float, steps: int) -> tuple[Array, list[float]]:
    """Weights of each column and, last, a constant, for each class; and the loss after each step.

    The loss is the mean logarithmic one plus `penalty` / 2 times the sum of squares of all but the constants. Its
    steps are those of L-BFGS.
    """
    truth = np.eye(classes)[labels]
    shape = (rows.shape[1] + 1, classes)

    def loss(point: Array) -> tuple[float, Array]:
        weights = point.reshape(shape)
        chances = chances_of(rows, weights)
        error = (chances - truth) / len(labels)
        gradient = np.vstack([rows.transposed_times(error) + penalty * weights[:-1], error.sum(axis=0)])
        surprise = -np.log(np.maximum(chances[np.arange(len(labels)), labels], np.finfo(np.float64).tiny)).mean()
        return float(surprise + penalty / 2 * (weights[:-1] ** 2).sum()), gradient.ravel()

    point = np.zeros(shape[0] * classes)
    value, gradient = loss(point)
    losses, pairs = [value], list[tuple[Array, Array]]()
    for _ in range(steps):
        direction = -_curved(gradient, pairs)
        slope, length = float(direction @ gradient), 1.0
        for _ in range(_HALVINGS):
            new_value, new_gradient = loss(point + length * direction)
            if new_value <= value + _DECREASE * length * slope:
                break
            length *= _SHRINKAGE
        else:
            break
        step, change = length * direction, new_gradient - gradient
        if step @ change > 0:
            pairs = [*pairs[1 - _MEMORY :], (step, change)]
        point, value, gradient = point + step, new_value, new_gradient
        losses.append(value)
    return point.reshape(shape), losses


def chances_of(rows: Rows, weights: Array) -> Array:
    """The probability of each class for each row."""
    scores = rows.times(weights[:-1]) + weights[-1]
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _curved(gradient: Array, pairs: Sequence[tuple[Array, Array]]) -> Array:
    """The gradient times an estimate of the inverse of the second derivative: two loops over the latest steps."""
    direction, shares = gradient.copy(), list[float]()
    for step, change in reversed(pairs):
        shares.append(float(step @ direction) / float(step @ change))
        direction -= shares[-1] * change
    if pairs:
        step, change = pairs[-1]
        direction *= float(step @ change) / float(change @ change)
    for step, change in pairs:
        direction += (shares.pop() - float(change @ direction) / float(step @ change)) * step
    return direction
