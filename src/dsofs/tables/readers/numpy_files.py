"""NPY and NPZ files. Arrays of Python objects are refused: to load them would be to run what the file says."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from dsofs.design.types import AnyArray
from dsofs.files import DamagedFileError
from dsofs.tables.readers.frame import Frame, arrays_frame, decoded, is_vector
from dsofs.tables.readers.source import InputFile, as_damage, refuse_bomb, refuse_too_big, refuse_too_wide

SPARSE = {"data", "indices", "indptr", "format", "shape"}  # what scipy.sparse.save_npz writes


def read_npy(source: InputFile) -> Frame:
    array = _only_array(source)
    if array.ndim != 2:
        raise DamagedFileError(f"it holds an array of {array.ndim} dimensions, and must hold samples x features")
    return arrays_frame("NPY", {"X": array})


def read_npz(source: InputFile) -> Frame:
    arrays = _members(source.path)
    if set(arrays) >= SPARSE:
        matrix = _sparse(arrays)
        arrays = {"X": matrix, **{name: array for name, array in arrays.items() if name not in SPARSE}}
    return arrays_frame("NPZ", arrays)


def read_vector(source: InputFile, format: str) -> np.ndarray | None:
    """The only array of an NPY or NPZ file, if it holds one value per sample."""
    arrays = [_only_array(source)] if format == "NPY" else list(_members(source.path).values())
    return decoded(np.ravel(arrays[0])) if len(arrays) == 1 and is_vector(arrays[0]) else None


def _only_array(source: InputFile) -> np.ndarray:
    with source.open() as stream:
        return _array(stream, source.size, source.path.name)


def _members(path: Path) -> dict[str, AnyArray]:
    arrays = {}
    with as_damage("copy or save it again", "it is cut short or no NPZ file"), zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        unpacked = sum(entry.file_size for entry in entries)
        refuse_bomb(path.stat().st_size, unpacked, "save it with numpy.savez, which does not pack.")
        refuse_too_big(unpacked)
        for entry in entries:
            with archive.open(entry) as stream:
                arrays[entry.filename.removesuffix(".npy")] = _array(stream, entry.file_size, entry.filename)
    return arrays


def _array(stream: IO[bytes], size: int, name: str) -> np.ndarray:
    """An array whose header keeps what it promises: no objects, and no more bytes than there are."""
    with as_damage("save it again", f"{name} is not an array of NumPy"):
        version = npy.read_magic(stream)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise DamagedFileError(
            f"{name} holds Python objects (a pickle), which can run code: save plain numbers or text"
        )
    count = int(np.prod(shape, dtype=object))
    if count * max(dtype.itemsize, 1) > size or min(shape, default=0) < 0:
        raise DamagedFileError(f"{name} declares shape {shape}, more than the {size} bytes it has: it is cut short")
    stream.seek(0)
    with as_damage("copy or save it again", f"{name} is cut short"):
        return npy.read_array(stream, allow_pickle=False)


def _sparse(arrays: dict[str, AnyArray]) -> AnyArray:
    shape, form = arrays["shape"].ravel().tolist(), str(decoded(arrays["format"]))
    if form not in ("csr", "csc") or len(shape) != 2 or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise DamagedFileError(f"it holds a sparse matrix of format {form!r}, shape {shape}: save it as csr")
    return checked_sparse(form, arrays["data"], arrays["indices"], arrays["indptr"], tuple(shape))


def checked_sparse(form: str, data: AnyArray, indices: AnyArray, indptr: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """A CSR matrix, if its parts fit together."""
    refuse_too_wide(max(shape), data.size)
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        raise DamagedFileError("the indices of its sparse matrix are not whole numbers: save it again")
    make = sparse.csr_matrix if form == "csr" else sparse.csc_matrix
    with as_damage("save it again", "its sparse matrix is damaged"):
        matrix = make((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
    return matrix.tocsr()
