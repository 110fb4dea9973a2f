"""The Lasso and its multi-task form, by the coordinate descent of scikit-learn or celer.

    ||Z w - y||^2 + lam ||w||_1       for each column y of Y        (Tibshirani 1996)
    ||Z W - Y||^2 + lam sum_i ||w_i||_2                             (multi-task)

The packages minimise 1/(2m) ||Z w - y||^2 + alpha ||w||_1, so that alpha = lam / (2m).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import lasso_path
from sklearn.utils.parallel import Parallel, delayed

from dsofs.arrays.norms import row_norms
from dsofs.arrays.types import Bools, Floats
from dsofs.optional import require

FEWEST_FEATURES = 64  # half of the first working set
INNER_TOL = 0.3  # of tol on a working set, which leaves the rest of the gap to the features outside

# (Z, y or Y, decreasing alphas, tol, max_iter) -> coefficients (..., n, n_alphas) and passes over the features
PathSolver = Callable[[Floats, Floats, Floats, float, int], tuple[Floats, int]]


def sklearn_path(Z: Floats, Y: Floats, alphas: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Coordinate descent on the features nearest to the model, and on twice as many until the gap closes for all."""
    m, n = Z.shape
    multi_task = Y.ndim == 2
    W, R, n_passes = np.zeros((n, *Y.shape[1:])), Y, 0
    path = np.empty((*Y.shape[1:], n, len(alphas)))
    for number, alpha in enumerate(alphas):
        norms = dual_norms(Z, R, multi_task)
        size = FEWEST_FEATURES
        while duality_gap(Y, W, R, norms, 2 * m * alpha) > tol * np.vdot(Y, Y):
            used = _any(W)
            size = min(n, max(2 * size, 2 * np.count_nonzero(used)))
            working = np.union1d(np.flatnonzero(used), np.argpartition(norms, n - size)[n - size :])
            W[working], passes = _descend(Z[:, working], Y, alpha, INNER_TOL * tol, max_iter, W[working])
            n_passes += passes
            R = Y - Z[:, working] @ W[working]
            norms = dual_norms(Z, R, multi_task)
            if size == n:
                break
        path[..., number] = W.T
    return path, n_passes


def _descend(Z: Floats, Y: Floats, alpha: float, tol: float, max_iter: int, W: Floats) -> tuple[Floats, int]:
    """scikit-learn's coordinate descent for one alpha, from W."""
    _, path, _, passes = lasso_path(
        Z, Y, alphas=[alpha], tol=tol, max_iter=max_iter, coef_init=W.T, copy_X=False, return_n_iter=True
    )
    return path[..., 0].T, int(passes[0])


def duality_gap(Y: Floats, W: Floats, R: Floats, norms: Floats, lam: float) -> float:
    """Of half of ||R||^2 + lam ||W||, as the packages have it, at W and at R scaled until it is feasible.

    R = Y - Z W, and ``norms`` are its ``dual_norms``.
    """
    feasible = R * min(1.0, lam / max(float(norms.max()), np.finfo(np.float64).tiny))
    penalty = row_norms(W).sum() if W.ndim == 2 else np.abs(W).sum()
    primal = np.vdot(R, R) + lam * penalty
    return float(primal - np.vdot(Y, Y) + np.vdot(Y - feasible, Y - feasible)) / 2


def _any(W: Floats) -> Bools:
    """Which rows are not zero."""
    return np.asarray(W.any(axis=1) if W.ndim == 2 else W != 0)


def celer_path(Z: Floats, Y: Floats, alphas: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Working sets: many times faster along a path. One column only."""
    path = require("celer", extra="fast").celer_path
    limits = {"max_iter": max_iter, "max_epochs": max_iter}  # working sets, and passes over each
    _, W, _, passes = path(Z, Y, pb="lasso", alphas=alphas, tol=tol, **limits, return_n_iter=True)
    return W, int(max(passes))


SOLVERS: dict[str, PathSolver] = {"sklearn": sklearn_path, "celer": celer_path}


def choose_solver(name: str, multi_task: bool) -> PathSolver:
    """ "auto" is celer where it is installed (the extra ``fast``) and can do it, else scikit-learn."""
    if name == "auto":
        name = "celer" if not multi_task and find_spec("celer") is not None else "sklearn"
    if name == "celer" and multi_task:
        raise ValueError("solver='celer' has no multi-task form here: use 'auto' or 'sklearn' with multi_task=True.")
    return SOLVERS[name]


def lasso_weights(
    Z: Floats, Y: Floats, lams: Floats, *, multi_task: bool, solver: str, tol: float, max_iter: int, n_jobs: int | None
) -> tuple[Floats, int]:
    """W for every lam (n_lams, n, c), each starting where the next larger one ended, and passes over the features."""
    solve = choose_solver(solver, multi_task)
    largest_first = np.argsort(-lams, kind="stable")
    alphas = lams[largest_first] / (2 * len(Z))
    W = np.empty((len(lams), Y.shape[1], Z.shape[1])).swapaxes(1, 2)  # coefficients, the other way round, in one piece
    if multi_task:
        path, n_passes = solve(Z, Y, alphas, tol, max_iter)
        W[largest_first] = path.transpose(2, 1, 0)
        return W, n_passes
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
