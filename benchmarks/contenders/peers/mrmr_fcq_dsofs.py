"""mRMR here, by F-statistic and correlation."""

from dsofs import MRMRSelector

TASK = "mRMR by F-test and correlation (FCQ), k = 25"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: MRMRSelector(25, scheme="FCQ").fit(X, y)
