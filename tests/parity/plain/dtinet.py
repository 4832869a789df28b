"""DTINet's steps by their definitions, and golden files of any sizes out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Arrays = dict[str, Any]


def jaccard(M: Matrix) -> Matrix:
    """Pair by pair, place by place."""
    S = np.eye(len(M))
    for a in range(len(M)):
        for b in set(range(len(M))) - {a}:
            either = (M[a] != 0) | (M[b] != 0)
            S[a, b] = 1 - (either & (M[a] != M[b])).sum() / either.sum() if either.any() else 0
    return S


def walks(A: Matrix, maxiter: int, rsp: float) -> Matrix:
    """Step by step."""
    A = A + np.diag(A.sum(axis=0) == 0)
    P, Q = A / A.sum(axis=0), np.eye(len(A))
    for _ in range(maxiter):
        before, Q = Q, (1 - rsp) * P @ Q + rsp * np.eye(len(A))
        if np.linalg.norm(Q - before) < 1e-6:
            break
    return Q


def components(networks: list[Matrix], dim: int, rsp: float, maxiter: int) -> Matrix:
    """By singular values, with signs that make the largest entry of each positive."""
    n = len(networks[0])
    Q = np.hstack([walks(A, maxiter, rsp) for A in networks])
    L = np.log(Q + 1 / n) - np.log(1 / n)
    U, s, _ = np.linalg.svd(L @ L.T)
    X = U[:, :dim] * np.sqrt(np.sqrt(s[:dim]))
    return np.asarray(X * np.sign(X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])]))


def drand48(count: int) -> Matrix:
    """One number after another."""
    state, numbers = 0x330E, []
    for _ in range(count):
        state = (0x5DEECE66D * state + 0xB) % 2**48
        numbers.append(state / 2**48)
    return np.array(numbers)


def completion(
    A: Matrix, X: Matrix, Y: Matrix, k: int, lam: float, rounds: int, solver: int
) -> tuple[Matrix, Matrix]:
    """W and H, blocks in turn; the loss is of all cells (10) or of those that are not zero (0)."""
    start = drand48(k * (X.shape[1] + Y.shape[1]))
    W, H = (one.reshape(-1, k) for one in np.split(start, [k * X.shape[1]]))
    mask = np.ones(A.shape) if solver == 10 else (A != 0).astype(float)
    epsilon = 0.1 * (A != 0).mean() if solver == 10 else 0.1

    def block(A: Matrix, mask: Matrix, X: Matrix, W: Matrix, YH: Matrix) -> Matrix:
        def loss(w: Matrix) -> float:
            return float(0.5 * (w**2).sum() + ((mask * (A - X @ w @ YH.T)) ** 2).sum() / lam)

        def gradient(w: Matrix) -> Matrix:
            return w + 2 / lam * X.T @ (mask * (X @ w @ YH.T - A)) @ YH

        def curvature(v: Matrix) -> Matrix:
            return v + 2 / lam * X.T @ (mask * (X @ v @ YH.T)) @ YH

        return tron(W, loss, gradient, curvature, epsilon)

    for _ in range(rounds):
        W = block(A, mask, X, W, Y @ H)
        H = block(A.T, mask.T, Y, H, X @ W)
    return W, H


def tron(
    w: Matrix,
    loss: Callable[[Matrix], float],
    gradient: Callable[[Matrix], Matrix],
    curvature: Callable[[Matrix], Matrix],
    epsilon: float,
) -> Matrix:
    """Five accepted steps at most, of twenty products each."""
    f, g = loss(w), gradient(w)
    first = delta = float(np.linalg.norm(g))
    accepted = 0
    if first < epsilon:
        return w
    while accepted < 5:
        s, r = _within(g, delta, curvature)
        slope = (g * s).sum()
        predicted, actual = -0.5 * (slope - (s * r).sum()), f - loss(w + s)
        size = float(np.linalg.norm(s))
        delta = delta if accepted else min(delta, size)
        bend = -actual - slope
        alpha = 4 if bend <= 0 else max(0.25, -0.5 * slope / bend)
        if actual < 1e-4 * predicted:
            delta = min(max(alpha, 0.25) * size, 0.5 * delta)
        elif actual < 0.25 * predicted:
            delta = max(0.25 * delta, min(alpha * size, 0.5 * delta))
        elif actual < 0.75 * predicted:
            delta = max(0.25 * delta, min(alpha * size, 4 * delta))
        else:
            delta = max(delta, min(alpha * size, 4 * delta))
        if actual > 1e-4 * predicted:
            accepted, w = accepted + 1, w + s
            f, g = loss(w), gradient(w)
            if np.linalg.norm(g) <= epsilon * first:
                break
        if max(abs(actual), abs(predicted)) <= 1e-12 * abs(f):
            break
    return w


def _within(g: Matrix, delta: float, curvature: Callable[[Matrix], Matrix]) -> tuple[Matrix, Matrix]:
    s, r, d = np.zeros_like(g), -g, -g
    for _ in range(20):
        if np.linalg.norm(r) <= 0.1 * np.linalg.norm(g):
            break
        Hd, rr = curvature(d), (r**2).sum()
        alpha = rr / (d * Hd).sum()
        if np.linalg.norm(s + alpha * d) > delta:
            sd, dd, left = (s * d).sum(), (d**2).sum(), delta**2 - (s**2).sum()
            root = np.sqrt(sd**2 + dd * left)
            alpha = left / (sd + root) if sd >= 0 else (root - sd) / dd
            return s + alpha * d, r - alpha * Hd
        s, r = s + alpha * d, r - alpha * Hd
        d = r + (r**2).sum() / rr * d
    return s, r


def golden_files(draw: np.random.Generator) -> dict[str, Arrays]:
    """By file: cases under numbers that no published golden has, of shapes of their own."""
    return {
        "dtinet_sim": _numbered(_similarities(draw)),
        "dtinet_rwr": _numbered(_walks(draw)),
        "dtinet_dca": _numbered(_components(draw)),
        "dtinet_imc": _numbered(_completions(draw)),
    }


def network(draw: np.random.Generator, nodes: int, share: float = 0.3) -> Matrix:
    """Symmetric, with a node that is linked with nothing."""
    A = np.triu(draw.random((nodes, nodes)) * (draw.random((nodes, nodes)) < share))
    A[2], A[:, 2] = 0, 0
    return A + A.T


def _numbered(cases: list[Arrays]) -> Arrays:
    numbers = np.array([7 * case + 3 for case in range(len(cases))])
    return {"cases": numbers} | {
        f"c{number}_{name}": np.asarray(value, dtype=np.float64)
        for number, case in zip(numbers, cases, strict=True)
        for name, value in case.items()
    }


def _similarities(draw: np.random.Generator) -> list[Arrays]:
    shapes = ((9, 31), (26, 5), (1, 4))
    matrices = [draw.integers(-1, 3, shape) * (draw.random(shape) < 0.4).astype(float) for shape in shapes]
    matrices[1][3], matrices[1][4] = 0, 0
    return [{"in_M": M, "out_Sim": jaccard(M)} for M in matrices]


def _walks(draw: np.random.Generator) -> list[Arrays]:
    # one that ends before its last step, one that goes both ways otherwise, one with negative weights, few steps
    one_way = draw.random((19, 19)) * (draw.random((19, 19)) < 0.4)
    one_way[:, 4] = 0
    negative = network(draw, 11, 0.9)
    negative[0, 1] = negative[1, 0] = -0.3
    chosen = [(network(draw, 37, 0.9), 60, 0.6), (one_way, 20, 0.5), (negative, 9, 0.3)]
    chosen += [(network(draw, 8), steps, 0.5) for steps in (1, 2, 3)]
    return [
        {"in_A": A, "in_maxiter": steps, "in_rsp": rsp, "out_Q": walks(A, steps, rsp)} for A, steps, rsp in chosen
    ]


def _components(draw: np.random.Generator) -> list[Arrays]:
    cases = []
    for nodes, several, dim, rsp, steps in ((21, 3, 6, 0.5, 20), (33, 5, 9, 0.4, 50)):
        networks = [network(draw, nodes) for _ in range(several)]
        inputs = {f"in_A{number}": A for number, A in enumerate(networks, 1)}
        sizes = {"in_k": several, "in_dim": dim, "in_rsp": rsp, "in_maxiter": steps}
        cases.append({**inputs, **sizes, "out_X": components(networks, dim, rsp, steps)})
    return cases


def _completions(draw: np.random.Generator) -> list[Arrays]:
    cases = []
    for m, n, f1, f2, k, lam, rounds, solver in (
        (17, 44, 6, 9, 4, 0.3, 4, 10),
        (17, 44, 6, 9, 4, 0.3, 4, 0),
        (8, 5, 3, 2, 1, 2.0, 2, 10),
    ):
        A = (draw.random((m, n)) < 0.2) * draw.integers(1, 3, (m, n)).astype(float)
        X, Y = draw.normal(size=(m, f1)), draw.normal(size=(n, f2))
        W, H = completion(A, X, Y, k, lam, rounds, solver)
        inputs = {"in_A": A, "in_X": X, "in_Y": Y, "in_k": k, "in_l": lam, "in_t": rounds, "in_s": solver}
        cases.append({**inputs, "out_W": W.T, "out_H": H.T, "out_Z": X @ W @ H.T @ Y.T})
    return cases
