"""The curves of the report as matplotlib figures: display objects in the manner of scikit-learn (extra ``plot``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dsofs.examination.findings import AccuracyCurve, Findings, StabilityCurve
from dsofs.optional import require


class _Display:
    """Remembers the axes it was drawn on."""

    def _axes(self, ax: Any) -> Any:
        """The axes given, or those of a new figure."""
        self.ax_ = require("matplotlib.pyplot", "plot").subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


def _number_of_features(ax: Any, ks: list[int]) -> None:
    ax.set(xscale="log", xlabel="number of features")
    ax.set_xticks(ks, [str(k) for k in ks])
    ax.minorticks_off()


@dataclass
class AccuracyDisplay(_Display):
    """Held-out accuracy against the number of features.

    After ``plot``: ``ax_``, ``figure_``, ``line_`` and ``band_`` (one standard deviation).
    """

    curve: AccuracyCurve

    @classmethod
    def from_findings(cls, findings: Findings, *, ax: Any = None) -> AccuracyDisplay:
        return cls(findings.accuracy).plot(ax)

    def plot(self, ax: Any = None) -> AccuracyDisplay:
        curve, ax = self.curve, self._axes(ax)
        mean, deviation = np.array(curve.mean), np.array(curve.deviation)
        (self.line_,) = ax.plot(curve.ks, mean, marker="o", label="held-out accuracy")
        self.band_ = ax.fill_between(curve.ks, mean - deviation, np.minimum(mean + deviation, 1), alpha=0.2)
        ax.axhline(curve.chance, linestyle="--", color="grey", label="chance")
        if curve.all_features is not None:
            ax.axhline(curve.all_features, linestyle=":", color="grey", label="all features")
        ax.axvline(curve.k, color="C1", label=f"chosen: {curve.k}")
        ax.axvline(curve.one_se_k, color="C2", linestyle="--", label=f"one standard error: {curve.one_se_k}")
        _number_of_features(ax, curve.ks)
        ax.set(ylabel="held-out accuracy", ylim=(0, 1.02))
        ax.legend()
        return self


@dataclass
class StabilityDisplay(_Display):
    """Nogueira's stability with its 95 % interval against the number of features.

    After ``plot``: ``ax_``, ``figure_``, ``line_`` and ``band_``.
    """

    curve: StabilityCurve

    @classmethod
    def from_findings(cls, findings: Findings, *, ax: Any = None) -> StabilityDisplay:
        return cls(findings.stability).plot(ax)

    def plot(self, ax: Any = None) -> StabilityDisplay:
        curve, ax = self.curve, self._axes(ax)
        # Without an index (all features chosen) the curve has a gap.
        index, low, high = (np.array(part, dtype=np.float64) for part in (curve.index, curve.low, curve.high))
        (self.line_,) = ax.plot(curve.ks, index, marker="o")
        self.band_ = ax.fill_between(curve.ks, low, high, alpha=0.2)
        ax.axvline(curve.k, color="C1", label=f"chosen: {curve.k}")
        _number_of_features(ax, curve.ks)
        ax.set(ylabel="stability", ylim=(min(0.0, np.nanmin(low, initial=0.0)), 1.02))
        ax.legend()
        return self


@dataclass
class PathDisplay(_Display):
    """Cross-validated score against p, and the number of features that keep a weight, along the path of the search.

    After ``plot``: ``ax_``, ``figure_`` and ``lines_``, one for each C and number of features.
    """

    results: dict[str, Any]  # cv_results_ of the search
    path: list[dict[str, Any]]  # its path_
    best: tuple[float | None, float, int]  # C, p and number of features

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Any = None) -> PathDisplay:
        check_is_fitted(selector, "cv_results_")
        best = (selector.best_C_, selector.best_p_, selector.best_k_)
        return cls(selector.cv_results_, selector.path_, best).plot(ax)

    def plot(self, ax: Any = None) -> PathDisplay:
        ax, results = self._axes(ax), self.results
        n_splits = sum(key.startswith("split") for key in results)
        settings = list(zip(results["param_C"], results["param_k"], strict=True))
        self.lines_ = []
        for C, k in dict.fromkeys(settings):
            own = [i for i, setting in enumerate(settings) if setting == (C, k)]
            error = results["std_test_score"][own] / np.sqrt(n_splits)
            penalty = C if isinstance(C, str) else f"{C:g}" if C is not None else "none"
            label = f"{k} features, C = {penalty}"
            score = results["mean_test_score"][own]
            self.lines_.append(ax.errorbar(results["param_p"][own], score, error, marker="o", capsize=3, label=label))
        self._name_rows(ax)
        ax.axvline(self.best[1], color="grey", linestyle="--", label=f"chosen: p = {self.best[1]:g}")
        ax.set(xlabel="p  (features with weight above)", ylabel="cross-validated score")
        ax.legend()
        return self

    def _name_rows(self, ax: Any) -> None:
        """Over each p, how many features keep a weight at the chosen C."""
        for point in self.path:
            if point["C"] == self.best[0]:
                place = (point["p"], 1.02)
                ax.annotate(str(point["n_rows"]), place, xycoords=("data", "axes fraction"), ha="center")


def plot_accuracy(findings: Findings, *, ax: Any = None) -> AccuracyDisplay:
    """Draw held-out accuracy against the number of features."""
    return AccuracyDisplay.from_findings(findings, ax=ax)


def plot_stability(findings: Findings, *, ax: Any = None) -> StabilityDisplay:
    """Draw the stability of the choice against the number of features."""
    return StabilityDisplay.from_findings(findings, ax=ax)


def plot_path(selector: Any, *, ax: Any = None) -> PathDisplay:
    """Draw the scores of a fitted :class:`dsofs.DSOSelectorCV` against p."""
    return PathDisplay.from_estimator(selector, ax=ax)
