"""From a solution to one ranking of all features, for any number of them.

Below p = 1 only a few rows survive, fewer than a user may ask for. What ranks the others is a choice:

* "forward": rows alive at the end by forward selection, so that each says most about the classes beside those before
  it; the others by survival.
* "backward": the first hundred by survival, and of these by backward elimination: the best is the one that a linear
  model keeps longest; the others by survival.
* "forward_backward": the first six by forward selection, the others by backward elimination.
* "survival": by the last step of the loop at which a row was alive (above 1e-3 of the largest), then by its norm then.
* "norm": the paper's: by the norm of the row. The paper's algorithm leaves no row at exactly zero; ours does, and
  ranks those by survival, after the others.

Where no feature is left at all, the bias alone being best, they are ranked by their correlation with the classes.

What differs by rounding alone is tied, and ties are broken by the norm and then by position: another order of the
samples, other units or a sparse format change the last digits of all numbers, and must not change the ranking.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsofs.backward import turns_of_elimination
from dsofs.design.copies import Copies
from dsofs.design.linalg import row_norms
from dsofs.design.threads import single_threaded
from dsofs.design.types import Bools, Floats, Ints
from dsofs.forward import TIED, unexplained
from dsofs.problem import Problem, Solution

MOST_FORWARD = 100  # groups that are put in order by forward selection; those after them stay in the order of norms
MOST_BACKWARD = 100  # groups that backward elimination starts from; those after them stay in the order of survival
FORWARD_FIRST = 6  # groups that forward selection puts before those of backward elimination
MOST_COLUMNS = 1000  # in these groups; with more of them it takes too long, and all stay in the order of before
ROUNDING = 1e-10  # a norm below this part of the largest is zero
DISTINCT, COPY, CONSTANT = range(3)  # kinds of features, in the order of their ranks


def survival_scores(problem: Problem, solution: Solution) -> Floats:
    """1 + norm relative to the largest for groups alive at the end; below 1, the step at which the others died."""
    survival = solution.survival
    share = _beside_chance(problem, survival.share)
    return np.where(survival.alive, 1 + share, (survival.step + share) / (survival.now + 1))


def norm_scores(problem: Problem, solution: Solution) -> Floats:
    """||W_g||; groups at zero are ordered by survival, below the smallest that is not."""
    norms = _beside_chance(problem, problem.norms(solution.W))
    present = norms > ROUNDING * norms.max()
    smallest = norms[present].min(initial=1.0)
    # Survival scores lie between 0 and 2.
    return np.where(present, norms, smallest * survival_scores(problem, solution) / 4)


def _beside_chance(problem: Problem, norms: Floats) -> Floats:
    """The norms of groups on the scale of single columns, since those of many columns are larger by chance.

    Those of groups with a factor are on the scale of W itself: a costly group has no larger norm for its cost.
    """
    norms = norms if problem.chance is None else norms / problem.chance
    return norms if problem.factor is None else norms / problem.factor ** (1 / problem.unit)


def forward_scores(problem: Problem, solution: Solution) -> Floats:
    """For groups alive at the end 1 + the part of Y that those before them leave unexplained; survival for the others.

    Norms tell which features are needed together; the first few of them by norm may all say the same.
    """
    scores, norms = survival_scores(problem, solution), solution.survival.share
    alive = np.flatnonzero(solution.survival.alive)
    first = np.sort(alive[np.argsort(descending(norms[alive]), kind="stable")[:MOST_FORWARD]])
    if len(problem.rows_of(first)) > MOST_COLUMNS:
        return scores
    part = problem.part(first)
    scores[alive] = 1.0
    with single_threaded():  # for many small products
        scores[first] += unexplained(part.X, part.Y, norms[first], part.groups, problem.free, part.factor)
    return scores


def backward_scores(problem: Problem, solution: Solution) -> Floats:
    """Above 2 the later the better: the turn of backward elimination, for the first by survival; that for the others.

    Survival tells which features the others cannot replace while there are many; fewer must do without those others.
    """
    scores = survival_scores(problem, solution)
    of_features = scores[: problem.n_groups - problem.bias]
    first = np.sort(np.argsort(descending(of_features), kind="stable")[:MOST_BACKWARD])
    if len(problem.rows_of(first)) > MOST_COLUMNS:
        return scores
    part = problem.part(first)
    divisor = None if part.factor is None else part.factor ** (1 / problem.unit)
    with single_threaded():  # for many small products
        turns = turns_of_elimination(part.X, part.Y, scores[first], part.groups, part.chance, problem.free, divisor)
    scores[first] = 2 + (1 + turns) / len(first)
    return scores


def forward_backward_scores(problem: Problem, solution: Solution) -> Floats:
    """From 3 on the first few of forward selection, 3 more than they score there; backward elimination for the others.

    Forward selection knows best which few to take, backward elimination which of many to leave out.
    """
    scores, forward = backward_scores(problem, solution), forward_scores(problem, solution)
    first = np.argsort(descending(forward[: problem.n_groups - problem.bias]), kind="stable")[:FORWARD_FIRST]
    scores[first] = 3 + forward[first]
    return scores


def correlation_scores(problem: Problem) -> Floats:
    """Below 1: how each group varies with Y."""
    scores = problem.dual_norms(problem.X.weighted(problem.X.centred(problem.Y)))
    return scores / (2 * max(float(scores.max()), np.finfo(np.float64).tiny))


RANKINGS: dict[str, Callable[[Problem, Solution], Floats]] = {
    "forward": forward_scores,
    "backward": backward_scores,
    "forward_backward": forward_backward_scores,
    "survival": survival_scores,
    "norm": norm_scores,
}


def rank_features(
    problem: Problem, solution: Solution, rule: str, kept: Ints, copies: Copies, n_features: int
) -> tuple[Floats, Ints]:
    """Scores (higher is better) and ranks (1 is best) of all features.

    ``kept`` are those of the rows of W. Copies of them say nothing new: they come after all of these, or, in a group of
    several features, after those of the group. The others are constant, score 0 and come last.
    """
    none_left = problem.without_features(solution.W)  # what is in the rows of W is rounding
    of_groups = correlation_scores(problem) if none_left else RANKINGS[rule](problem, solution)
    scores, norms, group = np.zeros(n_features), np.zeros(n_features), np.zeros(n_features, dtype=np.intp)
    scores[kept] = problem.expand(of_groups)[: len(kept)]
    norms[kept] = row_norms(solution.W)[: len(kept)]
    if problem.groups is not None:
        group[kept] = problem.groups[: len(kept)]
    tier = np.full(n_features, CONSTANT)
    tier[kept] = DISTINCT
    copy, original, grouped = copies.features, copies.originals, copies.grouped
    tier[copy] = np.where(grouped, DISTINCT, COPY)
    group[copy] = np.where(grouped, group[original], 0)
    norms[copy] = np.where(grouped, 0.0, scores[original])  # the others in the order of their originals
    scores[copy] = np.where(grouped, scores[original], 0.0)
    return scores, ranks(scores, tier, group, descending(norms))


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
    scores, tier = np.full(n_features, worst), np.full(n_features, CONSTANT)
    scores[kept], tier[kept] = kept_scores, DISTINCT
    return scores, ranks(scores, tier)


def ranks(scores: Floats, tier: Ints, *tie_breaks: Ints) -> Ints:
    """A permutation of 1..n: by tier, then by score from the largest down, by ``tie_breaks``, and by position."""
    order = np.lexsort((*reversed(tie_breaks), descending(scores), tier))
    ranking = np.empty(len(scores), dtype=np.intp)
    ranking[order] = np.arange(1, len(scores) + 1)
    return ranking


def descending(values: Floats) -> Ints:
    """The place of each value from the largest down, 0, 1, ...; values that differ by rounding alone share one."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    falls = ordered[:-1] - ordered[1:] > TIED * np.abs(ordered[:-1])
    places = np.empty(len(values), dtype=np.intp)
    places[order] = np.concatenate([[0], np.cumsum(falls)]) if len(values) else 0
    return places


def first_ranked(ranking: Ints, groups: Ints | None, count: int) -> Bools:
    """A mask of the first ``count`` features, or of the first groups up to their last feature that is not constant."""
    if groups is None:
        return np.asarray(ranking <= count)
    first = np.full(groups.max() + 1, len(ranking))  # the best rank of each group
    np.minimum.at(first, groups, ranking)
    end = np.append(np.sort(first), len(ranking) + 1)[count]
    return np.asarray(ranking < end)
