"""Text with delimiters: CSV, TSV and their relatives, also gzipped, with or without header, row names and quotes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from dsofs.design.budget import DOUBLE
from dsofs.design.types import Floats, Ints
from dsofs.files import DamagedFileError
from dsofs.tables.readers import header
from dsofs.tables.readers.frame import Frame, Note
from dsofs.tables.readers.numbers import exact_texts, is_missing, more_than_numbers, number, parse_plain
from dsofs.tables.readers.source import InputFile, refuse_too_big

TAB = b"\t"
DELIMITERS = (b",", TAB, b";", b"|")
BLANKS = b" "  # any run of blanks or tabs
QUOTE = b'"'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_BYTES = 2 * 2**20  # text turned into numbers at a time: it is gone through several times, so keep it in cache
SNIFFED_LINES = 5
MOST_EXACT = 20  # columns of codes written as 01; in a table with more of them it is only a way to write numbers
CHARACTER = np.dtype("U1").itemsize
QUOTED_OR_BLANK = re.compile(rb'("[^"]*")|\s+')


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are cut into columns, and which columns hold text."""

    n_columns: int
    delimiter: bytes
    text: frozenset[int]
    exact: frozenset[int] = frozenset()  # columns of numbers whose text is kept too
    skip: int = 0  # lines before the first sample
    as_csv: Callable[[bytes], bytes] | None = None  # makes a line one of CSV, where the file is none

    @cached_property
    def numeric(self) -> Ints:
        """The columns of numbers."""
        return np.array([index for index in range(self.n_columns) if index not in self.text], dtype=np.intp)


class FoundTextError(Exception):
    """Columns taken for numbers hold text further down; or numbers whose text is to be kept too."""

    def __init__(self, text: AbstractSet[int] = frozenset(), exact: AbstractSet[int] = frozenset()) -> None:
        self.text, self.exact = text, exact


def read(source: InputFile) -> Frame:
    with source.open() as stream:
        begin = list(islice(logical_lines(stream, TAB), SNIFFED_LINES))
    filled = [line for _, line in begin if line.strip()]
    if not filled:
        raise DamagedFileError("it holds no lines of data: give a table with a header and one line per sample")
    delimiter = sniff_delimiter(filled)
    first = [(count, line) for count, line in begin if line.strip() or delimiter == TAB]
    with source.open() as stream:
        comment = header.last_comment(stream)
    if comment and header.is_commented_header(split(comment, delimiter), split(first[0][1], delimiter)):
        first.insert(0, (0, comment))
    with_points = decimal_commas([line for _, line in first[1:]], delimiter)
    rows = [split(line if with_points is None else with_points(line), delimiter) for _, line in first]
    titles = None
    if header.has_header(rows):
        titles = tuple(decode(cell).strip() for cell in split(first[0][1], delimiter))
    samples = rows if titles is None else rows[1:]
    if not samples:
        raise DamagedFileError("it holds a single line, a header without samples")
    line = first[-len(samples)][0]
    layout = Layout(
        n_columns=len(samples[0]),
        delimiter=delimiter,
        text=frozenset(index for index, cell in enumerate(samples[0]) if number(cell) is None),
        skip=line - 1,
        as_csv=with_points,
    )
    frame = read_body(source, layout, None if titles is None else header.fitting_names(titles, samples, line))
    if titles is not None:
        header.check_nameless(frame, titles)
    kind = "TSV" if delimiter == TAB else "CSV"
    notes = header.notes(frame.names)
    if with_points is not None:
        notes += (Note("decimal commas", "numbers have decimal commas: 1,5 was read as 1.5"),)
    return replace(frame, format=kind, notes=notes)


def read_body(source: InputFile, layout: Layout, names: tuple[str, ...] | None) -> Frame:
    """The samples; starts again where a column turns out to hold text."""
    while True:
        try:
            numbers, text = _read_once(source, layout)
        except FoundTextError as found:
            layout = replace(layout, text=layout.text | found.text, exact=layout.exact | found.exact)
            continue
        columns = {index: cells for index, cells in text.items() if index in layout.text}
        exact = {index: exact_texts(cells.tolist()) for index, cells in text.items() if index not in layout.text}
        kept = {index: cells for index, cells in exact.items() if cells is not None}
        return Frame("text", numbers, layout.numeric, columns, kept, names)


def logical_lines(stream: Iterable[bytes], delimiter: bytes = BLANKS, skip: int = 0) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, without their ends; the first ``skip``, empty ones and comments at the top left out.

    A line end between quotes does not end the line. A line of tabs is a sample without any value where they delimit.
    """
    started, pending, opened = skip > 0, b"", 0
    for count, raw in islice(enumerate(stream, 1), skip, None):
        line = raw.removeprefix(BYTE_ORDER_MARK) if count == 1 else raw
        if pending or line.count(QUOTE) % 2:
            pending += line
            opened = opened or count
            if pending.count(QUOTE) % 2:
                continue
            line, pending = pending, b""
        line = line.rstrip(b"\r\n")
        is_sample = line.strip() or (delimiter == TAB and TAB in line)
        if is_sample and (started or not line.startswith(header.COMMENTS)):
            started = True
            yield opened or count, line
        opened = 0
    if pending:
        raise DamagedFileError(f"a quotation mark opened in line {opened} is never closed: correct that line")


def sniff_delimiter(lines: list[bytes]) -> bytes:
    """The delimiter that cuts these lines into the same number of columns, the most if several do."""
    bare = [re.sub(rb'"[^"]*"', b"", line) for line in lines]
    candidates = []
    for delimiter in DELIMITERS:
        counts = [line.count(delimiter) for line in bare]
        # R leaves out the name of the column of row names, so that the header is one shorter.
        even = len(set(counts[1:])) <= 1 and counts[0] in (counts[-1], counts[-1] - 1)
        candidates.append((even and counts[-1] > 0, counts[0], delimiter))
    _, count, best = max(candidates, key=lambda candidate: candidate[:2])
    return best if count else BLANKS


def decimal_commas(lines: list[bytes], delimiter: bytes) -> Callable[[bytes], bytes] | None:
    """Makes decimal points of decimal commas in a line, if some of these lines have commas that can be nothing else.

    A comma before three digits may also stand between thousands; one before fewer or more of them, or behind a zero
    alone, does not.
    """
    if delimiter not in (b";", TAB, b"|"):
        return None
    mark = re.escape(delimiter)
    cell = rb'(^|%s)( *"?[-+]?%s(?:[eE][-+]?\d+)?"?[ \r]*)(?=%s|$)'
    sure = re.compile(cell % (mark, rb"(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+)", mark))
    if not any(sure.search(line) for line in lines):
        return None
    number_with_comma = re.compile(cell % (mark, rb"\d+,\d+", mark))
    return lambda line: number_with_comma.sub(lambda found: found[0].replace(b",", b"."), line)


def split(line: bytes, delimiter: bytes) -> list[bytes]:
    """The cells of a line, which may be quoted."""
    if QUOTE not in line:
        return _single_blanks(line, delimiter).split(delimiter)
    if delimiter == BLANKS:
        line = QUOTED_OR_BLANK.sub(lambda found: found[1] or BLANKS, line.strip())
    try:
        reader = csv.reader([decode(line)], delimiter=delimiter.decode(), skipinitialspace=True)
        return [cell.encode() for cell in next(reader)]
    except csv.Error as error:
        raise DamagedFileError(f"a line cannot be cut into columns ({error}): check its quotation marks") from error


def _single_blanks(line: bytes, delimiter: bytes) -> bytes:
    return b" ".join(line.split()) if delimiter == BLANKS else line


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFileError("it holds text that is not UTF-8: save it again with the encoding UTF-8") from error


def _read_once(source: InputFile, layout: Layout) -> tuple[Floats, dict[int, np.ndarray]]:
    """All samples, in chunks: the numbers as a matrix, the columns of text by themselves."""
    cut = Cutter(layout)
    chunks: list[Floats] = []
    text: list[list[bytes]] = [[] for _ in cut.text]
    more: set[int] = set()
    rows: list[bytes] = []
    pending = total = 0
    with source.open() as stream:
        lines = stream if layout.as_csv is None else map(layout.as_csv, stream)
        for count, line in logical_lines(lines, layout.delimiter, layout.skip):
            numbers, texts = cut(count, line)
            rows.append(numbers)
            for column, cell in zip(text, texts, strict=True):
                column.append(cell)
            pending += len(numbers)
            if pending > CHUNK_BYTES:
                chunks.append(_numbers(rows, layout, more))
                total += chunks[-1].nbytes
                refuse_too_big(total)  # as much again, to put the chunks together
                rows, pending = [], 0
    chunks.append(_numbers(rows, layout, more))
    if len(more) <= MOST_EXACT and more - layout.exact:
        raise FoundTextError(exact=more)
    columns = {index: _texts(column) for index, column in zip(cut.text, text, strict=True)}
    return np.concatenate(chunks), columns


class Cutter:
    """Cuts a line into its numbers, one on each line, and its cells of text.

    Columns of text are mostly few and at the ends of the line, so only the ends are cut.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_commas = layout.n_columns - 1
        middle = layout.n_columns / 2
        self.text = sorted(layout.text | layout.exact)
        self.left = max((index + 1 for index in self.text if index < middle), default=0)
        self.right = max((layout.n_columns - index for index in self.text if index >= middle), default=0)
        self.whole = self.left + self.right >= layout.n_columns

    def __call__(self, count: int, line: bytes) -> tuple[bytes, list[bytes]]:
        delimiter = self.layout.delimiter
        if QUOTE in line:
            return self._from_cells(count, split(line, delimiter))
        line = _single_blanks(line, delimiter)
        self._check(count, line.count(delimiter))
        if self.whole:
            return self._from_cells(count, line.split(delimiter))
        *start, rest = line.split(delimiter, self.left)
        rest, *end = rest.rsplit(delimiter, self.right)
        offset = self.layout.n_columns - self.right
        texts = [start[index] if index < self.left else end[index - offset] for index in self.text]
        numbers = [cell for index, cell in enumerate(start) if index not in self.layout.text]
        numbers.append(rest.replace(delimiter, b"\n"))
        numbers += [cell for index, cell in enumerate(end, offset) if index not in self.layout.text]
        return b"\n".join(numbers), texts

    def _from_cells(self, count: int, cells: list[bytes]) -> tuple[bytes, list[bytes]]:
        self._check(count, len(cells) - 1)
        numbers = [cell for index, cell in enumerate(cells) if index not in self.layout.text]
        if any(b"\n" in cell for cell in numbers):  # a quoted line end, which would be taken for the next number
            raise FoundTextError({index for index, cell in enumerate(cells) if b"\n" in cell} - self.layout.text)
        return b"\n".join(numbers), [cells[index] for index in self.text]

    def _check(self, count: int, n_commas: int) -> None:
        if n_commas != self.n_commas:
            raise DamagedFileError(
                f"line {count} has {n_commas + 1} columns, and the lines before it {self.n_commas + 1}: the file is "
                f"cut short there or that line is damaged (columns are cut at {self.layout.delimiter.decode()!r})"
                f"{header.TITLE * (count - self.layout.skip <= SNIFFED_LINES)}"
            )


def _numbers(rows: list[bytes], layout: Layout, more: set[int]) -> Floats:
    """The numbers of some lines; adds to ``more`` the columns whose text is more than its number."""
    width = layout.n_columns - len(layout.text)
    if not rows or not width:
        return np.empty((len(rows), width))
    refuse_too_big(DOUBLE * len(rows) * width)
    lines = b"\n".join(rows)
    plain = parse_plain(lines, len(rows) * width)
    values = (_careful(lines, layout) if plain is None else plain).reshape(len(rows), width)
    if len(more) <= MOST_EXACT:
        more.update(layout.numeric[more_than_numbers(lines, values)].tolist())
    return values


def _careful(lines: bytes, layout: Layout) -> Floats:
    """Numbers one by one: among them are missing values, unusual forms, or text."""
    values = [number(token) for token in lines.split(b"\n")]
    if None in values:
        columns = {place % len(layout.numeric) for place, value in enumerate(values) if value is None}
        raise FoundTextError(set(layout.numeric[list(columns)].tolist()))
    return np.array(values, dtype=np.float64)


def _texts(cells: list[bytes]) -> np.ndarray:
    """The cells as text, missing ones as an empty one."""
    texts = ["" if is_missing(cell) else decode(cell.strip()) for cell in cells]
    refuse_too_big(CHARACTER * len(texts) * max(map(len, texts), default=0))  # one long text makes all cells as long
    return np.array(texts, dtype=str)
