"""Sphinx configuration."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from dsofs import __version__

project = "dsofs"
author = "The dsofs developers"
copyright = "2026, The dsofs developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # as compact as the parameters
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what a reader types is copied, without prompts and what was printed
copybutton_prompt_is_regexp = True
exclude_patterns = ["_build", "_templates"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",  # the examples on the page of each class and function
    "doc_module": ("dsofs",),
    "reference_url": {"dsofs": None},  # names in the code link to their pages
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 60,
}

html_theme = "furo"
html_title = "dsofs"
html_static_path = ["_static"]
html_css_files = ["dsofs.css"]
html_math_renderer = "mathml"

UNDER_MIN = re.compile(r"<msub>(<mo>m(?:in|ax)</mo>.*?)</msub>")  # what is minimised over stands below


def setup(app):
    """Formulas as MathML, written when the page is built: they show offline and without scripts."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))


def visit_math(translator, node):
    render(translator, node, "inline")


def visit_displaymath(translator, node):
    render(translator, node, "block")


def render(translator, node, display):
    formula = convert(node.astext(), display=display).replace("<mo>&#x02016;", '<mo stretchy="false">&#x02016;')
    if display == "block":
        formula = UNDER_MIN.sub(r"<munder>\1</munder>", formula)
    translator.body.append(formula)
    raise SkipNode
