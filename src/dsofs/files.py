"""Damaged files, hashes of files, and writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

if sys.platform != "win32":
    import fcntl


class DamagedFileError(ValueError):
    """A file is cut short, or does not hold what its name promises."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write to a temporary file next to ``path``; it replaces ``path`` at the end, or is removed on an error."""
    target = Path(path)
    part = os.fspath(target.parent / f".{target.name}.{token_hex(4)}.part")
    try:
        with _naming(target, part):
            if target.is_dir():  # fails here, before other files are replaced
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            with open(part, "wb") as file:
                yield file
                _to_disk(file)
            os.replace(part, target)
    finally:
        with suppress(OSError):
            os.unlink(part)


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write files that belong together: where one cannot be written, on a full disk say, all stay as they were."""
    with ExitStack() as files:
        for target, content in contents.items():
            file = files.enter_context(atomic_write(target))
            file.write(content.encode() if isinstance(content, str) else content)
            _to_disk(file)  # a full disk fails here, before any file is replaced


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whose content is ready; it is whole or not there."""
    write_together({Path(path): content})


def write_folder(folder: Path, contents: Mapping[str, str | bytes]) -> dict[str, Path]:
    """Write files, given by name, together into a folder, which is created where it is missing; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / name for name in contents}
    write_together({paths[name]: content for name, content in contents.items()})
    return paths


def _to_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _naming(target: Path, part: str | None = None) -> Iterator[None]:
    """Make errors name the file that was asked for: not the temporary one, and not none, as on a full disk."""
    try:
        yield
    except OSError as error:
        is_of_another = part is not None and error.filename not in (None, part)
        if error.errno is None or is_of_another:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(target)) from error


def readable(name: str) -> str:
    """The name of a file, with bytes replaced that are not UTF-8 and could not be written anywhere."""
    return os.fsencode(name).decode("utf-8", "replace")


def hash_of(path: Path) -> str:
    """SHA-256 of a file; of a folder, of the names and hashes of its files."""
    if path.is_dir():
        files = (file for file in sorted(path.rglob("*")) if file.is_file())
        lines = [f"{hash_of(file)}  {file.relative_to(path).as_posix()}\n" for file in files]
        return sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as content:
        return file_digest(content, "sha256").hexdigest()


@contextmanager
def sole_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse to go on while another process writes to the file; a process that dies releases the lock.

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
    with _naming(Path(path)), open(path, "ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode() + b"\n")
        _to_disk(file)
