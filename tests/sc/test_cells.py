"""Blocks of cells, and the genes that go with a type."""

import numpy as np
import pytest
from scipy import sparse

from dsofs.sc import cells
from dsofs.sc.cells import Cells, candidates, correlations


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("block", [3, 100])
def test_moments_and_genes_of_some_cells(form, block, monkeypatch):
    monkeypatch.setattr(cells, "BLOCK", block)
    rng = np.random.default_rng(0)
    X, codes, among = rng.poisson(1.0, (20, 6)).astype(np.float32), rng.integers(0, 3, 20), rng.random(20) < 0.7
    some = Cells(form(X), among)
    sums, squares = some.moments(codes[among], 3)
    np.testing.assert_allclose(sums, [X[among & (codes == t)].sum(axis=0) for t in range(3)])
    np.testing.assert_allclose(squares, (X[among] ** 2).sum(axis=0))
    assert (cells.dense(some.of_genes(np.array([4, 1]))) == X[among][:, [4, 1]]).all()


def test_correlations_are_those_of_numpy():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(30, 5)), np.arange(30) % 3
    X[:, 2] = 7.0
    r = correlations(*Cells(X, np.ones(30, dtype=bool)).moments(codes, 3), np.bincount(codes))
    for t in range(3):
        for gene in (0, 1, 3, 4):
            assert r[t, gene] == pytest.approx(np.corrcoef(codes == t, X[:, gene])[0, 1])
    assert (r[:, 2] == 0).all()


def test_every_type_has_its_best_genes_among_the_candidates():
    r = np.array([[0.9, 0.8, 0.7, 0.0, 0.0], [0.1, 0.0, 0.0, -0.3, 0.2]])
    assert candidates(r, 2).tolist() == [0, 3]
    assert candidates(r, 3).tolist() == [0, 1, 3]
    assert candidates(r, 9).tolist() == [0, 1, 2, 3, 4]


def test_columns_on_disk_are_refused():
    class OnDisk:
        format = "csc"

    with pytest.raises(ValueError, match="in CSR form"):
        Cells(OnDisk(), np.ones(2, dtype=bool))
