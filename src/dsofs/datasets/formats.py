"""The formats in which the data sets were published: from the members of an archive to a ``ParsedTable``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dsofs.design.types import Floats, Ints
from dsofs.files import DamagedFileError
from dsofs.optional import require

Members = dict[str, bytes]  # path inside the archive -> content; a single file is its only member
N_DIGITS = 10
# How the names of the samples begin -> what they are.
TISSUES = {
    "AD": "adenocarcinoma",
    "SQ": "squamous cell carcinoma",
    "COID": "carcinoid",
    "SMCL": "small cell carcinoma",
    "NL": "normal lung",
}
LEAST_DEVIATION = 50  # expression units; genes that vary less were removed (Bhattacharjee et al., and the paper)
OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # a spreadsheet of Excel 97; otherwise it is text with tabs
Shape = tuple[int, int]  # rows, columns


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


def parse_isolet(members: Members) -> ParsedTable:
    """Two files with commas; the last column is the letter, 1 to 26."""
    parts = [_numbers(member(members, name), ",") for name in ("isolet1+2+3+4.data", "isolet5.data")]
    table = _stacked(parts)
    return numbered_table(table[:, :-1], table[:, -1])


def parse_semeion(members: Members) -> ParsedTable:
    """One file with blanks; the last ten columns are the digit: a single 1 among zeros."""
    table = _numbers(member(members, "semeion.data"))
    X, digits = table[:, :-N_DIGITS], table[:, -N_DIGITS:]
    if not ((digits == 1).sum(axis=1) == 1).all():
        raise DamagedFileError(f"semeion.data has rows whose last {N_DIGITS} columns do not name one digit")
    return numbered_table(X, digits.argmax(axis=1))


def parse_gisette(members: Members) -> ParsedTable:
    """The training and validation files of the NIPS 2003 challenge; the test file was published without labels."""
    X = _stacked([_numbers(member(members, f"gisette_{part}.data")) for part in ("train", "valid")])
    labels = _stacked([_numbers(member(members, f"gisette_{part}.labels")) for part in ("train", "valid")])
    return numbered_table(X, labels[:, 0])


def parse_lung(members: Members) -> ParsedTable:
    """A header (probe set, gene, samples); then for each probe set its name, its gene and the expressions."""
    if len(members) != 1:
        raise DamagedFileError(f"one spreadsheet is needed, and there are {len(members)}")
    (content,) = members.values()
    header, *rows = _excel_rows(content) if content.startswith(OLE_MAGIC) else _text_rows(content)
    samples = [str(name).strip() for name in header[2:]]
    X = _expressions(rows, len(samples)).T
    kept = np.flatnonzero(X.std(axis=0, ddof=1) >= LEAST_DEVIATION)
    return ParsedTable(
        X[:, kept], _tissue_codes(samples), list(TISSUES.values()), [str(rows[gene][0]) for gene in kept]
    )


def _expressions(rows: list[list[Any]], n_samples: int) -> np.ndarray:
    if len(rows) == 0 or n_samples < 2 or any(len(row) != n_samples + 2 for row in rows):
        raise DamagedFileError("it is not a table of probe set, gene and a column for each sample")
    try:
        return np.array([row[2:] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DamagedFileError(f"it holds an expression that is not a number: {error}") from error


def _tissue_codes(samples: list[str]) -> np.ndarray:
    prefixes = [name.split("-")[0] for name in samples]
    unknown = sorted(set(prefixes) - set(TISSUES))
    if unknown:
        raise DamagedFileError(f"it has samples that begin with {unknown}; known are {list(TISSUES)}")
    return np.array([list(TISSUES).index(prefix) for prefix in prefixes])


def _excel_rows(content: bytes) -> list[list[Any]]:
    xlrd = require("xlrd", "data")
    try:
        sheet = xlrd.open_workbook(file_contents=content).sheet_by_index(0)
    except Exception as error:  # xlrd has no common class for what it raises on damaged files
        raise DamagedFileError(f"it is not an Excel file: {error}") from error
    return [sheet.row_values(row) for row in range(sheet.nrows)] or [[]]


def _text_rows(content: bytes) -> list[list[Any]]:
    return [line.split("\t") for line in content.decode("latin-1").splitlines() if line.strip()] or [[]]


def _numbers(content: bytes, delimiter: str | None = None) -> Floats:
    if not content.strip():
        raise DamagedFileError("it is empty")
    try:
        return np.loadtxt(BytesIO(content), delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DamagedFileError(f"it is not a table of numbers: {error}") from error


def _stacked(parts: list[Floats]) -> Floats:
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise DamagedFileError(f"its files have different numbers of columns: {sorted(widths)}")
    return np.vstack(parts)


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
    """Pixels column by column, as MATLAB stacks them; the people are numbered in order of appearance."""
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
