"""Writing files so that a reader, or a run that was killed, never meets half of one."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[str] | IO[bytes]]:
    """Write to a temporary file beside ``path``, which takes its place at the end, or leaves no trace on an error."""
    target = Path(path)
    encoding = None if "b" in mode else "utf-8"
    with _told_of(target):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, mode, encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _told_of(target):
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


@contextmanager
def _told_of(target: Path) -> Iterator[None]:
    """Let errors name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(target)) from error


def readable(name: str) -> str:
    """The name of a file, in which bytes that are no UTF-8, and could not be written anywhere, are replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whose content is ready; it is whole or not there."""
    with atomic_write(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)  # type: ignore[arg-type]


def _umask() -> int:
    """The permissions that new files go without; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@contextmanager
def sole_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse to go on while another process writes to the file; a process that dies lets go of it.

    Windows has no such locks: nothing is refused there.
    """
    if sys.platform == "win32":
        yield
        return
    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"Another run is writing to {os.fspath(path)}.") from None
        yield


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Append one line durably: after a crash the file ends with it or without it.

    A line that an earlier crash left unfinished is ended first, so that it cannot swallow this one.
    """
    with open(path, "ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
