"""Sphinx configuration."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from dsofs import __version__

project = "dsofs"
author = "The dsofs developers"
copyright = "2026, The dsofs developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_use_rtype = False
exclude_patterns = ["_build", "_templates"]

html_theme = "furo"
html_title = "dsofs"
html_math_renderer = "mathml"


def setup(app):
    """Formulas as MathML, made when the page is: they show offline and without scripts."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))


def visit_math(translator, node):
    render(translator, node, "inline")


def visit_displaymath(translator, node):
    render(translator, node, "block")


def render(translator, node, display):
    translator.body.append(convert(node.astext(), display=display))
    raise SkipNode
