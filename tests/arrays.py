"""The kinds of X that every back end is tested with."""

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from dsofs.design.backends.on_disk import StoredArray


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def stored(X):
    """As if it were too large to be read as a whole."""
    return StoredArray(NeverWhole(X))


class NeverWhole:
    """An array in a file that raises when it is turned into one of NumPy, or when all of it is read at once."""

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.chunks = getattr(X, "chunks", None)
        if hasattr(X, "group"):
            self.group, self.format = X.group, X.format

    def __array__(self, *args, **options):
        raise AssertionError("an array on disk is turned into one of NumPy")

    def __getitem__(self, index):
        return self.X[index]


def zarr_array(X, folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    made = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(7, 11), dtype=X.dtype, overwrite=True)
    made[:] = X
    return stored(made)


def hdf5(X, folder, **options):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, **options)
    return stored(h5py.File(folder / "X.h5", "r")["X"])


def backed(X, folder):
    """CSR on disk, as AnnData has it."""
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    anndata.AnnData(sparse.csr_array(X)).write_h5ad(folder / "X.h5ad")
    return stored(anndata.read_h5ad(folder / "X.h5ad", backed="r").X)


def blocks(X, chunks):
    """A Dask array that raises when it is turned into one of NumPy."""
    array = pytest.importorskip("dask.array", reason="dask is not installed")

    class InBlocks(array.Array):
        def __array__(self, *args, **options):
            raise AssertionError("an array in blocks is turned into one of NumPy")

    X = array.from_array(X, chunks=chunks)
    return InBlocks(X.dask, X.name, X.chunks, dtype=X.dtype, meta=X._meta)


def sparse_blocks(X, folder):
    return blocks(X, (10, 9)).map_blocks(sparse.csr_matrix)


def strict(device):
    """An array library with no more than the standard has; NumPy refuses arrays of any device but its CPU."""
    return lambda X, folder: array_api_strict.asarray(X, device=array_api_strict.Device(device))


def torch(X, folder):
    library = pytest.importorskip("torch", reason="torch is not installed")
    library.set_num_threads(1)  # its threads and those of NumPy would wait for each other
    return library.asarray(X)


KINDS = {
    "dense": lambda X, folder: X,
    "fortran": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "memmap": mapped,
    "memmap in pieces": lambda X, folder: StoredArray(mapped(X, folder)),
    "zarr": zarr_array,
    "hdf5": hdf5,
    "hdf5 in chunks": lambda X, folder: hdf5(X, folder, chunks=(5, 6)),
    "backed csr": backed,
    "csr": lambda X, folder: sparse.csr_array(X),
    "csc": lambda X, folder: sparse.csc_matrix(X),
    "dask": lambda X, folder: blocks(X, (-1, 10)),
    "dask by rows": lambda X, folder: blocks(X, (10, -1)),
    "dask, sparse blocks": sparse_blocks,
    "strict": strict("CPU_DEVICE"),
    "strict, another device": strict("device1"),
    "torch": torch,
}
LIBRARIES = [kind for kind in KINDS if kind.startswith("strict") or kind == "torch"]


def never_as_numpy(X, monkeypatch):
    """Let NumPy's way of converting arrays of this library raise, and any way to export X itself."""

    def refuse(self, *args, **options):
        raise AssertionError("an array is turned into one of NumPy")

    by_dlpack = type(X).__dlpack__

    def export(self, *args, **options):
        return refuse(self) if self is X else by_dlpack(self, *args, **options)

    monkeypatch.setattr(type(X), "__array__", refuse)
    monkeypatch.setattr(type(X), "__dlpack__", export)
