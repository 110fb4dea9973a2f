"""What a reader returns: the columns of a file as they stand in it, or its matrix, labels and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from dsofs.design.types import AnyArray, Ints
from dsofs.files import DamagedFileError

Column = tuple[np.ndarray, np.ndarray | None]  # values, and what ``Frame.exact`` keeps of them
MATRIX_NAMES = ("X", "x", "data", "features", "fea")
NAMES_OF_FEATURES = ("feature_names", "featureNames", "var_names", "columns", "names")
NAMES_OF_CLASSES = ("target_names", "class_names", "classes")


@dataclass(frozen=True)
class Note:
    """Something that the user should know about the data: a short kind, and the sentence."""

    kind: str
    text: str
    groups: str | None = None  # what samples that may belong together have in common

    @property
    def ended(self) -> str:
        return self.text if self.text.endswith("?") else f"{self.text}."

    @property
    def sentence(self) -> str:
        return f"{self.text[:1].upper()}{self.ended[1:]}"


@dataclass(frozen=True)
class Frame:
    """Columns of numbers in one matrix, columns of text apart from it; a missing value is NaN or an empty text."""

    format: str
    numbers: AnyArray  # samples x columns of numbers, dense or CSR
    numeric: Ints  # which columns of the file those are
    text: Mapping[int, np.ndarray] = field(default_factory=dict)  # column of the file -> its values
    exact: Mapping[int, np.ndarray] = field(default_factory=dict)  # numeric column -> its text, where that is more: 01
    names: tuple[str, ...] | None = None  # of all columns; None if the file has none
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)  # one value per sample, kept apart from the columns
    notes: tuple[Note, ...] = ()
    open_ended: bool = False  # whether a column that is not there is one of zeros (svmlight)
    sample_names: tuple[str, ...] | None = None  # where the format keeps them apart from the columns (AnnData)

    @property
    def n_samples(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def n_columns(self) -> int:
        return len(self.numeric) + len(self.text)


def column_frame(format: str, names: list[str], columns: list[Column]) -> Frame:
    """A frame from single columns; those of text are kept apart from the matrix."""
    text = {index: values for index, (values, _) in enumerate(columns) if values.dtype.kind in "OU"}
    exact = {index: texts for index, (_, texts) in enumerate(columns) if texts is not None}
    numeric = np.array([index for index in range(len(columns)) if index not in text], dtype=np.intp)
    n_samples = len(columns[0][0]) if columns else 0
    numbers = np.empty((n_samples, len(numeric)))
    for place, index in enumerate(numeric):
        numbers[:, place] = columns[index][0]
    return Frame(format, numbers, numeric, text, exact, tuple(names))


def check_not_empty(frame: Frame) -> Frame:
    if frame.n_samples == 0 or frame.n_columns == 0:
        raise DamagedFileError(
            f"it holds {frame.n_samples} samples and {frame.n_columns} columns: nothing to select from"
        )
    return frame


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
