"""X on a disk or on a cluster: the answer of NumPy, from pieces of X alone."""

import numpy as np
import pytest
from scipy import sparse

from dsofs import DSOClassifier, DSOSelector, DSOSelectorCV
from dsofs.design.backends import on_disk
from tests.problems import random_data

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


KINDS = {"memmap": memmap, "zarr": zarr_array, "hdf5": hdf5, "backed AnnData": anndata_backed}


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
    with pytest.raises(ValueError, match=r"contains NaN: column 17, row 30 .* 2 value\(s\) in 2 column\(s\)"):
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
