"""A file to be read: its first bytes, and its content as a stream, unpacked if it is gzipped."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any

from dsofs.files import DamagedFileError
from dsofs.tables.readers.guards import HARMLESS_BYTES, refuse_bomb

GZIP = b"\x1f\x8b"
HEAD_BYTES = 4096
BUFFER_BYTES = 2**20


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
