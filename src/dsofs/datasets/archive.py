"""Zip and tar archives, folders and plain files, read member by member: nothing is ever unpacked to disk."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO

from dsofs.datasets.formats import Members
from dsofs.files import DamagedFileError
from dsofs.optional import require

LIMIT = 2**30  # bytes; the largest data set (GISETTE) unpacks to a tenth of it, so more is an attack or a mistake

# RuntimeError and NotImplementedError: members that are encrypted, or packed by a method unknown to zipfile.
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError, NotImplementedError,
)  # fmt: skip


def read_members(path: Path, patterns: tuple[str, ...]) -> Members:
    """Members whose file name fits one of the patterns; those packed by ``compress`` (.Z) are unpacked."""
    members: Members = {}
    left = LIMIT
    try:
        for name, file in _open_members(path, patterns):
            content = file.read(left + 1)
            if name.endswith(".Z"):
                name, content = name.removesuffix(".Z"), _decompressed(content)
            left -= len(content)
            if left < 0:
                raise DamagedFileError(f"it unpacks to more than {LIMIT} bytes")
            members[name] = content
    except BROKEN as error:
        raise DamagedFileError(f"it is cut short or no archive: {error}") from error
    return members


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether the file name is wanted; the hidden files that some systems add to archives are not."""
    file_name = PurePosixPath(name).name.removesuffix(".Z")
    return not file_name.startswith(".") and any(fnmatchcase(file_name, pattern) for pattern in patterns)


def _decompressed(content: bytes) -> bytes:
    """The content of a .Z file of Unix ``compress``, in which UCI keeps ISOLET."""
    try:
        return require("unlzw3", "data").unlzw(content)
    except (ValueError, MemoryError) as error:
        raise DamagedFileError(f"it holds a .Z file that is damaged: {error}") from error


def _open_members(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    if path.is_dir():
        yield from _open_folder(path, patterns)
    elif path.suffix == ".zip":
        yield from _open_zip(path, patterns)
    elif path.name.endswith((".tar.gz", ".tgz")):
        yield from _open_tar(path, patterns)
    else:
        with open(path, "rb") as file:
            yield path.name, file


def _open_folder(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    for entry in sorted(path.rglob("*")):
        if entry.is_file() and fits(entry.name, patterns):
            with open(entry, "rb") as file:
                yield entry.relative_to(path).as_posix(), file


def _open_zip(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and fits(entry.filename, patterns):
                with archive.open(entry) as file:
                    yield entry.filename, file


def _open_tar(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    with gzip.open(path) as stream, tarfile.open(fileobj=stream) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isreg() and fits(entry.name, patterns) else None
            if file is not None:
                yield entry.name, file
        # tarfile takes damage for the end of the archive; the checksum at the end of the stream shows it.
        while stream.read(2**20):
            if stream.tell() > LIMIT:
                raise DamagedFileError(f"it unpacks to more than {LIMIT} bytes")
