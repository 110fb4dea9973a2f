"""The kinds of X that every back end is tested with."""

import array_api_strict
import numpy as np
import pytest
from scipy import sparse


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


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
    "csr": lambda X, folder: sparse.csr_array(X),
    "csc": lambda X, folder: sparse.csc_matrix(X),
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
