"""The whole report: one HTML page that needs no other file, script or network."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from dsofs.examination.findings import Findings
from dsofs.report.feature_table import score_words
from dsofs.report.html import Markup, join, label, shorten, tag
from dsofs.report.sections import SECTIONS, answer
from dsofs.report.verdict import accuracy_words, headline

TOP_FEATURES = 10  # in a notebook


def render(findings: Findings) -> str:
    """The report as one self-contained HTML page.

    It holds no script, loads nothing, and its content-security policy forbids both. Names from the data are escaped.

    Parameters
    ----------
    findings : Findings
        What :func:`examine` returned, or ``Findings.from_json`` read.

    Returns
    -------
    str
        The page; write it to a file as UTF-8.
    """
    sections = [drawn for section in SECTIONS if (drawn := section(findings)) is not None]
    return page(f"{shorten(findings.origin.data, 80)}: {headline(findings)}", answer(findings), sections)


def page(title: str, header: Markup, sections: list[Markup]) -> str:
    """A whole page: its header, links to its sections, and the sections."""
    style = re.sub(r"\s+", " ", files("dsofs.report").joinpath("style.css").read_text(encoding="utf-8"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
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


def summary(findings: Findings) -> str:
    """What a notebook shows: the answer and the best features."""
    rows = [
        tag("tr", [tag("td", cell) for cell in (str(feature.rank), label(feature.name), score_words(feature.score),
                                                f"{feature.frequency:.0%}")])
        for feature in findings.chosen[:TOP_FEATURES]
    ]  # fmt: skip
    head = tag("tr", [tag("th", name) for name in ("rank", "feature", "score", "chosen again")])
    more = len(findings.chosen) - len(rows)
    return tag(
        "div",
        tag("p", tag("strong", headline(findings)), ". ", accuracy_words(findings), "."),
        tag("table", tag("thead", head), tag("tbody", rows)),
        tag("p", f"and {more} more") if more > 0 else None,
    )
