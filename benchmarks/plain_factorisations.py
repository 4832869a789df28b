"""ALS-WR, LogisticMF and PMF written down plainly, one row and one number at a time: peers to measure against.

They hold what the originals compute and nothing that makes it fast, and need nothing but NumPy, so that they run
in a method's own image. R is diseases x drugs, 0 where nothing is known; answers are the scores, drugs x diseases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def als_wr(
    R: npt.NDArray[np.int8], n_factors: int, n_iters: int, alpha: float, reg: float, random_state: int, count: int
) -> Matrix:
    """Each half step takes the rows one by one; that of drugs takes the first `count` of them."""
    stream = np.random.RandomState(random_state)
    U, V = stream.normal(size=(R.shape[0], n_factors)), stream.normal(size=(R.shape[1], n_factors))
    for _ in range(n_iters):
        for X, Y, labels in ((U, V, R), (V[:count], U, R.T)):
            G = Y.T @ Y
            for u in range(len(X)):
                M, b = G + reg * np.eye(n_factors), np.zeros(n_factors)
                for i in np.flatnonzero(labels[u]):
                    weight = alpha * labels[u, i]
                    M += weight * np.outer(Y[i], Y[i])
                    b += (weight + 1) * Y[i]
                X[u] = np.linalg.solve(M, b)
    return V @ U.T


def logistic_mf(
    R: npt.NDArray[np.int8], num_factors: int, reg_param: float, gamma: float, iterations: int, fit_seed: int
) -> Matrix:
    """Full matrices all the way, gradients by AdaGrad."""
    stream = np.random.RandomState(fit_seed)
    known = (R == 1).astype(float)
    C = known * ((known.size - known.sum()) / known.sum())
    X, Y = stream.normal(size=(R.shape[0], num_factors)), stream.normal(size=(R.shape[1], num_factors))
    bx, by = stream.normal(size=(R.shape[0], 1)), stream.normal(size=(R.shape[1], 1))
    squares = [np.zeros_like(each) for each in (X, bx, Y, by)]
    ones_x, ones_y = np.ones_like(bx), np.ones_like(by)

    def probability() -> Matrix:
        A = X @ Y.T + bx @ ones_y.T + ones_x @ by.T
        return np.asarray(np.exp(A) / (1 + np.exp(A)))

    for _ in range(iterations):
        for own, bias, other, c, sums in ((X, bx, Y, C, squares[:2]), (Y, by, X, C.T, squares[2:])):
            p = probability() if own is X else probability().T
            weighted = (c + 1) * p
            for part, gradient, square in (
                (own, c @ other - weighted @ other - reg_param * own, sums[0]),
                (bias, c.sum(axis=1, keepdims=True) - weighted.sum(axis=1, keepdims=True), sums[1]),
            ):
                square += gradient**2
                part += gamma / np.sqrt(square) * gradient
    return probability().T


def pmf(
    R: npt.NDArray[np.int8],
    n_factors: int,
    n_iters: int,
    batch_size: int,
    learning_rate: float,
    reg: float,
    random_state: int,
    fit_seed: int,
) -> Matrix:
    """Every number of a batch is asked for by itself; every label but 0 counts as an association."""
    start, stream = np.random.RandomState(random_state), np.random.RandomState(fit_seed)
    U, V = start.normal(size=(R.shape[0], n_factors)), start.normal(size=(R.shape[1], n_factors))
    for _ in range(n_iters * (len(R) // batch_size)):
        users = stream.choice(len(R), size=batch_size, replace=False)
        i, j = np.zeros(batch_size, dtype=int), np.zeros(batch_size, dtype=int)
        for place, user in enumerate(users):
            items = np.flatnonzero(R[user])
            if not len(items):
                continue
            i[place] = stream.choice(items)
            j[place] = stream.choice(R.shape[1])
            while j[place] in items:
                j[place] = stream.choice(R.shape[1])
        u, v_i, v_j = U[users], V[i], V[j]
        d = (u * (v_i - v_j)).sum(axis=1, keepdims=True)
        g = np.exp(-d) / (1 + np.exp(-d))
        U[users] -= learning_rate * (g * (v_j - v_i) + reg * u)
        V[i] -= learning_rate * (-g * u + reg * v_i)
        V[j] -= learning_rate * (g * u + reg * v_j)
    return V @ U.T
