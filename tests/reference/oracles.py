"""Independent answers to compare with: CVXPY for convex problems, brute force for small ones."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog


def convex_optimum(X, Y, constraint="margin", groups=None, slack=None, hinge=False):
    """min sum_g ||W_g||_F (+ slack) by an interior-point method."""
    W, xi = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable(Y.shape)
    labels = np.arange(X.shape[1]) if groups is None else groups
    objective = sum(cp.norm(W[labels == g], "fro") for g in np.unique(labels))
    if groups is None:
        objective = cp.sum(cp.norm(W, 2, axis=1))
    room = 0.0 if slack is None else xi
    if slack is not None:
        price = cp.abs(xi) if hinge else 0.5 * cp.square(xi)
        objective = objective + cp.sum(cp.multiply(1 / slack, price))
    constraints = [cp.multiply(Y, X @ W) + room >= 1] if constraint == "margin" else [X @ W + room == Y]
    return cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)


def separable(X, y):
    """Whether some w has y o (X w) >= 1, by linear programming."""
    n = X.shape[1]
    result = linprog(np.zeros(n), A_ub=-(y[:, None] * X), b_ub=-np.ones(len(y)), bounds=[(None, None)] * n)
    return result.status == 0


def fewest_rows(X, Y):
    """The least number of rows of W with which Y o (X W) >= 1 can be met, trying all subsets."""
    for size in range(1, X.shape[1] + 1):
        for rows in combinations(range(X.shape[1]), size):
            if all(separable(X[:, rows], y) for y in Y.T):
                return size
    return None


def terms_optimum(terms, lam, p):
    """min sum_i c_i sum_j ||(A_i Z + B_i)_j||^p_i + lam sum_k ||z_k||^p for powers >= 1, by interior points."""
    Z = cp.Variable((terms[0].A.shape[1], terms[0].B.shape[1]))
    objective = lam * _powers(Z, p) + sum(term.c * _powers(term.A @ Z + term.B, term.p) for term in terms)
    return cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)


def _powers(rows, p):
    norms = cp.norm(rows, 2, axis=1)
    return cp.sum(norms if p == 1 else cp.power(norms, p))
