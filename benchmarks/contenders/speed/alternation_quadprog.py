"""The same alternation, its QPs solved by quadprog (Goldfarb and Idnani's dual active-set method)."""

import numpy as np

TASK = "the paper's algorithm"
NAME = "alternation, quadprog"
REQUIREMENTS = ("quadprog==0.1.14", "scipy==1.17.1")
RIDGE = 1e-10  # of the mean diagonal: quadprog refuses a QP that is all but singular, as they are near the end


def prepare(X, y):
    import quadprog

    from contenders.alternation import prepare_with

    def multipliers(P, t):
        P = P + RIDGE * P.diagonal().mean() * np.eye(len(t))
        return np.maximum(quadprog.solve_qp(P, t, np.eye(len(t)), np.zeros(len(t)))[0], 0.0)

    return prepare_with(multipliers, X, y)


def describe(result):
    from contenders.alternation import describe

    return describe(result)
