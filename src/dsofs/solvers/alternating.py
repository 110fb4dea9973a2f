"""The paper's Algorithm 1: minimise over U and over E in turn, over the solution space of X W = Y + E.

Kept for comparison and for teaching: at p = 1 it comes to rest above the optimum that the joint step reaches. It
follows the paper but for these corrections, which its own formulas need:

* Eqn. 8: W1 = N + LE - MU, so P = [-M; I], and V and H carry -M; Eqn. 11 lacks a minus sign.
* H is built from U^{k+1}, and U has n0 rows, all of which are used; L is m0 x m; E^0 = 0.
* The pivot columns, on which the result depends, are those of a QR factorisation with column pivoting.
* Weights are d = ||w||^(2-p) (the paper's Pi^2) and not their inverses, so a row at zero stays there and needs no
  infinity; the paper's Sigma = Pi^+ would let it move for free.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import qr, solve_triangular

from dsofs.design.linalg import factorise
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem, Solution, Status, Survival
from dsofs.solvers.joint import STEPS
from dsofs.solvers.loop.point import Point, Step
from dsofs.solvers.loop.reweight import reweight
from dsofs.solvers.qp.pivoting import solve_qp

REST = 1e-6  # the alternation creeps: below this relative descent over a few steps it counts as converged
TIE = 1e-6  # columns whose lengths differ by no more, in parts, are of one length
FLOOR = 1e-8  # smallest weight, relative to the largest, where a formula needs the inverse


def solve_alternating(
    problem: Problem, *, tol: float, max_iter: int, weights: Floats | None = None, survival: Survival | None = None
) -> Solution:
    if problem.C is not None:
        raise ValueError(
            "The 'C' parameter must be None with solver='alternating': the paper's algorithm has no slack."
        )
    step = AlternatingStep(problem)
    solution = reweight(
        problem, step, tol=tol, max_iter=max_iter, weights=weights, survival=survival, accelerate=False, rest=REST
    )
    assert solution is not None, "every step of Algorithm 1 has a solution"
    if step.full_rank or solution.status is Status.MAX_ITER:
        return solution
    return replace(solution, status=Status.RELAXED)


class AlternatingStep(Step):
    """One turn of Algorithm 1's loop: U^{k+1} for the given weights, then E^{k+1}."""

    def __init__(self, problem: Problem) -> None:
        """Gaussian elimination, Eqn. 7: X = [X1 X2], M = X1^+ X2, L = X1^+, N = L Y."""
        X, Y = problem.X.block(np.arange(problem.X.n_columns)).on_host(), problem.Y
        if problem.X.sample_weight is not None:  # least squares of repeated samples; E is multiplied likewise
            root = np.sqrt(problem.X.sample_weight)[:, None]
            X, Y = root * X, root * Y
        order, rank = _pivots(X)
        Q, R = qr(X[:, order], mode="economic", check_finite=False)
        self.first, self.last = order[:rank], order[rank:]
        self.X1 = X[:, self.first]
        self.M = solve_triangular(R[:rank, :rank], R[:rank, rank:])
        self.L = solve_triangular(R[:rank, :rank], Q[:, :rank].T)
        self.N = self.L @ Y
        self.E = np.zeros_like(problem.Y)
        self.problem, self.judge = problem, STEPS[problem.constraint](problem)

    @property
    def full_rank(self) -> bool:
        return len(self.first) == len(self.E)

    def __call__(self, weights: Floats, previous: Point | None) -> Point:
        problem = self.problem
        d = problem.expand(weights)
        U = self._update_U(d)
        H = self.N - self.M @ U
        if problem.constraint == "margin":
            V = self._assemble(H + self.L @ self.E, U)
            self.E = self._update_E(problem, problem.expand(problem.penalty.weights(problem.norms(V))), H)
        W = self._assemble(H + self.L @ self.E, U)
        return self._certified(weights, W, previous)

    def _update_U(self, d: Floats) -> Floats:
        """Eqns. 13/14 where m0 < n0, Eqn. 12 otherwise, both in the symmetric form without inverse weights of zeros."""
        M, d1, d2 = self.M, d[self.first], d[self.last]
        K = self.N + self.L @ self.E
        if len(d1) < len(d2):
            S = (M * d2) @ M.T
            return d2[:, None] * (M.T @ _solve(S, d1, K))
        s1, root = 1 / np.maximum(d1, FLOOR * d.max()), np.sqrt(d2)
        S = root[:, None] * (M.T * s1 @ M) * root
        return root[:, None] * _solve(S, np.ones(len(d2)), root[:, None] * (M.T * s1 @ K))

    def _update_E(self, problem: Problem, d: Floats, H: Floats) -> Floats:
        """min_E sum ||(LE + H)_i||^2 / d_i over the pivot rows, subject to Y o E >= 0."""
        Y, d1 = problem.Y, d[self.first]
        if self.full_rank:
            # With V = LE + H, E = X1 (V - H): margins Y o (X1 V) >= Y o (X1 H) on the pivot columns, hence the same QP.
            K = (self.X1 * d1) @ self.X1.T
            B = solve_qp((K + K.T) / 2, Y, Y * (self.X1 @ H)).B
            E = self.X1 @ (d1[:, None] * (self.X1.T @ B) - H)
        else:
            s1 = 1 / np.maximum(d1, FLOOR * d.max())
            K = (self.L.T * s1) @ self.L
            E = solve_qp((K + K.T) / 2, Y, -Y * ((self.L.T * s1) @ H)).B
        return Y * np.maximum(Y * E, 0.0)

    def _certified(self, weights: Floats, W: Floats, previous: Point | None) -> Point:
        """W with the multipliers of a joint step from it, which say how far it is from optimal."""
        problem, rows, norms = self.problem, np.arange(len(W)), self.problem.norms(W)
        judged = self.judge(problem.penalty.weights(norms), previous)
        B = np.zeros_like(problem.Y) if judged is None else judged.B
        none = np.empty((0, W.shape[1]))
        return Point(weights, rows, problem.X, W, B, problem.X.tdot(B), norms, problem.penalty.value(norms), none)

    def _assemble(self, top: Floats, U: Floats) -> Floats:
        W = np.empty((len(self.first) + len(self.last), U.shape[1]))
        W[self.first], W[self.last] = top, U
        return W


def _pivots(X: Floats) -> tuple[Ints, int]:
    """Independent columns first, and how many there are.

    Standardised columns are all of one length: of equal ones the first is taken, whatever rounding says.
    """
    preferred = X * (1 - TIE * np.arange(X.shape[1]) / X.shape[1])
    R, order = qr(preferred, mode="r", pivoting=True, check_finite=False)
    size = np.abs(R.diagonal())
    return order, int(np.count_nonzero(size > max(X.shape) * np.finfo(float).eps * size[0]))


def _solve(S: Floats, diagonal: Floats, rhs: Floats) -> Floats:
    """(S + diag(diagonal)) x = rhs, with a little more on the diagonal where rounding makes that indefinite."""
    try:
        return factorise(S, diagonal).solve(rhs)
    except np.linalg.LinAlgError:
        return factorise(S, diagonal + FLOOR * float(np.trace(S)) / len(S)).solve(rhs)
