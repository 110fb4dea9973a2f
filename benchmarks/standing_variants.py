"""Variants of DSO for ``benchmarks.standing``: cost of slack, p, and what ranks the features of one solution.

``dso_cost3`` is DSO with slack at 3 sqrt(c) / p times the cost at which W leaves zero, ``dso_cost3_p1`` with p = 1.
Each gives a method for every ranking, for instance ``cost 3, backward``, from one and the same solution.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from unittest.mock import patch

import numpy as np

from dsofs import DSOSelector
from dsofs.methods.dso import fit
from dsofs.ranking import rank_features
from dsofs.solvers import joint
from dsofs.statistics.samples import Split

COSTS = (100, 30, 10, 5, 3)
OTHER_PS = (1.0, 0.7)
DEFAULT_P = 0.85
RULES = {
    "survival": "survival",
    "forward": "forward",
    "backward": "backward",
    "forward_backward": "forward 6 + backward",
}

Orders = Mapping[str, tuple[np.ndarray, float]]  # method -> features, best first, and seconds


def orders(cost: float, p: float, prefix: str, split: Split, depth: int, seed: int) -> Orders:
    """The features of one solution in the order of every ranking; the seconds are those of solving and ranking."""
    X, y = split.training.X, split.training.y
    clock = time.perf_counter()
    selector = DSOSelector(depth, p=p)
    data = fit.prepare(selector, X, y)
    with patch.object(joint, "AUTO_C", float(cost)):
        problem, solution = fit.solve_dso(selector, data, p, "auto")
    solving = time.perf_counter() - clock
    found = {}
    for rule, name in RULES.items():
        clock = time.perf_counter()
        ranking = rank_features(problem, solution, rule, data.view.kept, data.copies, X.shape[1])[1]
        found[f"{prefix}, {name}"] = np.argsort(ranking)[:depth], solving + time.perf_counter() - clock
    return found


def variants() -> dict[str, tuple[tuple[str, ...], Callable[[Split, int, int], Orders]]]:
    """Contender -> its methods, and what computes them."""
    made = {}
    for p, cost in [(DEFAULT_P, cost) for cost in COSTS] + [(p, cost) for p in OTHER_PS for cost in COSTS]:
        name, prefix = f"dso_cost{cost}", f"cost {cost}"
        if p != DEFAULT_P:
            name, prefix = f"{name}_p{p:g}", f"p {p:g}, {prefix}"
        methods = tuple(f"{prefix}, {name}" for name in RULES.values())
        made[name] = methods, partial(orders, cost, p, prefix)
    return made


VARIANTS = variants()
