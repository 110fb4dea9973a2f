"""JSON objects as dataclasses: checked against the annotations of their fields, and refused if they do not fit."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

WORDS = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null",
    list: "a list", dict: "an object",
}  # fmt: skip
SHOWN = 40  # characters of a value that does not fit


def read_record(kind: type[Record], value: Any, where: str = "", *, defaults: bool = False) -> Record:
    """The dataclass that an object read from JSON describes, and those within it.

    Every field must be there, unless ``defaults`` are taken for those that have one.

    Raises
    ------
    ValueError
        Names the field (after ``where``), what it must be, and what it is.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{where or 'it'} must be an object")
    prefix = f"{where}." if where else ""
    known = _fields(kind)  # type: ignore[arg-type]  # classes are hashable
    found = {}
    for name, (field, annotation) in known.items():
        if name in value:
            found[name] = _read(annotation, value[name], prefix + name)
        elif not defaults or field.default is field.default_factory is MISSING:
            raise ValueError(f"{prefix}{name} is missing")
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise ValueError(f"{prefix}{unknown[0]} is not known")
    return kind(**found)


@cache
def _fields(kind: type) -> dict[str, tuple[Field[Any], Any]]:
    annotations = get_type_hints(kind)
    return {field.name: (field, annotations[field.name]) for field in fields(kind)}


def _read(annotation: Any, value: Any, where: str) -> Any:
    """A value as its annotation says: one of a union, a list or object of others, a dataclass, or plain."""
    options = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    for option in options:
        if _fits(option, value):
            return _build(option, value, where)
    words = " or ".join(WORDS[_plain(option)] for option in options)
    raise ValueError(f"{where} must be {words}, and is {str(value)[:SHOWN]!r}")


def _plain(annotation: Any) -> Any:
    """The type that JSON has for it."""
    return dict if is_dataclass(annotation) else get_origin(annotation) or annotation


def _fits(annotation: Any, value: Any) -> bool:
    if annotation is Any:
        return True
    kind = _plain(annotation)
    if isinstance(value, bool):  # which Python counts among the whole numbers
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _build(annotation: Any, value: Any, where: str) -> Any:
    if is_dataclass(annotation):
        return read_record(annotation, value, where)  # type: ignore[arg-type]
    inner = get_args(annotation)
    if not inner or inner[-1] is Any:
        return value
    if isinstance(value, list):
        return [_read(inner[0], entry, f"{where}[{place}]") for place, entry in enumerate(value)]
    return {name: _read(inner[1], entry, f"{where}.{name}") for name, entry in value.items()}
