"""ARFF, the format of Weka: a header that declares the columns, then lines with commas."""

from __future__ import annotations

import re
from dataclasses import replace

from dsofs.files import DamagedFileError
from dsofs.tables.readers.delimited import BYTE_ORDER_MARK, Layout, decode, read_body
from dsofs.tables.readers.frame import Frame
from dsofs.tables.readers.source import InputFile

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(\{.*|\S+)""", re.IGNORECASE)
# A cell and the comma behind it: in either kind of quotation marks, or bare.
CELL = re.compile(rb"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*,""")
NUMERIC = ("numeric", "real", "integer")


def matches(head: bytes) -> bool:
    """Whether it begins with @relation, or with a comment so long that no more is known."""
    whole_lines = head.removeprefix(BYTE_ORDER_MARK).rpartition(b"\n")[0].splitlines()
    lines = [bare for line in whole_lines if (bare := line.strip().lower())]
    return bool(lines) and next((line.startswith(b"@relation") for line in lines if not _is_comment(line)), True)


def read(source: InputFile) -> Frame:
    names: list[str] = []
    text: set[int] = set()
    with source.open() as stream:
        for skip, raw in enumerate(stream, 1):  # noqa: B007 - the number of the last line of the header is wanted
            line = decode(raw).strip()
            if line.lower().startswith("@attribute"):
                name, kind = _attribute(line)
                if kind.lower() not in NUMERIC:
                    text.add(len(names))
                names.append(name)
            elif line.lower() == "@data":
                break
        else:
            raise DamagedFileError("it has no @data: the file is cut short in its header")
        first = next((line for line in stream if line.strip() and not _is_comment(line)), b"")
    if not names:
        raise DamagedFileError("it declares no @attribute")
    if first.lstrip().startswith(b"{"):
        raise DamagedFileError("it is a sparse ARFF file, which is not read: save it as svmlight or as plain ARFF")
    layout = Layout(len(names), b",", frozenset(text), skip=skip, as_csv=_as_csv)
    return replace(read_body(source, layout, tuple(names)), format="ARFF")


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"%")


def _as_csv(line: bytes) -> bytes:
    """A line of the data with its cells quoted as in CSV; a comment as an empty line."""
    if _is_comment(line):
        return b"\n"
    if not any(mark in line for mark in (b"'", b'"', b"\\")):
        return line
    return b",".join(_quoted(cell.strip()) for cell in CELL.findall(line.strip() + b","))


def _quoted(cell: bytes) -> bytes:
    is_quoted = cell[:1] in (b"'", b'"') and len(cell) > 1 and cell[-1:] == cell[:1]
    text = re.sub(rb"\\(.)", rb"\1", cell[1:-1]) if is_quoted else cell
    return b'"' + text.replace(b'"', b'""') + b'"'


def _attribute(line: str) -> tuple[str, str]:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise DamagedFileError(f"its header has a line that declares no column: {line[:80]!r}")
    name, kind = found.groups()
    return (name[1:-1].replace("\\", "") if name[0] in "'\"" else name), kind
