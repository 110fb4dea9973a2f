"""What the buffers of an Arrow file unpack to, by their own word: pyarrow tells it only after it has unpacked them.

Metadata are flatbuffers: a table begins with the distance back to a list of where its fields are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

MAGIC_BYTES = 8  # before the first message
HEADER = 2  # field of a message
DATA = 1  # field of a batch of dictionary entries
BUFFERS, COMPRESSION = 2, 3  # fields of a batch of records
NOT_PACKED = -1


def unpacked_bytes(pyarrow: Any, file: Any) -> int:
    """The sum over all batches of records and of dictionary entries."""
    file.seek(MAGIC_BYTES)
    return sum(_sizes_in(message) for message in _messages(pyarrow.ipc.MessageReader.open_stream(file)))


def _messages(reader: Any) -> Iterator[Any]:
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _sizes_in(message: Any) -> int:
    if message.type not in ("record batch", "dictionary"):
        return 0
    metadata, body = message.metadata.to_pybytes(), memoryview(message.body)
    batch = _target(metadata, _field(metadata, _target(metadata, 0), HEADER))
    if message.type == "dictionary":
        batch = _target(metadata, _field(metadata, batch, DATA))
    packed = _field(metadata, batch, COMPRESSION) != batch
    vector = _target(metadata, _field(metadata, batch, BUFFERS))
    (count,) = struct.unpack_from("<I", metadata, vector)
    places = [struct.unpack_from("<qq", metadata, vector + 4 + 16 * index) for index in range(count)]
    return sum(_unpacked(body, offset) if packed else length for offset, length in places if length)


def _unpacked(body: memoryview, offset: int) -> int:
    """A packed buffer begins with its length when unpacked."""
    (size,) = struct.unpack_from("<q", body, offset)
    if size < NOT_PACKED:
        raise ValueError(f"a part of {size} bytes")
    return 0 if size == NOT_PACKED else int(size)


def _field(metadata: bytes, table: int, index: int) -> int:
    """Where a field of a table is; the table itself if it is not there."""
    (back,) = struct.unpack_from("<i", metadata, table)
    (size,) = struct.unpack_from("<H", metadata, table - back)
    entry = 4 + 2 * index
    (offset,) = struct.unpack_from("<H", metadata, table - back + entry) if entry < size else (0,)
    return table + int(offset)


def _target(metadata: bytes, place: int) -> int:
    """Where a reference points."""
    (offset,) = struct.unpack_from("<I", metadata, place)
    return place + int(offset)
