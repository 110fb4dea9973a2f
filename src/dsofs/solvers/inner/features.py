"""Inner solves in the space of the features, for more samples than features: Newton's method on W itself.

    min_w  1/2 sum_i w_i^2 / d_i + sum_k loss(t_k),      t = y o (X w)

Samples with a multiplier a(t) = -loss'(t) ("free") enter by  H = sum x x' / s  (n x n) and  h = sum y x / s.  Neither
depends on the weights d: they are carried from step to step, and only samples that change sides are added or taken
away. A step costs a product X W or two, so it is linear in the number of samples. H is held for the rows in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq

from dsofs.design.budget import for_each
from dsofs.design.columns import WithColumns
from dsofs.design.interface import Design
from dsofs.design.linalg import Factor, GroupSums, factorise, places_in, principal, product_with_itself, sum_of
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import SquaredHinge
from dsofs.solvers.loop.point import Inner

MAX_NEWTON = 50  # it ends after two to thirty, as soon as no sample changes sides
# A cost of slack at which it does not is approached from lower ones: s is multiplied by these in turn.
SOFTENED = (1e6, 1e4, 1e2, 1.0)
NOT_PENALISED = 1e-13  # of its diagonal in H, for a row of infinite weight: rounding must not make H indefinite
STILL = 1e-13  # relative descent that is rounding
LENGTH_TOL = 1e-8  # of a step: it is where the next one starts, no more
SHRUNK = 0.7  # of the rows that H is held for: with fewer in use it is held for these alone
CHANGING = 0.2  # about the part of the free samples that change sides in a solve


def scaling(d: Floats) -> Floats:
    """sqrt(d), or 1 for rows that are not penalised."""
    return np.sqrt(np.where(np.isinf(d), 1.0, d))


class Normal:
    """H and h of the free samples, for one class, over the columns of X."""

    def __init__(self, X: Design, y: Floats, slack: Floats, free: Bools, H: Floats, h: Floats) -> None:
        """``H`` may be that of other classes too: it is never changed in place."""
        self.X, self.y, self.slack, self.free, self.H, self.h = X, y, slack, free, H, h
        self.least = NOT_PENALISED * self.H.diagonal()

    @classmethod
    def of_columns(cls, X: Design, Y: Floats, slacks: Sequence[Floats], free: Bools) -> list[Normal]:
        """One for each column of Y, in one pass over X: one H for all where samples and slack are the same."""
        first, classes = slacks[0], range(Y.shape[1])
        if (free == free[:, :1]).all() and all(np.array_equal(slack, first) for slack in slacks):
            index = free[:, 0].nonzero()[0]
            H, h = X.normal_equations([(index, 1 / first[index], (Y / first[:, None])[index])])[0]
            return [cls(X, Y[:, j], first, free[:, j].copy(), H, h[:, j]) for j in classes]
        sets = [_equations(Y[:, j], slacks[j], free[:, j].nonzero()[0]) for j in classes]
        sums = zip(classes, X.normal_equations(sets), strict=True)
        return [cls(X, Y[:, j], slacks[j], free[:, j].copy(), H, h[:, 0]) for j, (H, h) in sums]

    def keep(self, X: Design, columns: Ints) -> None:
        """Only these columns, which are X."""
        self.X, self.H, self.h, self.least = X, principal(self.H, columns), self.h[columns], self.least[columns]

    def factor(self, columns: Ints, root: Floats, free: Bools | None) -> Factor:
        """Of  1 + D^1/2 H D^1/2  on these columns: scaled by sqrt(d), so that small weights do no harm.

        ``free``: those that are not penalised, if any.
        """
        ridge = 1.0 if free is None else np.where(free, self.least[columns], 1.0)
        try:
            return factorise(scaled_principal(self.H, columns, root), ridge, overwrite=True)
        except np.linalg.LinAlgError:  # what was taken away left too much rounding behind
            self._sum(self.free)
            return factorise(scaled_principal(self.H, columns, root), ridge, overwrite=True)

    def multiply_slack(self, factor: float) -> None:
        """Multiply s of all samples."""
        self.slack, self.H, self.h = factor * self.slack, self.H / factor, self.h / factor

    def move(self, free: Bools) -> None:
        """Let samples change sides."""
        changed = (free != self.free).nonzero()[0]
        if len(changed) > np.count_nonzero(free):  # cheaper anew
            self._sum(free)
        elif len(changed):
            cost = np.where(free[changed], 1.0, -1.0) / self.slack[changed]
            H, h = self.X.normal_change(changed, cost, (self.y[changed] * cost)[:, None])
            H += self.H
            self.H, self.h = H, self.h + h[:, 0]
        self.free = free

    def _sum(self, free: Bools) -> None:
        """H and h anew."""
        self.H, h = self.X.normal_equations([_equations(self.y, self.slack, free.nonzero()[0])])[0]
        self.h = h[:, 0]


def scaled_principal(H: Floats, columns: Ints, root: Floats) -> Floats:
    """D^1/2 H D^1/2 on these columns, a new array."""
    M = root[:, None] * principal(H, columns)
    M *= root
    return M


def _equations(y: Floats, slack: Floats, index: Ints) -> tuple[Ints, Floats, Floats]:
    """Samples, their weights 1/s in H, and what h is the product with."""
    return index, 1 / slack[index], (y[index] / slack[index])[:, None]


class FeatureSpace:
    """Some columns of Y, each with its loss."""

    def __init__(
        self,
        X: Design,
        Y: Floats,
        losses: Sequence[SquaredHinge],
        F: Floats,
        limits: Sequence[int] = (),
        *,
        every_row: bool = False,
    ) -> None:
        """``F``: the columns of rows that are not penalised, which are rows of infinite weight here.

        ``limits``: Newton steps of the first solves, which need not be exact where others follow. ``every_row``: hold H
        for all columns of X, as those that are not in use will be.
        """
        self.Y, self.losses, self.F, self.limits = Y, losses, F, list(limits)
        self.free = X.n_columns + np.arange(F.shape[1])
        self.X = self._with_free(X) if every_row else None
        self.settled = False  # of the last solve: whether no sample changed sides in the end
        self.rows, self.normals = np.empty(0, dtype=np.intp), list[Normal]()  # the rows that H is held for

    def _with_free(self, X: Design) -> Design:
        return WithColumns(X, self.F) if self.F.size else X

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the samples that have a multiplier in B; from all if it is None."""
        n_active = len(rows)
        if self.F.size:
            rows, X, d = np.append(rows, self.free), self._with_free(X), np.append(d, np.full(len(self.free), np.inf))
        max_newton = self.limits.pop(0) if self.limits else MAX_NEWTON
        columns = self._hold(rows, X, np.ones(self.Y.shape, dtype=bool) if B is None else B != 0)
        try:
            W, T, factors = self._minimise(columns, X, d, max_newton)
            if not self.settled and max_newton == MAX_NEWTON:
                W, T, factors = self._minimise_from_softer(columns, X, d)
        except np.linalg.LinAlgError:
            return None
        A = np.stack([loss.multipliers(t) for loss, t in zip(self.losses, T.T, strict=True)], axis=1)
        H = [principal(normal.H, columns) for normal in self.normals]
        G = X.tdot(self.Y * A) if not self.settled else self._pull(H, columns, W)
        cost = sum(loss.cost(a) for loss, a in zip(self.losses, A.T, strict=True))
        samples = [(index, 1 / n.slack[index]) for n in self.normals for index in n.free.nonzero()]
        curvature = FeatureCurvature(X, rows, H, samples, factors, d)
        exact = self.settled or max_newton == MAX_NEWTON
        return Inner(W[:n_active], self.Y * A, G[:n_active], cost, W[n_active:], curvature, exact)

    def _pull(self, H: list[Floats], columns: Ints, W: Floats) -> Floats:
        """X'B without another pass over X."""
        return np.stack([n.h[columns] - M @ w for n, M, w in zip(self.normals, H, W.T, strict=True)], axis=1)

    def work(self, rows: Ints, free: Bools) -> float:
        """About the multiplications of a solve: two factorisations a class, and H for the samples that change sides."""
        known = [n.free for n in self.normals] if self._holds(rows) else np.zeros_like(free.T)
        counts = [(np.count_nonzero(a != b), np.count_nonzero(b)) for a, b in zip(known, free.T, strict=True)]
        changes, r = sum(min(changed, there) + CHANGING * there for changed, there in counts), len(rows)
        return changes * r**2 / 2 + len(counts) * r**3 / 3

    def _holds(self, rows: Ints) -> bool:
        return len(self.normals) > 0 and places_in(self.rows, rows) is not None

    def _hold(self, rows: Ints, X: Design, free: Bools) -> Ints:
        """Have H for these rows, whose columns are X, and the free samples; where the rows are in it."""
        if self.X is not None:
            X, held = self.X, np.arange(self.X.n_columns)
        else:
            held = self.rows if self._holds(rows) and len(rows) >= SHRUNK * len(self.rows) else rows
        if not self._holds(held):
            self.normals = Normal.of_columns(X, self.Y, [loss.slack for loss in self.losses], free)
        elif len(held) < len(self.rows):
            for normal in self.normals:
                normal.keep(X, np.searchsorted(self.rows, held))
        self.rows = held
        self._move(range(len(self.normals)), free)
        return np.searchsorted(held, rows)

    def _move(self, classes: Sequence[int], free: Bools) -> None:
        """Let samples of the classes change sides; ``free`` has a column for each of them."""

        def move(place: int) -> None:
            self.normals[classes[place]].move(free[:, place].copy())

        moved = sum(np.count_nonzero(self.normals[j].free != free[:, place]) for place, j in enumerate(classes))
        for_each(move, range(len(classes)), moved * len(self.rows) ** 2 / 2)

    def _minimise(self, columns: Ints, X: Design, d: Floats, max_newton: int) -> tuple[Floats, Floats, list[Factor]]:
        """W, the margins t, and the factors of Newton's matrices."""
        n_classes = self.Y.shape[1]
        W, T = np.zeros((len(columns), n_classes)), np.zeros_like(self.Y)
        factors, todo = [Factor.empty()] * n_classes, list(range(n_classes))
        for step in range(max_newton):
            target = self._newton_points(columns, d, todo, factors)
            reached = self.Y[:, todo] * X.dot(target)
            unsettled = []
            for k, j in enumerate(todo):
                loss, (w, t) = self.losses[j], (target[:, k], reached[:, k])
                settled, length = np.array_equal(loss.free(t), self.normals[j].free), 1.0
                if not settled and step > 0:
                    length = _length(loss, d, W[:, j], w, T[:, j], t)
                W[:, j], T[:, j] = _towards(W[:, j], w, length), _towards(T[:, j], t, length)
                if not settled:
                    unsettled.append((j, length))
            todo = [j for j, length in unsettled if length > 0]
            if unsettled and step + 1 < max_newton:
                moving = [j for j, _ in unsettled]
                for j in todo:
                    factors[j] = Factor.empty()  # before there is another of its size
                self._move(moving, np.stack([self.losses[j].free(T[:, j]) for j in moving], axis=1))
            if not todo:
                break
        self.settled = not todo
        return W, T, factors

    def _newton_points(self, columns: Ints, d: Floats, classes: list[int], factors: list[Factor]) -> Floats:
        """(D^-1 + H) w = h on the active rows; classes with the same H share its factor."""
        distinct = {id(self.normals[j].H): self.normals[j] for j in classes}
        root, free, target = scaling(d), np.isinf(d), np.empty((len(columns), len(classes)))
        without_penalty = free if free.any() else None
        found: dict[int, Factor] = {}

        def factorise_one(key: int) -> None:
            found[key] = distinct[key].factor(columns, root, without_penalty)

        for_each(factorise_one, list(distinct), len(distinct) * len(columns) ** 3 / 6)
        for k, j in enumerate(classes):
            factors[j] = found[id(self.normals[j].H)]
            target[:, k] = root * factors[j].solve(root * self.normals[j].h[columns])
        return target

    def _minimise_from_softer(self, columns: Ints, X: Design, d: Floats) -> tuple[Floats, Floats, list[Factor]]:
        now = 1.0
        try:
            for softness in SOFTENED:
                self._multiply_slack(softness / now)
                now = softness
                W, T, factors = self._minimise(columns, X, d, MAX_NEWTON)
        finally:
            if now != 1:  # interrupted
                self._multiply_slack(1 / now)
        return W, T, factors

    def _multiply_slack(self, factor: float) -> None:
        for loss, normal in zip(self.losses, self.normals, strict=True):
            loss.slack = factor * loss.slack
            normal.multiply_slack(factor)


def _towards(start: Floats, end: Floats, length: float) -> Floats:
    return end if length == 1 else start + length * (end - start)


def _length(loss: SquaredHinge, d: Floats, w: Floats, target: Floats, t: Floats, reached: Floats) -> float:
    """The best step from w towards Newton's point, at most 1; 0 if there is nothing left to gain."""
    move, change = target - w, reached - t
    inertia, bend = float(w / d @ move), float(move / d @ move)

    def slope(length: float) -> float:
        return inertia + length * bend - float(loss.multipliers(t + length * change) @ change)

    value = float(w / d @ w) + float(np.abs(loss.multipliers(t) * (1 - t)).sum())
    if -slope(0.0) <= STILL * value:
        return 0.0
    return 1.0 if slope(1.0) <= 0 else float(brentq(slope, 0.0, 1.0, xtol=LENGTH_TOL))


@dataclass(frozen=True)
class FeatureCurvature:
    """P = X_F'(K_FF + s)^{-1} X_F of each class, which is H - H (D^-1 + H)^{-1} H."""

    X: Design  # of the active rows
    rows: Ints
    H: list[Floats]  # on the active rows
    samples: list[tuple[Ints, Floats]]  # F and 1/s of each class
    factors: list[Factor]
    d: Floats

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        active, r, n_classes = len(self.rows), len(rows), G.shape[1]
        root = scaling(self.d)
        if np.array_equal(rows, self.rows[:r]):  # those that are not penalised come last
            term, work = partial(self._of_active, G / root[:r, None]), active**3
        else:
            term, work = partial(self._of_others, X, rows, G, root), r * active * (r + active)
        M = sum_of(term, range(n_classes), n_classes * work / 2)
        return M if sums is None else sums.of_columns(sums.of_columns(M).T)

    def _of_active(self, U: Floats, j: int) -> Floats:
        """diag(u_j) (1 - A^-1) diag(u_j) on the first rows,  A = 1 + D^1/2 H D^1/2."""
        u, r = U[:, j], len(U)
        P = self.factors[j].inverse()[:r, :r]
        P *= -u[:, None]
        P *= u
        P.flat[:: r + 1] += u**2
        return P

    def _of_others(self, X: Design, rows: Ints, G: Floats, root: Floats, j: int) -> Floats:
        """diag(g_j) P_j diag(g_j) on these rows, whose columns are X."""
        place = np.searchsorted(self.rows, rows)
        known = bool(np.array_equal(self.rows.take(place, mode="clip"), rows))
        H = self.H[j]
        own, across = (principal(H, place), H.take(place, 0)) if known else self._anew(X, *self.samples[j])
        T = self.factors[j].half_solve((across * root).T)  # in the order that LAPACK works in
        return np.outer(G[:, j], G[:, j]) * (own - product_with_itself(T.T))

    def _anew(self, X: Design, index: Ints, cost: Floats) -> tuple[Floats, Floats]:
        """H of other columns X, and between them and the active ones."""
        Z = X.samples(index).on_host()
        weighted = (Z * cost[:, None]).T
        return weighted @ Z, weighted @ self.X.samples(index).on_host()

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        """P = D^-1/2 (1 - A^-1) D^-1/2 on the active rows, A = 1 + D^1/2 H D^1/2."""
        n_active = len(U)
        scaled = U / np.sqrt(self.d[:n_active])[:, None]

        def product(z: Floats) -> Floats:
            V = np.zeros((len(self.d), U.shape[1]))  # rows that are not penalised have no part in z
            V[:n_active] = scaled * z[:, None]
            V -= np.stack([factor.solve(v) for factor, v in zip(self.factors, V.T, strict=True)], axis=1)
            return np.asarray(np.einsum("ij,ij->i", scaled, V[:n_active]))

        return product
