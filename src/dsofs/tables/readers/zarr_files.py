"""Zarr: a folder of arrays, or AnnData written so. Needs the extra ``readers``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dsofs.files import DamagedFileError
from dsofs.optional import require
from dsofs.tables.readers import anndata
from dsofs.tables.readers.frame import Frame, arrays_frame
from dsofs.tables.readers.source import as_damage, refuse_bomb, refuse_too_big

MARKS = ("zarr.json", ".zgroup", ".zarray")
# Codecs that only pack numbers and text; others, such as pickle, could run what the file says.
CODECS = {
    "bytes", "blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "transpose", "crc32c", "shuffle", "delta",
    "vlen-utf8", "vlen-bytes", "fixedscaleoffset", "sharding_indexed", "endian", "packbits", "bitround",
}  # fmt: skip


def read(path: Path) -> Frame:
    if not any((path / mark).is_file() for mark in MARKS):
        raise DamagedFileError("it is a folder, but not a Zarr store: give a file")
    zarr = require("zarr", "readers")
    check_codecs(path)
    with as_damage("copy or write it again"):
        root = zarr.open(store=str(path), mode="r")
        if not hasattr(root, "keys"):
            return arrays_frame("Zarr", {"X": content(root)})
        if anndata.matches(root):
            return anndata.frame(root, content)
        return arrays_frame("Zarr", {name: content(array) for name, array in root.arrays()})


def content(array: Any) -> np.ndarray:
    needed = int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize
    refuse_bomb(int(array.nbytes_stored()), needed, "write it without compression.")
    refuse_too_big(needed)
    values = np.asarray(array[...])
    if values.dtype.kind not in "OT":
        return values
    return np.array([str(text) for text in values.ravel().tolist()], dtype=str).reshape(values.shape)


def check_codecs(path: Path) -> None:
    """Refuse codecs that are not known to be harmless, before Zarr looks them up."""
    for file in sorted(path.rglob("*")):
        if file.is_symlink():
            raise DamagedFileError(f"{file.name} is a link: copy the folder with its data inside")
        if file.name in (".zarray", "zarr.json", ".zmetadata"):
            unknown = sorted(set(_codecs(_json(file))) - CODECS)
            if unknown:
                raise DamagedFileError(
                    f"{file.name} asks for the codec {unknown[0]!r}, which is not used: write plain arrays"
                )


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{file.name} is damaged: {error}") from error


def _codecs(metadata: Any) -> list[str]:
    """Names of the codecs and filters anywhere in the metadata."""
    if isinstance(metadata, list):
        return [name for entry in metadata for name in _codecs(entry)]
    if not isinstance(metadata, dict):
        return []
    names = []
    for key, value in metadata.items():
        if key in ("codecs", "index_codecs", "filters", "compressor"):
            entries = value if isinstance(value, list) else [value]
            names += [str(entry.get("id", entry.get("name"))) for entry in entries if isinstance(entry, dict)]
        names += _codecs(value)
    return names
