"""A file to be read, unpacked if it is gzipped; damaged files, archive bombs and what would not fit are refused."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any

from dsofs.design.budget import DOUBLE, available_bytes
from dsofs.files import DamagedFileError

# Tables pack 2 to 30 times smaller, tables of zeros more; files that are small when unpacked can do no harm.
LARGEST_RATIO = 100
HARMLESS_BYTES = 32 * 2**20
# The widest sparse data in use have some ten million columns, with far more values than columns.
HARMLESS_COLUMNS = 2**22
GZIP = b"\x1f\x8b"
HEAD_BYTES = 4096
BUFFER_BYTES = 2**20


@contextmanager
def as_damage(cure: str, what: str = "it is cut short or damaged") -> Iterator[None]:
    """Turn any error of a library on a damaged file, MemoryError included, into one sentence with a cure."""
    try:
        yield
    except DamagedFileError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DamagedFileError(f"{what} ({reason}): {cure}") from error


def refuse_bomb(packed: int, unpacked: int, cure: str) -> None:
    """Refuse content that unpacks to far more than data do."""
    if unpacked > max(HARMLESS_BYTES, LARGEST_RATIO * packed):
        raise DamagedFileError(
            f"{_size(packed)} of it unpack to {_size(unpacked)} or more, which data hardly ever do. If it is no "
            f"attack, {cure}"
        )


def refuse_too_big(needed: int) -> None:
    """Refuse what is declared larger than the free memory."""
    available = available_bytes()
    if available is not None and needed > available:
        raise DamagedFileError(
            f"it needs {_size(needed)} of memory, and {_size(available)} are free: leave out samples or columns, or "
            "use a larger machine"
        )


def refuse_too_wide(n_columns: int, n_values: int) -> None:
    """Refuse a sparse matrix with far more columns than values: a damaged index, or an attack."""
    refuse_too_big(DOUBLE * n_columns)
    if n_columns > max(HARMLESS_COLUMNS, LARGEST_RATIO * n_values):
        raise DamagedFileError(
            f"it has a value in column {n_columns}, and only {n_values} values in all: check that index"
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MiB" if n_bytes < 10 * 2**30 else f"{n_bytes / 2**30:,.0f} GiB"


@dataclass(frozen=True)
class InputFile:
    """A file, its first bytes after unpacking, and whether it is gzipped."""

    path: Path
    head: bytes
    packed: bool

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        with open(self.path, "rb", buffering=BUFFER_BYTES) as file:
            if not self.packed:
                yield file
                return
            try:
                yield BufferedReader(_Unpacked(file), BUFFER_BYTES)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise DamagedFileError(f"it is cut short or damaged and cannot be unpacked: {error}") from error


class _Unpacked(RawIOBase):
    """The content of a gzipped file; refuses to go on where it unpacks to far more than data do."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._content = gzip.GzipFile(fileobj=file)
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._content.readinto(buffer)
        self._unpacked += count
        refuse_bomb(self._file.tell(), self._unpacked, "unpack it yourself (gunzip) and give the unpacked file.")
        return count


def open_source(path: Path) -> InputFile:
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.startswith(GZIP):
        return InputFile(path, head, packed=False)
    source = InputFile(path, b"", packed=True)
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
        for _ in range(HARMLESS_BYTES // BUFFER_BYTES + 1):  # a bomb is refused here, before it is parsed
            if not stream.read(BUFFER_BYTES):
                break
    return InputFile(path, head, packed=True)
