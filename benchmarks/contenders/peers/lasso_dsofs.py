"""The Lasso here: coordinate descent on working sets, and Newton's method where that is slow."""

from dsofs import LassoSelector

TASK = "Lasso, one-versus-rest"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: LassoSelector().fit(X, y)
