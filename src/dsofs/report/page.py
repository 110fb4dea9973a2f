"""What every page is built of: sections, figures, tables, facts, legends; and the page itself.

A page needs no other file, script or network.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.resources import files
from itertools import zip_longest

from dsofs import __version__
from dsofs.examination.findings import Findings
from dsofs.report.html import Markup, join, label, shorten, tag
from dsofs.report.svg import mark, picture
from dsofs.report.verdict import Remark

CLASS_NAME = 28  # characters
INTERVAL = "with its 95 % interval: 1 if all are equal, 0 if they agree as random sets do."
# How to cite; the same as CITATION.cff, which is not part of an installed package.
PAPER = "H. Peng and Y. Fan: Direct l2,p-Norm Learning for Feature Selection."
SOFTWARE = f"The dsofs developers: dsofs: direct sparsity optimisation for feature selection, version {__version__}."


def page(data: str, headline: str, header: Markup, parts: Iterable[Markup | None]) -> str:
    """A whole page: its title from the name of the data and the headline, its header, and the sections there are."""
    sections = [part for part in parts if part is not None]
    style = re.sub(r"\s+", " ", files("dsofs.report").joinpath("style.css").read_text(encoding="utf-8"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{shorten(data, 80)}: {headline}"),
        tag("style", Markup(style)),
    )
    body = tag("body", header, _contents(sections), tag("main", sections))
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en") + "\n"


def _policy(style: str) -> str:
    """Nothing but our own style sheet, known by its hash, and images that are part of the page."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _contents(sections: list[Markup]) -> Markup:
    """Links to the sections, from their own headings."""
    found = re.findall(r'<h2 id="([\w-]+)-title">(.*?)</h2>', join(sections))
    return tag("nav", [tag("a", Markup(title), href=f"#{key}") for key, title in found], aria_label="contents")


def answer_first(
    data: tuple[str, int, int, int],
    headline: str,
    lead: object,
    tiles: Iterable[tuple[str, str, str]],
    remarks: Iterable[Remark],
) -> Markup:
    """The top of a page; ``data`` are the file and its numbers of samples, features and classes."""
    file, n_samples, n_features, n_classes = data
    shape = f": {n_samples:,} samples, {n_features:,} features, {n_classes} classes"
    points = [tag("li", each.sentence, class_="attention" if each.attention else "good") for each in remarks]
    return tag(
        "header",
        tag("p", label(file, 80), shape, class_="kicker"),
        tag("h1", headline),
        tag("p", lead, class_="lead"),
        tag("dl", [tile(*entry) for entry in tiles], class_="tiles"),
        tag("ul", points, class_="remarks"),
    )


def section(key: str, title: str, *children: object, half: bool = False) -> Markup:
    """A part of the page with a heading; two half sections are set side by side where there is room."""
    heading = tag("h2", title, id=f"{key}-title")
    return tag("section", heading, *children, id=key, class_="half" if half else None, aria_labelledby=f"{key}-title")


def half_section(key: str, title: str, drawn: Markup, caption: str, *above: object) -> Markup:
    """A picture with its caption, as wide as half the page."""
    return section(key, title, *above, figure(drawn, caption), half=True)


def cite(_: object) -> Markup:
    """The last section of every page."""
    return section("cite", "How to cite", tag("ul", tag("li", PAPER), tag("li", SOFTWARE)))


def figure(drawn: Markup, caption: str) -> Markup:
    return tag("figure", tag("div", drawn, class_="scroll"), tag("figcaption", caption))


def table(
    headings: Sequence[str], rows: Sequence[Sequence[object]], class_: str, row_classes: Sequence[str | None] = ()
) -> Markup:
    head = tag("thead", tag("tr", [tag("th", heading, scope="col") for heading in headings]))
    lines = zip_longest(rows, row_classes)
    body = tag("tbody", [tag("tr", [tag("td", cell) for cell in row], class_=kind) for row, kind in lines])
    return tag("div", tag("table", head, body, class_=class_), class_="scroll")


def facts(entries: Sequence[tuple[str, object]]) -> Markup:
    return tag("dl", [[tag("dt", name), tag("dd", tag("bdi", value))] for name, value in entries], class_="facts")


def record(entries: Sequence[tuple[str, str | None]]) -> Markup:
    """Where the figures of a page come from; what is not known is left out."""
    return section("made", "How it was made", facts([(name, value) for name, value in entries if value]))


def tile(name: str, value: str, note: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", note, class_="note"))


def legend(entries: Sequence[tuple[str, str]], of: str) -> Markup:
    """Names, each with the mark of its place, and a note."""
    items = [
        tag("li", picture(14, 14, "", mark(code, 7.0, 7.0, 5.0), class_="key"), label(name, CLASS_NAME),
            tag("span", note, class_="note"))
        for code, (name, note) in enumerate(entries)
    ]  # fmt: skip
    return tag("ul", items, class_="legend", aria_label=of)


def class_legend(findings: Findings) -> Markup:
    return legend([(entry.name, f" ({entry.n_samples:,})") for entry in findings.classes], "classes")


def class_names(findings: Findings) -> list[str]:
    return [entry.name for entry in findings.classes]
