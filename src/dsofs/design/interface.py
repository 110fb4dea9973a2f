"""The matrix that the solvers see, and the operations they need of it.

    Z = [(X - mean) / scale, 1]        m samples x n columns; the last column is the bias, if there is one

Z is never formed whole unless it fits in a ``Block``. The array that was passed in decides where the work runs; what
comes back (m x m, n x c and smaller) are NumPy arrays. A new kind of data is a file in ``backends``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from dsofs.design.budget import Budget, cuts, for_each, pieces
from dsofs.design.linalg import (
    SymmetricSum,
    like,
    product,
    product_with_itself,
    row_norms,
    sum_of,
    symmetric,
    take,
    to_numpy,
)
from dsofs.design.types import AnyArray, Floats, Ints

DEFAULT = Budget()
FEW = 100  # samples up to which a plain product takes less time than calls for those that enter and those that leave
SMALL = 250_000  # numbers in all the Gram matrices that threads add up, each its own


class Design(ABC):
    """m x n matrix Z, whose rows are z_k and whose columns are Z_i."""

    n_samples: int
    n_columns: int
    budget: Budget
    sample_weight: Floats | None = None  # v: how many equal samples each one stands for; None: 1
    in_memory: bool = True  # or else every product reads X again

    @property
    def total_weight(self) -> float:
        """sum_k v_k: the number of samples, if they have no weights."""
        return float(self.n_samples if self.sample_weight is None else self.sample_weight.sum())

    @property
    def sample_size(self) -> float:
        """For degrees of freedom: sum_k v_k. Weights that add up to less than the number of samples are relative."""
        return max(self.total_weight, float(self.n_samples))

    @property
    def n_stored(self) -> int:
        """Numbers that a product goes through."""
        return self.n_samples * self.n_columns

    def weights_at(self, index: Ints | slice) -> Floats | None:
        """v of some samples."""
        return None if self.sample_weight is None else self.sample_weight[index]

    def weighted(self, B: Floats) -> Floats:
        """diag(v) B."""
        return B if self.sample_weight is None else self.sample_weight[:, None] * B

    def centred(self, Y: Floats) -> Floats:
        """Y without the mean of each column."""
        return Y - (Y.mean(axis=0) if self.sample_weight is None else self.sample_weight @ Y / self.total_weight)

    @abstractmethod
    def gram(self, d: Floats) -> Floats:
        """K = Z diag(d) Z', exactly symmetric."""

    @abstractmethod
    def dot(self, W: Floats) -> Floats:
        """Z W."""

    @abstractmethod
    def tdot(self, B: Floats) -> Floats:
        """Z'B."""

    @abstractmethod
    def column_norms(self) -> Floats:
        """sqrt(sum_k v_k z_ki^2) of every column: its length, if samples have no weights."""

    @abstractmethod
    def take(self, columns: Ints) -> Design:
        """Z with only these columns: a ``Block`` as soon as they fit in one."""

    @abstractmethod
    def block(self, columns: Ints) -> Block:
        """Z with only these columns as one ``Block``, however large."""

    @abstractmethod
    def samples(self, index: Ints | slice) -> Block:
        """The rows z_k of these samples as one ``Block``, however large."""

    def view(self, columns: Ints) -> Design | None:
        """Z with only these columns, without a copy of them; None where there is none, or one that is slow to read."""
        return None

    def rough(self) -> Design:
        """Z for work that may be rounded to float32 and then takes half the time; Z itself where that takes a pass."""
        return self

    def dual_norms(self, B: Floats, rough: bool = False) -> Floats:
        """||Z_i'B|| of every column, as a certificate needs it of all: in O(n) memory where Z is large.

        ``rough``: only those that may be the largest need be exact; the others may be rounded to float32.
        """
        return row_norms(self.tdot(B))

    def normal_matrix(self, weights: Floats) -> Floats:
        """H = sum_k u_k z_k z_k' over all samples, for any weights u."""
        return self.normal_equations([(np.arange(self.n_samples), weights, np.empty((self.n_samples, 0)))])[0][0]

    def normal_equations(self, sets: Sequence[tuple[Ints, Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        """H = sum_k u_k z_k z_k' and h = sum_k z_k r_k' for each set of samples k, in increasing order, u and r."""
        every = np.unique(np.concatenate([index for index, *_ in sets]))
        matrices = [SymmetricSum() for _ in sets]
        vectors = [np.zeros((self.n_columns, R.shape[1])) for _, _, R in sets]
        for part in cuts(len(every), self.budget.samples(self.n_columns)):
            Z, taken = self.samples(every[part]).on_host(), every[part]
            for H, h, (index, weights, R) in zip(matrices, vectors, sets, strict=True):
                inside = slice(*np.searchsorted(index, [taken[0], taken[-1] + 1]))
                if inside.start < inside.stop:
                    rows = Z.take(np.searchsorted(taken, index[inside]), axis=0)
                    h += rows.T @ R[inside]
                    H.add((rows * np.sqrt(weights[inside])[:, None]).T)
        return [(H.of_size(self.n_columns), h) for H, h in zip(matrices, vectors, strict=True)]

    def normal_change(self, index: Ints, weights: Floats, R: Floats) -> tuple[Floats, Floats]:
        """H and h of one set of samples, for weights of either sign."""
        sets = [(index[part], np.abs(weights[part]), R[part]) for part in (weights >= 0, weights < 0)]
        (H, h), (N, n) = self.normal_equations(sets)
        H -= N
        return H, h + n

    def covariances(self, Y: Floats) -> tuple[Floats, Floats]:
        """Z_c' diag(v) Z_c and Z_c' diag(v) Y of the centred columns Z_c."""
        mean = self.tdot(self.weighted(np.ones((self.n_samples, 1))))[:, 0] / self.total_weight
        return self.products_about(mean, Y)

    def products_about(self, mean: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """Z_c' diag(v) Z_c and Z_c' diag(v) Y of Z_c = Z - 1 mean'."""
        G, b = np.zeros((self.n_columns, self.n_columns)), np.zeros((self.n_columns, Y.shape[1]))
        for part in cuts(self.n_samples, self.budget.samples(self.n_columns)):
            rows = self.samples(part)
            Z = rows.on_host() - mean
            weighted = rows.weighted(Z).T
            G += weighted @ Z
            b += weighted @ Y[part]
        return G, b


class Block(Design):
    """Z itself, held in memory as one array of any array-API library."""

    def __init__(self, Z: AnyArray, budget: Budget = DEFAULT, sample_weight: Floats | None = None) -> None:
        self.Z, self.budget, self.sample_weight = Z, budget, sample_weight
        self.n_samples, self.n_columns = Z.shape

    def rough(self) -> Block:
        if not isinstance(self.Z, np.ndarray):
            return self
        return Block(self.Z.astype(np.float32), self.budget, self.sample_weight)

    def gram(self, d: Floats) -> Floats:
        on_host = isinstance(self.Z, np.ndarray)
        if len(d) and d[0] == 1 and (d == 1).all():  # as in the first step of a fit
            return gram_of_columns(lambda part: self.Z, self.n_samples, [slice(len(d))], on_host)
        root, parts = self._like(np.sqrt(d)), list(cuts(len(d), self.budget.columns(self.n_samples)))
        return gram_of_columns(lambda part: self.Z[:, part] * root[part], self.n_samples, parts, on_host)

    def dot(self, W: Floats) -> Floats:
        return to_numpy(product(self.Z, self._like(W)))

    def tdot(self, B: Floats) -> Floats:
        return to_numpy(product(self._like(B).T, self.Z)).T  # Z'B is slower by half, as Z is held by rows

    def _like(self, host: np.ndarray) -> AnyArray:
        """In the library, dtype and device of Z."""
        return host.astype(self.Z.dtype, copy=False) if isinstance(self.Z, np.ndarray) else like(self.Z, host)

    def column_norms(self) -> Floats:
        squares = np.zeros(self.n_columns)
        for rows, columns in self.budget.tiles(self.n_samples, self.n_columns):
            piece = np.square(to_numpy(self.Z[rows, columns]))
            squares[columns] += piece.sum(axis=0) if self.sample_weight is None else self.sample_weight[rows] @ piece
        return np.sqrt(squares)

    def take(self, columns: Ints) -> Block:
        return self.block(columns)

    def block(self, columns: Ints) -> Block:
        if len(columns) == self.n_columns:
            return self
        return Block(take(self.Z, columns, axis=1), self.budget, self.sample_weight)

    def samples(self, index: Ints | slice) -> Block:
        Z = self.Z[index, :] if isinstance(index, slice) else take(self.Z, index, axis=0)
        return Block(Z, self.budget, self.weights_at(index))

    def normal_equations(self, sets: Sequence[tuple[Ints, Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        few = self.budget.samples(self.n_columns)
        if not isinstance(self.Z, np.ndarray) or max(len(index) for index, *_ in sets) > few:
            return super().normal_equations(sets)
        found: list[tuple[Floats, Floats]] = [(np.empty((0, 0)), np.empty((0, 0)))] * len(sets)

        def add_up(place: int) -> None:
            found[place] = self._sums(*sets[place])

        for_each(add_up, range(len(sets)), sum(len(index) for index, *_ in sets) * self.n_columns**2 / 2)
        return found

    def normal_change(self, index: Ints, weights: Floats, R: Floats) -> tuple[Floats, Floats]:
        if not isinstance(self.Z, np.ndarray) or len(index) > FEW:
            return super().normal_change(index, weights, R)
        rows = to_numpy(take(self.Z, index, axis=0))
        return (rows * weights[:, None]).T @ rows, rows.T @ R

    def normal_matrix(self, weights: Floats) -> Floats:
        if not isinstance(self.Z, np.ndarray):
            return super().normal_matrix(weights)
        H, root = SymmetricSum(), self._like(np.sqrt(weights))[:, None]
        for part in cuts(self.n_samples, self.budget.samples(self.n_columns)):
            H.add((self.Z[part] * root[part]).T)
        return H.of_size(self.n_columns)

    def _sums(self, index: Ints, weights: Floats, R: Floats) -> tuple[Floats, Floats]:
        """H and h of few samples: for hundreds of such calls in a fit, with nothing around the products."""
        rows = to_numpy(take(self.Z, index, axis=0))
        h = rows.T @ R
        rows *= np.sqrt(weights)[:, None]
        return product_with_itself(rows.T), h

    def on_host(self) -> Floats:
        """Z as a NumPy array: for small parts of it, and what has no other way."""
        return to_numpy(self.Z)


def gram_of_columns(
    scaled: Callable[[slice], AnyArray], n_samples: int, parts: Sequence[slice], on_host: bool
) -> Floats:
    """Sum of S S' over pieces S of scaled columns, which stay in the cache between that and this.

    In threads where that is worth it: each with pieces of its own while K is small, else with rows of K.
    """

    def gram(share: slice) -> Floats:
        total = SymmetricSum()
        for part in parts[share]:
            total.add(scaled(part))
        return total.of_size(n_samples)

    if on_host:
        work, most = n_samples**2 * parts[-1].stop / 2 if parts else 0.0, SMALL // max(n_samples, 1) ** 2
        return sum_of(gram, pieces(max(1, len(parts)), work, most), work)
    K = sum(S @ S.T for S in map(scaled, parts))
    return symmetric(to_numpy(K))
