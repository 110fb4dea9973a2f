"""Archives of grey images in folders, one folder per person."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import PurePosixPath

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable, Parser
from dsofs.files import DamagedFileError
from dsofs.optional import require

Shape = tuple[int, int]  # rows, columns


def faces_in_folders(person: str, size: Shape | None = None) -> Parser:
    """Images in folders whose names match ``person``; resized if a size is given."""

    def parse(members: Members) -> ParsedTable:
        owners = {path: _owner(path, person) for path in sorted(members, key=_natural)}
        owned = {path: owner for path, owner in owners.items() if owner is not None}
        if not owned:
            raise DamagedFileError(f"it has no images in folders named {person}")
        return face_table([parse_pgm(members[path]) for path in owned], list(owned.values()), size)

    return parse


def face_table(images: list[np.ndarray], people: list[str], size: Shape | None = None) -> ParsedTable:
    """Pixels column by column, as MATLAB stacks them; the people are numbered as they come."""
    shapes = {image.shape for image in images}
    if len(shapes) > 1:
        raise DamagedFileError(f"its images differ in size: {sorted(shapes)}")
    stack = np.stack(images if size is None else [resize(image, size) for image in images])
    names = list(dict.fromkeys(people))
    y = np.array([names.index(person) for person in people])
    return ParsedTable(stack.transpose(0, 2, 1).reshape(len(stack), -1), y, names)


def parse_pgm(content: bytes) -> np.ndarray:
    """A grey image, binary (P5) or in text (P2)."""
    pillow = require("PIL.Image", "data")
    try:
        with pillow.open(BytesIO(content), formats=["PPM"]) as image:
            pixels = np.asarray(image)
    except Exception as error:  # Pillow raises a dozen kinds on damaged files
        raise DamagedFileError(f"it holds an image that is not a .pgm file, or is cut short: {error}") from error
    if pixels.ndim != 2:
        raise DamagedFileError("it holds an image that is not grey")
    return pixels


def resize(image: np.ndarray, size: Shape) -> np.ndarray:
    """Bicubic, with antialiasing where it shrinks; grey values 0 to 255 stay so."""
    pillow = require("PIL.Image", "data")
    exact = pillow.fromarray(image.astype(np.float32))  # whole numbers would be rounded twice: rows, then columns
    return np.clip(np.rint(exact.resize(size[::-1], pillow.Resampling.BICUBIC)), 0, 255).astype(np.uint8)


def _owner(path: str, person: str) -> str | None:
    """The innermost folder of the path that is named like a person."""
    folders = PurePosixPath(path).parts[:-1]
    return next((folder for folder in reversed(folders) if re.fullmatch(person, folder)), None)


def _natural(path: str) -> list[tuple[str, int]]:
    """Sorts s2 before s10."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path)]
