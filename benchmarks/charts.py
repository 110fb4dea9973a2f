"""The charts of README and docs, drawn from the rows of the studies alone: ``python -m benchmarks.charts``."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import run, standing
from benchmarks.arena import typical
from benchmarks.data import WIDE
from benchmarks.harness import RESULTS, rows_of
from benchmarks.standing_tables import OURS, Scores, is_variant, measured, over_kinds, title
from dsofs.datasets.catalogue import CATALOGUE
from dsofs.experiments import ALL_FEATURES, Row
from dsofs.files import write_whole
from dsofs.optional import require
from dsofs.reproduction.figures import MARKS, STABLE, panels, svg

FOLDER = RESULTS / "charts"
SHOWN = (OURS, "rfe_tenth", "fastcan", "multitask_lasso", "mrmr", "f_test")
OUR_COLOUR, OTHERS = "#c0392b", ("#2c6fad", "#4a9a6a", "#8a6fb0", "#c98a2b", "#8c8c8c")


def accuracy() -> Any:
    """Accuracy against the number of features, means over the kinds of data, with all features for reference."""
    rows = [row for row in rows_of(standing.STUDY) if not is_variant(row.method)]
    scores, data = Scores.of(rows, "svm", "accuracy"), measured(rows, standing.KINDS)
    means = over_kinds(scores.means(data, SHOWN), data, standing.KINDS)
    everything = over_kinds(scores.means(data, [ALL_FEATURES])[:, 0, 0], data, standing.KINDS)
    figure, (ax,) = panels(1, columns=1, size=(6.4, 3.6))
    for name, values, mark in zip(SHOWN, means, MARKS, strict=False):
        ours = name == OURS
        ax.plot(standing.KS, values, marker=mark, color=OUR_COLOUR if ours else OTHERS[SHOWN.index(name) - 1],
                label="dsofs" if ours else title(name), linewidth=2.4 if ours else 1.2, markersize=6 if ours else 4,
                zorder=3 if ours else 2)  # fmt: skip
    ax.axhline(everything, color="black", linestyle=":", label="all features")
    ax.set_xscale("log")
    ax.set_xticks(standing.KS, [str(k) for k in standing.KS])
    ax.minorticks_off()
    ax.set_xlabel("number of selected features")
    ax.set_ylabel("held-out accuracy (%)")
    ax.set_title(f"Linear SVM on the selected features: mean over {len(standing.KINDS)} kinds of data")
    return finished(figure, ax)


def finished(figure: Any, ax: Any, **legend: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both", color="#e4e4e4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, **legend)
    return figure


# Contenders of `benchmarks.run`, from the slowest to the quickest task -> what the chart calls them.
SPEED = {
    "CVXPY, Clarabel": "the same problem, CVXPY with Clarabel",
    "alternation, CVXPY": "the paper's algorithm, QPs by CVXPY",
    "alternation, PIQP": "the paper's algorithm, QPs by PIQP",
    "MultiTaskLassoCV": "MultiTaskLassoCV (scikit-learn)",
    "L1-SVM, C tuned": "L1-SVM, C tuned (scikit-learn)",
    "adelie, tuned": "multinomial group lasso, tuned (adelie)",
    "SVM-RFE": "SVM-RFE, 100 features (scikit-learn)",
    "MultiTaskLasso": "MultiTaskLasso, one fit (scikit-learn)",
    "skglm MultiTaskLasso": "MultiTaskLasso, one fit (skglm)",
    "FastCan": "FastCan, 100 features",
    "abess multitask": "abess, 100 features",
}


def speed() -> Any:
    """Seconds over ours, a mark for each data set; an arrow where the contender was stopped at its time limit."""
    rows = [row for row in rows_of(run.STUDY) if row.data in WIDE]
    by = {(data, name): [row for row in rows if (row.data, row.method) == (data, name)]
          for data in WIDE for name in (run.OURS, *SPEED)}  # fmt: skip
    figure, (ax,) = panels(1, columns=1, size=(7.2, 3.8))
    for data, mark, colour in zip(WIDE, MARKS, (OUR_COLOUR, *OTHERS), strict=False):
        ours = typical(by[data, run.OURS])
        for stopped in (False, True):
            points = [(seconds / ours, place) for place, name in enumerate(SPEED)
                      for seconds in [_seconds(by[data, name], stopped)] if seconds]  # fmt: skip
            ax.plot(*zip(*points, strict=True) if points else ((), ()), linestyle="", color=colour, markersize=5,
                    marker=">" if stopped else mark, fillstyle="none" if stopped else "full",
                    label=None if stopped else f"{ours:.2f} s on {CATALOGUE[data].title}")  # fmt: skip
    ax.axvline(1, color="black", linewidth=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(SPEED)), list(SPEED.values()))
    ax.invert_yaxis()
    ax.set_xlabel("time divided by that of dsofs (p = 1, certified to 0.1 %); arrow: stopped there")
    return finished(figure, ax, loc="center left", bbox_to_anchor=(1, 0.5), title="dsofs itself takes")


def _seconds(rows: list[Row], stopped: bool) -> float | None:
    """What a fit took, or when it was stopped."""
    seconds, limit = (typical(rows), rows[-1].values.get("limit")) if rows else (None, None)
    return (limit if seconds is None else None) if stopped else seconds


def by_kind() -> Any:
    """Accuracy for each kind of data: ours, and those of the others as small marks; mean of 10, 20 and 50 features."""
    rows = [row for row in rows_of(standing.STUDY) if not is_variant(row.method)]
    scores, data = Scores.of(rows, "svm", "accuracy"), measured(rows, standing.KINDS)
    figure, (ax,) = panels(1, columns=1, size=(7.2, 3.8))
    values = np.array([scores.means(names, SHOWN)[:, :, 1:4].mean(axis=(0, 2)) for names in standing.KINDS.values()])
    order = np.argsort(values[:, 0] - values[:, 1:].max(axis=1))
    for i, mark in zip(range(len(SHOWN))[::-1], MARKS[len(SHOWN) - 1 :: -1], strict=False):
        ours = i == 0
        ax.plot(values[order, i], range(len(order)), marker=mark, linestyle="", markersize=7 if ours else 4,
                color=OUR_COLOUR if ours else OTHERS[i - 1], label="dsofs" if ours else title(SHOWN[i]))  # fmt: skip
    names = [(kind, len(sets)) for kind, sets in standing.KINDS.items()]
    ax.set_yticks(range(len(order)), [f"{names[i][0]} ({names[i][1]})" for i in order])
    ax.set_xlabel("held-out accuracy (%), mean of 10, 20 and 50 features")
    assert len(data) == sum(n for _, n in names)
    return finished(figure, ax, loc="center left", bbox_to_anchor=(1, 0.5))


def many_samples() -> Any:
    """Seconds and extra memory against the number of samples, 500 features."""
    rows = sorted(rows_of("many_samples"), key=lambda row: row.values["m"])
    figure, axes = panels(2, columns=2, size=(3.4, 2.6))
    m = [row.values["m"] for row in rows]
    axes[0].loglog(m, [row.seconds for row in rows], "o-", color=OUR_COLOUR, label="one fit")
    axes[0].set_ylabel("seconds")
    axes[1].loglog(m, [row.values["X"] / 2**20 for row in rows], "s:", color=OTHERS[-1], label="X itself (float32)")
    axes[1].loglog(m, [row.values["extra"] / 2**20 for row in rows], "o-", color=OUR_COLOUR, label="beyond X")
    axes[1].set_ylabel("MiB")
    for ax in axes:
        ax.set_xlabel("samples")
        finished(figure, ax)
    return figure


def memory() -> Any:
    """Extra memory of fits, beside X and the bound that is documented."""
    rows = [row for row in rows_of("memory") if row.method == "defaults"]
    figure, (ax,) = panels(1, columns=1, size=(6.4, 2.8))
    for value, mark, colour, label in (
        ("X", "s", OTHERS[-1], "X itself"), ("extra", "o", OUR_COLOUR, "beyond X, measured"),
        ("bound", "|", "black", "beyond X, documented upper bound"),
    ):  # fmt: skip
        ax.plot([row.values[value] / 2**20 for row in rows], range(len(rows)), mark, color=colour, label=label)
    ax.set_yticks(range(len(rows)), [row.data for row in rows])
    ax.set_xscale("log")
    ax.set_xlabel("MiB")
    return finished(figure, ax, loc="center left", bbox_to_anchor=(1, 0.5))


def alternation() -> Any:
    """How far above the joint solver's objective the paper's alternation comes to rest."""
    rows = {(row.data, row.parameters["p"], row.method): row for row in rows_of("solvers")}
    names = list(dict.fromkeys(data for data, _, _ in rows))
    figure, (ax,) = panels(1, columns=1, size=(6.4, 3.2))
    for p, mark, colour in ((1.0, "o", OUR_COLOUR), (0.5, "s", OTHERS[0]), (0.1, "^", OTHERS[1])):
        points = [(rows[name, p, "alternating"].values["objective"] / rows[name, p, "joint"].values["objective"], place)
                  for place, name in enumerate(names) if (name, p, "alternating") in rows]  # fmt: skip
        ax.plot(*zip(*points, strict=True), linestyle="", marker=mark, color=colour, label=f"p = {p:g}")
    ax.axvline(1, color="black", linewidth=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("objective of the paper's alternation, divided by that of the joint solver")
    return finished(figure, ax)


CHARTS = {
    "accuracy": accuracy,
    "by_kind": by_kind,
    "speed": speed,
    "many_samples": many_samples,
    "memory": memory,
    "alternation": alternation,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in CHARTS.items():
        with require("matplotlib", extra="plot").rc_context(STABLE):
            write_whole(FOLDER / f"{name}.svg", svg(draw()))


if __name__ == "__main__":
    main()
