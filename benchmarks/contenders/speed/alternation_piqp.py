"""The paper's Algorithm 1 at p = 1, its QPs solved by PIQP, until it rests as ``solver="alternating"`` does.

Of the solvers tried (PIQP, DAQP, OSQP, quadprog, ProxQP, HiGHS, Clarabel) PIQP took the least time in these QPs.
"""

import numpy as np

TASK = "the paper's algorithm"
NAME = "alternation, PIQP"
REQUIREMENTS = ("piqp==0.6.4", "scipy==1.17.1")


def prepare(X, y):
    import piqp

    from contenders.alternation import prepare_with

    def multipliers(P, t):
        solver = piqp.DenseSolver()
        solver.setup(P, -t, x_l=np.zeros(len(t)), x_u=np.full(len(t), np.inf))
        # Near the end a QP in a thousand is all but singular, and PIQP stops a little short of its 1e-8.
        if solver.solve() not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
            raise RuntimeError("PIQP found no solution")
        return np.maximum(solver.result.x, 0.0)

    return prepare_with(multipliers, X, y)


def describe(result):
    from contenders.alternation import describe

    return describe(result)
