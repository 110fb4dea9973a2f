"""AnnData, in HDF5 (.h5ad) or Zarr: cells x genes, what is known of each cell in ``obs``, the genes in ``var``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dsofs.design.types import AnyArray
from dsofs.files import DamagedFileError
from dsofs.tables.readers.frame import Frame, decoded
from dsofs.tables.readers.numpy_files import checked_sparse

Content = Callable[[Any], np.ndarray]  # reads all of a dataset, after a look at what it declares


def matches(group: Any) -> bool:
    return all(name in group for name in ("X", "obs", "var"))


def frame(group: Any, content: Content) -> Frame:
    """X with the genes as names and the cells by theirs; the columns of ``obs`` are what a label can be taken from."""
    for name in ("obs", "var"):
        if not hasattr(group[name], "keys"):
            raise DamagedFileError(f"its {name!r} is of AnnData before 0.7: read it with anndata and write it again")
    obs, var = group["obs"], group["var"]
    order = [str(name) for name in obs.attrs.get("column-order", ())]
    labels = {name: _column(obs, name, content) for name in order}
    genes, cells = _index(var, content), _index(obs, content)
    X = _matrix(group["X"], content)
    if X.shape[1] != len(genes) or any(len(each) != X.shape[0] for each in (cells, *labels.values())):
        raise DamagedFileError(f"X is {X.shape[0]} x {X.shape[1]}, which does not fit its obs and var: write it again")
    return Frame("AnnData", X, np.arange(len(genes)), names=genes, labels=labels, sample_names=cells)


def _matrix(X: Any, content: Content) -> AnyArray:
    if hasattr(X, "keys"):
        form = "csc" if str(X.attrs.get("encoding-type", "csr_matrix")).startswith("csc") else "csr"
        shape = tuple(int(size) for size in X.attrs["shape"])
        data = content(X["data"])
        matrix = checked_sparse(form, data, content(X["indices"]), content(X["indptr"]), shape)
        return matrix.astype(_float(data))
    array = content(X)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DamagedFileError("its X is not a matrix of numbers")
    return array.astype(_float(array), copy=False)


def _index(table: Any, content: Content) -> tuple[str, ...]:
    """The names of the rows of obs or var."""
    return tuple(map(str, _column(table, str(table.attrs.get("_index", "_index")), content)))


def _float(array: np.ndarray) -> type[np.floating[Any]]:
    return np.float32 if array.dtype == np.float32 else np.float64


def _column(table: Any, name: str, content: Content) -> np.ndarray:
    """A column of obs or var: plain, of categories, or with a mask of what is missing."""
    member = table[name]
    if not hasattr(member, "keys"):
        values = decoded(content(member))
        former = f"__categories/{name}"  # where AnnData 0.7 kept them
        return _named(values, content(table[former])) if former in table else values
    if "categories" in member:
        return _named(content(member["codes"]), content(member["categories"]))
    values, mask = content(member["values"]), content(member["mask"])
    return np.where(mask, "", values) if values.dtype.kind in "OU" else np.where(mask, np.nan, values.astype(float))


def _named(codes: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Categories by their codes; -1 is a missing one."""
    if codes.dtype.kind not in "iu" or not ((codes >= -1) & (codes < len(categories))).all():
        raise DamagedFileError(f"a column of obs has codes of other than its {len(categories)} categories")
    return np.append(decoded(categories).astype(str), "")[codes]
