"""The pictures of the page on the method: ``python docs/pictures/draw.py`` writes them beside this file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dsofs import DSOClassifier, DSOSelector
from dsofs.files import write_whole
from dsofs.optional import require
from dsofs.reproduction.figures import STABLE, panels, svg

FOLDER = Path(__file__).parent
RED, BLUE, GREY = "#c0392b", "#2c6fad", "#b5b5b5"
N_SHOWN = 106  # of the 300 features, where each is a line
N_TRUE = 6  # features that depend on the class, in the data of all pictures but the first


def data() -> tuple[np.ndarray, np.ndarray]:
    """60 samples of three classes, 300 features; the first six depend on the class."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 300))
    X[:, :N_TRUE] += 1.5 * (np.arange(N_TRUE) % 3 == y[:, None])
    return X, y


def fitted(**settings: Any) -> DSOSelector:
    """A fit that may stop early, which is what some pictures are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return DSOSelector(N_TRUE, **settings).fit(*data())


def norms(selector: DSOSelector) -> np.ndarray:
    return np.linalg.norm(selector.coef_, axis=0)


def margin() -> Any:
    """Two features: p = 2 uses both, p = 1 as few as it can."""
    rng = np.random.default_rng(3)
    y = np.repeat([-1, 1], 12)
    X = np.column_stack([rng.normal(scale=0.45, size=24) + 1.6 * y, rng.normal(scale=0.9, size=24) + 0.9 * y])
    figure, axes = panels(2, columns=2, size=(3.3, 3.0))
    for ax, p in zip(axes, (1.99, 1.0), strict=True):
        model = DSOClassifier(p=p, standardize=False, intercept_penalty=0).fit(X, y)
        w, b = model.coef_[0], model.intercept_[0]
        grid = np.linspace(-4, 4, 2)
        for level, line in ((-1, ":"), (0, "-"), (1, ":")):
            if abs(w[1]) > 1e-6:
                ax.plot(grid, (level - b - w[0] * grid) / w[1], line, color="black", linewidth=1)
            else:
                ax.axvline((level - b) / w[0], linestyle=line, color="black", linewidth=1)
        for label, colour in ((-1, BLUE), (1, RED)):
            ax.plot(*X[y == label].T, "o", color=colour, markersize=4)
        ax.set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), xlabel="feature 1", ylabel="feature 2",
               title=f"{'p = 2' if p > 1.9 else 'p = 1'}: w = ({w[0]:.2f}, {w[1]:.2f})")  # fmt: skip
    return figure


def dying() -> Any:
    """Row norms after each step of the loop: most die, one after the other."""
    last = fitted().n_iter_
    steps = np.arange(1, last + 1)
    values = np.array([norms(fitted(max_iter=int(step))) for step in steps])
    figure, (ax,) = panels(1, columns=1, size=(7.2, 2.8))
    ax.plot(steps, values[:, N_TRUE:N_SHOWN], color=GREY, linewidth=0.6)
    ax.plot(steps, values[:, :N_TRUE], color=RED, linewidth=1.4)
    ax.plot([], [], color=RED, label=f"the {N_TRUE} features that\ndepend on the class")
    ax.plot([], [], color=GREY, label=f"{N_SHOWN - N_TRUE} of the 294 others:\n"
            f"{np.count_nonzero(values[0, N_TRUE:N_SHOWN])} have a weight after\nthe first step, "
            f"{np.count_nonzero(values[-1, N_TRUE:N_SHOWN])} in the end")  # fmt: skip
    ax.set(xlabel="step", ylabel="norm of the feature's weights", xlim=(1, last))
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return tidy(figure, ax)


def path() -> Any:
    """The smaller p, the fewer features keep a weight."""
    ps = np.array([1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    values = np.array([norms(fitted(p=float(p))) for p in ps])
    relative = values / values.max(axis=1, keepdims=True)
    figure, (left, right) = panels(2, columns=2, size=(3.6, 2.8))
    left.plot(ps, relative[:, N_TRUE:N_SHOWN], color=GREY, linewidth=0.6)
    left.plot(ps, relative[:, :N_TRUE], color=RED, linewidth=1.4)
    left.set(xlabel="p", ylabel="norm over the largest norm")
    right.plot(ps, np.count_nonzero(values, axis=1), "o-", color=BLUE, markersize=3)
    right.set(xlabel="p", ylabel="features with a weight", ylim=(0, None))
    for ax in (left, right):
        ax.invert_xaxis()
        tidy(figure, ax)
    return figure


def gap() -> Any:
    """The objective falls, the lower bound rises: what lies between them is certified."""
    history = fitted(C=None, p=1.0, tol=1e-8).history_
    steps = np.arange(1, len(history["gap"]) + 1)
    lower = np.maximum.accumulate(history["objective"] * (1 - history["gap"]))
    figure, (left, right) = panels(2, columns=2, size=(3.6, 2.8))
    left.fill_between(steps, lower, history["objective"], color="#f2d7d5")
    left.plot(steps, history["objective"], "o-", color=RED, markersize=3, label="objective")
    left.plot(steps, lower, "o-", color=BLUE, markersize=3, label="lower bound (dual)")
    left.set(xlabel="step")
    left.legend(frameon=False)
    right.semilogy(steps, history["gap"], "o-", color=RED, markersize=3)
    right.axhline(1e-3, color="black", linestyle=":", linewidth=1)
    right.annotate("tol = 0.001", (1, 1e-3), xytext=(1, 1.6e-3))
    right.set(xlabel="step", ylabel="relative duality gap")
    for ax in (left, right):
        tidy(figure, ax)
    return figure


def alternation() -> Any:
    """A minimum in u and in e need not be one in both."""
    figure, (left, right) = panels(2, columns=2, size=(3.6, 2.9))
    u, e = np.meshgrid(np.linspace(-0.4, 2, 200), np.linspace(-0.4, 2, 200))
    left.contour(u, e, 2 * abs(u - e) + abs(u + e - 0.6), levels=14, colors=GREY, linewidths=0.7)
    left.plot([0.1, 1.4, 1.4], [1.4, 1.4, 1.4], "o-", color=BLUE, markersize=4)
    left.annotate("neither u nor e alone\ncan improve on this", (1.4, 1.4), xytext=(0.55, 1.72), color=BLUE)
    left.plot(0.3, 0.3, "*", color=RED, markersize=10)
    left.annotate("optimum", (0.3, 0.3), xytext=(0.42, 0.12), color=RED)
    left.set(xlabel="u", ylabel="e")
    joint, paper = fitted(C=None, p=1.0), fitted(C=None, p=1.0, solver="alternating", max_iter=3000)
    for fit, colour, name in ((paper, BLUE, "the paper's alternation"), (joint, RED, "joint step")):
        objective = fit.history_["objective"]
        right.plot(np.arange(1, len(objective) + 1), objective, color=colour, label=name)
    right.axhline(joint.objective_ * (1 - joint.duality_gap_), color="black", linestyle=":", linewidth=1,
                  label="lower bound")  # fmt: skip
    right.set(xlabel="step", ylabel="objective", xscale="log", ylim=(7.7, 10))
    right.legend(frameon=False)
    return tidy(figure, right)


def tidy(figure: Any, ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return figure


PICTURES = {"margin": margin, "dying": dying, "path": path, "gap": gap, "alternation": alternation}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        with require("matplotlib", extra="plot").rc_context(STABLE):
            write_whole(FOLDER / f"{name}.svg", svg(draw()))
