"""The alternation as the paper runs it: the step for E handed to CVX, here CVXPY with the QP solver that it chooses.

The problem is set up once and its numbers changed from step to step, as CVXPY advises for speed.
"""

import numpy as np

TASK = "the paper's algorithm"
NAME = "alternation, CVXPY"
REQUIREMENTS = ()


def prepare(X, y):
    from contenders.alternation import prepare_alternation

    return prepare_alternation(StepByCVX, X, y)


class StepByCVX:
    """min_E ||A E + B||_F^2 subject to Y o E >= 0, with A = diag(d)^-1/2 L and B = diag(d)^-1/2 H."""

    def __init__(self):
        self.problem = None

    def __call__(self, X1, L, d, Y, H):
        import cvxpy as cp

        if self.problem is None:
            self.A, self.B, self.E = cp.Parameter(L.shape), cp.Parameter(H.shape), cp.Variable(H.shape)
            distance = cp.sum_squares(self.A @ self.E + self.B)
            self.problem = cp.Problem(cp.Minimize(distance), [cp.multiply(Y, self.E) >= 0])
        root = 1 / np.sqrt(np.maximum(d, np.finfo(float).eps * d.max()))[:, None]
        self.A.value, self.B.value = root * L, root * H
        self.problem.solve()
        if self.E.value is None:
            raise RuntimeError(f"CVXPY: {self.problem.status}")
        return L @ (Y * np.maximum(Y * self.E.value, 0.0)) + H


def describe(result):
    from contenders.alternation import describe

    return describe(result)
