"""What is solved and what comes back.

    minimise  penalty(W) + loss(slack)    subject to  Y o (X W) >= 1 - slack    or    X W = Y + slack

``problem`` states it and its solution, ``objective`` holds the formulas of its terms.
"""

from dsofs.problem.objective import Conjugate, Hinge, Loss, Penalty, Squared, SquaredHinge
from dsofs.problem.problem import ALIVE, SUPPORT, History, Problem, Solution, Status, Survival, Terms

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
