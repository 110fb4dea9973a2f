"""Files that hold several arrays by name (NPZ, MATLAB, Zarr): which is the matrix, which are labels and names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from dsofs.design.types import AnyArray
from dsofs.files import DamagedFileError
from dsofs.tables.readers.frame import Frame

MATRIX_NAMES = ("X", "x", "data", "features", "fea")
NAMES_OF_FEATURES = ("feature_names", "featureNames", "var_names", "columns", "names")
NAMES_OF_CLASSES = ("target_names", "class_names", "classes")


def arrays_frame(format: str, arrays: Mapping[str, AnyArray]) -> Frame:
    """X or the only matrix; what has one value per sample are labels, what has one per column their names."""
    key = _matrix_key(arrays)
    X = _numbers(key, arrays[key])
    vectors = {name: decoded(np.ravel(array)) for name, array in arrays.items() if name != key and is_vector(array)}
    names = next(
        (_texts(vectors[name]) for name in NAMES_OF_FEATURES if len(vectors.get(name, ())) == X.shape[1]), None
    )
    labels = {
        name: vector
        for name, vector in vectors.items()
        if len(vector) == X.shape[0] and name not in (*NAMES_OF_FEATURES, *NAMES_OF_CLASSES)
    }
    for name in NAMES_OF_CLASSES:
        if name in vectors:
            labels = {key: _named(label, vectors[name]) for key, label in labels.items()}
    return Frame(format, X, np.arange(X.shape[1]), names=names, labels=labels)


def _matrix_key(arrays: Mapping[str, AnyArray]) -> str:
    matrices = [name for name, array in arrays.items() if getattr(array, "ndim", 0) == 2 and min(array.shape) > 1]
    for name in MATRIX_NAMES:
        if name in arrays and getattr(arrays[name], "ndim", 0) == 2:
            return name
    if len(matrices) == 1:
        return matrices[0]
    held = ", ".join(f"{name!r} {' x '.join(map(str, np.shape(array)))}" for name, array in list(arrays.items())[:8])
    raise DamagedFileError(f"it has no matrix 'X' of samples x features (it holds: {held or 'nothing'}): name it 'X'")


def _numbers(name: str, array: AnyArray) -> AnyArray:
    if array.dtype.kind not in "biuf":
        raise DamagedFileError(
            f"{name!r} holds {array.dtype} values, and must hold numbers: give a table (CSV) instead"
        )
    if sparse.issparse(array):
        return sparse.csr_matrix(array, dtype=np.float64)
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)


def is_vector(array: AnyArray) -> bool:
    """Whether numbers or texts stand in one row or column."""
    if sparse.issparse(array):
        return False
    return array.dtype.kind in "biufUS" and (array.ndim == 1 or (array.ndim == 2 and min(array.shape) == 1))


def decoded(vector: np.ndarray) -> np.ndarray:
    """Texts that are kept as bytes, as text."""
    try:
        return np.char.decode(vector, "utf-8") if vector.dtype.kind == "S" else vector
    except UnicodeDecodeError as error:
        raise DamagedFileError("it holds text that is not UTF-8: save it again with the encoding UTF-8") from error


def _texts(vector: np.ndarray) -> tuple[str, ...]:
    return tuple(str(name).strip() for name in vector)


def _named(label: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Class codes 0..c-1 by the names of the classes."""
    if label.dtype.kind in "iu" and len(label) and label.min() >= 0 and label.max() < len(names):
        return np.array(_texts(names))[label]
    return label
