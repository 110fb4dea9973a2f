"""The page as text: complete, small, escaped, and forbidden to do anything."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dsofs import METHODS
from dsofs.report import Findings, examine, render
from dsofs.report.feature_table import FEATURES_SHOWN
from dsofs.report.html import VOID, label, shorten, tag
from dsofs.report.page import PAPER, SOFTWARE
from dsofs.report.sections import SECTIONS
from tests.report.examples import HOSTILE, LONG, adjusted, hostile, ordinary

SVG_ALONE = {"circle", "line", "rect", "path", "polyline", "polygon", "image"}


class Reader(HTMLParser):
    """Checks that tags nest, and gathers elements, ids, attributes and text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("findings", [ordinary, hostile, adjusted])
def test_the_page_is_well_formed_and_holds_nothing_that_acts(findings):
    reader = Reader(render(findings()))
    assert reader.open == []
    assert not {"script", "iframe", "object", "embed", "form", "link", "base"} & set(reader.tags)
    names = [name for name, _ in reader.attributes]
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert all(
        value.startswith(("#", "data:image/png")) for name, value in reader.attributes if name in ("href", "src")
    )
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_the_policy_allows_the_style_sheet_and_nothing_else():
    page = render(ordinary())
    policy = dict(
        part.split(" ", 1)
        for part in re.search(r'Policy" content="([^"]*)"', page)[1].replace("&#x27;", "'").split("; ")
    )
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == {
        "default-src": "'none'", "style-src": f"'sha256-{digest}'", "img-src": "data:", "base-uri": "'none'",
        "form-action": "'none'",
    }  # fmt: skip


def test_the_answer_comes_first_and_every_section_follows():
    words = " ".join(Reader(render(ordinary())).words)
    assert words.index("6 of 64 features tell 3 classes apart") < words.index("The chosen features")
    assert len(re.findall("<section", render(ordinary()))) == len(SECTIONS) - 1  # it has no covariates
    assert len(re.findall("<section", render(adjusted()))) == len(SECTIONS) - 1  # and this is no image
    assert all(feature.name in words for feature in ordinary().chosen)


def test_chance_is_called_chance():
    X = np.random.default_rng(0).normal(size=(40, 200))
    found = examine(X, np.arange(40) % 2, METHODS["f_test"](5), n_resamples=4, n_permutations=19)
    assert "no better than chance" in render(found)
    few = replace(ordinary().permutation, shuffled=[0.1] * 3, n_as_good=0)
    page = render(replace(ordinary(), permutation=few))
    assert "no better than chance" not in page
    assert "So few runs cannot rule out chance by themselves" in page


def test_every_hostile_name_is_shown_as_it_is():
    words = " ".join(Reader(render(hostile())).words)
    for name in HOSTILE:
        assert name in words
    assert LONG not in words
    assert LONG[:24] in words


def test_a_page_drawn_from_saved_findings_is_the_same():
    assert render(Findings.from_json(ordinary().to_json())) == render(ordinary())


@pytest.mark.parametrize(("c", "k"), [(2, 1), (2, 400), (12, 30), (120, 300)])
def test_any_number_of_classes_and_features_fits_into_a_megabyte(c, k):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(c), 5)
    X = rng.normal(size=(len(y), 500)) + 3 * (rng.integers(0, 2, (c, 500))[y])
    names = [f"{i} {LONG}" for i in range(500)]
    classes = np.array([f"{code} {LONG}" for code in range(c)])
    found = examine(X, classes[y], METHODS["f_test"](k), feature_names=names, n_resamples=2, n_permutations=0)
    page = render(found)
    Reader(page)
    assert len(page.encode()) <= 1_000_000
    assert page.count('scope="col"') >= 7
    if k > FEATURES_SHOWN:
        assert f"{k - FEATURES_SHOWN} more are not shown" in page


def test_without_history_image_and_test_their_sections_are_left_out():
    bare = replace(ordinary(), convergence=None, image=None, permutation=None)
    page = render(bare)
    assert 'id="convergence"' not in page
    assert 'id="pixels"' not in page
    assert 'id="chance"' not in page
    assert 'href="#chance"' not in page


def test_notebooks_show_the_answer_escaped():
    assert "6 of 64 features tell 3 classes apart" in ordinary()._repr_html_()
    shown = Reader(hostile()._repr_html_())
    assert "script" not in shown.tags
    assert "img" not in shown.tags
    assert "and 4 more" in " ".join(shown.words)


def test_tags_escape_what_is_not_markup():
    assert tag("b", "<i>", tag("i", "&"), None, ["x", 1], class_="a\"b'", stroke_width=1.50) == (
        '<b class="a&quot;b&#x27;" stroke-width="1.5">&lt;i&gt;<i>&amp;</i>x1</b>'
    )
    assert tag("br") == "<br>"
    assert tag("b", "\x00\x1b\ud800") == "<b>␀␛?</b>"
    assert label("a" * 60, 10) == f'<bdi title="{"a" * 60}">aaaaa…aaaa</bdi>'


@pytest.mark.parametrize(
    ("limit", "shown"), [(1, "…"), (2, "E…"), (6, "ENS…07"), (11, "ENSG0000007"), (99, "ENSG0000007")]
)
def test_names_are_cut_in_the_middle(limit, shown):
    """The end of a name is where it differs from others."""
    assert shorten("ENSG0000007", limit) == shown


def test_names_of_many_classes_do_not_cover_each_other():
    y = np.repeat(np.arange(30), 4)
    X = np.random.default_rng(0).normal(size=(120, 40)) + 2 * np.eye(30, 40)[y]
    page = render(examine(X, np.array([f"species {code}" for code in range(30)])[y], METHODS["f_test"](9),
                          n_resamples=2, n_permutations=0))  # fmt: skip
    scatter = page[page.index('id="samples"') : page.index('id="heat')]
    assert "Classes are named where there is room" in scatter
    assert {f"<title>species {code}</title>" for code in range(30)} <= set(re.findall("<title>.*?</title>", scatter))
    named = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*strong halo">([^<]*)</text>', scatter)
    assert 2 <= len(named) < 30
    for (x, y, name), (other_x, other_y, other) in combinations(named, 2):
        half_lengths = 6.5 * (len(name) + len(other)) / 2
        assert abs(float(y) - float(other_y)) >= 12 or abs(float(x) - float(other_x)) >= half_lengths


def test_the_citation_is_that_of_the_project():
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text()
    title = re.search(r'title: "(Direct.*)"', text)[1]
    assert title in PAPER
    assert all(name in PAPER for name in re.findall(r"family-names: (\w+)", text))
    assert re.search(r'^title: "(.*)"', text, re.MULTILINE)[1] in SOFTWARE
    assert re.search(r"^version: (.*)", text, re.MULTILINE)[1] in SOFTWARE


def test_the_section_on_covariates_has_their_figures():
    page, found = render(adjusted()), adjusted().covariates
    section = page[page.index('<section id="covariates"') :].partition("</section>")[0] + "</section>"
    words = " ".join(Reader(section).words)
    assert f"{found.alone.mean:.1%} ±" in words
    assert f"{found.together.mean:.1%} ±" in words
    assert f"levels of {HOSTILE[0]}" in words
    assert f"{found.levels[0].balanced.mean:.1%}" in words
    again = Findings.from_json(adjusted().to_json())
    assert again == adjusted()
    assert 'id="covariates"' not in render(ordinary())
