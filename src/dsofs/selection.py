"""Where a selection was before it moved to :mod:`dsofs.tables.selection`."""

from __future__ import annotations

from dsofs.moved import moved

__getattr__ = moved(__name__, dict.fromkeys(("SelectedFeature", "Selection"), "dsofs.tables.selection"))
