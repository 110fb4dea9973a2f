"""MATLAB files of versions 5 to 7."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat, whosmat

from dsofs.design.types import AnyArray
from dsofs.tables.readers.frame import Frame, arrays_frame
from dsofs.tables.readers.isolated import read_isolated
from dsofs.tables.readers.source import InputFile, as_damage, refuse_bomb, refuse_too_big

HEADER_BYTES, TAG_BYTES, PEEK_BYTES = 128, 8, 1024
PACKED = 15  # the kind of a packed variable
CURE = "save it with the flag -v6, which does not pack."
# Bytes of an entry, for the kinds of variables that are read; a cell holds a text.
ENTRY_BYTES = {
    "double": 8, "single": 4, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4, "int16": 2, "uint16": 2, "int8": 1,
    "uint8": 1, "logical": 1, "char": 2, "cell": 8, "sparse": 0,
}  # fmt: skip


def read(source: InputFile) -> Frame:
    return arrays_frame("MATLAB 5", read_variables(source))


def read_variables(source: InputFile) -> dict[str, AnyArray]:
    """In a process of its own: SciPy takes the process down where the parts of an array do not fit together."""
    return read_isolated(read_here, source)


def read_here(source: InputFile) -> dict[str, AnyArray]:
    with as_damage("save it again from MATLAB"):
        # Even a look at the names unpacks a great deal, so the sizes are read from the file itself.
        refuse_bomb(source.size, unpacked_bytes(source.path), CURE)
        declared = whosmat(source.path)
        wanted = [name for name, _, kind in declared if kind in ENTRY_BYTES]
        needed = sum(ENTRY_BYTES.get(kind, 0) * int(np.prod(shape, dtype=object)) for _, shape, kind in declared)
        refuse_bomb(source.size, needed, CURE)
        refuse_too_big(2 * needed)  # here, and in the process that it is read for
        found = loadmat(source.path, variable_names=wanted) if wanted else {}
        return {name: _plain(found[name]) for name in wanted}


def unpacked_bytes(path: Path) -> int:
    """The bytes that the packed variables of a file declare: each has a tag of kind and size, also inside."""
    total = 0
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
        tag = "<II" if header.endswith(b"IM") else ">II"
        while len(start := file.read(TAG_BYTES)) == TAG_BYTES:
            kind, size = struct.unpack(tag, start)
            end = file.tell() + size
            if kind == PACKED:
                inside = zlib.decompressobj().decompress(file.read(min(size, PEEK_BYTES)), TAG_BYTES)
                total += struct.unpack(tag, inside)[1]
            file.seek(end)
    return total


def _plain(value: Any) -> AnyArray:
    """Numbers as they are; a cell of texts as an array of text."""
    if sparse.issparse(value) or value.dtype != object:
        return value
    cells = [np.ravel(cell) for cell in value.ravel()]
    if not all(len(cell) == 1 for cell in cells):
        return value
    return np.array([cell[0] for cell in cells])
