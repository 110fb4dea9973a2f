"""Norms of rows and groups; sums over groups; sums and factors of symmetric matrices; arrays of any library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, to_device
from scipy import sparse
from scipy.linalg import blas, lapack

from dsofs.design.budget import MOST_PIECES, THREADED, cuts, for_each, in_parallel, pieces
from dsofs.design.types import AnyArray, Bools, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from dsofs.design.interface import Design

DEPENDENT = 1e-13  # of the diagonal of H'H, added to it: on some samples columns of a border may depend on others
Part = TypeVar("Part")
TINY = float(np.finfo(np.float64).tiny)  # added too, as they may be zero
FEW_COLUMNS = 2  # of a border
MIRRORED, TAKEN = 256, 128  # rows that are copied at a time
TAKEN_AT_ONCE = 512  # up to so many rows a second copy of all of them is small
LEAST_ROWS = 96  # of a product with itself that a thread computes at a time: with fewer, BLAS is slower
BELOW = np.tri(MIRRORED, k=-1, dtype=bool)  # the diagonal


def lrp_norm(A: Floats, r: float = 2.0, p: float = 1.0) -> float:
    """The l_{r,p} norm of a matrix: (sum_i ||a_i||_r^p)^(1/p) for r, p > 0, the paper's Eqn. 1.

    Below 1 it is not a norm (no triangle inequality), which nothing here needs.
    """
    if not (r > 0 and p > 0):
        raise ValueError(f"lrp_norm needs r > 0 and p > 0. Got r={r!r}, p={p!r} instead.")
    A = np.abs(np.atleast_2d(np.asarray(A, dtype=np.float64)))
    largest = float(A.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    # Scaled by the largest entry, so that no power over- or underflows on the way.
    rows = np.sum((A / largest) ** r, axis=1) ** (1.0 / r)
    return largest * float(np.sum(rows**p)) ** (1.0 / p)


def row_norms(W: Floats) -> Floats:
    """Euclidean norm of each row."""
    if W.shape[1] == 1:
        return np.abs(W[:, 0])
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", W, W)))


def group_norms(W: Floats, groups: Ints | None, n_groups: int) -> Floats:
    """||W_g||_F for each group of rows; with ``groups=None`` every row is its own group."""
    if groups is None:
        return row_norms(W)
    squares = np.einsum("ij,ij->i", W, W)
    return np.sqrt(np.bincount(groups, weights=squares, minlength=n_groups))


def columns_of(groups: Ints | None, n_columns: int) -> list[Ints]:
    """The columns of each group; without any each column is one."""
    if groups is None:
        return list(np.arange(n_columns)[:, None])
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])


@dataclass(frozen=True)
class GroupSums:
    """Adds up the columns of each group."""

    order: Ints  # of the columns, group by group
    labels: Ints  # their groups, in that order
    n_groups: int

    @classmethod
    def of(cls, groups: Ints, n_groups: int) -> GroupSums:
        """``groups``: that of every column; each of them has at least one."""
        order = np.argsort(groups, kind="stable")
        return cls(order, groups[order], n_groups)

    def of_columns(self, A: Floats) -> Floats:
        return np.add.reduceat(A.take(self.order, axis=1), _starts(self.labels), axis=1)

    def of_design(self, X: Design, samples: Ints, g: Floats) -> Floats:
        """Of the columns of X times g, for some samples: a few columns at a time, as few groups may have many."""
        sums = np.zeros((len(samples), self.n_groups))
        for part in cuts(len(self.order), X.budget.columns(X.n_samples)):
            columns, place = np.unique(self.order[part], return_inverse=True)
            labels = self.labels[part]
            starts = _starts(labels)
            Z = X.block(columns).on_host().take(samples, axis=0) * g[columns]
            sums[:, labels[starts]] += np.add.reduceat(Z.take(place, axis=1), starts, axis=1)
        return sums


def _starts(labels: Ints) -> Ints:
    """Where each run of equal labels begins."""
    return np.flatnonzero(np.diff(labels, prepend=-1))


@dataclass(slots=True)
class Factor:
    """Lower Cholesky factor L of the rows and columns ``index`` of a matrix M, which may have a border F at its end.

    A matrix of float32 has a factor of float32, without a border.

    With one it is a factor but for a sign, which changes between its two triangular systems:

        [M  F]   [L_M    ] [1   ] [L_M' H   ]
        [F' 0] = [H'  L_S] [  -1] [     L_S'],        H = L_M^{-1} F,     L_S L_S' = H'H.
    """

    index: Ints
    L: Floats
    n_border: int = 0  # rows of it that are the border

    @classmethod
    def empty(cls) -> Factor:
        return cls(np.empty(0, dtype=np.intp), np.empty((0, 0)))

    @property
    def inner(self) -> Ints:
        """``index`` without the border."""
        return self.index[: len(self.index) - self.n_border]

    def solve(self, rhs: Floats) -> Floats:
        """b of  M b = rhs,  or of  M b + F mu = rhs, F'b = 0.  If zeros for the border follow rhs, mu follows b."""
        if not self.n_border:
            potrs = lapack.spotrs if self.L.dtype == np.float32 else lapack.dpotrs
            return np.asarray(potrs(self.L, rhs, lower=1)[0]) if len(rhs) else rhs
        n = len(rhs)
        if n < len(self.L):
            rhs = np.concatenate([rhs, np.zeros((self.n_border, *rhs.shape[1:]))])
        x = lapack.dtrtrs(self.L, rhs, lower=1)[0]
        border = x[-self.n_border :]
        border *= -1.0  # ``np.negative`` in place is wrong for some strides in NumPy 2.4
        return np.asarray(lapack.dtrtrs(self.L, x, lower=1, trans=1, overwrite_b=1)[0])[:n]

    def half_solve(self, rhs: Floats, *, overwrite: bool = False) -> Floats:
        """R = L^{-1} rhs: R'R = rhs' M^{-1} rhs. With a border zeros follow rhs, and the last rows of R count negative:

            R'R - 2 N'N = rhs' P rhs,    where N are these rows and P rhs is b of ``solve``.

        ``overwrite``: rhs, whose rows are contiguous, may become R.
        """
        if not len(rhs):
            return rhs
        if rhs.ndim == 2 and rhs.flags.c_contiguous:  # (L^{-1} x)' = x' L'^{-1}, in the order of BLAS
            return np.asarray(blas.dtrsm(1.0, self.L, rhs.T, side=1, lower=1, trans_a=1, overwrite_b=overwrite)).T
        return np.asarray(lapack.dtrtrs(self.L, rhs, lower=1)[0])

    def back_solve(self, half: Floats) -> Floats:
        """M^{-1} rhs of R = L^{-1} rhs, without a border."""
        return np.asarray(blas.dtrsm(1.0, self.L, half.T, side=1, lower=1)).T  # (L'^{-1} R)' = R' L^{-1}

    def inverse(self) -> Floats:
        """M^{-1}, of a factor without a border."""
        # Of the transposes of its arguments, LAPACK's lower triangle is our upper one.
        return symmetric(np.asarray(lapack.dpotri(self.L, lower=1)[0]).T)


def principal(K: Floats, index: Ints) -> Floats:
    """The rows and columns ``index``, in increasing order, of a square matrix; K itself if that is all of them."""
    if len(index) == len(K):
        return K
    if len(index) <= TAKEN_AT_ONCE:
        return K.take(index, 0).take(index, 1)  # several times as fast as K[np.ix_(...)]
    M = np.empty((len(index), len(index)), dtype=K.dtype)
    for rows in cuts(len(index), TAKEN):  # all at once would need another matrix
        K.take(index[rows], 0).take(index, 1, out=M[rows], mode="clip")  # any other mode makes a copy first
    return M


def places_in(among: Ints, index: Ints) -> Ints | None:
    """Where each entry of ``index`` is in ``among``, both in increasing order; None if one of them is not there."""
    place = np.searchsorted(among, index)
    if len(index) > len(among) or (len(index) and place[-1] == len(among)) or (among[place] != index).any():
        return None
    return place


def with_border(K: Floats, F: Floats) -> Floats:
    """K with the border F, as ``factorise`` needs it: positive definite, with H as a part of its Cholesky factor.

    [K + t F F'   F  ]        b'F F'b = 0 wherever F'b = 0, but K + t F F' has no null space in common with F',
    [    F'      2/t ]        so that fewer digits are lost; and F'(K + t F F')^{-1} F is less than 1/t.
    """
    if not F.size:
        return K
    (m, q), t = F.shape, (float(K.trace()) or 1.0) / (float(np.vdot(F, F)) or 1.0)
    bordered = np.empty((m + q, m + q))
    np.add(K, t * F @ F.T, out=bordered[:m, :m])
    bordered[:m, m:], bordered[m:, :m], bordered[m:, m:] = F, F.T, 2 / t * _identity(q)
    return bordered


def factorise(
    K: Floats, ridge: Floats | float, part: Bools | None = None, n_border: int = 0, *, overwrite: bool = False
) -> Factor:
    """Cholesky factor of K + diag(ridge), restricted to ``part``; LinAlgError if that is not positive definite.

    ``n_border``: the last rows and columns of K that are a border, see ``with_border``; they are in every part.
    ``overwrite``: K may become its factor.
    """
    index = np.arange(len(K)) if part is None else part.nonzero()[0]
    M = principal(K, index)
    M = M.copy() if M is K and not overwrite else M
    if not len(index):
        return Factor(index, M)
    n = len(index) - n_border
    diagonal = M.ravel("K")[: n * (len(M) + 1) : len(M) + 1]
    diagonal += ridge.take(index[:n]) if isinstance(ridge, np.ndarray) else ridge
    # The transpose of a symmetric matrix is itself, in the order that LAPACK overwrites without a copy.
    potrf = lapack.spotrf if M.dtype == np.float32 else lapack.dpotrf
    L, info = potrf(M.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    if n_border:
        _finish_border(L, n)
    return Factor(index, L, n_border)


def _finish_border(L: Floats, n: int) -> None:
    """Set L_S of  L_S L_S' = H'H,  after n rows; for few columns by hand, as calls of LAPACK take longer."""
    if len(L) > n + FEW_COLUMNS:
        S = L[n:, :n].dot(L[n:, :n].T)
        L[n:, n:] = lapack.dpotrf((S + TINY) * (1 + DEPENDENT * _identity(len(S))), lower=1)[0]
        return
    h = L[n, :n]
    L[n, n] = r = sqrt(float(h.dot(h)) + TINY)
    if len(L) > n + 1:
        g = L[n + 1, :n]
        L[n + 1, n] = s = float(g.dot(h)) / r
        L[n + 1, n + 1] = sqrt((float(g.dot(g)) + TINY) * (1 + DEPENDENT) - s * s)


@cache
def _identity(q: int) -> Floats:
    return np.eye(q)


def inverse(K: Floats, ridge: float) -> Floats:
    """Of K + ridge I, which must be positive definite: with half the work of a general matrix."""
    return factorise(K, ridge).inverse()


class SymmetricSum:
    """Sum of S S' over pieces S, added up in place: half the work of a product, and no further m x m matrix."""

    def __init__(self) -> None:
        self._K: Floats | None = None  # its upper triangle, or all of it
        self._is_whole = True

    def add(self, S: Floats) -> None:
        work = S.shape[0] ** 2 * S.shape[1] / 2
        if work > THREADED:
            self._add_in_parallel(S, work)
        elif self._K is None:
            self._K = S @ S.T  # which BLAS recognises as symmetric
            return
        else:
            # The transpose of K is in the order that BLAS overwrites.
            a, trans = (S, 0) if S.flags.f_contiguous else (S.T, 1)
            syrk = blas.ssyrk if S.dtype == np.float32 else blas.dsyrk
            syrk(1.0, a, beta=1.0, c=self._K.T, trans=trans, lower=1, overwrite_c=1)
        self._is_whole = False

    def _add_in_parallel(self, S: Floats, work: float) -> None:
        """A few rows at a time, from the diagonal on."""
        is_first = self._K is None
        K = self._K = np.empty((len(S), len(S)), dtype=S.dtype) if self._K is None else self._K

        def add(rows: slice) -> None:
            own, right = K[rows, rows], K[rows, rows.stop :]
            if is_first:
                np.matmul(S[rows], S[rows.stop :].T, out=right)
                own[:] = S[rows] @ S[rows].T
            else:
                right += S[rows] @ S[rows.stop :].T
                own += S[rows] @ S[rows].T

        in_parallel(add, list(cuts(len(S), max(LEAST_ROWS, len(S) // MOST_PIECES))))

    def of_size(self, n: int) -> Floats:
        """The n x n sum; zeros if nothing was added."""
        if self._K is None:
            return np.zeros((n, n))
        return self._K if self._is_whole else symmetric(self._K)


def product_with_itself(S: Floats) -> Floats:
    """S S'."""
    total = SymmetricSum()
    total.add(S)
    return total.of_size(len(S))


def product(A: AnyArray, B: AnyArray) -> AnyArray:
    """A B, on the host in threads where that is worth it: of rows of A, columns of B or, if these are most, both."""
    (m, k), n = A.shape, B.shape[1]
    work = float(m) * k * n
    if work <= THREADED or not isinstance(A, np.ndarray):
        return A @ B
    if k > max(m, n):
        return sum_of(lambda part: A[:, part] @ B[part], pieces(k, work), work)
    C = np.empty((m, n), dtype=A.dtype)

    def fill(part: slice) -> None:
        rows, columns = (part, slice(n)) if m >= n else (slice(m), part)
        np.matmul(A[rows], B[:, columns], out=C[rows, columns])

    in_parallel(fill, pieces(max(m, n), work))
    return C


def sum_of(function: Callable[[Part], Floats], parts: Sequence[Part], multiplications: float) -> Floats:
    """Sum of what ``function`` makes of all parts, in their order, whichever thread ends first."""
    waiting, lock, done = dict[int, Floats](), Lock(), 0
    total = np.zeros(())

    def add(place: int) -> None:
        nonlocal done, total
        term = function(parts[place])
        with lock:
            waiting[place] = term
            while done in waiting:
                term = waiting.pop(done)
                total = term if done == 0 else np.add(total, term, out=total)
                done += 1

    for_each(add, range(len(parts)), multiplications)
    return total


def symmetric(K: Floats) -> Floats:
    """K itself, its upper triangle copied to the lower one."""
    for start in range(0, len(K), MIRRORED):
        stop = min(start + MIRRORED, len(K))
        K[start:stop, :start] = K[:start, start:stop].T
        corner = K[start:stop, start:stop]
        np.copyto(corner, corner.T, where=BELOW[: stop - start, : stop - start])
    return K


# Dense or sparse.


def dense(X: AnyArray, dtype: DTypeLike = np.float64) -> np.ndarray:
    """X, or a few of its columns, as a plain array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=dtype)


def hstack(parts: Sequence[AnyArray]) -> AnyArray:
    """The columns of all parts, in CSR form if some are sparse."""
    return sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)


# Arrays of any array-API library: the few operations that libraries spell differently.


def to_numpy(array: AnyArray) -> Floats:
    """The array on the host, as NumPy float64 that can be written to."""
    if type(array) is np.ndarray and array.dtype == np.float64 and array.flags.writeable:
        return array  # at once, as it is called for every small product
    return np.require(on_host(array), np.float64, "W")


def on_host(array: AnyArray) -> np.ndarray:
    """The array as a NumPy array of its own type, wherever it is."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError):  # on a device that NumPy cannot read
        return np.from_dlpack(to_device(array, "cpu"))


def like(X: AnyArray, host: np.ndarray) -> AnyArray:
    """Numbers of the host in the library, dtype and device of X."""
    if isinstance(X, np.ndarray):
        return host
    return array_namespace(X).asarray(host, dtype=X.dtype, device=device(X))


def take(X: AnyArray, index: Ints, axis: int) -> AnyArray:
    """The rows (axis 0) or columns (axis 1) ``index`` of X."""
    if isinstance(X, np.ndarray):
        # At once: on small data the way through the namespace takes longer than the rest. Of an array that is not held
        # row by row, as a data frame's or a part of one, ``take`` would first copy all.
        if X.flags.f_contiguous:
            return X.T.take(index, 1 - axis).T
        if X.flags.c_contiguous:
            return X.take(index, axis)
        return X[index] if axis == 0 else X[:, index]
    xp = array_namespace(X)
    return xp.take(X, xp.asarray(index, device=device(X)), axis=axis)


def widest_float(X: AnyArray) -> Any:
    """float64, or float32 on devices without it."""
    xp = array_namespace(X)
    floats = xp.__array_namespace_info__().dtypes(device=device(X), kind="real floating")
    return floats.get("float64", xp.float32)
