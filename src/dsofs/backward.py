"""Backward elimination: of the features, or groups of features, that are left, the one of smallest weight goes.

The weights are those of ridge regression on the class columns, a support vector machine in which every error counts,
squared. With the covariances G = Z'Z of centred columns and b = Z'Y,

    H = (G + lam I)^-1,        W = H b,        lam = r max_i G_ii.

Without the columns F these are, exactly,

    H - H_F H_FF^-1 H_F',        W - H_F H_FF^-1 W_F,

so that all eliminations together cost as much as a few factorisations.

Many columns weigh more by chance than one does. Those of a group are scaled (see ``group_sizes``) to 1 / chance of the
variance of a single column, in each of df directions, so that by chance its weight is larger by the factor

    (1 + r) / (1 / chance + r)  sqrt(df / chance).

It is divided by that.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.linalg import columns_of, group_norms
from dsofs.design.types import Floats, Ints
from dsofs.forward import TIED, basis_of, without

RIDGE = 1.0  # r: the penalty is as much as the variance of a standardised column


def turns_of_elimination(
    X: Design,
    Y: Floats,
    scores: Floats,
    groups: Ints | None = None,
    chance: Floats | None = None,
    given: Floats | None = None,
    divisor: Floats | None = None,
) -> Ints:
    """The turn at which each group of columns goes, 0, 1, ...; the best goes last.

    Without ``groups`` each column is one. ``chance`` is how much each group explains by chance, beside a single column.
    Of groups of equal weight that of lowest score goes, and of those the last. ``given``: columns that always stay.
    ``divisor``: what the columns of each group were divided by, to make it costly; it weighs less by that.
    """
    groups = np.arange(X.n_columns) if groups is None else groups
    columns = columns_of(groups)
    divisor = np.ones(len(columns)) if divisor is None else divisor
    G, b = X.covariances(Y)
    lam = RIDGE * (G.diagonal() * divisor[groups] ** 2).max()
    by_chance = divisor if chance is None else divisor * _by_chance(G, columns, chance)
    if given is not None:
        G, b = without(basis_of(given, X), X, Y, G, b)
    H = np.linalg.inv(G + lam * np.eye(len(G)))
    W = H @ b
    turns, left = np.empty(len(columns), dtype=np.intp), np.arange(len(columns))
    for turn in range(len(columns)):
        norms = group_norms(W, groups, len(columns)) / by_chance
        worst = _last_of_tied(norms[left], scores[left])
        F, turns[left[worst]] = columns[left[worst]], turn
        left = np.delete(left, worst)
        share = np.linalg.solve(H[np.ix_(F, F)], H[F]).T
        W -= share @ W[F]
        H -= share @ H[F]
    return turns


def _by_chance(G: Floats, columns: list[Ints], chance: Floats) -> Floats:
    """The weight of each group, beside that of a single column, if it said nothing about Y."""
    parts = [G[np.ix_(F, F)] for F in columns]
    df = np.array([np.trace(part) ** 2 / np.sum(part**2) for part in parts])
    return np.asarray((1 + RIDGE) / (1 / chance + RIDGE) * np.sqrt(df / chance))


def _last_of_tied(norms: Floats, scores: Floats) -> int:
    """The smallest norm, up to rounding of the largest; of tied ones that of lowest score; of tied ones the last."""
    tied = np.flatnonzero(norms <= norms.min() + TIED * norms.max())
    lowest = np.flatnonzero(scores[tied] <= (1 + TIED) * scores[tied].min())
    return int(tied[lowest[-1]])
