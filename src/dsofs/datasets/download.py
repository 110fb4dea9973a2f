"""Downloads from the original sources into the user's cache."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from dsofs.datasets.catalogue import Dataset, PublishedFile
from dsofs.datasets.formats import ParsedTable
from dsofs.datasets.store import VARIABLE, Found, cache_folder, data_folder, read_original, save
from dsofs.files import DamagedFileError
from dsofs.optional import require


class DatasetNotFoundError(FileNotFoundError):
    """The data set is not available and could not be downloaded; says where to get it and where to put it."""


def download(dataset: Dataset) -> Found:
    """Try the sources in turn; the data of the first that works are kept as an npz file in the cache."""
    pooch = require("pooch", "data")
    require("tqdm", "data")  # with which pooch draws its progress bar
    failures = []
    for source in dataset.sources:
        try:
            table, origin = _fetch(pooch, dataset, source)
        except (OSError, DamagedFileError) as error:
            failures.append(f"  {source.url}: {error}")
            continue
        path = cache_folder() / f"{dataset.name}.npz"
        save(path, table, origin)
        return Found(path)
    raise DatasetNotFoundError("it could not be downloaded:\n" + "\n".join(failures))


def _fetch(pooch: ModuleType, dataset: Dataset, source: PublishedFile) -> tuple[ParsedTable, dict[str, str]]:
    """The table of a downloaded file, with its address and hash; pooch shows the progress and the hash."""
    with TemporaryDirectory() as folder:
        file = pooch.retrieve(source.url, known_hash=None, fname=source.file_name, path=folder, progressbar=True)
        table = read_original(dataset, Path(file), source, pinned=True)
        return table, {"url": source.url, "sha256": pooch.file_hash(file)}


def where_to_get(dataset: Dataset, data_dir: str | os.PathLike[str] | None = None) -> str:
    """How to get the data set where it cannot be downloaded."""
    folder = data_folder(data_dir) or cache_folder()
    put = f"into {folder}, or into another folder that you name with data_dir or {VARIABLE}"
    if dataset.is_stand_in:
        return f"It is read from {dataset.name}.npz (X, y) only. Put that {put}."
    files = "\n".join(f"  {source.url}" for source in dataset.sources)
    return (
        f"Get it from {dataset.home}, or directly:\n{files}\n"
        f"Put one of these files {put}: as it is, unpacked in a folder {dataset.name}, or as {dataset.name}.npz (X, y)."
    )
