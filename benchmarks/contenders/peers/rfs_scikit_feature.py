"""scikit-feature's RFS, in its packaged fork: inverts a matrix of features plus samples in each step.

Stops when the objective falls by less than 1e-3.
"""

TASK = "RFS, lam = 1"
NAME = "scikit-feature"
REQUIREMENTS = ("skfeature-chappers==1.2.1",)


def prepare(X, y):
    from skfeature.function.sparse_learning_based.RFS import rfs

    return lambda: rfs(X, y, mode="raw", gamma=1.0)
