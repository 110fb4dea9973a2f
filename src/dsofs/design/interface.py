"""The matrix that the solvers see, and the operations they need of it.

    Z = [(X - mean) / scale, 1]        m samples x n columns; the last column is the bias, if there is one

Z is never formed whole unless it fits in a ``Block``. The array that was passed in decides where the work runs; what
comes back (m x m, n x c and smaller) are NumPy arrays. A new kind of data is a file in ``backends``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from dsofs.design.budget import Budget, cuts, threads_for
from dsofs.design.linalg import SymmetricSum, like, row_norms, symmetric, take, to_numpy
from dsofs.design.types import AnyArray, Floats, Ints

DEFAULT = Budget()


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

    def dual_norms(self, B: Floats, rough: bool = False) -> Floats:
        """||Z_i'B|| of every column, as a certificate needs it of all: in O(n) memory where Z is large.

        ``rough``: only those that may be the largest need be exact; the others may be rounded to float32.
        """
        return row_norms(self.tdot(B))

    def normal_matrix(self, weights: Floats) -> Floats:
        """H = sum_k u_k z_k z_k' over all samples, for any weights u."""
        return self.normal_equations([(np.arange(self.n_samples), weights, np.empty((self.n_samples, 0)))])[0][0]

    def rough_normal_matrix(self, weights: Floats) -> Floats:
        """The same for a preconditioner, which may be rounded to float32."""
        return self.normal_matrix(weights)

    def normal_equations(self, sets: Sequence[tuple[Ints, Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        """H = sum_k u_k z_k z_k' and h = sum_k z_k r_k' for each set of samples k, in increasing order, u and r."""
        every = np.unique(np.concatenate([index for index, *_ in sets]))
        matrices = [SymmetricSum() for _ in sets]
        vectors = [np.zeros((self.n_columns, R.shape[1])) for _, _, R in sets]
        with threads_for(sum(len(index) for index, *_ in sets) * self.n_columns**2 // 2):
            for part in cuts(len(every), self.budget.samples(self.n_columns)):
                Z, taken = self.samples(every[part]).on_host(), every[part]
                for H, h, (index, weights, R) in zip(matrices, vectors, sets, strict=True):
                    inside = slice(*np.searchsorted(index, [taken[0], taken[-1] + 1]))
                    if inside.start < inside.stop:
                        rows = Z.take(np.searchsorted(taken, index[inside]), axis=0)
                        h += rows.T @ R[inside]
                        H.add((rows * np.sqrt(weights[inside])[:, None]).T)
            return [(H.of_size(self.n_columns), h) for H, h in zip(matrices, vectors, strict=True)]

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

    def gram(self, d: Floats) -> Floats:
        return gram_of_pieces(self._scaled_pieces(d), self.n_samples, self.n_columns)

    def _scaled_pieces(self, d: Floats) -> Iterable[AnyArray]:
        if len(d) and d[0] == 1 and (d == 1).all():  # as in the first step of a fit
            return [self.Z]
        root, step = like(self.Z, np.sqrt(d)), self.budget.columns(self.n_samples)
        if self.n_columns <= step:
            return [self.Z * root]
        return (self.Z[:, part] * root[part] for part in cuts(self.n_columns, step))

    def dot(self, W: Floats) -> Floats:
        with threads_for(self.n_samples * W.size):
            return to_numpy(self.Z @ like(self.Z, W))

    def tdot(self, B: Floats) -> Floats:
        with threads_for(self.n_columns * B.size):
            return to_numpy(like(self.Z, B).T @ self.Z).T  # Z'B is slower by half, as Z is held by rows

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
        with threads_for(sum(len(index) for index, *_ in sets) * self.n_columns**2 // 2):
            return [self._sums(*samples) for samples in sets]

    def rough_normal_matrix(self, weights: Floats) -> Floats:
        if not isinstance(self.Z, np.ndarray):
            return self.normal_matrix(weights)
        H = np.zeros((self.n_columns, self.n_columns), dtype=np.float32)
        with threads_for(self.n_samples * self.n_columns**2 // 2):
            for part in cuts(self.n_samples, self.budget.samples(self.n_columns)):
                rows = (self.Z[part] * np.sqrt(weights[part])[:, None]).astype(np.float32)
                H += rows.T @ rows
        return H.astype(np.float64)

    def _sums(self, index: Ints, weights: Floats, R: Floats) -> tuple[Floats, Floats]:
        """H and h of few samples: for hundreds of such calls in a fit, with nothing around the products."""
        rows = to_numpy(take(self.Z, index, axis=0))
        h = rows.T @ R
        rows *= np.sqrt(weights)[:, None]
        return rows.T @ rows, h

    def on_host(self) -> Floats:
        """Z as a NumPy array: for small parts of it, and what has no other way."""
        return to_numpy(self.Z)


def gram_of_pieces(pieces: Iterable[AnyArray], n_samples: int, n_columns: int) -> Floats:
    """Sum of S S' over pieces S of columns that were scaled, and stay in the cache between that and this."""
    K: AnyArray = None
    total = SymmetricSum()
    with threads_for(n_samples**2 * n_columns // 2):
        for S in pieces:
            if isinstance(S, np.ndarray):
                total.add(S)
            else:
                K = S @ S.T if K is None else K + S @ S.T
        return total.of_size(n_samples) if K is None else symmetric(to_numpy(K))
