"""HTML and SVG from tags: everything that is not markup already is escaped, in this one place."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = {"meta", "img", "br", "hr"}  # elements that have no end tag
# Control characters have no place in HTML: they are shown as the pictures Unicode has for them.
CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
NAME_SHOWN = 48  # characters of a name that are shown
NAME_KEPT = 300  # characters of a name that are kept for the tooltip


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Escaped for use between tags and in quoted attributes."""
    if isinstance(value, Markup):
        return value
    readable = str(value).translate(CONTROLS).encode("utf-8", "replace").decode()
    return Markup(escape(readable, quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """``<name attributes>children</name>``.

    ``class_`` is written class, ``stroke_width`` stroke-width; attributes and children of value None are left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """The children one after the other; lists among them are flattened."""
    parts = []
    for child in children:
        if isinstance(child, list | tuple):
            parts.append(join(child))
        elif child is not None:
            parts.append(text(child))
    return Markup("".join(parts))


def label(name: str, limit: int = NAME_SHOWN) -> Markup:
    """A name from the data, isolated from the direction of the text around it; cut if long, whole in the tooltip."""
    full = shorten(name, NAME_KEPT)
    return tag("bdi", shorten(name, limit), title=None if len(name) <= limit else full)


def shorten(name: str, limit: int) -> str:
    """The name, without its middle where it is long: long names often begin alike and differ at the end."""
    if len(name) <= limit:
        return name
    n_last = (limit - 1) // 2
    return f"{name[: limit - 1 - n_last]}…{name[len(name) - n_last :]}"


def _number(value: object) -> object:
    """Coordinates to two decimals: a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
