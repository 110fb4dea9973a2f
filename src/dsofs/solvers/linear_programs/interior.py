"""One column of Y at p = 1, with hard margins or hinge slack: a linear program, by an interior-point method.

With Z = y o X and the multipliers a of the samples the dual is

    max  1'a      subject to      Z'a <= 1,    -Z'a <= 1,    a >= 0,    and with slack  a <= C.

Let r = r_0 + M a be the room that a leaves in these constraints and u >= 0 their multipliers; w is the difference of
those of the first two. The method follows  u r = k mu  down to mu = 0 by Newton's steps, each with a predictor and a
corrector (Mehrotra's) that share the factor of  M' diag(u / r) M,  which is  Z diag(d) Z' + diag(t). It takes 10 to 40
steps, where the loop takes up to 200. k is the weight of the sample for constraints on its multiplier, and 1 for all
others: the path is that of a program in which samples are repeated.

Only a working set of features takes part. Features outside that violate |Z'a| <= 1 join it on the way. While those in
it cannot separate the classes, as is common with counts, the dual grows without bound and its multipliers lose their
digits: at the first sign of that the method begins anew with twice as many features.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dsofs.design.linalg import factorise
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import History, Problem, Solution, Status, Survival
from dsofs.solvers.inner.margin import FEW_SAMPLES
from dsofs.solvers.loop.point import relative_gap

MAX_STEPS = 100
SHARP = 1e-8  # the gap at which the rows of the support stand out from the others
CLEAR = (1.0, 1e-2, 1e-4, 1e-6)  # the least u / r in the support, by the largest u: the first one that is good enough
MIN_WORKING_SET = 300  # features in the first working set: one for each sample, no fewer than these
MIN_JOINING = 100  # as many features join at a time as there are samples, no fewer than these
FIRST_LOOK, CLOSER = 0.3, 0.1  # the gap at which features outside are looked at, and its part at which they are again
# Features that cannot separate the classes give the dual no bound. While no w separates, a dual of so many times the
# best bound over all features is a sign of it; one of so many times the first bound, with no feature to join, ends it.
UNBOUNDED, HOPELESS = 3.0, 1e8
LARGER = 2  # times as many features are in the working set after such a sign
FIRST_SIZE = 0.5  # of the multipliers a, as a part of the largest that the constraints allow
DRAWN_BACK = 0.9  # their size, likewise, after features joined
CENTRED = 0.1  # the least product u r then, as a part of the mean
TO_THE_WALL = 0.99  # how far a step goes of the way to the nearest constraint
ROUNDING = 1e-14  # of the largest entry: samples that are alike can make the matrix singular
ACCURATE, REFINEMENTS = 1e-6, 10  # relative residual of a solve through the features, and steps to get there


def solve_interior(problem: Problem, *, tol: float, max_iter: int) -> Solution | None:
    """The optimum; None if it is not reached, as where classes overlap and have no slack."""
    features = _AllFeatures(problem)
    if problem.C is None and not features.dual_norms.any():  # a = 1 proves that the classes overlap
        return None
    with np.errstate(all="ignore"):  # a number that is none ends the search
        return _search(problem, features, tol, max_iter)


def _search(problem: Problem, features: _AllFeatures, tol: float, max_iter: int) -> Solution | None:
    clock, history, survival = time.perf_counter(), History(), features.survival()
    program, best = _Program(problem, features.first_working_set()), np.inf
    sharp, look, last_gap, first_bound = min(tol, SHARP), FIRST_LOOK, np.inf, features.bound
    for _ in range(min(MAX_STEPS, max_iter)):
        w, objective = program.primal()
        gap = relative_gap(objective, program.dual())
        if last_gap <= gap <= tol:  # it is as small as rounding lets it be
            sharp = look = gap
        unbounded = objective == np.inf and program.dual() > UNBOUNDED * features.bound
        looking = unbounded or gap <= look
        joining = features.violating(program) if looking else np.empty(0, dtype=np.intp)
        certificate, best = relative_gap(objective, features.bound), min(best, objective)
        survival.record(program.scatter(np.abs(w)))
        if best < np.inf:
            history.append(best, relative_gap(best, features.bound), len(w), time.perf_counter() - clock)
        if gap <= sharp and certificate <= tol:
            return _solution(program, features, sharp, tol, history, survival)
        if unbounded and len(joining):
            program, last_gap = _Program(problem, features.larger_working_set(program)), np.inf
        elif len(joining) and certificate > tol:
            program.admit(joining, features.dual_norms)
            sharp, last_gap = min(tol, SHARP), np.inf
        else:
            last_gap = gap
            if looking:
                look = max(CLOSER * look, sharp)
            lost = unbounded and program.dual() > HOPELESS * first_bound
            if lost or (not program.step() and (gap > tol or gap == sharp)):
                return None
    return None


def _solution(
    program: _Program, features: _AllFeatures, sharp: float, tol: float, history: History, survival: Survival
) -> Solution:
    """W = 0 if slack costs so little that it is as good, else without rows that are zero but for what is left of mu."""
    w = program.w(program.multipliers)
    candidates = [(0.0 * w, sharp), *((program.in_support(clear) * w, tol) for clear in CLEAR), (w, np.inf)]
    for candidate, enough in candidates:
        w, objective = program.evaluate(candidate)
        certificate = relative_gap(objective, features.bound)
        if certificate <= enough:
            break
    status = Status.CONVERGED if w.any() else Status.ZERO
    W, none = program.scatter(w)[:, None], np.empty((0, 1))
    return Solution(W, features.B, status, objective, certificate, history, survival, none)


def _first_multipliers(problem: Problem) -> Floats:
    """In the proportions of C: those that W = 0 has, where slack is cheap."""
    return problem.X.weighted(np.ones_like(problem.Y)) if problem.upper is None else problem.upper


class _AllFeatures:
    """What is known of all features: |Z'a| at the last look, the best bound so far and its multipliers."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.bound, self.B = problem, 0.0, np.zeros_like(problem.Y)
        self._look(problem.Y * _first_multipliers(problem))

    def _look(self, B: Floats) -> None:
        self.dual_norms = np.abs(self.problem.X.tdot(B)[:, 0])
        bound = self.problem.lower_bound(B, self.dual_norms)
        if bound > self.bound:
            self.bound, self.B = bound, B

    def survival(self) -> Survival:
        """Features that never enter the working set are ranked by |Z'a| at the start."""
        start, largest = Survival.start(len(self.dual_norms)), float(self.dual_norms.max())
        return replace(start, share=self.dual_norms / largest) if largest > 0 else start

    def first_working_set(self) -> Ints:
        return _largest(self.dual_norms, max(MIN_WORKING_SET, int(self.problem.X.sample_size)))

    def larger_working_set(self, program: _Program) -> Ints:
        """With features that violate the constraints most, or come nearest to it."""
        inside_first = self.dual_norms.copy()
        inside_first[program.working] = np.inf
        return _largest(inside_first, LARGER * len(program.working))

    def violating(self, program: _Program) -> Ints:
        """Features outside the working set that violate the constraints most."""
        self._look(self.problem.Y * program.a[:, None])
        outside = np.flatnonzero((self.dual_norms > 1) & (program.scatter(np.ones(len(program.working))) == 0))
        return outside[_largest(self.dual_norms[outside], max(MIN_JOINING, int(self.problem.X.sample_size)))]


class _Program:
    """The program on a working set of features, and a point inside it."""

    def __init__(self, problem: Problem, working: Ints) -> None:
        self.whole, self.y = problem.X, problem.Y[:, 0]
        self.upper = None if problem.upper is None else problem.upper[:, 0]
        self.working, self.X = working, problem.X.take(working)
        first = _first_multipliers(problem)[:, 0]
        largest = np.abs(self._products(first)).max()
        self.a = FIRST_SIZE * first / (largest if self.upper is None else max(largest, 1.0))
        self.room = self._room()
        self.counts = self._counts()
        self.multipliers = self.a.sum() / len(working) * self.counts / self.room

    def dual(self) -> float:
        return float(self.a.sum())

    def primal(self) -> tuple[Floats, float]:
        return self.evaluate(self.w(self.multipliers))

    def evaluate(self, w: Floats) -> tuple[Floats, float]:
        """w, or the multiple that keeps all margins if that is better, and its objective; infinite if there is none."""
        margins, size = self._margins(w), float(np.abs(w).sum())
        smallest = float(margins.min())
        hard = size / smallest if smallest > 0 else np.inf
        soft = np.inf if self.upper is None else size + float(self.upper @ np.maximum(1 - margins, 0.0))
        return (w / smallest, hard) if hard < soft else (w, soft)

    def in_support(self, clear: float) -> Bools:
        """Where w is not zero: of a multiplier and its room one goes to zero with mu."""
        multipliers, room = (x[: 2 * len(self.working)].reshape(2, -1) for x in (self.multipliers, self.room))
        return np.asarray((multipliers > clear * multipliers.max() * room).any(axis=0))

    def scatter(self, values: Floats) -> Floats:
        """Values of the working set, and zero for all other features."""
        scattered = np.zeros(self.whole.n_columns)
        scattered[self.working] = values
        return scattered

    def admit(self, joining: Ints, dual_norms: Floats) -> None:
        """Take up features, which a is too large for: it draws back, and u moves away from zero with it."""
        n, place = len(self.working), np.searchsorted(self.working, joining)
        self.working = np.insert(self.working, place, joining)
        self.X = self.whole.take(self.working)
        self.a = self.a * DRAWN_BACK / dual_norms[joining].max()
        self.room = self._room()
        multipliers = np.insert(self.multipliers, np.concatenate([place, n + place]), 0.0)
        self.counts = self._counts()
        mu = multipliers @ self.room / self.counts.sum()
        self.multipliers = np.maximum(multipliers, CENTRED * mu * self.counts / self.room)

    def step(self) -> bool:
        """Whether floating point could do it."""
        u, r, counts, total = self.multipliers, self.room, self.counts, self.counts.sum()
        mu = u @ r / total
        try:
            solve = self._solver(u / r)
            _, du, dr = self._direction(solve, None)
            reached = (u + _length(u, du) * du) @ (r + _length(r, dr) * dr) / total
            da, du, dr = self._direction(solve, mu * (reached / mu) ** 3 * counts - du * dr)
        except np.linalg.LinAlgError:
            return False
        length = _length(r, dr, TO_THE_WALL)
        self.multipliers = u + _length(u, du, TO_THE_WALL) * du
        self.a, self.room = self.a + length * da, r + length * dr
        return bool(np.isfinite(self.dual()))

    def _direction(self, solve: Callable[[Floats], Floats], target: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Newton's step of a, u and r towards  u r = target  (None: zero) and  1 + M'u = 0."""
        u, r = self.multipliers, self.room
        goal = np.zeros_like(r) if target is None else target / r
        da = solve(np.ones_like(self.y) if target is None else 1 + self._pull(goal))
        dr = self._change(da)
        return da, goal - u * dr / r - u, dr

    def _solver(self, ratio: Floats) -> Callable[[Floats], Floats]:
        """The inverse of M' diag(ratio) M = Z diag(d) Z' + diag(t), by whichever of X's sides is shorter."""
        n, m = len(self.working), len(self.y)
        d, t = ratio[: 2 * n].reshape(2, n).sum(axis=0), ratio[2 * n :].reshape(-1, m).sum(axis=0)
        if m <= max(n, FEW_SAMPLES):
            K = self.X.gram(d)
            factor = factorise(K, t + ROUNDING * float(K.diagonal().max()))
            return lambda v: self.y * factor.solve(self.y * v)
        root = np.sqrt(d)
        factor = factorise(root[:, None] * self.X.normal_matrix(1 / t) * root, 1.0)

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
        return np.concatenate(walls if self.upper is None else [*walls, self.upper]) + self._change(self.a)

    def _counts(self) -> Floats:
        """k of every constraint."""
        counts, of_features = np.ones(len(self.room)), 2 * len(self.working)
        if self.whole.sample_weight is not None:
            counts[of_features:].reshape(-1, len(self.y))[:] = self.whole.sample_weight
        return counts

    def _change(self, a: Floats) -> Floats:
        """M a."""
        g = self._products(a)
        return np.concatenate([-g, g, a] if self.upper is None else [-g, g, a, -a])

    def _pull(self, u: Floats) -> Floats:
        """M' u."""
        of_samples = u[2 * len(self.working) :].reshape(-1, len(self.y))
        pull = of_samples[0] if self.upper is None else of_samples[0] - of_samples[1]
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


def _length(x: Floats, dx: Floats, part: float = 1.0) -> float:
    """``part`` of the way along dx to where some x > 0 is zero, or all of dx."""
    fastest = float((dx / x).min())
    return part / -fastest if fastest < -part else 1.0


def _largest(values: Floats, count: int) -> Ints:
    """Where the largest values are, in increasing order."""
    return np.sort(np.argsort(values)[-count:])
