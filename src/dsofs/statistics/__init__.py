"""What experiments and examinations share: samples, their splits, the classifier that scores a selection, and tests."""

from __future__ import annotations

from dsofs.statistics.samples import Samples, Split
from dsofs.statistics.significance import compare_with_first, mean_ranks, stability

__all__ = ["Samples", "Split", "compare_with_first", "mean_ranks", "stability"]
