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
from dsofs.arrays.types import Floats
from dsofs.optional import require

# (Z, y or Y, decreasing alphas, tol, max_iter) -> coefficients (..., n, n_alphas) and passes over the features
PathSolver = Callable[[Floats, Floats, Floats, float, int], tuple[Floats, int]]


def sklearn_path(Z: Floats, Y: Floats, alphas: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    _, W, _, passes = lasso_path(Z, Y, alphas=alphas, tol=tol, max_iter=max_iter, copy_X=False, return_n_iter=True)
    return W, max(passes)


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
    if multi_task:
        coefficients, n_passes = solve(Z, Y, alphas, tol, max_iter)
    else:
        columns = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(solve)(Z, np.ascontiguousarray(y), alphas, tol, max_iter) for y in Y.T
        )
        coefficients, n_passes = np.stack([w for w, _ in columns]), max(passes for _, passes in columns)
    W = np.empty((len(lams), Z.shape[1], Y.shape[1]))
    W[largest_first] = coefficients.transpose(2, 1, 0)
    return W, n_passes


def dual_norms(Z: Floats, R: Floats, multi_task: bool) -> Floats:
    """2 ||Z_i' R||, which is lam where w_i is not zero and at most lam elsewhere; R is the residual Y - Z W.

    At W = 0 its maximum is the lam at which W leaves 0.
    """
    G = 2 * (R.T @ Z).T  # the transpose is faster, as Z is held by columns
    return row_norms(G) if multi_task else np.abs(G).max(axis=1)
