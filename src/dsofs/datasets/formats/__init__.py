"""The original formats: one file per kind. A parser takes the members of an archive and returns a ``ParsedTable``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from dsofs.design.types import Ints
from dsofs.files import DamagedFileError

Members = dict[str, bytes]  # path inside the archive -> content; a file by itself is its only member


@dataclass(frozen=True)
class ParsedTable:
    """Samples x features, the class of each sample as a code 0..c-1, and what classes and features are called."""

    X: np.ndarray
    y: Ints
    target_names: list[str]
    feature_names: list[str] | None = None


Parser = Callable[[Members], ParsedTable]


def numbered_table(X: np.ndarray, labels: np.ndarray) -> ParsedTable:
    """A table whose classes are numbers, and are called so."""
    if len(X) != len(labels):
        raise DamagedFileError(f"there are {len(X)} samples and {len(labels)} labels")
    classes, y = np.unique(labels, return_inverse=True)
    return ParsedTable(X, y, [f"{label:g}" for label in classes])


def member(members: Members, file_name: str) -> bytes:
    """The content of the member of that name, in any folder."""
    for path, content in members.items():
        if PurePosixPath(path).name == file_name:
            return content
    raise DamagedFileError(f"{file_name} is missing")
