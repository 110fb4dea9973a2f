"""What is solved and what comes back.

    minimise  penalty(W) + loss(slack)    subject to  Y o (X W) >= 1 - slack    or    X W = Y + slack

``problem`` states it, ``penalties`` and ``losses`` hold the formulas of its terms, ``solution`` what comes back.
"""

from dsofs.problem.losses import Hinge, Loss, Squared, SquaredHinge
from dsofs.problem.penalties import Conjugate, Penalty
from dsofs.problem.problem import SUPPORT, Problem, Terms
from dsofs.problem.solution import ALIVE, History, Solution, Status, Survival

__all__ = [
    "ALIVE",
    "SUPPORT",
    "Conjugate",
    "Hinge",
    "History",
    "Loss",
    "Penalty",
    "Problem",
    "Solution",
    "Squared",
    "SquaredHinge",
    "Status",
    "Survival",
    "Terms",
]
