"""Forward selection: each feature, or group of features, is the one that explains most beside those before it.

With the covariances G = Z'Z of centred columns and b = Z'Y, columns F explain  gain = ||R'b_F||^2  of Y, where R R' is
the (pseudo-)inverse of G_FF. Taking them leaves, as in a Cholesky factorisation with pivots,

    G - G_F R R' G_F',        b - G_F R R' b_F.

Many columns explain more by chance than one does. So groups are compared by how unlikely their gain would be, were they
independent of Y: by the p-value of the F-test. For single columns that is the order of the gains themselves.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from dsofs.design.interface import Design
from dsofs.design.linalg import columns_of
from dsofs.design.types import Floats, Ints

COLLINEAR = 1e-8  # a column of which this part is left says nothing that those before it did not say
TINY = 1e-15  # of Y left to explain: nothing but rounding
TIED = 1e-9  # numbers that differ by no more, relative to the larger one, are equal but for rounding


def unexplained(
    X: Design,
    Y: Floats,
    norms: Floats,
    groups: Ints | None = None,
    given: Floats | None = None,
    cost: Floats | None = None,
) -> Floats:
    """The part of Y that is left to explain when each group of columns is taken; 0 for those that are never taken.

    Without ``groups`` each column is one. Of groups that are as good as each other, the one of largest norm is taken.
    ``given``: columns that are taken before all others. ``cost``: of every group; what it explains is divided by it.
    """
    columns = columns_of(np.arange(X.n_columns) if groups is None else groups)
    firsts = np.array([F[0] for F in columns])
    Y = X.centred(Y)
    G, b = X.covariances(Y)
    enough, left = COLLINEAR * G.diagonal(), X.sample_size - 1
    if given is not None:
        Q = basis_of(given, X)
        G, b = without(Q, X, Y, G, b)
        Y, left = Y - Q @ (Q.T @ X.weighted(Y)), left - Q.shape[1]
    total = max(float(np.vdot(X.weighted(Y), Y)), np.finfo(np.float64).tiny)
    parts, part = np.zeros(len(columns)), 1.0
    waiting = np.ones(len(columns), dtype=bool)
    for _ in columns:
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
    """-log p of the F-test for groups that explain this share of what is left of Y, with so many degrees of freedom."""
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
        return 1 / np.sqrt(G[np.ix_(F, F)])
    values, vectors = np.linalg.eigh(G[np.ix_(F, F)])
    kept = values > enough[F].max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _first_of_tied(gains: Floats, norms: Floats) -> int:
    """The largest gain; of tied ones that of largest norm; of tied ones the first."""
    tied = np.flatnonzero(gains >= (1 - TIED) * gains.max())
    return int(tied[np.argmax(norms[tied] >= (1 - TIED) * norms[tied].max())])
