"""Readers of users' files: one file per format, chosen by the content of the file, not by its name."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from dsofs.files import DamagedFileError
from dsofs.tables.readers import arff, svmlight
from dsofs.tables.readers.frame import Frame, Note, check_not_empty
from dsofs.tables.readers.source import InputFile, as_damage, open_source

__all__ = ["FORMATS", "Format", "Frame", "Note", "format_of", "naming", "read_frame"]

# The first bytes of kinds of files that are not read, and what to do with them.
REFUSED = {
    b"\x80\x02}": "a pickle, which can run code", b"\x80\x03": "a pickle, which can run code",
    b"\x80\x04": "a pickle, which can run code", b"\x80\x05": "a pickle, which can run code",
    b"\xd0\xcf\x11\xe0": "an Excel file of before 2007", b"BZh": "packed with bzip2", b"\xfd7zXZ": "packed with xz",
    b"(\xb5/\xfd": "packed with zstd", b"%PDF": "a PDF document",
    b"RDX2\n": "an R workspace", b"RDX3\n": "an R workspace",
    b"\xff\xfe": "text in UTF-16, not UTF-8", b"\xfe\xff": "text in UTF-16, not UTF-8",
}  # fmt: skip
LONGEST_REASON = 600  # characters; libraries quote what they could not read


@dataclass(frozen=True)
class Format:
    """How the first bytes show a format, and what reads it: a function in a module of this room."""

    name: str
    matches: Callable[[InputFile], bool]
    reader: str


def _begins(*marks: bytes) -> Callable[[InputFile], bool]:
    return lambda source: source.head.startswith(marks) and not source.packed


def _zip_with(member: str) -> Callable[[InputFile], bool]:
    is_zip = _begins(b"PK")
    return lambda source: is_zip(source) and any(name.endswith(member) for name in _members(source))


def _members(source: InputFile) -> list[str]:
    with (
        as_damage("copy or save it again", "it is cut short or a damaged zip file"),
        zipfile.ZipFile(source.path) as archive,
    ):
        return archive.namelist()


def _is_text(source: InputFile) -> bool:
    return b"\x00" not in source.head


FORMATS = (
    Format("NPY", _begins(b"\x93NUMPY"), "numpy_files:read_npy"),
    Format("NPZ", _zip_with(".npy"), "numpy_files:read_npz"),
    Format("Excel", _zip_with("[Content_Types].xml"), "excel:read"),
    Format("MATLAB 5", _begins(b"MATLAB 5.0 MAT-file"), "matlab5:read"),
    Format("HDF5", _begins(b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n"), "hdf5:read"),
    Format("Parquet", _begins(b"PAR1"), "arrow:read_parquet"),
    Format("Feather", _begins(b"ARROW1", b"FEA1"), "arrow:read_feather"),
    Format("ARFF", lambda source: _is_text(source) and arff.matches(source.head), "arff:read"),
    Format("svmlight", lambda source: _is_text(source) and svmlight.matches(source.head), "svmlight:read"),
    Format("text", _is_text, "delimited:read"),
)


def read_frame(path: str | os.PathLike[str]) -> Frame:
    """The columns of a file of any known format; its content decides which it is.

    Raises
    ------
    DamagedFileError
        In one sentence, with the name of the file, what is wrong with it and what to do.
    ImportError
        If its format needs the extra ``readers``.
    """
    path = Path(path)
    with naming(path):
        return check_not_empty(_read(path))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Say of a damaged file which one it is, in one line: what libraries say of it can be many."""
    try:
        yield
    except DamagedFileError as error:
        reason = " ".join(str(error).split())
        if len(reason) > LONGEST_REASON:
            reason = f"{reason[: LONGEST_REASON // 2]} ... {reason[-LONGEST_REASON // 2 :]}"
        raise DamagedFileError(f"{str(path)!r} cannot be used: {reason}") from error


def _read(path: Path) -> Frame:
    if path.is_dir():
        from dsofs.tables.readers import zarr_files

        return zarr_files.read(path)
    source = open_source(path)
    read: Callable[[InputFile], Frame] = resolve_name(f"{__name__}.{format_of(source).reader}")
    return read(source)


def format_of(source: InputFile) -> Format:
    """Which format a file has; refuses what is of none."""
    if not source.head:
        raise DamagedFileError("it is empty")
    for mark, what in REFUSED.items():
        if source.head.startswith(mark):
            raise DamagedFileError(f"it is {what}: save the data as CSV (UTF-8), NPZ or Parquet")
    for format in FORMATS:
        if format.matches(source):
            return format
    if source.head.startswith(b"PK"):
        raise DamagedFileError("it is a zip archive, but neither NPZ nor Excel: unpack it, and give the file in it")
    raise DamagedFileError("it is a binary file of unknown format: save the data as CSV (UTF-8), NPZ or Parquet")
