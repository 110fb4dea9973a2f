"""NumPy arrays, in memory or memory-mapped, float32 or float64: what NumPy does in fewer passes, and in threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsofs.design.backends.array_api import ArrayDesign, is_run
from dsofs.design.budget import THREADED, in_parallel
from dsofs.design.types import AnyArray, Floats

FEW = 0.05  # of the columns: with more of them to look at again, a pass in float64 takes less time


class DenseDesign(ArrayDesign):
    """Standardised view of a NumPy array."""

    @staticmethod
    def doubles(piece: AnyArray) -> AnyArray:
        return np.asarray(piece, dtype=np.float64)

    @classmethod
    def minus(cls, piece: AnyArray, mean: Floats) -> AnyArray:
        return np.subtract(piece, mean, dtype=np.float64)

    @staticmethod
    def extremes(piece: AnyArray) -> tuple[Floats, Floats]:
        return piece.min(axis=0).astype(np.float64), piece.max(axis=0).astype(np.float64)

    @classmethod
    def sums(cls, piece: AnyArray) -> Floats:
        return np.asarray(piece.sum(axis=0, dtype=np.float64))

    @staticmethod
    def sums_of_squares(Z: AnyArray) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", Z, Z))

    def _dual_norms(self, B: Floats, out: Floats, rough: bool) -> None:
        """Roughly, of a large X in float32, at the speed of reading it, and again for those that may be the largest."""
        large = len(self.kept) * B.size > THREADED and len(self.kept) > self.n_samples
        if not (rough and large and self._folds and self.X.dtype == np.float32):
            super()._dual_norms(B, out, rough)
            return
        out[:] = self._rough_norms(B)
        least = 1.0 if self.sample_weight is None else float(self.sample_weight.min())
        error = np.hypot(self.columns.norm, self.total_weight**0.5 * self.mean / self.scale)  # x_i over its scale
        error *= self.n_samples * np.finfo(np.float32).eps * np.linalg.norm(B) / least**0.5
        near = np.flatnonzero(out + error >= np.max(out - error))
        if len(near) > FEW * len(self.kept):
            super()._dual_norms(B, out, rough)
        else:
            out[near] = self.part(near).dual_norms(B)

    def _rough_norms(self, B: Floats) -> Floats:
        """||Z_i'B|| with products in float32."""
        norms, single, total = np.empty(len(self.kept)), B.T.astype(np.float32), B.sum(axis=0)

        def fill(columns: slice) -> None:
            G = single @ self._piece(slice(None), columns) - np.outer(total, self.mean[columns])
            norms[columns] = np.sqrt(np.einsum("ji,ji->i", G, G)) / self.scale[columns]

        in_parallel(fill, self._column_parts(copied=not is_run(self.kept)))
        return norms

    def _for_all_columns(self, fill: Callable[[slice], None], n_products: int) -> None:
        if len(self.kept) * self.n_samples * n_products > THREADED:
            views = self._folds and self.X.dtype == np.float64 and is_run(self.kept)
            in_parallel(fill, self._column_parts(copied=not views))
        else:
            super()._for_all_columns(fill, n_products)
