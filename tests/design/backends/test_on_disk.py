"""What is read of an X on a disk."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from dsofs import DSOSelector
from dsofs.design import Budget, as_design, moments
from dsofs.design.backends import in_chunks
from dsofs.design.backends.on_disk import StoredArray, is_on_disk, runs

FEW = Budget(block=8 * 20 * 30, tall_block=8 * 20 * 30)


@pytest.fixture
def X(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(20, 300)))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def test_two_reads_are_enough_for_the_first_step(X):
    """One for means, deviations, products with labels and Gram matrix; one for the products with the multipliers."""
    stored, rng = StoredArray(X), np.random.default_rng(1)
    Y = rng.normal(size=(20, 2))
    stats = moments(stored, np.hstack([rng.normal(size=(20, 1)), Y]), FEW)
    design = as_design(stored, stats, standardize=True, bias=True, budget=FEW)
    K, G, norms = design.gram(np.ones(301)), design.tdot(Y), design.dual_norms(Y)
    assert stored.bytes_read == X.nbytes
    Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(20)])
    np.testing.assert_allclose(K, Z @ Z.T, atol=1e-9)
    np.testing.assert_allclose(G, Z.T @ Y, atol=1e-9)
    np.testing.assert_allclose(norms, np.linalg.norm(Z.T @ Y, axis=1), atol=1e-9)
    design.tdot(Y + 1)
    assert stored.bytes_read == 2 * X.nbytes


def test_a_fit_reads_twice_before_the_second_step(X, monkeypatch):
    monkeypatch.setattr("dsofs.design.backends.on_disk.LARGE_MAP", 0)
    passes, run = [], StoredArray.run

    def noting(self, work, pieces):
        passes.append(len(pieces))
        return run(self, work, pieces)

    monkeypatch.setattr(StoredArray, "run", noting)
    with pytest.warns(ConvergenceWarning):
        DSOSelector(5, max_iter=1, ranking="norm", memory_limit=100_000).fit(X, np.arange(20) % 2)
    assert len(passes) == 2
    assert min(passes) > 1  # pieces


def test_no_step_of_a_tall_fit_reads_more_than_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("dsofs.design.backends.on_disk.LARGE_MAP", 0)
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(2000, 30)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    files, run = set(), StoredArray.run

    def noting(self, work, pieces):
        files.add(self)
        return run(self, work, pieces)

    monkeypatch.setattr(StoredArray, "run", noting)
    y = X[:, 0] + X[:, 1] + rng.normal(size=2000) > 0
    fitted = DSOSelector(2, memory_limit=3_000_000, ranking="norm").fit(X, y)
    assert sum(file.bytes_read for file in files) <= 2 * fitted.n_iter_ * X.nbytes
    assert set(fitted.get_support(indices=True)) == {0, 1}


def test_what_is_left_out_is_not_read(X, monkeypatch):
    monkeypatch.setattr("dsofs.design.backends.on_disk.SEEK", 8)
    stored = StoredArray(X)
    design = as_design(stored, moments(stored), standardize=True, bias=False, budget=FEW)
    before = stored.bytes_read
    design.block(np.array([3, 4, 200]))
    assert stored.bytes_read - before == 8 * 20 * 3
    before = stored.bytes_read
    design.samples(np.array([1, 15]))
    assert stored.bytes_read - before == 8 * 300 * 2


def test_pieces_are_no_larger_than_the_budget_allows(X, monkeypatch):
    sizes, read = [], StoredArray.read

    def noting(self, rows, columns):
        sizes.append(len(rows) * len(columns))
        return read(self, rows, columns)

    monkeypatch.setattr(StoredArray, "read", noting)
    moments(StoredArray(X), budget=FEW)
    assert max(sizes) == 20 * 30
    moments(StoredArray(X.T), budget=FEW)
    assert max(sizes) == 20 * 30


def test_an_index_is_cut_into_runs():
    assert [run.tolist() for run in runs(np.array([1, 2, 5, 9, 40, 41]), 4)] == [[1, 2, 5], [9], [40, 41]]
    assert [run.tolist() for run in runs(np.arange(3), 1)] == [[0, 1, 2]]


def test_small_maps_text_and_vectors_are_not_read_in_pieces(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["numbers"], file["vector"], file["text"] = X, X[0], np.array([[b"a"]])
        assert is_on_disk(file["numbers"])
        assert not is_on_disk(file["vector"])
        assert not is_on_disk(file["text"])
    assert in_chunks(X) is None
    assert in_chunks([[1.0]]) is None
