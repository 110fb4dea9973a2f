"""What the user knows about features: covariates to adjust for, features that must or must not be chosen, and costs.

    sum_i v_i ||w_i||^p        v_i = 0: not penalised, v_i = inf: never in the model

A covariate has v = 0 and is never selected; an included feature has v = 0 and is selected first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from dsofs.design.standard import Columns, StandardDesign
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.validation import ARRAY_LIKE, feature_positions, n_features_of, names_of

LISTS = ("include", "exclude")
DEPENDENT = 1e-9  # a covariate is redundant if those before it leave less than this part of it unexplained


@dataclass(frozen=True)
class Known:
    """The factor v of every feature, and the included ones in the order given."""

    factor: Floats
    included: Ints

    @classmethod
    def of(cls, estimator: Any, n_features: int, groups: Ints | None) -> Known:
        """From the parameters of an estimator that has seen the names of X; whole groups follow their features."""
        if _nothing_given(estimator):
            return cls(np.broadcast_to(1.0, n_features), np.empty(0, dtype=np.intp))  # takes no memory
        names = getattr(estimator, "feature_names_in_", None)
        factor = _factors(estimator.penalty_factor, names, n_features)
        include, exclude = (feature_positions(getattr(estimator, name), names, n_features) for name in LISTS)
        assert factor is not None
        assert include is not None
        assert exclude is not None
        if groups is not None:
            include, exclude = _whole_groups(include, groups), _whole_groups(exclude, groups)
        factor[exclude], factor[include] = np.inf, 0.0
        return cls(factor, include)

    @property
    def selectable(self) -> Bools:
        """Covariates and excluded features are never selected."""
        selectable = np.isfinite(self.factor) & (self.factor > 0)
        selectable[self.included] = True
        return selectable

    def ranked(self, scores: Floats, ranking: Ints) -> tuple[Floats, Ints]:
        """Included features first, in the order given, and those that are never selected last."""
        if self.plain:
            return scores, ranking
        tier = np.where(self.selectable, 1, 2)
        tier[self.included] = 0
        turn, scores = ranking.copy(), scores.copy()
        turn[self.included] = np.arange(len(self.included))
        scores[self.included] = scores.max() + np.arange(len(self.included), 0, -1)
        places = np.empty_like(ranking)
        places[np.lexsort((turn, tier))] = np.arange(1, len(ranking) + 1)
        return scores, places

    @property
    def plain(self) -> bool:
        return bool((self.factor == 1).all())


@dataclass(frozen=True)
class FreeColumns:
    """Independent columns F of what is not penalised: a bias, which comes first, and standardised features."""

    F: Floats
    columns: Columns  # of these features
    bias: bool

    @classmethod
    def of(cls, whole: StandardDesign, known: Known, bias: bool) -> FreeColumns:
        """The free columns of a design of all features that vary."""
        index = np.flatnonzero(known.factor[whole.kept] == 0)
        ones = np.ones((whole.n_samples, int(bias)))
        if not len(index):
            return cls(ones, whole.columns.part(index), bias)
        F = np.hstack([ones, whole.block(index).on_host()])
        left = np.abs(np.diagonal(np.linalg.qr(F).R))
        independent = np.zeros(F.shape[1], dtype=bool)
        independent[: len(left)] = left > DEPENDENT * np.linalg.norm(F, axis=0)[: len(left)]
        return cls(F[:, independent], whole.columns.part(index[independent[int(bias) :]]), bias)

    def add_to(self, estimator: Any, weights: Floats) -> None:
        """Add the weights of F to the coefficients and the intercept, in the units of X."""
        coef, offset = self.columns.in_units_of_X(weights[int(self.bias) :], estimator.n_features_in_)
        estimator.coef_ += coef
        estimator.intercept_ += weights[: int(self.bias)].sum(axis=0) - offset


def _nothing_given(estimator: Any) -> bool:
    return all(getattr(estimator, name) is None for name in ("penalty_factor", *LISTS))


def _whole_groups(positions: Ints, groups: Ints) -> Ints:
    """All features of the groups of some, in the order in which these were given."""
    first = dict.fromkeys(groups[positions].tolist())
    return np.concatenate([np.flatnonzero(groups == group) for group in first]) if first else positions


def _factors(given: Any, names: AnyArray | None, n_features: int) -> Floats | None:
    """One factor for each feature, from all of them or from a dict of those that are not 1; None if unreadable."""
    factor = np.ones(n_features)
    if given is None:
        return factor
    if isinstance(given, Mapping):
        positions = feature_positions(list(given), names, n_features)
        if positions is None:
            return None
        factor[positions] = np.asarray(list(given.values()), dtype=np.float64)
        return factor
    values = np.array(given, dtype=np.float64)
    return values if values.shape == (n_features,) else None


def wrong_known(owner: str, estimator: Any, X: AnyArray) -> Iterator[str]:
    """What is wrong with these parameters, found without a pass over X."""
    if _nothing_given(estimator):
        return
    n, names = n_features_of(X), names_of(X)
    if not n or (hasattr(X, "columns") and names is None):
        return
    lists = {name: _positions(getattr(estimator, name), names, n) for name in LISTS}
    for name, positions in lists.items():
        if positions is None:
            yield (
                f"The {name!r} parameter of {owner} must hold names of columns of X, positions among its {n} features, "
                f"or a mask of them. Got {getattr(estimator, name)!r} instead."
            )
    try:
        factor = _factors(estimator.penalty_factor, names, n)
    except (TypeError, ValueError):
        factor = None
    if factor is None or not (factor >= 0).all():
        yield (
            f"The 'penalty_factor' parameter of {owner} must hold a number of at least 0 (inf for never) for each of "
            f"the {n} features, or be a dict of names or positions. Got {estimator.penalty_factor!r} instead."
        )
    if factor is not None and all(positions is not None for positions in lists.values()):
        yield from _contradictions(owner, factor, lists["include"], lists["exclude"])
        yield from _too_few_to_select(owner, estimator, lists["include"])


def _positions(given: Any, names: AnyArray | None, n_features: int) -> Ints | None:
    return feature_positions(given, names, n_features) if given is None or ARRAY_LIKE.test(given) else None


def _contradictions(owner: str, factor: Floats, include: Ints | None, exclude: Ints | None) -> Iterator[str]:
    assert include is not None
    assert exclude is not None
    both = np.intersect1d(include, np.union1d(exclude, np.flatnonzero(np.isinf(factor))))
    if len(both):
        yield f"{owner} cannot both include and exclude a feature. Got {both.tolist()} in both."
    left = np.isfinite(factor) & (factor > 0)
    left[include] = left[exclude] = False
    if not left.any():
        yield f"{owner} has no feature to choose from: all are covariates, included or excluded."


def _too_few_to_select(owner: str, estimator: Any, include: Ints | None) -> Iterator[str]:
    """All that are included are selected, and a group of them counts as one."""
    assert include is not None
    count, groups = getattr(estimator, "n_features_to_select", None), estimator.feature_groups
    if groups is not None and (not ARRAY_LIKE.test(groups) or (len(include) and len(groups) <= include.max())):
        return  # refused as groups
    n_included = len(include) if groups is None else len(set(np.asarray(groups, dtype=object)[include]))
    if isinstance(count, Integral) and n_included > count:
        yield (
            f"The 'n_features_to_select' parameter of {owner} must be at least {n_included}, the number of features "
            f"(or groups of them) in 'include', which are selected and count. Got {count} instead."
        )


def wrong_factors_in_groups(owner: str, factor: Floats, groups: Ints) -> Iterator[str]:
    """Features of one group are penalised together."""
    lowest, highest = np.full(groups.max() + 1, np.inf), np.zeros(groups.max() + 1)
    np.minimum.at(lowest, groups, factor)
    np.maximum.at(highest, groups, factor)
    if (lowest != highest).any():
        yield f"The 'penalty_factor' parameter of {owner} must be the same for all features of a group."
