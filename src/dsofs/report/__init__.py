"""Findings as a page, in notebooks and as figures.

``examine`` measures, ``render`` draws: a page can be drawn again from saved findings without computing again.
"""

from __future__ import annotations

from dsofs.examination.examine import examine
from dsofs.examination.findings import Findings
from dsofs.examination.record import Source
from dsofs.report.compared import render_comparison
from dsofs.report.plots import AccuracyDisplay, PathDisplay, StabilityDisplay, plot_accuracy, plot_path, plot_stability
from dsofs.report.sections import render, summary

__all__ = [
    "AccuracyDisplay",
    "Findings",
    "PathDisplay",
    "Source",
    "StabilityDisplay",
    "examine",
    "plot_accuracy",
    "plot_path",
    "plot_stability",
    "render",
    "render_comparison",
    "summary",
]
