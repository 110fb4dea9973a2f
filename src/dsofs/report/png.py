"""Small PNG images, written by hand: no imaging package is needed to look at a report or to make one."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence

GREY, PALETTE = 0, 3  # colour types of the format

BLUE, ORANGE = (0, 114, 178), (213, 94, 0)  # told apart by colour-blind readers too
LEVELS = 127  # of each colour


def grey_image(rows: Sequence[Sequence[int]]) -> str:
    """Rows of 0..255 as a data URI."""
    return _uri(rows, GREY, [])


def diverging_image(rows: Sequence[Sequence[int]]) -> str:
    """Rows of -127..127 as a data URI: blue below 0, orange above, and nothing at 0, so that any background will do."""
    colours = [BLUE] * LEVELS + [ORANGE] * (LEVELS + 1)
    opacity = [round(255 * abs(level) / LEVELS) for level in range(-LEVELS, LEVELS + 1)]
    chunks = [_chunk(b"PLTE", bytes(part for colour in colours for part in colour)), _chunk(b"tRNS", bytes(opacity))]
    return _uri([[level + LEVELS for level in row] for row in rows], PALETTE, chunks)


def _uri(rows: Sequence[Sequence[int]], colour_type: int, chunks: list[bytes]) -> str:
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, colour_type, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)  # a 0 before each row: no filter
    parts = [_chunk(b"IHDR", header), *chunks, _chunk(b"IDAT", pixels), _chunk(b"IEND", b"")]
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
