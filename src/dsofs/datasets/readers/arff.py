"""ARFF, the format of Weka: a header that declares the columns, then lines with commas."""

from __future__ import annotations

import re
from dataclasses import replace

from dsofs.datasets.errors import DamagedFileError
from dsofs.datasets.readers.delimited import Layout, decode, read_body
from dsofs.datasets.readers.frame import Frame
from dsofs.datasets.readers.source import Source

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(\{.*|\S+)""", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


def matches(head: bytes) -> bool:
    lines = (line.strip().lower() for line in head.splitlines())
    return next((line.startswith(b"@relation") for line in lines if line and not line.startswith(b"%")), False)


def read(source: Source) -> Frame:
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
        first = stream.readline()
    if not names:
        raise DamagedFileError("it declares no @attribute")
    if first.lstrip().startswith(b"{"):
        raise DamagedFileError("it is a sparse ARFF file, which is not read: save it as svmlight or as plain ARFF")
    layout = Layout(len(names), b",", frozenset(text), skip, quote='"' if b'"' in first else "'")
    return replace(read_body(source, layout, tuple(names)), format="ARFF")


def _attribute(line: str) -> tuple[str, str]:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise DamagedFileError(f"its header has a line that declares no column: {line[:80]!r}")
    name, kind = found.groups()
    return (name[1:-1].replace("\\", "") if name[0] in "'\"" else name), kind
