"""HDF5: MATLAB files of version 7.3, AnnData (.h5ad), and plain files of arrays. Needs the extra ``readers``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.design.types import AnyArray
from dsofs.files import DamagedFileError
from dsofs.optional import require
from dsofs.tables.readers import anndata
from dsofs.tables.readers.frame import Frame, arrays_frame
from dsofs.tables.readers.isolated import read_isolated
from dsofs.tables.readers.numpy_files import checked_sparse
from dsofs.tables.readers.source import InputFile, as_damage, refuse_bomb, refuse_too_big

MAT73 = b"MATLAB 7.3 MAT-file"


def read(source: InputFile) -> Frame:
    """In a process of its own: on some damaged files the library of HDF5 loops forever, and Ctrl-C does not stop it."""
    return read_isolated(read_here, source)


def read_here(source: InputFile) -> Frame:
    h5py = require("h5py", "readers")
    with as_damage("copy or save it again"), h5py.File(source.path, "r") as file:
        check_links(h5py, file)
        if anndata.matches(file):
            return anndata.frame(file, content)
        matlab = source.head.startswith(MAT73)
        arrays = {name: _variable(h5py, file, file[name], matlab) for name in file if not name.startswith("#")}
    return arrays_frame("MATLAB 7.3" if matlab else "HDF5", {name: a for name, a in arrays.items() if a is not None})


def check_links(h5py: Any, group: Any) -> None:
    """Refuse links to other files, which could hand out what the sender of the file may not read."""
    for name in group:
        if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            raise DamagedFileError(f"{name!r} is a link to another file: save it with its data inside")
        member = group.get(name, getlink=False) if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
        if isinstance(member, h5py.Dataset) and (member.is_virtual or member.external):
            raise DamagedFileError(f"{name!r} lies in another file: save it with its data inside")
        if isinstance(member, h5py.Group) and name != "#refs#":
            check_links(h5py, member)


def content(dataset: Any) -> np.ndarray:
    """All of a dataset, unless it declares far more than the bytes it takes up can hold."""
    if dataset.shape is None:
        return np.empty(0)
    needed = int(np.prod(dataset.shape, dtype=object)) * dataset.dtype.itemsize
    refuse_bomb(dataset.id.get_storage_size(), needed, "save it without compression.")
    refuse_too_big(2 * needed)  # here, and in the process that it is read for
    if dataset.dtype.kind == "O":  # texts of any length are the only objects that h5py reads
        return np.array(dataset.asstr()[()], dtype=str)
    return np.asarray(dataset[()])


def _variable(h5py: Any, file: Any, member: Any, matlab: bool) -> AnyArray | None:
    if isinstance(member, h5py.Group):
        return _matlab_sparse(member) if "MATLAB_sparse" in member.attrs else None
    if h5py.check_ref_dtype(member.dtype) is not None:
        return np.array([_matlab_text(content(file[reference])) for reference in np.ravel(member[()])], dtype=str)
    array = content(member)
    if matlab and member.attrs.get("MATLAB_class") == b"char":
        return np.array([_matlab_text(row) for row in array.T], dtype=str)
    return array.T if matlab else array  # MATLAB goes column by column


def _matlab_text(codes: np.ndarray) -> str:
    return "".join(map(chr, np.ravel(codes))).strip()


def _matlab_sparse(group: Any) -> AnyArray:
    n_rows, indptr = int(group.attrs["MATLAB_sparse"]), content(group["jc"])
    data = content(group["data"]) if "data" in group else np.empty(0)
    indices = content(group["ir"]) if "ir" in group else np.empty(0, dtype=np.intp)
    return checked_sparse("csc", data, indices, indptr, (n_rows, len(indptr) - 1))
