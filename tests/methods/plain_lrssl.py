"""LRSSL and its published wrapper, written plainly from their equations: loops over drugs, views and graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """What the equations give."""

    scores: list[Matrix]
    Gs: list[Matrix]
    alpha: Matrix
    steps: int


def of_indications(Y: Matrix, X_p: Matrix) -> Matrix:
    """The largest similarity of a disease of drug i to a disease of drug j, for i < j, mirrored."""
    S = np.zeros((len(Y), len(Y)))
    for i in range(len(Y)):
        for j in range(i + 1, len(Y)):
            block = X_p[Y[i] == 1][:, Y[j] == 1]
            S[i, j] = S[j, i] = block.max() if block.size else 0.0
    return S


def of_features(X: Matrix) -> Matrix:
    """X'X over one number, zero diagonal; X is features x drugs."""
    c = X.sum(axis=0)
    S = X.T @ X / np.sqrt(c @ c)
    np.fill_diagonal(S, 0)
    return np.asarray(S)


def neighbours(S: Matrix, k: int) -> Matrix:
    """0/1 graph of the k nearest, either way round."""
    K = np.zeros(S.shape)
    for i, row in enumerate(S):
        nearest = np.argsort(-row, kind="stable")[:k]
        K[i, nearest] = K[nearest, i] = 1
    return K


def fit(Xs: list[Matrix], graphs: list[Matrix], Y: Matrix, Gs: list[Matrix], p: dict[str, float]) -> Fit:
    """Every view's scores, by the equations of the paper as the wrapper runs them."""
    n, mu = len(Y), p["mu"]
    Ls = [np.diag(K.sum(axis=0)) - K for K in graphs]
    a = np.full(len(Ls), 1 / len(Ls))
    steps, change = 0, float(np.inf)
    while change >= p["tol"] and steps < p["maxiter"]:
        steps += 1
        L = sum(w ** p["gam"] * L for w, L in zip(a, Ls, strict=True))
        P = np.linalg.inv(L + (1 + len(Xs) * mu) * np.eye(n))
        F = P @ (Y + mu * sum(X.T @ G for X, G in zip(Xs, Gs, strict=True)))
        new = []
        for i, (X, G) in enumerate(zip(Xs, Gs, strict=True)):
            A = X @ (mu * np.eye(n) - mu**2 * P.T) @ X.T + p["lam"] * np.ones((len(X), len(X)))
            B = mu * X @ P @ Y
            for j in range(len(Xs)):
                if j != i:
                    B = B + mu**2 * X @ P.T @ Xs[j].T @ Gs[j]
            up = (np.abs(B) + B) / 2 + (np.abs(A) - A) / 2 @ G
            down = (np.abs(B) - B) / 2 + (np.abs(A) + A) / 2 @ G
            new.append(G * np.sqrt(up / down))
        a = np.array([(1 / np.trace(F.T @ L @ F)) ** (1 / (p["gam"] - 1)) for L in Ls])
        a /= a.sum()
        changes = [np.linalg.norm(g - G) / np.linalg.norm(G) for g, G in zip(new, Gs, strict=True)]
        change, Gs = float(np.mean(changes)), new
    raws = [X @ G for X, G in zip(Xs, Gs, strict=True)]
    scores = [w * raw / raw.sum(axis=1, keepdims=True) for w, raw in zip(a, raws, strict=False)]
    return Fit(scores, Gs, a, steps)


def added(scores: list[Matrix]) -> Matrix:
    """The views' scores, added."""
    total = np.zeros_like(scores[0])
    for one in scores:
        total = total + one
    return total


def added_by_pythons_sum(scores: list[Matrix]) -> Matrix:
    """The wrapper's way: Python's sum goes over the rows of its first argument, beginning with the second."""
    total = scores[0]
    for one in scores[1:]:
        total = sum(total, one)
    return total
