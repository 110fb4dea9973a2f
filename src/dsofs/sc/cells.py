"""Cells x genes of an AnnData object, read a block of cells at a time: on disk, sparse or dense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dsofs.design.budget import cuts
from dsofs.design.linalg import dense
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.validation import indicators

BLOCK = 4_000  # cells; 30,000 genes of which a tenth is expressed take 100 MB


class Cells:
    """Some cells of a matrix that stays where it is."""

    def __init__(self, X: AnyArray, among: Bools) -> None:
        """``among``: which rows of X these cells are."""
        if getattr(X, "format", "csr") != "csr":
            if not sparse.issparse(X):
                raise ValueError("select_panel reads cells one after the other: write X in CSR form, not in CSC form.")
            X = X.tocsr()
        self.X, self.among = X, among
        self.n_cells, self.n_genes = int(among.sum()), int(X.shape[1])

    def blocks(self) -> Iterator[AnyArray]:
        """All cells in turn, in memory."""
        for part in cuts(len(self.among), BLOCK):
            inside = self.among[part]
            if inside.any():
                block = _in_memory(self.X[part])
                yield block if inside.all() else block[inside]

    def of_genes(self, genes: Ints) -> AnyArray:
        """All cells with these genes alone, sparse if X is."""
        parts = [block[:, genes] for block in self.blocks()]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    def moments(self, codes: Ints, n_types: int) -> tuple[Floats, Floats]:
        """The sum of every gene over the cells of each type, and of its squares over all cells: one pass."""
        sums, squares, first = np.zeros((n_types, self.n_genes)), np.zeros(self.n_genes), 0
        for block in self.blocks():
            of_type = sparse.csr_array(indicators(codes[first : first + block.shape[0]], n_types).T)
            block = block.astype(np.float64)
            sums += dense(of_type @ block)
            squares += np.asarray((block.multiply(block) if sparse.issparse(block) else block**2).sum(axis=0)).ravel()
            first += block.shape[0]
        return sums, squares


def _in_memory(part: Any) -> AnyArray:
    """A block of a matrix in memory, on disk, or of Dask."""
    part = part.compute() if hasattr(part, "compute") else part
    return sparse.csr_array(part) if sparse.issparse(part) else np.asarray(part)


def correlations(sums: Floats, squares: Floats, counts: Ints) -> Floats:
    """r of every gene with being of each type: one row per type, 0 for genes that do not vary.

        r = (S_t - m_t mean) / sqrt(m_t (1 - m_t / m) sum (x - mean)^2)

    S_t is the sum of the gene over the m_t cells of type t.
    """
    m = counts.sum()
    mean = sums.sum(axis=0) / m
    spread = np.maximum(squares - m * mean**2, 0.0)
    varies = spread > 1e-12 * np.maximum(squares, np.finfo(np.float64).tiny)
    size = np.sqrt(np.outer(counts * (1 - counts / m), np.where(varies, spread, 1.0)))
    return np.where(varies, (sums - np.outer(counts, mean)) / np.where(size > 0, size, 1.0), 0.0)


def candidates(r: Floats, most: int) -> Ints:
    """The genes most correlated with some type: the first of each type, then the second, and so on."""
    size = np.abs(r)
    places = np.argsort(np.argsort(-size, axis=1, kind="stable"), axis=1).min(axis=0)
    return np.sort(np.lexsort((-size.max(axis=0), places))[:most])
