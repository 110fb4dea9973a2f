"""Where data sets are stored, reading them (ready npz files and original files), and downloading them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
from numpy.lib.npyio import NpzFile

from dsofs.datasets.archive import fits, read_members
from dsofs.datasets.catalogue import Dataset, PublishedFile
from dsofs.datasets.formats import Members, ParsedTable
from dsofs.files import DamagedFileError, atomic_write
from dsofs.optional import require

VARIABLE = "DSOFS_DATA"


@dataclass(frozen=True)
class Found:
    """Where a data set is stored; ``source`` says how an original file is read, and is None for a ready one."""

    path: Path
    source: PublishedFile | None = None


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dsofs"


def data_folder(data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The user's own folder: the argument, or else the environment's."""
    given = data_dir or os.environ.get(VARIABLE)
    if given and not Path(given).is_dir():
        where = "'data_dir' parameter" if data_dir else f"environment variable {VARIABLE}"
        raise NotADirectoryError(f"The {where} must name a folder. Got {str(given)!r} instead.")
    return Path(given) if given else None


def locate(dataset: Dataset, data_dir: str | os.PathLike[str] | None = None) -> Found | None:
    """In the user's folder, then in the cache: the npz file, an original file, or a folder of what it unpacks to."""
    for folder in (data_folder(data_dir), cache_folder()):
        if folder is None:
            continue
        ready = folder / f"{dataset.name}.npz"
        if ready.is_file():
            return Found(ready)
        for source in dataset.sources:
            if (folder / source.file_name).is_file():
                return Found(folder / source.file_name, source)
            if _holds(folder / dataset.name, source):
                return Found(folder / dataset.name, source)
    return None


def _holds(folder: Path, source: PublishedFile) -> bool:
    return folder.is_dir() and any(fits(path.name, source.members) for path in folder.rglob("*"))


def read(dataset: Dataset, found: Found) -> ParsedTable:
    """The table of a located data set, checked against Table 1."""
    if found.source is None:
        return read_ready(dataset, found.path)
    return read_original(dataset, found.path, found.source)


def read_ready(dataset: Dataset, path: Path) -> ParsedTable:
    """An npz file with X, y and, where they are known, target_names and feature_names."""
    with _open_ready(path) as file:
        X, (classes, y) = file["X"], np.unique(file["y"], return_inverse=True)
        target_names = file.get("target_names", classes)
        feature_names = file["feature_names"].tolist() if "feature_names" in file else None
    return _checked(dataset, ParsedTable(X, y, [str(name) for name in target_names], feature_names), path)


def read_original(dataset: Dataset, path: Path, source: PublishedFile, *, pinned: bool = False) -> ParsedTable:
    """A file as it was published, or a folder of its members; ``pinned`` compares their hashes where they are known."""
    try:
        members = read_members(path, source.members)
        if pinned:
            _check_hashes(members, source)
        table = source.parse(members)
    except DamagedFileError as error:
        raise DamagedFileError(f"{path} could not be read as {dataset.title}: {error}") from error
    return _checked(dataset, table, path)


def save(path: Path, table: ParsedTable, origin: dict[str, str]) -> None:
    """A ready npz file that remembers where it came from."""
    arrays = {"X": table.X, "y": table.y, "target_names": np.array(table.target_names)}
    if table.feature_names is not None:
        arrays["feature_names"] = np.array(table.feature_names)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        np.savez_compressed(file, origin=np.array(json.dumps(origin)), **arrays)  # type: ignore[arg-type]


def origin_of(found: Found) -> dict[str, str]:
    """The address and the hash that a downloaded data set remembers; empty for files of the user's own."""
    if found.source is not None:
        return {}
    with _open_ready(found.path) as file:
        return json.loads(str(file["origin"])) if "origin" in file else {}


@contextmanager
def _open_ready(path: Path) -> Iterator[NpzFile]:
    with open(path, "rb") as content:
        try:
            with np.load(content, allow_pickle=False) as file:
                yield file
        except Exception as error:  # NumPy and zipfile raise a dozen kinds on damaged files
            raise DamagedFileError(f"{path} is not an npz file with X and y: {error}") from error


def _check_hashes(members: Members, source: PublishedFile) -> None:
    for path, content in members.items():
        name, found = PurePosixPath(path).name, sha256(content).hexdigest()
        expected = source.sha256.get(name, found)
        if found != expected:
            raise DamagedFileError(f"the SHA-256 of {name} is {found}; it was published with {expected}")


def _checked(dataset: Dataset, table: ParsedTable, path: Path) -> ParsedTable:
    """Refuse what is not the data set of Table 1."""
    X, n_classes = table.X, len(np.unique(table.y))
    expected = (dataset.n_samples, dataset.n_features)
    if X.shape != expected or table.y.shape != expected[:1] or n_classes != dataset.n_classes:
        shape = " x ".join(map(str, X.shape))
        raise DamagedFileError(
            f"{path} is not {dataset.title} ({dataset.size}): it holds X of {shape}, {len(table.y)} labels and "
            f"{n_classes} classes."
        )
    if len(table.target_names) != n_classes or len(table.feature_names or X.T) != dataset.n_features:
        raise DamagedFileError(f"{path} does not name each of its classes and features once.")
    if X.dtype.kind not in "buif" or not np.isfinite(X).all():
        raise DamagedFileError(f"{path} is not {dataset.title}: X must hold finite numbers.")
    return table


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
