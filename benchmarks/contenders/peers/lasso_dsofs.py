"""The Lasso here, with the solver of scikit-learn."""

from dsofs import LassoSelector

TASK = "Lasso, one-versus-rest"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: LassoSelector(solver="sklearn").fit(X, y)
