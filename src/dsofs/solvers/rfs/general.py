"""Sums of l_{2,p} terms, the paper's Eqns. 31 and 32:

    minimise over Z   sum_i c_i sum_j ||(A_i Z + B_i)_j||^p_i  +  lam sum_k ||z_k||^p,        0 < p, p_i <= 2

Robust feature selection (Nie et al. 2010) is the single term A = X, B = -Y with p_1 = p = 1; p_1 = 2 is least squares
with an l_{2,p} penalty.

The paper sums norms, (sum_j ||.||^p)^(1/p), in Eqn. 31 and takes one norm over everything in Eqn. 32, so that the two
are equal only at p = 1; below, neither has the minimisers of the other. What its Lemma 2 is about, and what is
minimised here, are the sums of powers: Eqn. 32 is c_i = 1, p_i = p, and its lambda enters as lam = lambda^p.

A residual is a row like any other: with R_i = -s_i (A_i Z + B_i), the problem is that of Eqn. 4,

    minimise  (1/p) sum_k ||z_k||^p + sum_i (1/p_i) sum_j ||R_ij||^p_i    subject to  A_i Z + R_i / s_i = -B_i,

once divided by lam p, for s_i^p_i = c_i p_i / (lam p), times the weight of the sample if it has one. So it runs on the
same loop, with the same certificates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dsofs.design.budget import single_threaded
from dsofs.design.interface import Block, Design
from dsofs.design.residuals import WithResiduals
from dsofs.design.types import Floats
from dsofs.problem import Problem, Solution, Status, Terms
from dsofs.solvers.inner.equality import EqualityStep
from dsofs.solvers.linear_programs.multipliers import with_best_multipliers
from dsofs.solvers.loop.reweight import reweight
from dsofs.solvers.rfs.residuals import ResidualSpace

LARGEST_UNIT = 1e100  # its square is still finite


@dataclass(frozen=True)
class Term:
    """c sum_j v_j ||(A Z + B)_j||^p, where v are the weights of samples of a design, and 1 otherwise."""

    A: Design | Floats
    B: Floats
    p: float = 1.0
    c: float = 1.0

    def scales(self, lam: float, p: float, unit: float) -> Floats:
        """s of every row."""
        s = (self.c * self.p * unit**self.p / (lam * p * unit**p)) ** (1 / self.p)
        v = self.A.sample_weight if isinstance(self.A, Design) else None
        return np.full(len(self.B), s) if v is None else s * v ** (1 / self.p)


def minimise_terms(
    terms: Sequence[Term], *, lam: float, p: float = 1.0, tol: float = 1e-3, max_iter: int = 300, verbose: int = 0
) -> Solution:
    """Z of least  sum_i c_i sum_j ||(A_i Z + B_i)_j||^p_i + lam sum_k ||z_k||^p,  as the W of the solution.

    ``certificate`` is the relative duality gap if all powers are at least 1, and else the largest relative violation of
    stationarity. ``B`` holds a multiplier for every row of every term, in the units of the objective: at the optimum,
    those of a term with p_i = 1 have norm c_i at most, and at p = 1 the rows of sum_i A_i'B_i have norm lam at most.

    Several A are stacked, as dense arrays.
    """
    _check(terms, lam, p)
    # Measured by the largest entry of B, so that units of B do not matter to the loop; the objective by ``value_unit``.
    unit = max(float(np.abs(term.B).max()) for term in terms) or 1.0
    value_unit = lam * p * unit**p
    scales = [term.scales(lam, p, unit) for term in terms]
    if not all(s.min() > 1 / LARGEST_UNIT and s.max() < LARGEST_UNIT for s in scales):
        raise ValueError(f"lam = {lam:g} is out of range for these powers: it enters as lam^(-1/p).")
    A = _stack(terms)
    problem = _problem(A, terms, scales, unit, p)
    # The first step is ridge regression: all rows of Z and all residuals are taken to be of size 1.
    sizes = np.concatenate([np.ones(A.n_columns), *scales])
    step = EqualityStep(problem, ResidualSpace(problem.Y))
    with single_threaded():
        solution = reweight(problem, step, tol=tol, max_iter=max_iter, weights=problem.penalty.weights(sizes))
    assert solution is not None, "residuals take up whatever Z does not"
    if solution.status is Status.STALLED:
        solution = with_best_multipliers(problem, solution, tol)
    solution = _without_residuals(solution, A.n_columns, unit, value_unit)
    if verbose:
        print(solution.history)
    return solution


def _check(terms: Sequence[Term], lam: float, p: float) -> None:
    for power in (p, *(term.p for term in terms)):
        if not 0 < power <= 2:
            raise ValueError(f"minimise_terms needs powers in (0, 2]. Got {power!r} instead.")
    for cost in (lam, *(term.c for term in terms)):
        if not 0 < cost < np.inf:
            raise ValueError(f"minimise_terms needs a positive lam and positive c. Got {cost!r} instead.")


def _stack(terms: Sequence[Term]) -> Design:
    if len(terms) == 1 and isinstance(terms[0].A, Design):
        return terms[0].A
    arrays = [
        term.A.block(np.arange(term.A.n_columns)).on_host() if isinstance(term.A, Design) else term.A for term in terms
    ]
    return Block(np.vstack(arrays).astype(np.float64, copy=False))


def _by_row(values: Sequence[float], terms: Sequence[Term]) -> Floats:
    """The value of its term for each row of each term."""
    return np.repeat(np.asarray(values, dtype=np.float64), [len(term.B) for term in terms])


def _problem(A: Design, terms: Sequence[Term], scales: list[Floats], unit: float, p: float) -> Problem:
    """[A, diag(1/s)] [Z; R] = -B, each group with its power, in a term of its own or that of Z."""
    Y = -np.concatenate([term.B for term in terms]) / unit
    powers = np.concatenate([np.full(A.n_columns, p), _by_row([term.p for term in terms], terms)])
    of_group = np.repeat(np.arange(1 + len(terms)), [A.n_columns, *(len(term.B) for term in terms)])
    # A residual is small if it is small beside B; rows of Z have only each other to be compared with.
    sizes = Terms(of_group, np.array([0.0, *(s.max() for s in scales)]))
    return Problem(WithResiduals(A, 1 / np.concatenate(scales)), Y, powers, "equality", terms=sizes)


def _without_residuals(solution: Solution, n_rows: int, unit: float, value_unit: float) -> Solution:
    """The rows of Z alone, in the units of B, and the objective as it was asked for."""
    history = solution.history
    return replace(
        solution,
        W=unit * solution.W[:n_rows],
        B=value_unit / unit * solution.B,
        objective=value_unit * solution.objective,
        history=replace(history, objective=[value_unit * value for value in history.objective]),
    )
