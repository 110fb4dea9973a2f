"""The paper's Algorithm 1 at p = 1 with the QPs of its step for E left to a solver, until it rests as
``solver="alternating"`` does.

They are given as the paper has them, or in the form that suits a solver best: with V = LE + H, on the pivot columns X1,

    min_V  1/2 sum_i ||v_i||^2 / d_i   subject to   Y o (X1 V) >= Y o (X1 H):       a dual QP of m variables per class.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

REST, REST_STEPS, MAX_STEPS = 1e-6, 20, 1000  # at rest: the objective fell by less than this part over so many steps

Multipliers = Callable[[np.ndarray, np.ndarray], np.ndarray]  # P, t -> argmin_{a >= 0}  1/2 a' P a - t' a
# X1, L, d, Y, H -> V = LE + H of the E that is best for the weights 1 / d
StepForE = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def prepare_with(multipliers: Multipliers, X, y):
    return prepare_alternation(lambda: partial(by_multipliers, multipliers), X, y)


def prepare_alternation(step_for_E: Callable[[], StepForE], X, y):
    """What is timed: the alternation on X with a bias, and one column of +1 / -1 per class (one for two classes)."""
    import scipy.linalg  # noqa: F401  (its time belongs to the start)

    classes = np.unique(y)
    Y = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))])
    return lambda: alternate(Z, Y, step_for_E())


def describe(result):
    objective, steps = result
    return {"objective": objective, "steps": steps}


def alternate(X, Y, step_for_E: StepForE):
    """Objective and steps; from weights of one and E = 0."""
    first, last, X1, M, L = eliminate(X)
    E, d, objectives = np.zeros_like(Y), np.ones(X.shape[1]), []
    while not at_rest(objectives):
        d1, d2 = d[first], d[last]
        K = L @ (Y + E)
        U = d2[:, None] * (M.T @ np.linalg.solve((M * d2) @ M.T + np.diag(d1), K))
        H = L @ Y - M @ U
        V = step_for_E(X1, L, np.linalg.norm(H + L @ E, axis=1), Y, H)
        E = X1 @ (V - H)
        d[first], d[last] = np.linalg.norm(V, axis=1), np.linalg.norm(U, axis=1)
        objectives.append(float(d.sum()))
    return objectives[-1], len(objectives)


def at_rest(objectives):
    recent = objectives[-REST_STEPS - 1 :]
    settled = len(recent) > REST_STEPS and recent[0] - recent[-1] <= REST * recent[-1]
    return settled or len(objectives) >= MAX_STEPS


def eliminate(X):
    """Eqn. 7: the pivot columns X1, M = X1^-1 X2 and L = X1^-1."""
    from scipy.linalg import qr, solve_triangular

    m = len(X)
    # Standardised columns are of one length: the first of equal ones is taken, whatever rounding says.
    R, order = qr(X * (1 - 1e-6 * np.arange(X.shape[1]) / X.shape[1]), mode="r", pivoting=True)
    size = np.abs(R.diagonal())
    if len(size) < m or size[m - 1] <= max(X.shape) * np.finfo(float).eps * size[0]:
        raise ValueError("Algorithm 1 needs as many independent features as there are samples")
    Q, R = qr(X[:, order], mode="economic")
    M, L = solve_triangular(R[:, :m], R[:, m:]), solve_triangular(R[:, :m], Q.T)
    return order[:m], order[m:], X[:, order[:m]], M, L


def by_multipliers(multipliers: Multipliers, X1, L, d, Y, H):
    """V of the formula above, from the multipliers A >= 0:  V = diag(d) X1' (Y o A)."""
    K, targets = (X1 * d) @ X1.T, Y * (X1 @ H)
    B = np.column_stack([y * multipliers(y[:, None] * K * y, t) for y, t in zip(Y.T, targets.T, strict=True)])
    return d[:, None] * (X1.T @ B)
