"""A hash that tells whether a file is still the one that was read."""

from __future__ import annotations

from hashlib import file_digest, sha256
from pathlib import Path


def hash_of(path: Path) -> str:
    """SHA-256 of a file; of a folder, of the names and hashes of its files."""
    if path.is_dir():
        files = (file for file in sorted(path.rglob("*")) if file.is_file())
        lines = [f"{hash_of(file)}  {file.relative_to(path).as_posix()}\n" for file in files]
        return sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as content:
        return file_digest(content, "sha256").hexdigest()
