"""Can each class be separated? If not, which samples are in conflict?

One non-negative least-squares problem per class decides (y is the class's column of +1 / -1):

    min_{a >= 0}  ||X'(y o a)||^2 / kappa + (1 - 1'a)^2

Its residual 1 - 1'a is positive if and only if some w has y o (X w) >= 1. Otherwise a >= 0, 1'a = 1 and X'(y o a) = 0:
a proof that no such w exists, and its support names the samples that contradict each other.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Bools, Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.nnqp import solve_nnqp

SEPARABLE = 1e-7  # residuals below this are zero
UNCORRELATED = 0.01
INVOLVED = 1e-6  # multipliers below this part of the largest take no part in a conflict
# C of the squared hinge that classes which cannot be separated are given, in units of the C at which W leaves zero.
DEFAULT_C = 100.0


def find_conflicts(problem: Problem) -> list[Ints]:
    """For each column of Y the samples in a proof that it cannot be separated; empty where it can."""
    K = problem.X.gram(problem.expand(even_weights(problem)))
    kappa = float(np.trace(K)) / len(K)
    return [_conflict(K / kappa, y) for y in problem.Y.T]


def even_weights(problem: Problem) -> Floats:
    """Weights that make all columns count alike: whether a class can be separated does not depend on units."""
    squares = problem.X.column_norms()[:, None] / np.sqrt(problem.X.n_samples)
    size = problem.norms(squares)
    return 1.0 / np.maximum(size, np.finfo(float).tiny) ** 2


def _conflict(K: Floats, y: Floats) -> Ints:
    one = np.ones((len(y), 1))
    try:
        a = y * solve_nnqp(K + np.outer(y, y), y[:, None], one).B[:, 0]
    except np.linalg.LinAlgError:
        return np.arange(len(y))
    if 1.0 - a.sum() > SEPARABLE:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(a > INVOLVED * a.max())


def default_slack(problem: Problem, relaxed: Bools) -> Floats:
    """1/C for the columns ``relaxed``, 0 (a hard margin) for the others."""
    entry = float(problem.norms(problem.X.tdot(problem.Y)).max())
    # Where no column is correlated with the labels (exclusive or), W = 0 is the best whatever slack costs.
    entry = max(entry, UNCORRELATED * float(problem.X.column_norms().max()) * len(problem.Y) ** 0.5)
    slack = np.zeros_like(problem.Y)
    slack[:, relaxed] = entry / DEFAULT_C
    return slack if problem.importance is None else slack / problem.importance[:, None]
