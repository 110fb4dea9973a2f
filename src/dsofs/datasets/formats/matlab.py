"""MATLAB files of version 5."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable, Parser, numbered_table
from dsofs.datasets.formats.images import Shape, face_table
from dsofs.files import DamagedFileError


def parse_asu(members: Members) -> ParsedTable:
    """A file of the ASU collection: X, and the classes Y as numbers."""
    X, Y = _variables(members, "X", "Y")
    return numbered_table(X, Y.ravel())


def faces_in_cells(size: Shape) -> Parser:
    """``facedat``: a cell of images (rows x columns x images) for each person; ``dirnames``: what they are called."""

    def parse(members: Members) -> ParsedTable:
        faces, names = (cell.ravel() for cell in _variables(members, "facedat", "dirnames"))
        if len(faces) != len(names) or any(np.ndim(stack) != 3 for stack in faces):
            raise DamagedFileError("facedat is not a list of image stacks with a name for each")
        images = [image for stack in faces for image in np.moveaxis(stack, 2, 0)]
        people = [
            str(np.squeeze(name)) for stack, name in zip(faces, names, strict=True) for _ in range(stack.shape[2])
        ]
        return face_table(images, people, size)

    return parse


def _variables(members: Members, *names: str) -> list[Any]:
    if len(members) != 1:
        raise DamagedFileError(f"one .mat file is needed, and there are {len(members)}")
    from dsofs.tables.readers.matlab5 import read_variables
    from dsofs.tables.readers.source import open_source

    (content,) = members.values()
    with TemporaryDirectory() as folder:  # it may come from an archive
        path = Path(folder) / "variables.mat"
        path.write_bytes(content)
        try:
            found = read_variables(open_source(path))
        except DamagedFileError as error:
            raise DamagedFileError(f"it is not a MATLAB file of version 5: {error}") from error
    missing = [name for name in names if name not in found]
    if missing:
        raise DamagedFileError(f"it has no variable {' and no '.join(missing)}")
    return [found[name] for name in names]
