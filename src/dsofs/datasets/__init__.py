"""The data sets of the paper: found in a folder, in the cache, or downloaded from where they were published."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from dsofs.datasets.catalogue import CATALOGUE, Dataset
from dsofs.datasets.formats import ParsedTable
from dsofs.datasets.store import DatasetNotFoundError, Found, locate, origin_of, read, where_to_get
from dsofs.datasets.store import download as _download
from dsofs.design.types import Floats
from dsofs.files import DamagedFileError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["DamagedFileError", "DatasetNotFoundError", "describe_dataset", "list_datasets", "load_dataset"]


def list_datasets(data_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """The names that ``load_dataset`` knows.

    These are the nine of the paper's Table 1, available or not, and those that stand in for some of them
    (``mnist_4v9``, ``brain_tumor_1``, ``leukemia_mll``) where their npz file is available.
    """
    return [name for name, dataset in CATALOGUE.items() if not dataset.is_stand_in or locate(dataset, data_dir)]


def load_dataset(name: str, *, data_dir: str | os.PathLike[str] | None = None, download: bool = True) -> Bunch:
    """One data set, checked against the paper's Table 1.

    It is looked for in ``data_dir`` (if None, in the folder that the environment variable ``DSOFS_DATA`` names), then
    in the user's cache; then it is downloaded into the cache, which needs the extra ``data``.

    Parameters
    ----------
    name : str
        One of ``list_datasets()``.
    data_dir : path, default=None
        A folder of ``name.npz`` files (``X``, ``y``), of files as they were published, or of folders ``name`` with what
        they unpack to.
    download : bool, default=True
        Whether to download what is not available.

    Returns
    -------
    Bunch
        ``X`` (float64, samples x features), ``y`` (0..c-1), ``feature_names``, ``target_names`` (of the classes), and
        ``DESCR``: what it is, its source, licence and citation, and where it was read from.

    Raises
    ------
    DatasetNotFoundError
        If it is not available; the message says where to get it and where to put it.
    DamagedFileError
        If a file is cut short, or is not the data set of Table 1.
    """
    dataset = _known(name)
    found = locate(dataset, data_dir)
    if found is None:
        found = _obtain(dataset, data_dir, download)
    table = read(dataset, found)
    from sklearn.utils import Bunch  # takes a second, and readers of files do without

    return Bunch(
        X=_float64(table.X, dataset),
        y=table.y.astype(np.intp),
        feature_names=_feature_names(table, dataset),
        target_names=np.array(dataset.target_names or table.target_names),
        DESCR=_description(dataset, found),
    )


def describe_dataset(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> str:
    """The ``DESCR`` of a data set without loading it; if it is not available, where to get it."""
    dataset = _known(name)
    found = locate(dataset, data_dir)
    return _description(dataset, found) if found else f"{_description(dataset)}\n{where_to_get(dataset, data_dir)}\n"


def _known(name: str) -> Dataset:
    if name not in CATALOGUE:
        raise ValueError(
            f"The 'name' parameter of load_dataset must be one of {', '.join(CATALOGUE)}. Got {name!r} instead."
        )
    return CATALOGUE[name]


def _obtain(dataset: Dataset, data_dir: str | os.PathLike[str] | None, download: bool) -> Found:
    """Download it, or say how to get it by hand."""
    reason = "it is not downloaded"
    if download and not dataset.is_stand_in:
        try:
            return _download(dataset)
        except (ImportError, DatasetNotFoundError) as error:
            reason = str(error)
    raise DatasetNotFoundError(f"{dataset.title} is not available: {reason}\n{where_to_get(dataset, data_dir)}")


def _float64(X: np.ndarray, dataset: Dataset) -> Floats:
    """The numbers of the source, also where the file holds them in single precision."""
    numbers = X.astype(np.float64)
    return numbers.round(dataset.decimals) if X.dtype == np.float32 and dataset.decimals else numbers


def _feature_names(table: ParsedTable, dataset: Dataset) -> list[str]:
    if table.feature_names is not None:
        return table.feature_names
    if dataset.image is None:
        return [f"feature_{index}" for index in range(dataset.n_features)]
    rows, columns = np.unravel_index(np.arange(dataset.n_features), dataset.image, order=dataset.pixel_order)
    return [f"pixel_{row}_{column}" for row, column in zip(rows, columns, strict=True)]


def _description(dataset: Dataset, found: Found | None = None) -> str:
    lines = [dataset.title, "=" * len(dataset.title), dataset.size, "", dataset.about, ""]
    if dataset.image is not None:
        order = f", order={dataset.pixel_order!r}"
        lines += [f"X[i].reshape({dataset.image}{order}) is the image of sample i.", ""]
    lines += [f"Source: {dataset.home}", f"Licence: {dataset.licence}", f"Citation: {dataset.citation}"]
    if found is not None:
        lines.append(f"Read from: {found.path}")
        lines += [f"Downloaded, {key}: {value}" for key, value in origin_of(found).items()]
    return "\n".join(lines) + "\n"
