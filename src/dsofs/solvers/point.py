"""A ``Point``: what one inner step hands to the outer loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dsofs.arrays.design import Design
from dsofs.arrays.linalg import Factor
from dsofs.arrays.types import Floats, Ints
from dsofs.problem import Problem


@dataclass
class Point:
    """W on the active rows, and the multipliers that go with it.

    For the joint steps W = diag(d) G with G = X'B; the paper's alternation fills in the same fields. ``factors`` are
    let go as soon as the next weights are proposed, since together they can be larger than K.
    """

    weights: Floats  # d, one per group; 0 for a group that has left
    rows: Ints  # rows of W whose group is active
    X: Design  # their columns
    W: Floats
    B: Floats  # multipliers with the sign of Y: B = Y o A
    G: Floats  # X'B on the active rows
    norms: Floats  # ||W_g|| of every group
    objective: float  # (1/p) sum ||W_g||^p + price of slack
    factors: list[Factor] | None = None  # of each class's passive part, for Newton's step


class Step(Protocol):
    """An inner step: minimise 1/2 sum ||w_i||^2 / d_i under the variant's constraints.

    Returns None if it cannot be done with these weights (too few rows are left to separate the classes).
    """

    def __call__(self, problem: Problem, weights: Floats, previous: Point | None) -> Point | None: ...


def active_columns(problem: Problem, weights: Floats, previous: Point | None) -> tuple[Ints, Design]:
    """The active rows and their columns of X, from the previous point where it has them all: those are at hand."""
    rows = np.flatnonzero(problem.expand(weights))
    if previous is not None and len(rows) <= len(previous.rows):
        place = np.searchsorted(previous.rows, rows)
        if place[-1] < len(previous.rows) and np.array_equal(previous.rows[place], rows):
            return rows, previous.X.take(place)
    return rows, problem.X.take(rows)


def penalty(problem: Problem, norms: Floats) -> float:
    """(1/p) sum_g ||W_g||^p."""
    return float(np.sum(norms**problem.p)) / problem.p


def slack_price(problem: Problem, B: Floats) -> float:
    """1/2 sum xi^2 / slack, where xi = slack * B at the inner optimum."""
    return 0.0 if problem.slack is None else 0.5 * float(np.sum(problem.slack * B**2))
