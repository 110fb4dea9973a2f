"""Sphinx configuration."""

from dsofs import __version__

project = "dsofs"
author = "The dsofs developers"
copyright = "2026, The dsofs developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_use_rtype = False
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "furo"
html_title = "dsofs"
