"""From a solution to one ranking of all features, for any number of them.

Below p = 1 only a few rows survive, fewer than a user may ask for. What ranks the others is a choice:

* "forward": rows alive at the end by forward selection, so that each adds most about the classes to those before
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
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas
from scipy.special import betainc

from dsofs.design.budget import single_threaded
from dsofs.design.interface import Design
from dsofs.design.linalg import columns_of, group_norms, inverse, row_norms
from dsofs.design.standard import Copies
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import Problem, Solution

MOST_FORWARD = 100  # groups that are put in order by forward selection; those after them stay in the order of norms
MOST_BACKWARD = 100  # groups that backward elimination starts from; those after them stay in the order of survival
FORWARD_FIRST = 6  # groups that forward selection puts before those of backward elimination
MOST_COLUMNS = 1000  # in these groups; with more it takes too long, and the order stays as it was
ROUNDING = 1e-10  # a norm below this part of the largest is zero
DISTINCT, COPY, CONSTANT = range(3)  # kinds of features, in the order of their ranks
COLLINEAR = 1e-8  # a column is redundant if those before it leave less than this part of it unexplained
TINY = 1e-15  # share of Y left to explain that is only rounding
TIED = 1e-9  # numbers that differ by no more, relative to the larger one, are equal but for rounding
RIDGE = 1.0  # r: the penalty is as much as the variance of a standardised column


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
    # Survival scores are between 0 and 2.
    return np.where(present, norms, smallest * survival_scores(problem, solution) / 4)


def _beside_chance(problem: Problem, norms: Floats) -> Floats:
    """The norms of groups on the scale of single columns, since those of many columns are larger by chance.

    Those of groups with a factor are on the scale of W itself: a cost does not enlarge the norm of a group.
    """
    norms = norms if problem.chance is None else norms / problem.chance
    return norms if problem.factor is None else norms / problem.factor ** (1 / problem.unit)


def forward_scores(problem: Problem, solution: Solution, count: int = MOST_FORWARD) -> Floats:
    """For groups alive at the end 1 + the part of Y that those before them leave unexplained; survival for the others.

    Norms tell which features are needed together; the first few by norm may all carry the same information.
    ``count``: groups that are put in order; the others that are alive score 1.
    """
    scores, norms = survival_scores(problem, solution), solution.survival.share
    alive = np.flatnonzero(solution.survival.alive)
    first = np.sort(alive[best(norms[alive], MOST_FORWARD)])
    if len(problem.rows_of(first)) > MOST_COLUMNS:
        return scores
    part = problem.part(first)
    scores[alive] = 1.0
    scores[first] += unexplained(part.X, part.Y, norms[first], part.groups, problem.free, part.factor, count)
    return scores


def backward_scores(problem: Problem, solution: Solution) -> Floats:
    """For the first by survival, 2 plus the turn of backward elimination; survival for the others.

    Survival tells which of many features cannot be replaced by the others; with few, those others are gone.
    """
    scores = survival_scores(problem, solution)
    of_features = scores[: problem.n_groups - problem.bias]
    first = np.sort(best(of_features, MOST_BACKWARD))
    if len(problem.rows_of(first)) > MOST_COLUMNS:
        return scores
    part = problem.part(first)
    divisor = None if part.factor is None else part.factor ** (1 / problem.unit)
    turns = turns_of_elimination(part.X, part.Y, scores[first], part.groups, problem.free, divisor)
    scores[first] = 2 + (1 + turns) / len(first)
    return scores


def forward_backward_scores(problem: Problem, solution: Solution) -> Floats:
    """From 4 on the first few of forward selection, 3 more than they score there; backward elimination for the others.

    Forward selection knows best which few to take, backward elimination which of many to leave out. Where fewer are
    alive, all of those come first: the next ones by survival may carry the same information.
    """
    scores, forward = backward_scores(problem, solution), forward_scores(problem, solution, FORWARD_FIRST)
    first = best(forward[: problem.n_groups - problem.bias], FORWARD_FIRST)
    first = first[solution.survival.alive[first]]
    scores[first] = 3 + forward[first]
    return scores


def correlation_scores(problem: Problem) -> Floats:
    """Scores below 1: how each group varies with Y."""
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
    none_left = problem.without_features(solution.W)  # the rows of W hold only rounding errors
    with single_threaded():  # for many small products
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
    order = np.argsort(-values)
    ordered = values[order]
    falls = ordered[:-1] - ordered[1:] > TIED * np.abs(ordered[:-1])
    places = np.empty(len(values), dtype=np.intp)
    places[order] = np.concatenate([[0], np.cumsum(falls)]) if len(values) else 0
    return places


def best(values: Floats, count: int) -> Ints:
    """The positions of the largest values, from the largest down; tied ones in the order of their positions."""
    places = descending(values)
    if count < len(places):
        candidates = np.flatnonzero(places <= np.partition(places, count - 1)[count - 1])
    else:
        candidates = np.arange(len(places))
    return candidates[np.argsort(places[candidates], kind="stable")[:count]]


def first_ranked(ranking: Ints, groups: Ints | None, count: int) -> Bools:
    """A mask of the first ``count`` features, or of the first groups up to their last feature that is not constant."""
    if groups is None:
        return np.asarray(ranking <= count)
    first = np.full(groups.max() + 1, len(ranking))  # the best rank of each group
    np.minimum.at(first, groups, ranking)
    end = np.append(np.sort(first), len(ranking) + 1)[count]
    return np.asarray(ranking < end)


def unexplained(
    X: Design,
    Y: Floats,
    norms: Floats,
    groups: Ints | None = None,
    given: Floats | None = None,
    cost: Floats | None = None,
    count: int | None = None,
) -> Floats:
    """Forward selection: the part of Y left to explain when each group of columns is taken; 0 for those never taken.

    Each next one explains most of what those before it leave unexplained. With the covariances G = Z'Z of centred
    columns and b = Z'Y, columns F explain  gain = ||R'b_F||^2  of Y, where R R' is the (pseudo-)inverse of G_FF. Taking
    them leaves, as in a Cholesky factorisation with pivots,

        G - G_F R R' G_F',        b - G_F R R' b_F.

    Many columns explain more by chance than one does. So groups are compared by how unlikely their gain would be, were
    they independent of Y: by the p-value of the F-test. For single columns that is the order of the gains themselves.

    Without ``groups`` each column is one. Of groups that are as good as each other, the one of largest norm is taken.
    ``given``: columns that are taken before all others. ``cost``: of every group; what it explains is divided by it.
    ``count``: groups that are taken; None is all.
    """
    columns = columns_of(groups, X.n_columns)
    firsts = np.array([F[0] for F in columns])
    moments = _Moments.of(X, Y, given)
    G, b, total, left = moments.G, moments.b, moments.total, moments.df
    enough = COLLINEAR * moments.variances
    parts, part = np.zeros(len(columns)), 1.0
    waiting = np.ones(len(columns), dtype=bool)
    for _ in columns[:count]:
        gains, df = _gains(G, b, enough, columns, firsts)
        gains[~waiting] = 0.0
        evidence = gains if groups is None else _evidence(gains / (part * total), df, left, Y.shape[1])
        evidence = evidence if cost is None else evidence / cost
        if not evidence.max() > 0:
            break
        best = _first_of_tied(evidence, norms)
        parts[best], part, left = part, max(part - gains[best] / total, TINY), left - df[best]
        waiting[best] = False
        F = columns[best]
        R = _inverse_root(G, enough, F)
        taken = G[:, F] @ R
        b -= taken @ (R.T @ b[F])
        G -= taken @ taken.T
    return parts


@dataclass(frozen=True)
class _Moments:
    """Covariances of centred columns Z and Y, less what the given columns explain."""

    G: Floats  # Z'Z
    b: Floats  # Z'Y
    variances: Floats  # the diagonal of G before
    total: float  # ||Y||^2
    df: float  # degrees of freedom left to explain Y with

    @classmethod
    def of(cls, X: Design, Y: Floats, given: Floats | None) -> _Moments:
        Y, df = X.centred(Y), X.sample_size - 1
        G, b = X.covariances(Y)
        variances = G.diagonal().copy()
        if given is not None:
            Q = basis_of(given, X)
            G, b = without(Q, X, Y, G, b)
            Y, df = Y - Q @ (Q.T @ X.weighted(Y)), df - Q.shape[1]
        return cls(G, b, variances, max(float(np.vdot(X.weighted(Y), Y)), np.finfo(np.float64).tiny), df)


def basis_of(given: Floats, X: Design) -> Floats:
    """Q with the span of the centred columns, and  Q' diag(v) Q = 1  for the weights v of the samples of X."""
    root = 1.0 if X.sample_weight is None else np.sqrt(X.sample_weight)[:, None]
    Q, s, _ = np.linalg.svd(root * X.centred(given), full_matrices=False)
    return np.asarray(Q[:, s > np.sqrt(COLLINEAR) * s.max(initial=0.0)] / root)


def without(Q: Floats, X: Design, Y: Floats, G: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The covariances G and b of X and Y less what the columns of Q explain."""
    taken = X.tdot(X.weighted(Q))
    return G - taken @ taken.T, b - taken @ (Q.T @ X.weighted(Y))


def _gains(G: Floats, b: Floats, enough: Floats, columns: list[Ints], firsts: Ints) -> tuple[Floats, Ints]:
    """What each group explains, and with how many degrees of freedom; single columns, which are the rule, at once."""
    left = G.diagonal()
    alone = np.einsum("ij,ij->i", b, b) / np.where(left > enough, left, np.inf)
    gains, df = alone[firsts], np.ones(len(columns), dtype=np.intp)
    if len(columns) < len(left):
        for group in (group for group, F in enumerate(columns) if len(F) > 1):
            R = _inverse_root(G, enough, columns[group])
            gains[group], df[group] = np.sum((R.T @ b[columns[group]]) ** 2), R.shape[1]
    return gains, df


def _evidence(share: Floats, df: Ints, left: float, n_targets: int) -> Floats:
    """-log p of the F-test for groups that explain this share of the rest of Y with these degrees of freedom."""
    rest = left - df
    possible = (rest > 0) & (df > 0) & (share > 0)
    evidence = np.zeros(len(share))
    a, b = n_targets * rest[possible] / 2, n_targets * df[possible] / 2
    p = betainc(a, b, np.clip(1 - share[possible], 0.0, 1.0))
    evidence[possible] = -np.log(np.maximum(p, np.finfo(np.float64).tiny))
    return evidence


def _inverse_root(G: Floats, enough: Floats, F: Ints) -> Floats:
    """R with R R' = G_FF^+."""
    if len(F) == 1:
        return 1 / np.sqrt(G[F, F])[:, None]
    values, vectors = np.linalg.eigh(G[np.ix_(F, F)])
    kept = values > enough[F].max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _first_of_tied(gains: Floats, norms: Floats) -> int:
    """The largest gain; of tied ones that of largest norm; of tied ones the first."""
    tied = (gains >= (1 - TIED) * gains[gains.argmax()]).nonzero()[0]
    if len(tied) == 1:
        return int(tied[0])
    return int(tied[np.argmax(norms[tied] >= (1 - TIED) * norms[tied].max())])


def turns_of_elimination(
    X: Design,
    Y: Floats,
    scores: Floats,
    groups: Ints | None = None,
    given: Floats | None = None,
    divisor: Floats | None = None,
) -> Ints:
    """Backward elimination: the turn at which each group of columns goes, 0, 1, ...; the best goes last.

    Of those that are left, the one of smallest weight in a ``_Ridge`` regression on the class columns goes: a support
    vector machine in which every error counts, squared. The weight of several columns counts as that of a single one
    that is as unlikely by chance, since many columns weigh more by chance than one does.

    Without ``groups`` each column is one. Of groups of equal weight that of lowest score goes, and of those the last.
    ``given``: columns that always stay. ``divisor``: what the columns of each group were divided by, to make it costly;
    it weighs less by that.
    """
    columns = columns_of(groups, X.n_columns)
    divisor = np.ones(len(columns)) if divisor is None else divisor
    moments = _Moments.of(X, Y, given)
    of_columns = divisor if groups is None else divisor[groups]
    ridge = _Ridge(moments, RIDGE * float((moments.variances * of_columns**2).max()))
    df = {group: ridge.degrees_of_freedom(F) for group, F in enumerate(columns) if len(F) > 1}
    turns, gone = np.empty(len(columns), dtype=np.intp), np.zeros(len(columns))  # infinite for those that went
    for turn in range(len(columns)):
        norms = group_norms(ridge.W, groups, len(columns))
        for group in df:
            norms[group] = ridge.as_of_one_column(norms[group], columns[group], df[group], divisor[group])
        norms /= divisor
        largest = norms[norms.argmax()]  # ``max`` takes ten times as long, of so few
        worst = _last_of_tied(norms + gone, largest, scores)
        turns[worst], gone[worst] = turn, np.inf
        ridge.drop(columns[worst])
        df.pop(worst, None)
    return turns


class _Ridge:
    """Ridge regression from which columns are dropped, one group after the other.

    With G and b as in ``unexplained``,

        H = (G + lam I)^-1,        W = H b.

    Without the columns F these are, exactly,

        H - H_F H_FF^-1 H_F',        W - H_F H_FF^-1 W_F,

    so that all eliminations together cost as much as a few factorisations. Both are held side by side, and rows that
    are dropped become zero.
    """

    def __init__(self, moments: _Moments, lam: float) -> None:
        self.moments, self.lam, self.n_left = moments, lam, len(moments.G)
        H = inverse(moments.G, lam)
        self.both = np.hstack([H, H @ moments.b])
        self.H, self.W = np.split(self.both, [self.n_left], axis=1)

    def drop(self, F: Ints) -> None:
        if len(F) == 1:  # as a rule: one call, in place, as the transpose is in the order of BLAS
            row = self.both[F[0]].copy()
            blas.dger(-1.0 / row[F[0]], row, row[: -self.W.shape[1]], a=self.both.T, overwrite_a=1)
        else:
            rows = self.both[F]
            H_F = rows[:, : len(self.both)]
            self.both -= np.linalg.solve(H_F[:, F], H_F).T @ rows
        self.n_left -= len(F)

    def degrees_of_freedom(self, F: Ints) -> float:
        """tr(M)^2 / tr(M^2), Satterthwaite's, where sigma^2 M = sigma^2 (H G H)_FF are the covariances of W_F by
        chance."""
        M = self.H[np.ix_(F, F)] - self.lam * self.H[F] @ self.H[:, F]
        return float(np.trace(M) ** 2 / max(np.sum(M**2), np.finfo(np.float64).tiny))

    def as_of_one_column(self, norm: float, F: Ints, df: float, divisor: float) -> float:
        """The norm of the weights of a single column that is as unlikely by chance as that of W_F.

        By chance, with c columns of Y and the variance sigma^2 of their noise, about

            ||W_F||^2  ~  sigma^2 tr(M) / df  chi2(df c),

        and that of a single column, uncorrelated with the others and divided by d,

            ||w||^2  ~  sigma^2 m chi2(c),        m = r d^2 / (lam (1 + r d^2)^2).

        They are equally unlikely at the same z of Wilson and Hilferty,  chi2(k) = k (1 - 2 / 9k + z sqrt(2 / 9k))^3.
        """
        c, k, r = self.W.shape[1], df * self.W.shape[1], RIDGE * divisor**2
        spread = (np.trace(self.H[np.ix_(F, F)]) - self.lam * np.sum(self.H[F] ** 2)) / df
        sigma2 = self._noise()
        if not spread > 0:  # what is given explains these columns
            return 0.0
        z = (np.cbrt(norm**2 / (sigma2 * spread * k)) - 1 + 2 / (9 * k)) * np.sqrt(9 * k / 2)
        chi2 = c * max(1 - 2 / (9 * c) + z * np.sqrt(2 / (9 * c)), 0.0) ** 3
        return float(np.sqrt(sigma2 * r / (self.lam * (1 + r) ** 2) * chi2))

    def _noise(self) -> float:
        """sigma^2 = ||Y - Z W||^2 / (c (df - tr H G)); here H G = I - lam H, and G W = b - lam W."""
        left = self.moments.total - np.vdot(self.W, self.moments.b) - self.lam * np.vdot(self.W, self.W)
        df = self.moments.df - self.n_left + self.lam * np.trace(self.H)
        return float(left / (self.W.shape[1] * max(df, 1.0)))


def _last_of_tied(norms: Floats, largest: float, scores: Floats) -> int:
    """The smallest norm, up to rounding of the largest; of tied ones that of lowest score; of tied ones the last."""
    smallest = norms[norms.argmin()]
    tied = (norms <= smallest + TIED * largest).nonzero()[0]
    if len(tied) == 1:
        return int(tied[0])
    lowest = np.flatnonzero(scores[tied] <= (1 + TIED) * scores[tied].min())
    return int(tied[lowest[-1]])
