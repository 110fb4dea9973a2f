"""CVXPY with Clarabel on the problem of dso at p = 1: hard margins, the bias penalised like a feature, as exact."""

import numpy as np

TASK = "the same problem"
NAME = "CVXPY, Clarabel"
REQUIREMENTS = ()
# As much as dso promises: a gap of 0.1 %, margins to 1e-6.
ACCURACY = {"tol_gap_rel": 1e-3, "tol_gap_abs": 1e-3, "tol_feas": 1e-6}


def prepare(X, y):
    import cvxpy as cp

    classes = np.unique(y)
    Y = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))])

    def job():
        W = cp.Variable((Z.shape[1], Y.shape[1]))
        problem = cp.Problem(cp.Minimize(cp.sum(cp.norm(W, 2, axis=1))), [cp.multiply(Y, Z @ W) >= 1])
        return problem.solve(solver=cp.CLARABEL, **ACCURACY)

    return job


def describe(objective):
    return {"objective": float(objective)}
