"""Where users' files were read before that moved to :mod:`dsofs.tables.labelled`."""

from __future__ import annotations

from dsofs.moved import moved

__getattr__ = moved(__name__, dict.fromkeys(("LabelledTable", "read_labelled"), "dsofs.tables.labelled"))
