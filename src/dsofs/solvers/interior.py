"""One column of Y at p = 1, with hard margins or hinge slack: a linear program, by an interior-point method.

With Z = y o X and the multipliers a of the samples the dual is

    max  1'a      subject to      Z'a <= 1,    -Z'a <= 1,    a >= 0,    and with slack  a <= C.

Let r = r_0 + M a be the room that a leaves in these constraints and u >= 0 their multipliers; those of the first two
are the positive and the negative part of w. The method follows  u r = mu  down to mu = 0 by Newton's steps, each with
a predictor and a corrector (Mehrotra's) that share the factor of  M' diag(u / r) M,  which is  Z diag(d) Z' + diag(t).
It takes 15 to 40 steps, where the loop takes up to 200.

Only a working set of features takes part. Features outside that violate |Z'a| <= 1 join it on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dsofs.arrays.design import normal_matrix
from dsofs.arrays.linalg import factorise
from dsofs.arrays.types import Bools, Floats, Ints
from dsofs.problem import History, Problem, Solution, Status, Survival
from dsofs.solvers.certificates import lower_bound, relative_gap
from dsofs.solvers.margin import FEW_SAMPLES

MAX_STEPS = 100
SHARP = 1e-8  # the gap at which the rows of the support stand out from the others
CLEAR = (1.0, 1e-2, 1e-4, 1e-6)  # how much larger than its room a multiplier in the support is, in order of preference
WORKING_SET, MIN_WORKING_SET = 3, 500  # features in the first working set: so many per sample, no fewer than these
MIN_JOINING = 100  # as many features join at a time as there are samples, no fewer than these
FIRST_LOOK, CLOSER = 0.3, 0.1  # the gap at which features outside are looked at, and its part at which they are again
FIRST_SIZE = 0.5  # of the multipliers a, as a part of the largest that the constraints allow
DRAWN_BACK = 0.9  # their size, likewise, after features joined
CENTRED = 0.1  # the least product u r then, as a part of the mean
TO_THE_WALL = 0.99  # how far a step goes of the way to the nearest constraint
ACCURATE, REFINEMENTS = 1e-6, 10  # of a solve through the features, whose first result is not accurate near the end


def is_linear(problem: Problem) -> bool:
    """Whether this is a problem for ``solve_interior``."""
    if problem.Y.shape[1] > 1 or problem.p != 1 or problem.constraint != "margin":
        return False
    if problem.groups is not None or problem.terms is not None:
        return False
    if problem.C is None:  # more samples than this can hardly be separated, which the loop finds out sooner
        return problem.X.n_samples <= max(2 * problem.X.n_columns, FEW_SAMPLES)
    return problem.loss == "hinge" and bool(np.all((problem.C > 0) & np.isfinite(problem.C)))


def solve_interior(problem: Problem, *, tol: float, max_iter: int) -> Solution | None:
    """The optimum; None if it is not reached, as where classes overlap and have no slack."""
    clock, history, survival = time.perf_counter(), History(), Survival.start(problem.X.n_columns)
    everything = _Everything(problem)
    survival.record(everything.dual_norms)
    program = _Program(problem, everything.first_working_set())
    sharp, look, last_gap = min(tol, SHARP), FIRST_LOOK, np.inf
    for _ in range(min(MAX_STEPS, max_iter)):
        w, objective = program.primal()
        survival.record(program.scatter(np.abs(w)))
        gap = relative_gap(objective, program.dual())
        if last_gap <= gap <= tol:  # it is as small as rounding lets it be
            sharp = look = gap
        joining = everything.violating(program) if gap <= look else None
        certificate = relative_gap(objective, everything.bound)
        if objective < np.inf:  # w separates the classes
            history.append(objective, certificate, len(w), time.perf_counter() - clock)
        if gap <= sharp and certificate <= tol:
            return _solution(program, everything, tol, history, survival)
        try:
            if joining is not None and len(joining):
                program.admit(joining, everything.dual_norms)
                last_gap = np.inf
            else:
                look = look if joining is None else max(CLOSER * look, sharp)
                last_gap = gap
                program.step()
        except np.linalg.LinAlgError:
            if gap > tol:
                break
    return None


def _solution(program: _Program, everything: _Everything, tol: float, history: History, survival: Survival) -> Solution:
    """W = 0 if slack costs so little that it is as good, else without rows that are zero but for what is left of mu."""
    w = program.w(program.multipliers)
    candidates = [(0.0 * w, SHARP), *((program.in_support(clear) * w, tol) for clear in CLEAR), (w, np.inf)]
    for candidate, enough in candidates:
        w, objective = program.evaluate(candidate)
        certificate = relative_gap(objective, everything.bound)
        if certificate <= enough:
            break
    status = Status.CONVERGED if w.any() else Status.ZERO
    return Solution(program.scatter(w)[:, None], everything.B, status, objective, certificate, history, survival)


class _Everything:
    """What is known of all features: |Z'a| at the last look, the best bound so far and its multipliers."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.bound, self.B = problem, 0.0, np.zeros_like(problem.Y)
        self.look(problem.Y)

    def look(self, B: Floats) -> None:
        self.dual_norms = np.abs(self.problem.X.tdot(B)[:, 0])
        bound = lower_bound(self.problem, B, self.dual_norms)
        if bound > self.bound:
            self.bound, self.B = bound, B

    def first_working_set(self) -> Ints:
        return _largest(self.dual_norms, max(MIN_WORKING_SET, WORKING_SET * self.problem.X.n_samples))

    def violating(self, program: _Program) -> Ints:
        """Features outside the working set that violate the constraints most."""
        self.look(self.problem.Y * program.a[:, None])
        outside = np.flatnonzero((self.dual_norms > 1) & (program.scatter(np.ones(len(program.working))) == 0))
        return outside[_largest(self.dual_norms[outside], max(MIN_JOINING, self.problem.X.n_samples))]


class _Program:
    """The program on a working set of features, and a point inside it."""

    def __init__(self, problem: Problem, working: Ints) -> None:
        self.all_features, self.y = problem.X, problem.Y[:, 0]
        self.ceiling = None if problem.ceiling is None else problem.ceiling[:, 0]
        self.working, self.X = working, problem.X.take(working)
        first = np.ones_like(self.y) if self.ceiling is None else self.ceiling
        largest = np.abs(self._products(first)).max()
        self.a = FIRST_SIZE * first / (largest if self.ceiling is None else max(largest, 1.0))
        self.room = self._room()
        self.multipliers = self.a.sum() / len(working) / self.room

    def dual(self) -> float:
        return float(self.a.sum())

    def primal(self) -> tuple[Floats, float]:
        return self.evaluate(self.w(self.multipliers))

    def evaluate(self, w: Floats) -> tuple[Floats, float]:
        """w, made to keep the margins if they are hard, and its objective: infinite if that cannot be done."""
        margins, size = self._margins(w), float(np.abs(w).sum())
        if self.ceiling is not None:
            return w, size + float(self.ceiling @ np.maximum(1 - margins, 0.0))
        smallest = float(margins.min())
        return (w / smallest, size / smallest) if smallest > 0 else (w, np.inf)

    def in_support(self, clear: float) -> Bools:
        """Where w is not zero: of a multiplier and its room one goes to zero with mu."""
        multipliers, room = (x[: 2 * len(self.working)].reshape(2, -1) for x in (self.multipliers, self.room))
        return np.asarray((multipliers > clear * multipliers.max() * room).any(axis=0))

    def scatter(self, values: Floats) -> Floats:
        """Values of the working set, and zero for all other features."""
        scattered = np.zeros(self.all_features.n_columns)
        scattered[self.working] = values
        return scattered

    def admit(self, joining: Ints, dual_norms: Floats) -> None:
        """Take up features, which a is too large for: it draws back, and u moves away from zero with it."""
        n, place = len(self.working), np.searchsorted(self.working, joining)
        self.working = np.insert(self.working, place, joining)
        self.X = self.all_features.take(self.working)
        self.a = self.a * DRAWN_BACK / dual_norms[joining].max()
        self.room = self._room()
        multipliers = np.insert(self.multipliers, np.concatenate([place, n + place]), 0.0)
        mu = multipliers @ self.room / len(self.room)
        self.multipliers = np.maximum(multipliers, CENTRED * mu / self.room)

    def step(self) -> None:
        u, r = self.multipliers, self.room
        solve = self._solver(u / r)
        _, du, dr = self._direction(solve, np.zeros_like(r))
        mu = u @ r / len(r)
        reached = (u + _length(u, du) * du) @ (r + _length(r, dr) * dr) / len(r)
        da, du, dr = self._direction(solve, mu * (reached / mu) ** 3 - du * dr)
        self.multipliers = u + TO_THE_WALL * _length(u, du) * du
        length = TO_THE_WALL * _length(r, dr)
        self.a, self.room = self.a + length * da, r + length * dr

    def _direction(self, solve: Callable[[Floats], Floats], target: Floats) -> tuple[Floats, Floats, Floats]:
        """Newton's step of a, u and r towards  u r = target  and  M'u = -1,  which are the margins of w."""
        u, r = self.multipliers, self.room
        da = solve(1 + self._pull(target / r))
        dr = self._change(da)
        return da, (target - u * dr) / r - u, dr

    def _solver(self, ratio: Floats) -> Callable[[Floats], Floats]:
        """The inverse of M' diag(ratio) M = Z diag(d) Z' + diag(t), by whichever of X's sides is shorter."""
        n, m = len(self.working), len(self.y)
        d, t = ratio[: 2 * n].reshape(2, n).sum(axis=0), ratio[2 * n :].reshape(-1, m).sum(axis=0)
        if m <= max(n, FEW_SAMPLES):
            factor = factorise(self.X.gram(d), t)
            return lambda v: self.y * factor.solve(self.y * v)
        root = np.sqrt(d)
        factor = factorise(root[:, None] * normal_matrix(self.X, 1 / t, np.arange(m)) * root, 1.0)

        def solve(v: Floats) -> Floats:
            x, rest = np.zeros(m), v
            for _ in range(REFINEMENTS):
                x = x + (rest - self._margins(root * factor.solve(root * self._products(rest / t)))) / t
                rest = v - self._margins(d * self._products(x)) - t * x
                if np.abs(rest).max() <= ACCURATE * np.abs(v).max():
                    return x
            raise np.linalg.LinAlgError("the samples on the margin weigh too much")

        return solve

    def _room(self) -> Floats:
        walls = [np.ones(2 * len(self.working)), np.zeros(len(self.y))]
        return np.concatenate(walls if self.ceiling is None else [*walls, self.ceiling]) + self._change(self.a)

    def _change(self, a: Floats) -> Floats:
        """M a."""
        g = self._products(a)
        return np.concatenate([-g, g, a] if self.ceiling is None else [-g, g, a, -a])

    def _pull(self, u: Floats) -> Floats:
        """M' u."""
        of_samples = u[2 * len(self.working) :].reshape(-1, len(self.y))
        pull = of_samples[0] if self.ceiling is None else of_samples[0] - of_samples[1]
        return pull - self._margins(self.w(u))

    def w(self, u: Floats) -> Floats:
        n = len(self.working)
        return u[:n] - u[n : 2 * n]

    def _products(self, a: Floats) -> Floats:
        """Z' a."""
        return self.X.tdot((self.y * a)[:, None])[:, 0]

    def _margins(self, w: Floats) -> Floats:
        """Z w."""
        return self.y * self.X.dot(w[:, None])[:, 0]


def _length(x: Floats, dx: Floats) -> float:
    """How much of the step dx can be taken before some x is zero, at most all of it."""
    falling = dx < 0
    return float(np.min(x[falling] / -dx[falling], initial=1.0))


def _largest(values: Floats, count: int) -> Ints:
    """Where the largest values are, in increasing order."""
    return np.sort(np.argsort(values)[-count:])
