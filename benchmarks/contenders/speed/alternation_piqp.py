"""The paper's Algorithm 1 at p = 1, its QPs solved by PIQP, until it rests as ``solver="alternating"`` does.

Of the solvers tried (PIQP, DAQP, OSQP, quadprog, ProxQP, HiGHS, Clarabel) PIQP took the least time in these QPs. They
are given in the form that suits a solver best: with V = LE + H, on the m pivot columns X1,

    min_V  1/2 sum_i ||v_i||^2 / d_i   subject to   Y o (X1 V) >= Y o (X1 H):       a dual QP of m variables per class.
"""

import numpy as np

TASK = "the paper's algorithm"
NAME = "alternation, PIQP"
REQUIREMENTS = ("piqp==0.6.4", "scipy==1.17.1")
REST, REST_STEPS, MAX_STEPS = 1e-6, 20, 1000  # at rest: the objective fell by less than this part over so many steps


def prepare(X, y):
    import piqp  # noqa: F401  (its time belongs to the start)
    import scipy.linalg  # noqa: F401

    classes = np.unique(y)
    Y = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))])
    return lambda: alternate(Z, Y)


def describe(result):
    objective, steps = result
    return {"objective": objective, "steps": steps}


def alternate(X, Y):
    """Objective and steps; from weights of one and E = 0."""
    first, last, X1, M, L = eliminate(X)
    E, d, objectives = np.zeros_like(Y), np.ones(X.shape[1]), []
    while not at_rest(objectives):
        d1, d2 = d[first], d[last]
        K = L @ (Y + E)
        U = d2[:, None] * (M.T @ np.linalg.solve((M * d2) @ M.T + np.diag(d1), K))
        H = L @ Y - M @ U
        V = update(X1, np.linalg.norm(H + L @ E, axis=1), Y, H)
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
    Q, R, order = qr(X, mode="economic", pivoting=True)
    size = np.abs(R.diagonal())
    if len(size) < m or size[m - 1] <= max(X.shape) * np.finfo(float).eps * size[0]:
        raise ValueError("Algorithm 1 needs as many independent features as there are samples")
    M, L = solve_triangular(R[:, :m], R[:, m:]), solve_triangular(R[:, :m], Q.T)
    return order[:m], order[m:], X[:, order[:m]], M, L


def update(X1, d, Y, H):
    """V of the formula above, from the multipliers A >= 0:  V = diag(d) X1' (Y o A)."""
    K, targets = (X1 * d) @ X1.T, Y * (X1 @ H)
    B = np.column_stack([y * multipliers(y[:, None] * K * y, t) for y, t in zip(Y.T, targets.T, strict=True)])
    return d[:, None] * (X1.T @ B)


def multipliers(P, t):
    """argmin_{a >= 0}  1/2 a' P a - t' a."""
    import piqp

    solver = piqp.DenseSolver()
    solver.setup(P, -t, x_l=np.zeros(len(t)), x_u=np.full(len(t), np.inf))
    # Near the end a QP in a thousand is all but singular, and PIQP stops a little short of its 1e-8.
    if solver.solve() not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
        raise RuntimeError("PIQP found no solution")
    return np.maximum(solver.result.x, 0.0)
