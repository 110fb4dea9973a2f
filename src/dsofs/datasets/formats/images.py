"""Archives of grey images in folders, one folder per person."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable, Parser
from dsofs.design.types import Floats
from dsofs.files import DamagedFileError

Shape = tuple[int, int]  # rows, columns

_GAP = rb"(?:\s|#[^\n]*\n)+"
_PGM = re.compile(rb"(P[25])" + _GAP + _GAP.join([rb"(\d{1,9})"] * 3) + rb"\s")


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
    stack = np.stack(images)
    if size is not None:
        stack = resize(stack, size)
    names = list(dict.fromkeys(people))
    y = np.array([names.index(person) for person in people])
    return ParsedTable(stack.transpose(0, 2, 1).reshape(len(stack), -1), y, names)


def parse_pgm(content: bytes) -> np.ndarray:
    """A grey image, binary (P5) or in text (P2)."""
    header = _PGM.match(content)
    if header is None:
        raise DamagedFileError("it holds an image that is no .pgm file")
    columns, rows, white = (int(number) for number in header.groups()[1:])
    body = content[header.end() :]
    depth = np.dtype(">u2" if white > 255 else "u1")
    try:
        if header[1] == b"P5":
            pixels = np.frombuffer(body, depth, count=rows * columns)
        else:
            pixels = np.array(body.split(), dtype=depth)
        return pixels.reshape(rows, columns)
    except ValueError as error:
        raise DamagedFileError(f"it holds an image of other than {rows} x {columns} pixels: {error}") from error


def resize(images: np.ndarray, size: Shape) -> np.ndarray:
    """Bicubic, with antialiasing where it shrinks; grey values 0 to 255 stay so."""
    down, across = (_cubic_weights(n, m) for n, m in zip(images.shape[-2:], size, strict=True))
    return np.clip(np.rint(down @ images @ across.T), 0, 255).astype(np.uint8)


def _cubic_weights(n: int, m: int) -> Floats:
    """m x n: how much each of n pixels in a row counts in each of m (Keys' kernel with a = -1/2, as most programs)."""
    scale = n / m
    centre = (np.arange(m)[:, None] + 0.5) * scale - 0.5
    t = np.abs(np.arange(n) - centre) / max(scale, 1)
    near, far = 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    weights = np.where(t < 1, near, np.where(t < 2, far, 0))
    return weights / weights.sum(axis=1, keepdims=True)


def _owner(path: str, person: str) -> str | None:
    """The innermost folder of the path that is named like a person."""
    folders: Iterable[str] = reversed(PurePosixPath(path).parts[:-1])
    return next((folder for folder in folders if re.fullmatch(person, folder)), None)


def _natural(path: str) -> list[tuple[str, int]]:
    """Sorts s2 before s10."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path)]
