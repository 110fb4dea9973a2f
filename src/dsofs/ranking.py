"""From a solution to one ranking of all features, for any number of them.

Below p = 1 only a few rows survive, fewer than a user may ask for. What ranks the others is a choice:

* "forward": rows alive at the end by forward selection, so that each says most about the classes beside those before
  it; the others by survival.
* "survival": by the last step of the loop at which a row was alive (above 1e-3 of the largest), then by its norm then.
* "norm": the paper's: by the norm of the row. The paper's algorithm leaves no row at exactly zero; ours does, and
  ranks those by survival, after the others.

Where no feature is left at all, the bias alone being best, they are ranked by their correlation with the classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsofs.arrays.design import Design, chunk_samples, cuts
from dsofs.arrays.norms import row_norms
from dsofs.arrays.threads import single_threaded
from dsofs.arrays.types import AnyArray, Bools, Floats, Ints
from dsofs.problem import Problem, Solution

MOST_FORWARD = 100  # features that are put in order by forward selection; those after them stay in the order of norms
ROUNDING = 1e-10  # a norm below this part of the largest is zero
COLLINEAR = 1e-8  # a column of which this part is left says nothing that those before it did not say


def survival_scores(problem: Problem, solution: Solution) -> Floats:
    """1 + norm relative to the largest for groups alive at the end; below 1, the step at which the others died."""
    survival = solution.survival
    alive = survival.step == survival.now
    return np.where(alive, 1 + survival.share, (survival.step + survival.share) / (survival.now + 1))


def norm_scores(problem: Problem, solution: Solution) -> Floats:
    """||W_g||; groups at zero are ordered by survival, below the smallest that is not."""
    norms = problem.norms(solution.W)
    present = norms > ROUNDING * norms.max()
    smallest = norms[present].min(initial=1.0)
    # Survival scores lie between 0 and 2.
    return np.where(present, norms, smallest * survival_scores(problem, solution) / 4)


def forward_scores(problem: Problem, solution: Solution) -> Floats:
    """For groups alive at the end 1 + the part of Y that those before them leave unexplained; survival for the others.

    Norms tell which features are needed together; the first few of them by norm may all say the same.
    """
    scores = survival_scores(problem, solution)
    if problem.groups is not None:
        return scores
    alive = np.flatnonzero(scores >= 1)
    first = np.sort(alive[np.argsort(-scores[alive], kind="stable")[:MOST_FORWARD]])
    scores[alive] = 1.0
    with single_threaded():  # for many small products
        scores[first] += unexplained(problem.X.take(first), problem.Y)
    return scores


def unexplained(X: Design, Y: Floats) -> Floats:
    """Forward selection of the columns of X: the part of Y that is left to explain when a column is taken.

    A Cholesky factorisation of the covariances that takes, as its next pivot, the column that explains most.
    """
    m, n = X.n_samples, X.n_columns
    Y = Y - Y.mean(axis=0)
    mean = X.tdot(np.ones((m, 1)))[:, 0] / m
    G, b = np.zeros((n, n)), np.zeros((n, Y.shape[1]))
    for chunk in cuts(m, chunk_samples(n)):
        Z = X.samples(np.arange(m)[chunk]).Z - mean
        G += Z.T @ Z
        b += Z.T @ Y[chunk]
    left = G.diagonal().copy()  # of each column, squared
    parts, part, total = np.zeros(n), 1.0, float(np.vdot(Y, Y))
    enough = COLLINEAR * left
    for _ in range(n):
        left[left <= enough] = np.inf  # taken, or collinear with those that are
        gains = np.einsum("ij,ij->i", b, b) / left
        best = int(gains.argmax())
        if not gains[best] > 0:
            break
        parts[best], part = part, max(part - gains[best] / total, 0.0)
        column = G[:, best] / np.sqrt(left[best])
        b -= column[:, None] * (b[best] / column[best])
        G -= column[:, None] * column
        left -= column**2
        left[best] = np.inf
    return parts


def correlation_scores(problem: Problem) -> Floats:
    """Below 1: how each group varies with Y."""
    scores = problem.norms(problem.X.tdot(problem.Y - problem.Y.mean(axis=0)))
    return scores / (2 * max(float(scores.max()), np.finfo(np.float64).tiny))


RANKINGS: dict[str, Callable[[Problem, Solution], Floats]] = {
    "forward": forward_scores,
    "survival": survival_scores,
    "norm": norm_scores,
}


def rank_features(problem: Problem, solution: Solution, rule: str, kept: Ints, n_features: int) -> tuple[Floats, Ints]:
    """Scores (higher is better) and ranks (1 is best) of all features; those not in ``kept`` score 0 and come last."""
    within = row_norms(solution.W)[: len(kept)]
    scores, tie_break = np.zeros(n_features), np.zeros(n_features)
    none_left = problem.without_features(solution.W)  # what is in the rows of W is rounding
    of_groups = correlation_scores(problem) if none_left else RANKINGS[rule](problem, solution)
    scores[kept] = problem.expand(of_groups)[: len(kept)]
    tie_break[kept] = within
    group = np.zeros(n_features, dtype=np.intp)
    if problem.groups is not None:
        group[kept] = problem.groups[: len(kept)]
    constant = np.ones(n_features, dtype=bool)
    constant[kept] = False
    return scores, ranks(scores, constant, group, -tie_break)


def two_tier_scores(chosen: Floats, rest: Floats) -> Floats:
    """Scores in [0, 2] of a method that chooses some features and says less about the others.

    Features of positive ``chosen`` score 1 plus its share of the largest; those of 0 score the share of ``rest`` in its
    largest.
    """
    tiny = np.finfo(np.float64).tiny
    share, below = chosen / max(chosen.max(initial=0.0), tiny), rest / max(rest.max(initial=0.0), tiny)
    return np.where(chosen > 0, 1 + share, below)


def rank_kept(kept_scores: Floats, kept: Ints, n_features: int, *, worst: float = 0.0) -> tuple[Floats, Ints]:
    """Scores and ranks of all features from the scores of those in ``kept``; the others score ``worst``, come last."""
    scores, last = np.full(n_features, worst), np.ones(n_features, dtype=bool)
    scores[kept], last[kept] = kept_scores, False
    return scores, ranks(scores, last)


def ranks(scores: Floats, last: Bools, *tie_breaks: AnyArray) -> Ints:
    """A permutation of 1..n: by score, then by ``tie_breaks``, then by position; ``last`` after all others."""
    order = np.lexsort((*reversed(tie_breaks), -scores, last))
    ranking = np.empty(len(scores), dtype=np.intp)
    ranking[order] = np.arange(1, len(scores) + 1)
    return ranking
