"""The Lasso and its multi-task form, by the coordinate descent of scikit-learn or celer and Newton's method.

    ||Z w - y||^2 + lam ||w||_1       for each column y of Y        (Tibshirani 1996)
    ||Z W - Y||^2 + lam sum_i ||w_i||_2                             (multi-task)

The packages minimise 1/(2m) ||Z w - y||^2 + alpha ||w||_1, so that alpha = lam / (2m).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path
from sklearn.utils.parallel import Parallel, delayed

from dsofs.design.linalg import row_norms
from dsofs.design.types import Floats, Ints
from dsofs.methods.lasso.newton import Gram, newton_lasso
from dsofs.optional import require

FEWEST_FEATURES = 64  # that a working set gains
INNER_TOL = 0.3  # of the gap on a working set, which leaves the rest of it to the features outside
# Coordinate descent slows down with small lam and correlated features. After this many passes, several tasks continue
# to this part of the gap, as the set will have to grow; a single task goes on with Newton's method.
SLOW, EARLY_TOL = 200, 0.03
SMALL = 0.005  # of the lam at which W leaves 0: below, Newton's method from the start
COARSE = 3e-5  # relative gap to which one column is descended on; Newton's method is quicker at the rest
STALLED = 0.5  # a gap over all features that falls by less than this has stalled

# (Z, y or Y, decreasing alphas, tol, max_iter) -> coefficients (..., n, n_alphas) and passes over the features
PathSolver = Callable[[Floats, Floats, Floats, float, int], tuple[Floats, int]]


def sklearn_path(
    Z: Floats, Y: Floats, alphas: Floats, tol: float, max_iter: int, gram: Gram | None = None
) -> tuple[Floats, int]:
    """By coordinate descent on working sets; for one column, by Newton's method from where that gets slow."""
    sets = WorkingSets(Z, Y, gram or Gram(Z), tol, max_iter)
    path = np.empty((*Y.shape[1:], Z.shape[1], len(alphas)))
    for number, alpha in enumerate(alphas):
        path[..., number] = sets.solve(2 * len(Z) * alpha).T
    return path, sets.n_passes


class WorkingSets:
    """The model on the features nearest to it, and on more until the gap closes for all."""

    def __init__(self, Z: Floats, Y: Floats, gram: Gram, tol: float, max_iter: int) -> None:
        self.A, self.Y, self.gram, self.tol, self.max_iter = Z, Y, gram, tol, max_iter
        self.multi_task, self.size = Y.ndim == 2, float(np.vdot(Y, Y))
        self.W, self.R = np.zeros((Z.shape[1], *Y.shape[1:])), Y
        self.norms = dual_norms(Z, Y, self.multi_task)
        self.lam_max = self.norms.max()
        self.slow, self.n_passes = False, 0

    def solve(self, lam: float) -> Floats:
        """W, from that of the lam before."""
        self.working, last, target = np.unique(np.nonzero(self.W)[0]), np.inf, self.tol * self.size
        while (gap := duality_gap(self.Y, self.W, self.R, self.norms, lam)) > target:
            if len(self.working) == len(self.W) and gap > STALLED * last:
                _warn(gap, target)
                break
            easy = lam >= SMALL * self.lam_max and not self.slow
            exact = self._descend(lam, gap) if self.multi_task or easy else self._by_newton(lam, gap)
            last = gap if exact else np.inf
            self.R = self.Y - self.A[:, self.working] @ self.W[self.working]
            self.norms = dual_norms(self.A, self.R, self.multi_task)
        return self.W

    def _descend(self, lam: float, gap: float) -> bool:
        """Coordinate descent on a larger set; whether to the end."""
        n, known = len(self.W), len(self.working)
        more = max(4 * FEWEST_FEATURES, known // 2) if known else 2 * FEWEST_FEATURES
        self.working = np.sort(_grow(self.working, self.norms, more))  # in the order of nearness it takes more passes
        end = INNER_TOL * self.tol
        aim = max(end, _coarse(self.multi_task, self.slow and len(self.working) < n, gap / self.size))
        alpha, Z = lam / (2 * len(self.A)), self.A[:, self.working]
        self.W[self.working], passes = _descend(Z, self.Y, alpha, aim, self.max_iter, self.W[self.working])
        self.n_passes += passes
        self.slow = self.slow or passes > SLOW or aim > end
        return aim == end

    def _by_newton(self, lam: float, gap: float) -> bool:
        """Newton's method on a larger set, always to the end."""
        more = max(FEWEST_FEATURES, int(np.count_nonzero(self.W)) // 2)
        self.working = _grow(self.working, self.norms, more)
        aim = INNER_TOL * (gap if len(self.working) < len(self.W) else self.tol * self.size)
        problem = self.gram.of(self.working), self.Y @ self.A[:, self.working], self.size
        self.W[self.working], steps = newton_lasso(*problem, lam, self.W[self.working], aim, self.max_iter)
        self.n_passes += steps
        return True


def _coarse(multi_task: bool, early: bool, gap: float) -> float:
    """The relative gap at which descent on this set ends."""
    if not multi_task:
        return COARSE
    return EARLY_TOL * gap if early else 0.0


def _grow(working: Ints, norms: Floats, more: int) -> Ints:
    """The working set and a number of further features, those nearest to the model."""
    n = len(norms)
    more = min(more, n - len(working))
    outside = norms.copy()
    outside[working] = -1.0
    return np.concatenate([working, np.argpartition(outside, n - more)[n - more :]]) if more else working


def _warn(gap: float, target: float) -> None:
    warnings.warn(
        f"The Lasso did not converge: its duality gap is {gap:.2g}, {target:.2g} was asked for. Raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=2,
    )


def _descend(Z: Floats, Y: Floats, alpha: float, tol: float, max_iter: int, W: Floats) -> tuple[Floats, int]:
    """scikit-learn's coordinate descent for one alpha, from W."""
    _, path, _, passes = lasso_path(
        Z, Y, alphas=[alpha], tol=tol, max_iter=max_iter, coef_init=W.T, copy_X=False, return_n_iter=True
    )
    return path[..., 0].T, int(passes[0])


def duality_gap(Y: Floats, W: Floats, R: Floats, norms: Floats, lam: float) -> float:
    """The gap for half of ||R||^2 + lam ||W||, as in the packages, at W and at R scaled until it is feasible.

    R = Y - Z W, and ``norms`` are its ``dual_norms``.
    """
    feasible = R * min(1.0, lam / max(float(norms.max()), np.finfo(np.float64).tiny))
    penalty = row_norms(W).sum() if W.ndim == 2 else np.abs(W).sum()
    primal = np.vdot(R, R) + lam * penalty
    return float(primal - np.vdot(Y, Y) + np.vdot(Y - feasible, Y - feasible)) / 2


def celer_path(Z: Floats, Y: Floats, alphas: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Working sets, and descent on them: the fastest along many lams where few features correlate. One column only."""
    path = require("celer", extra="fast").celer_path
    limits = {"max_iter": max_iter, "max_epochs": max_iter}  # working sets, and passes over each
    _, W, _, passes = path(Z, Y, pb="lasso", alphas=alphas, tol=tol, **limits, return_n_iter=True)
    return W, int(max(passes))


# At small lam scikit-learn's descent with Newton's method is many times as fast as celer.
SOLVERS: dict[str, PathSolver] = {"auto": sklearn_path, "sklearn": sklearn_path, "celer": celer_path}


def lasso_weights(
    Z: Floats, Y: Floats, lams: Floats, *, multi_task: bool, solver: str, tol: float, max_iter: int, n_jobs: int | None
) -> tuple[Floats, int]:
    """W for every lam (n_lams, n, c), each starting where the next larger one ended, and passes over the features."""
    solve = SOLVERS[solver]
    largest_first = np.argsort(-lams, kind="stable")
    alphas = lams[largest_first] / (2 * len(Z))
    W = np.empty((len(lams), Y.shape[1], Z.shape[1])).swapaxes(1, 2)  # coefficients, the other way round, in one piece
    if multi_task:
        path, n_passes = solve(Z, Y, alphas, tol, max_iter)
        W[largest_first] = path.transpose(2, 1, 0)
        return W, n_passes
    if solve is sklearn_path:
        solve = partial(sklearn_path, gram=Gram(Z))
    columns = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(solve)(Z, np.ascontiguousarray(y), alphas, tol, max_iter) for y in Y.T
    )
    for column, (path, _) in enumerate(columns):
        W[largest_first, :, column] = path.T
    return W, max(passes for _, passes in columns)


def dual_norms(Z: Floats, R: Floats, multi_task: bool) -> Floats:
    """2 ||Z_i' R||, which is lam where w_i is not zero and at most lam elsewhere; R is the residual Y - Z W.

    At W = 0 its maximum is the lam at which W leaves 0.
    """
    G = 2 * (R.T @ Z).T  # the transpose is faster, as Z is held by columns
    if G.ndim == 1:
        return np.abs(G)
    return row_norms(G) if multi_task else np.abs(G).max(axis=1)
