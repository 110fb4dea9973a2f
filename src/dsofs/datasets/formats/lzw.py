"""The .Z files of Unix ``compress``, in which UCI keeps ISOLET: LZW with codes of 9 to 16 bits."""

from __future__ import annotations

from collections.abc import Iterator

from dsofs.files import DamagedFileError

MAGIC = b"\x1f\x9d"
CLEAR = 256  # in block mode, the code that empties the table
LEAST_BITS, MOST_BITS = 9, 16


def decompress(data: bytes, limit: int) -> bytes:
    """The content of a .Z file, of at most ``limit`` bytes."""
    if data[:2] != MAGIC or len(data) < 3 or not LEAST_BITS <= data[2] & 0x1F <= MOST_BITS:
        raise DamagedFileError("it is not a .Z file")
    max_bits, block_mode = data[2] & 0x1F, bool(data[2] & 0x80)
    words = [bytes([value]) for value in range(256)] + [b""] * block_mode
    n_first = len(words)
    chunks, size, previous = [], 0, b""
    for code in _codes(data, max_bits, n_first):
        if code == CLEAR and block_mode:
            del words[n_first:]
            previous = b""
            continue
        if code > len(words) or (code == len(words) and not previous):
            raise DamagedFileError("it holds a code that was never defined")
        word = words[code] if code < len(words) else previous + previous[:1]
        if previous and len(words) < 1 << max_bits:
            words.append(previous + word[:1])
        chunks.append(word)
        size += len(word)
        if size > limit:
            raise DamagedFileError(f"it unpacks to more than {limit} bytes")
        previous = word
    return b"".join(chunks)


def _codes(data: bytes, max_bits: int, n_first: int) -> Iterator[int]:
    """The codes; they grow by a bit when the table, to which each of them but the first adds a word, does."""
    width, n_words = LEAST_BITS, n_first - 1
    group = position = 8 * 3  # bits; the group is where codes of this width began
    while position + width <= 8 * len(data):
        code = _bits(data, position, width)
        yield code
        position += width
        n_words += 1
        cleared = code == CLEAR < n_first
        if cleared or (n_words == 1 << width and width < max_bits):
            group = position = _end_of_group(group, position, width)
            width, n_words = (LEAST_BITS, n_first - 1) if cleared else (width + 1, n_words)


def _bits(data: bytes, position: int, width: int) -> int:
    start = position // 8
    return int.from_bytes(data[start : start + 3], "little") >> position % 8 & (1 << width) - 1


def _end_of_group(group: int, position: int, width: int) -> int:
    """Codes are written eight at a time; where the width changes, the rest of the eight is padding."""
    eight = 8 * width
    return group + -(-(position - group) // eight) * eight
