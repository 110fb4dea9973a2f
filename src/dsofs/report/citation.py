"""How to cite; the same as CITATION.cff, which is not part of an installed package."""

from __future__ import annotations

from dsofs import __version__

PAPER = "H. Peng and Y. Fan: Direct l2,p-Norm Learning for Feature Selection."
SOFTWARE = f"The dsofs developers: dsofs: direct sparsity optimisation for feature selection, version {__version__}."
