"""Findings as a page, in notebooks and as figures.

``examine`` measures, ``render`` draws: a page can be drawn again from saved findings without computing again.
"""

from __future__ import annotations

from dsofs.evaluation.examine import Source, examine
from dsofs.evaluation.findings import Findings
from dsofs.report.page import render, summary

__all__ = ["Findings", "Source", "examine", "render", "summary"]
