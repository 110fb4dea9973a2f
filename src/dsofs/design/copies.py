"""Columns that say the same: equal up to sign, as two columns of a category of two levels are once standardised.

For p <= 1 one of them does all that several can do, at no more cost. For p < 1 it costs less; but the iteration, which
treats equal columns alike, would keep the weight spread evenly over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsofs.design.budget import cuts
from dsofs.design.standard import StandardDesign
from dsofs.design.types import Bools, Floats, Ints

# Products with one random vector that differ by more, relative to their size, belong to different columns.
CANDIDATES = 1e-6
# Largest difference of equal columns, relative to their largest entry, in float32 (where x and 3 x are no closer) and
# in float64.
EQUAL = {True: 1e-6, False: 1e-9}
ALONE = -1  # in the place of a group
SEED = 0  # of the random vector, which only proposes: the result does not depend on it


@dataclass(frozen=True)
class Copies:
    """Features that are copies, and for each the feature that it is a copy of: the first of its kind."""

    features: Ints
    originals: Ints
    grouped: Bools  # whether both belong to one group of features

    @classmethod
    def none(cls) -> Copies:
        empty = np.empty(0, dtype=np.intp)
        return cls(empty, empty, empty.astype(bool))


def probe(n_samples: int) -> Floats:
    """A random vector: only columns whose products with it agree can be equal."""
    return np.random.default_rng(SEED).normal(size=(n_samples, 1))


def without_copies(
    design: StandardDesign, products: Floats, groups: Ints | None = None
) -> tuple[StandardDesign, Copies]:
    """The design without columns that repeat an earlier one, and the features that these are.

    ``products``: of every centred column of the design with the ``probe``. ``groups``: that of every feature. A column
    of a group of several is compared within the group alone, since their weights are penalised together.
    """
    n = len(design.kept)
    shared = np.full(n, ALONE) if groups is None else _shared(groups)[design.kept]
    original = _originals(design, products, shared)
    copied = original != np.arange(n)
    copies = Copies(design.kept[copied], design.kept[original[copied]], shared[copied] != ALONE)
    if not copied.any():
        return design, copies
    columns = np.flatnonzero(np.append(~copied, True)[: design.n_columns])  # the bias stays
    return design.part(columns), copies


def _shared(groups: Ints) -> Ints:
    """The group of each feature, and ALONE for all that are a group of their own."""
    return np.where(np.bincount(groups)[groups] > 1, groups, ALONE)


def _originals(design: StandardDesign, products: Floats, groups: Ints) -> Ints:
    """For each column the first one that it equals up to sign, which may be itself."""
    n = len(design.kept)
    order = np.lexsort((np.abs(products), groups))
    same_as_next = _neighbours_equal(design, order, products, groups)
    run = np.concatenate([[0], np.cumsum(~same_as_next)])  # of equal columns, along ``order``
    first = np.full(run[-1] + 1, n)
    np.minimum.at(first, run, order)
    original = np.empty(n, dtype=np.intp)
    original[order] = first[run]
    return original


def _neighbours_equal(design: StandardDesign, order: Ints, products: Floats, groups: Ints) -> Bools:
    """Whether each column, in this order, equals the next: looked at only where the products and groups agree."""
    left, right = order[:-1], order[1:]
    sizes = np.abs(products)
    candidates = np.flatnonzero(
        (groups[left] == groups[right]) & (sizes[right] - sizes[left] <= CANDIDATES * sizes[right])
    )
    equal, tolerance = np.zeros(len(left), dtype=bool), EQUAL["float32" in str(design.X.dtype)]
    for part in cuts(len(candidates), design.budget.columns(design.n_samples)):
        index = candidates[part]
        columns, place = np.unique(np.concatenate([left[index], right[index]]), return_inverse=True)
        A, B = np.split(design.block(columns).on_host().take(place, axis=1), 2, axis=1)
        sign = np.sign(products[left[index]] * products[right[index]])
        equal[index] = np.abs(A - sign * B).max(axis=0) <= tolerance * np.abs(A).max(axis=0)
    return equal
