"""Standardised columns of a user's X: the scaling is folded into the algebra, and dense X is never copied.

Of columns that say the same, one is enough: ``without_copies``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dsofs.design.budget import Budget, cuts
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import row_norms
from dsofs.design.types import AnyArray, Bools, Floats, Ints

# A column whose deviation is at the level of rounding, relative to its largest value, holds no information.
CONSTANT = 10 * np.finfo(np.float64).eps
FAR_FROM_ZERO = 1e3  # a mean of so many standard deviations costs a product three of its sixteen digits
# Products with random vectors that differ by more, relative to their size, belong to different columns.
CANDIDATES = 1e-6
# Largest difference of equal columns, relative to their largest entry, in float32 (where x and 3 x are no closer) and
# in float64.
EQUAL = {True: 1e-6, False: 1e-9}
ALONE = -1  # in the place of a group
SEED = 0  # of the random vector, which only proposes: the result does not depend on it


class NotFiniteError(ValueError):
    """X holds NaN or infinity."""


@dataclass(frozen=True)
class FirstPass:
    """What the pass over X for the moments brought along, so that an X that takes long to read is read less often."""

    T: Floats
    products: Floats  # Z'T of the standardised columns Z
    gram: Floats | None  # Z Z'

    def part(self, index: Ints, gram: Floats | None = None) -> FirstPass:
        return FirstPass(self.T, self.products[index], gram)

    def tdot(self, B: Floats) -> Floats | None:
        """Z'B, if B is the last columns of T."""
        start = self.T.shape[1] - B.shape[1]
        return self.products[:, start:] if start >= 0 and np.array_equal(self.T[:, start:], B) else None


@dataclass(frozen=True)
class Moments:
    """Per column of X: mean, standard deviation, whether it is constant, and products with the targets given."""

    mean: Floats
    scale: Floats
    constant: Bools
    targets: Floats  # (x - mean)'T / scale, a column for each of T
    first: FirstPass | None = None

    @classmethod
    def side_by_side(cls, panels: Sequence[Moments]) -> Moments:
        """Of all columns from those of some."""
        names = ("mean", "scale", "constant", "targets")
        mean, scale, constant, targets = (np.concatenate([getattr(panel, name) for panel in panels]) for name in names)
        return cls(mean, scale, constant, targets)

    @classmethod
    def of_all(cls, bands: Sequence[Moments], sizes: Sequence[float], sums: Sequence[Floats]) -> Moments:
        """Of all samples from those of some, the number of these and the sums of their T.

        With the mean m_b, the variance s_b^2 and the share f_b of each band (Chan, Golub and LeVeque, 1979):

            m = sum_b f_b m_b,      s^2 = sum_b f_b (s_b^2 + (m_b - m)^2),      (x - m)'T = sum_b (x_b - m)'T_b
        """
        share = np.array(sizes)[:, None] / sum(sizes)
        means, scales = np.stack([band.mean for band in bands]), np.stack([band.scale for band in bands])
        deviations = np.where([band.constant for band in bands], 0.0, scales)
        largest = (np.abs(means) + deviations).max(axis=0)
        unit = np.where(largest == 0, 1.0, largest)
        means, deviations = means / unit, deviations / unit
        mean = np.sum(share * means, axis=0)
        mean += np.sum(share * (means - mean), axis=0)
        variance = np.sum(share * (deviations**2 + (means - mean) ** 2), axis=0)
        products = np.zeros_like(bands[0].targets)
        for band, scale, its_mean, total in zip(bands, scales / unit, means, sums, strict=True):
            products += scale[:, None] * band.targets + np.outer(its_mean - mean, total)
        return cls.from_scaled(largest, mean, variance, products)

    @classmethod
    def from_scaled(cls, largest: Floats, mean: Floats, variance: Floats, products: Floats) -> Moments:
        """From those of ``column / largest``, which neither over- nor underflow."""
        scale = np.sqrt(np.maximum(variance, 0.0))
        constant = (largest == 0) | (scale <= CONSTANT)
        products = products / np.where(constant, 1.0, scale)[:, None]
        return cls(mean * largest, np.where(constant, 1.0, scale * largest), constant, products)


@dataclass(frozen=True)
class Columns:
    """The columns of X that a design has: Z_i = (x_i - mean_i) / scale_i."""

    kept: Ints  # their positions in X
    mean: Floats
    scale: Floats
    norm: Floats  # ||Z_i||, a sample of weight v counting as v samples
    first: FirstPass | None = None

    @classmethod
    def of(cls, stats: Moments, total_weight: float, *, standardize: bool) -> Columns:
        """All that are not constant; as they are, or with mean 0 and deviation 1."""
        kept = np.flatnonzero(~stats.constant)
        mean, scale, root = stats.mean[kept], stats.scale[kept], total_weight**0.5
        if standardize:
            first = stats.first and stats.first.part(kept, stats.first.gram)  # constant columns have no part in it
            return cls(kept, mean, scale, np.broadcast_to(root, len(kept)), first)  # the norm takes no memory
        return cls(kept, np.zeros(len(kept)), np.ones(len(kept)), root * np.hypot(mean, scale))

    def in_units_of_X(self, W: Floats, n_features: int) -> tuple[Floats, Floats]:
        """Coefficients (..., c, n_features) of X from W (..., n, c), and what they make of the means (..., c)."""
        scaled = np.swapaxes(W, -1, -2) / self.scale
        coef = np.zeros((*scaled.shape[:-1], n_features))
        coef[..., self.kept] = scaled
        return coef, scaled @ self.mean

    def centred_at(self, mean: Floats) -> Columns:
        return replace(self, mean=mean, first=None)

    def part(self, index: Ints) -> Columns:
        first = self.first and self.first.part(index)
        return Columns(self.kept[index], self.mean[index], self.scale[index], self.norm[index], first)

    def divided_by(self, sizes: Floats) -> Columns:
        return Columns(self.kept, self.mean, self.scale * sizes, self.norm / sizes)


class StandardDesign(Design):
    """[(X - mean) / scale, bias] of some columns, over a matrix X that stays as it was given."""

    def __init__(
        self, X: AnyArray, columns: Columns, bias: float, budget: Budget, sample_weight: Floats | None = None
    ) -> None:
        """``bias``: the entries of its column; 0 if there is none."""
        self.X, self.columns, self.bias, self.budget, self.sample_weight = X, columns, bias, budget, sample_weight
        self.kept, self.mean, self.scale = columns.kept, columns.mean, columns.scale
        self.n_samples = X.shape[0]
        self.n_columns = len(self.kept) + (bias != 0)

    def gram(self, d: Floats) -> Floats:
        K = self._gram(d[: len(self.kept)])
        if self.bias:
            K += d[-1] * self.bias**2
        return K

    def dot(self, W: Floats) -> Floats:
        F = self._dot(W[: len(self.kept)])
        return F + self.bias * W[-1] if self.bias else F

    def tdot(self, B: Floats) -> Floats:
        G = np.empty((self.n_columns, B.shape[1]))
        self._tdot(B, out=G[: len(self.kept)])
        if self.bias:
            G[-1] = self.bias * B.sum(axis=0)
        return G

    def dual_norms(self, B: Floats, rough: bool = False) -> Floats:
        norms = np.empty(self.n_columns)
        self._dual_norms(B, norms[: len(self.kept)], rough)
        if self.bias:
            norms[-1] = self.bias * np.linalg.norm(B.sum(axis=0))
        return norms

    def _dual_norms(self, B: Floats, out: Floats, rough: bool) -> None:
        G = np.empty((len(self.kept), B.shape[1]))
        self._tdot(B, G)
        out[:] = row_norms(G)

    def column_norms(self) -> Floats:
        norms = self.columns.norm  # no pass over X
        return np.append(norms, self.bias * self.total_weight**0.5) if self.bias else norms

    def take(self, columns: Ints) -> Design:
        return self if len(columns) == self.n_columns else self.part(columns).compact()

    def block(self, columns: Ints) -> Block:
        return self.part(columns).materialise()

    def part(self, columns: Ints) -> StandardDesign:
        """A view of these columns, in increasing order."""
        data = columns[columns < len(self.kept)]
        return self._like(self.columns.part(data), self.bias * (len(data) < len(columns)))

    def divided_by(self, sizes: Floats, bias: float = 1.0) -> StandardDesign:
        """The same columns, each divided by its size."""
        return self._like(self.columns.divided_by(sizes), self.bias / bias)

    def _like(self, columns: Columns, bias: float) -> Self:
        return type(self)(self.X, columns, bias, self.budget, self.sample_weight)

    def compact(self) -> Design:
        """Z itself where it fits in a block, this view of X where it does not."""
        return self.materialise() if self.budget.holds(self.n_samples, self.n_columns) else self

    @abstractmethod
    def materialise(self) -> Block:
        """Z as one dense array."""

    @abstractmethod
    def _gram(self, d: Floats) -> Floats: ...

    @abstractmethod
    def _dot(self, W: Floats) -> Floats: ...

    @abstractmethod
    def _tdot(self, B: Floats, out: Floats) -> None:
        """Write the products of the standardised columns into ``out``, with little memory beside."""


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
    """Two random vectors: only columns whose products with both agree can be equal."""
    return np.random.default_rng(SEED).normal(size=(2, n_samples)).T


def without_copies(
    design: StandardDesign, products: Floats, groups: Ints | None = None
) -> tuple[StandardDesign, Copies]:
    """The design without columns that repeat an earlier one up to sign, and the features that these are.

    Two columns of a category of two levels, once standardised, are an example. For p <= 1 one of them does all that
    several can do, at no more cost. For p < 1 it costs less; but the iteration, which treats equal columns alike, would
    keep the weight spread evenly over them.

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
    order = np.lexsort((np.abs(products[:, 0]), groups))
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
    sizes, length = np.abs(products), row_norms(products)
    near = sizes[right, 0] - sizes[left, 0] <= CANDIDATES * sizes[right, 0]
    near &= np.abs(sizes[right, 1] - sizes[left, 1]) <= CANDIDATES * length[right]
    candidates = np.flatnonzero(near & (groups[left] == groups[right]))
    equal, tolerance = np.zeros(len(left), dtype=bool), EQUAL["float32" in str(design.X.dtype)]
    for part in cuts(len(candidates), design.budget.columns(design.n_samples)):
        index = candidates[part]
        columns, place = np.unique(np.concatenate([left[index], right[index]]), return_inverse=True)
        A, B = np.split(design.block(columns).on_host().take(place, axis=1), 2, axis=1)
        sign = np.sign(products[left[index], 0] * products[right[index], 0])
        equal[index] = np.abs(A - sign * B).max(axis=0) <= tolerance * np.abs(A).max(axis=0)
    return equal
