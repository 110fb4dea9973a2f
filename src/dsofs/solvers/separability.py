"""Can each class be separated? If not, which samples are in conflict?

One non-negative least-squares problem per class decides (y is the class's column of +1 / -1):

    min_{a >= 0}  ||X'(y o a)||^2 / kappa + (1 - 1'a)^2

Its residual 1 - 1'a is positive if and only if some w has y o (X w) >= 1. Otherwise a >= 0, 1'a = 1 and X'(y o a) = 0:
a proof that no such w exists. Its support names samples that contradict each other; a basic solution has no smaller
proof within it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lstsq
from scipy.optimize import nnls

from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.inner.support import SupportVectors
from dsofs.solvers.qp.pivoting import solve_qp

SEPARABLE = 1e-7  # residuals below this are zero
PROOF = 1e-12  # largest entry of X'(y o a), relative to the largest of its column, that rounding can leave of zero
INVOLVED = (1e-4, 1e-6, 1e-8, 0.0)  # multipliers above this part of the largest, tried in turn
RANK = 1e-13  # eigenvalues below this part of the largest are zero


def find_conflicts(problem: Problem) -> list[Ints]:
    """For each column of Y the samples of a minimal proof that it cannot be separated; empty where there is none."""
    problem = problem.with_free_rows_as_others()
    weights = problem.expand(even_weights(problem))
    if problem.X.n_samples <= problem.X.n_columns:
        K = problem.X.gram(weights)
        every = np.arange(len(K))
        return [_find_proof(problem, y, every, K) for y in problem.Y.T]
    conflicts = []
    support = SupportVectors(problem.X, problem.Y, problem.F, weights)
    for j, y in enumerate(problem.Y.T):
        samples = support.contradiction(j, problem.X, weights)
        if len(samples):
            samples = _find_proof(problem, y, samples, problem.X.samples(samples).gram(weights))
        conflicts.append(samples)
    return conflicts


def _find_proof(problem: Problem, y: Floats, samples: Ints, K: Floats) -> Ints:
    """Those of ``samples``, whose Gram matrix is K, that are part of a minimal proof; none if they can be separated."""
    K = K / (float(np.trace(K)) / len(K))
    if not _separable(K, y[samples]):
        a = _basic_solution(K, y[samples])
        for part in INVOLVED:  # the support of a, without what rounding put into it
            involved = samples[a > part * a.max()]
            if conflict_proof(problem, y, involved) is not None:
                return involved
    return np.empty(0, dtype=np.intp)


def conflict_proof(problem: Problem, y: Floats, samples: Ints) -> Floats | None:
    """a > 0 on ``samples`` with 1'a = 1 and X'(y o a) = 0, checked against X itself; None if there is none."""
    if not len(samples):
        return None
    columns = (problem.X.samples(samples).on_host() * y[samples, None]).T
    scale = np.maximum(np.abs(columns).max(axis=1, keepdims=True), np.finfo(float).tiny)
    system = np.vstack([columns / scale, np.ones(len(samples))])
    a = lstsq(system, np.append(np.zeros(len(columns)), 1.0))[0]
    proves = (a > 0).all() and np.abs(system @ a)[:-1].max(initial=0.0) <= PROOF
    return a / a.sum() if proves else None


def _separable(K: Floats, y: Floats) -> bool:
    try:
        a = y * solve_qp(K + np.outer(y, y), y[:, None], np.ones((len(y), 1))).B[:, 0]
    except np.linalg.LinAlgError:
        return False
    return bool(1.0 - a.sum() > SEPARABLE)


def _basic_solution(K: Floats, y: Floats) -> Floats:
    """A solution on independent samples: non-negative least squares takes them up one at a time."""
    M = K * np.outer(y, y) + 1.0
    values, vectors = eigh(M)
    kept = values > RANK * values[-1]
    root = np.sqrt(values[kept])
    R = root[:, None] * vectors[:, kept].T
    try:
        a, _ = nnls(R, (vectors[:, kept].T @ np.ones(len(y))) / root, maxiter=20 * len(y))
    except RuntimeError:
        return np.zeros(len(y))
    return a


def even_weights(problem: Problem) -> Floats:
    """Weights that make all columns count alike: whether a class can be separated does not depend on units."""
    size = problem.norms(problem.X.column_norms()[:, None] / np.sqrt(problem.X.total_weight))
    return 1.0 / np.maximum(size, np.finfo(float).tiny) ** 2
