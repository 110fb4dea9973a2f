"""The multi-task Lasso here."""

from dsofs import LassoSelector

TASK = "Lasso, multi-task"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: LassoSelector(multi_task=True).fit(X, y)
