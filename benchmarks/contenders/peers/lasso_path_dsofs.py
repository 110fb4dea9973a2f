"""A path of 100 values of lam here, with celer (the extra ``fast``)."""

from dsofs import LassoSelector

TASK = "Lasso path, 100 lams, one class"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: LassoSelector(solver="celer").path(X, y == 0)
