"""X on a disk or on a cluster: the answer of NumPy, from pieces of X alone."""

import logging
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import sparse

from dsofs import DSOClassifier, DSOSelector, DSOSelectorCV
from dsofs.design.backends import on_disk
from tests.problems import random_data

# Arrow's columns have names, and those of NumPy have none.
pytestmark = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")

SHAPES = {"wide": (40, 120), "tall": (260, 20)}
SELECTORS = {
    "defaults": DSOSelector(5),
    "p = 1": DSOSelector(5, p=1.0, C=None, ranking="norm"),
    "few bytes": DSOSelector(5, memory_limit=400_000),
    "covariates": DSOSelector(5, include=[3], intercept_penalty=0.0),
    "groups": DSOSelector(3),
    "folds": DSOSelectorCV(5, ps=(0.5, 1.0), cv=2),
}


def refuse(self, *args, **options):
    raise AssertionError("X is read as a whole")


def memmap(X, folder, monkeypatch):
    monkeypatch.setattr(on_disk, "LARGE_MAP", 0)
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def zarr_array(X, folder, monkeypatch):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(9, 13), dtype=X.dtype, overwrite=True)
    stored[:] = X
    monkeypatch.setattr(zarr.Array, "__array__", refuse)
    return stored


def hdf5(X, folder, monkeypatch):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    monkeypatch.setattr(h5py.Dataset, "__array__", refuse)
    return h5py.File(folder / "X.h5", "r")["X"]


def anndata_backed(X, folder, monkeypatch):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sparse.csr_array(X)).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r").X


def arrow_files(X, folder, monkeypatch, format="parquet"):
    """Three files, of Parquet in several row groups each; columns are called 0, 1, ..."""
    dataset, pyarrow = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow")
    for place, part in enumerate(np.array_split(X, 3)):
        table = pyarrow.table([*part.T], names=[str(column) for column in range(X.shape[1])])
        options = {"max_rows_per_file": 0, "max_rows_per_group": 7, "basename_template": f"{place}-{{i}}.{format}"}
        dataset.write_dataset(table, folder / format, format=format, existing_data_behavior="overwrite_or_ignore",
                              min_rows_per_group=1, **options)  # fmt: skip
    return dataset.dataset(folder / format, format=format)


def dask_threads(X, folder, monkeypatch, chunks=(-1, 7)):
    return never_whole(pytest.importorskip("dask.array").from_array(X, chunks=chunks), monkeypatch)


def dask_sparse(X, folder, monkeypatch):
    array = pytest.importorskip("dask.array")
    return never_whole(array.from_array(X, chunks=(11, 9)).map_blocks(sparse.csr_matrix), monkeypatch)


def never_whole(X, monkeypatch):
    monkeypatch.setattr(type(X), "__array__", refuse)
    return X


KINDS = {
    "memmap": memmap,
    "zarr": zarr_array,
    "hdf5": hdf5,
    "backed AnnData": anndata_backed,
    "parquet": arrow_files,
    "arrow": lambda *given: arrow_files(*given, format="arrow"),
    "dask": dask_threads,
    "dask by rows": lambda *given: dask_threads(*given, chunks=(17, -1)),
    "dask, sparse": dask_sparse,
}


@pytest.fixture(params=KINDS)
def stored(request, tmp_path, monkeypatch):
    return lambda X: KINDS[request.param](X, tmp_path, monkeypatch)


@pytest.fixture(params=SHAPES)
def data(request):
    X, y = random_data(3, *SHAPES[request.param], 3)
    return X, np.array(["no", "perhaps", "yes"])[y]


@pytest.mark.filterwarnings("ignore:.*cannot be (separated|met):UserWarning")
@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_give_the_answer_of_numpy(name, data, stored):
    X, y = data
    groups = np.arange(X.shape[1]) // 3 if name == "groups" else None
    plain = SELECTORS[name].set_params(feature_groups=groups).fit(X, y)
    expected = vars(plain).copy()
    found = plain.fit(stored(X), y)
    assert found.status_ == expected["status_"]
    assert found.objective_ == pytest.approx(expected["objective_"], rel=1e-6)
    np.testing.assert_array_equal(found.ranking_, expected["ranking_"])
    np.testing.assert_allclose(found.coef_, expected["coef_"], atol=1e-7)
    chosen = found.transform(stored(X))
    chosen = chosen.compute() if hasattr(chosen, "compute") else chosen
    np.testing.assert_array_equal(chosen.toarray() if sparse.issparse(chosen) else chosen, plain.transform(X))


@pytest.mark.filterwarnings("ignore:.*cannot be (separated|met):UserWarning")
def test_the_classifier_predicts_in_pieces(data, stored):
    X, y = data
    given, weights = stored(X), np.resize([1.0, 0.0, 2.0, 1.0], len(y))
    plain = DSOClassifier().fit(X, y, sample_weight=weights)
    expected = plain.decision_function(X)
    found = DSOClassifier().fit(given, y, sample_weight=weights)
    np.testing.assert_allclose(found.decision_function(given), expected, atol=1e-7)
    np.testing.assert_array_equal(found.predict(given), plain.predict(X))


def test_whole_numbers_are_read_as_numbers(data, stored):
    X, y = data
    counts = np.rint(10 * X).astype(np.int32)
    expected = DSOSelector(5).fit(counts, y).ranking_
    np.testing.assert_array_equal(DSOSelector(5).fit(stored(counts), y).ranking_, expected)


def test_values_that_are_not_finite_are_named(data, stored):
    X, y = data
    X = X.copy()
    X[30, 17] = X[35, 4] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN: column '?17'?, row 30 .* 2 value\(s\) in 2 column\(s\)"):
        DSOSelector(5).fit(stored(X), y)


def test_errors_of_scikit_learn_stay(data, stored):
    X, y = data
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DSOSelector(5).fit(stored(X), y[1:])
    fitted = DSOSelector(5).fit(X, y)
    with pytest.raises(ValueError, match=f"X has {X.shape[1] - 1} features, but DSOSelector is expecting"):
        fitted.transform(stored(X[:, 1:].copy()))
    with pytest.raises(MemoryError, match="'memory_limit'"):
        DSOSelector(5, memory_limit=1000).fit(stored(X), y)


def test_dask_in_processes(tmp_path, monkeypatch):
    dask = pytest.importorskip("dask")
    X, y = random_data(3, 40, 120, 3)
    expected = DSOSelector(5).fit(X, y)
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    with pool, dask.config.set(scheduler="processes", pool=pool):
        found = DSOSelector(5).fit(dask_threads(X, tmp_path, monkeypatch, chunks=(-1, 40)), y)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)


def die_once(block, mark):
    """In the first worker that gets here: end it, as if it had lost its machine."""
    with suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system cannot kill a worker so")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fit_outlives_a_worker(shape, tmp_path):
    distributed, array = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    X, y = random_data(3, *SHAPES[shape], 3)
    expected = DSOSelector(5).fit(X, y)
    blocks = array.from_array(X, chunks=(-1, 40) if shape == "wide" else (90, -1))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        found = DSOSelector(5).fit(blocks.map_blocks(die_once, mark=tmp_path / "died", meta=X[:0, :0]), y)
    assert (tmp_path / "died").exists()
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)


def test_dask_must_know_the_sizes_of_its_chunks():
    array = pytest.importorskip("dask.array")
    X, y = random_data(3, 40, 20, 2)
    X = array.from_array(X, chunks=(10, 20))
    with pytest.raises(ValueError, match=r"X\.compute_chunk_sizes\(\)"):
        DSOSelector(5).fit(X[X[:, 0] > -100], y)
