"""Symmetric matrices: sums of products, and factors of their principal parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas, lapack

from dsofs.design.types import Bools, Floats, Ints

DEPENDENT = 1e-12  # singular values of a border below this part of the largest are zero
MIRRORED = 256  # rows that are copied at a time: a few megabytes


@dataclass(frozen=True)
class Factor:
    """Lower Cholesky factor of the rows and columns ``index`` of a matrix M, which may have a border F:

    [M  F] [b ]   [rhs]          with  L^{-1} F = Q S V':     b = L^{-T} (1 - Q Q') L^{-1} rhs,
    [F' 0] [mu] = [ 0 ]                                      mu = V S^{-1} Q' L^{-1} rhs.
    """

    index: Ints
    L: Floats
    border: tuple[Floats, Floats] | None = None  # Q and V S^{-1}

    @classmethod
    def empty(cls) -> Factor:
        return cls(np.empty(0, dtype=np.intp), np.empty((0, 0)))

    def bordered(self, F: Floats) -> Factor:
        """With the rows ``index`` of F as a border; dependent columns of it do no harm."""
        Q, s, Vt = np.linalg.svd(self.half_solve(F[self.index]), full_matrices=False)
        kept = s > DEPENDENT * s.max(initial=0.0)
        return replace(self, border=(Q[:, kept], Vt[kept].T / s[kept]))

    def solve(self, rhs: Floats) -> Floats:
        """b of the system with its border, which is M^{-1} rhs if it has none."""
        if not len(rhs):
            return rhs
        if self.border is None:
            return np.asarray(lapack.dpotrs(self.L, rhs, lower=1)[0])
        return np.asarray(lapack.dtrtrs(self.L, self.half_solve(rhs), lower=1, trans=1)[0])

    def half_solve(self, rhs: Floats) -> Floats:
        """(1 - Q Q') L^{-1} rhs."""
        if not len(rhs):
            return rhs
        half = np.asarray(lapack.dtrtrs(self.L, rhs, lower=1)[0])
        return half if self.border is None else half - self.border[0] @ (self.border[0].T @ half)

    def border_weights(self, rhs: Floats) -> Floats:
        """mu of the system with its border."""
        assert self.border is not None
        half = np.asarray(lapack.dtrtrs(self.L, rhs, lower=1)[0]) if len(rhs) else rhs
        return self.border[1] @ (self.border[0].T @ half)


def principal(K: Floats, index: Ints) -> Floats:
    """The rows and columns ``index``, in increasing order, of a square matrix; K itself if that is all of them."""
    return K if len(index) == len(K) else K.take(index, 0).take(index, 1)  # several times as fast as K[np.ix_(...)]


def factorise(K: Floats, ridge: Floats | float, part: Bools | None = None) -> Factor:
    """Cholesky factor of K + diag(ridge), restricted to ``part``; LinAlgError if that is not positive definite."""
    index = np.arange(len(K)) if part is None else part.nonzero()[0]
    M = principal(K, index)
    M = M.copy() if M is K else M
    if not len(index):
        return Factor(index, M)
    M.flat[:: len(index) + 1] += ridge[index] if isinstance(ridge, np.ndarray) else ridge
    # The transpose of a symmetric matrix is itself, in the order that LAPACK overwrites without a copy.
    L, info = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return Factor(index, L)


def row_norms(W: Floats) -> Floats:
    """Euclidean norm of each row."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", W, W)))


class SymmetricSum:
    """Sum of S S' over pieces S, added up in place: half the work of a product, and no further m x m matrix."""

    def __init__(self) -> None:
        self._K: Floats | None = None
        self._n_pieces = 0

    def add(self, S: Floats) -> None:
        self._n_pieces += 1
        if self._K is None:
            self._K = S @ S.T  # which BLAS recognises as symmetric
        else:
            # The transpose of K is in the order that BLAS overwrites; only its lower triangle is added to.
            a, trans = (S, 0) if S.flags.f_contiguous else (S.T, 1)
            blas.dsyrk(1.0, a, beta=1.0, c=self._K.T, trans=trans, lower=1, overwrite_c=1)

    def of_size(self, n: int) -> Floats:
        """The n x n sum; zeros if nothing was added."""
        if self._K is None:
            return np.zeros((n, n))
        if self._n_pieces > 1:
            return symmetric(self._K)
        return self._K


def symmetric(K: Floats) -> Floats:
    """K itself, its upper triangle copied to the lower one."""
    for start in range(0, len(K), MIRRORED):
        stop = min(start + MIRRORED, len(K))
        K[start:stop, :start] = K[:start, start:stop].T
        corner = K[start:stop, start:stop]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
    return K
