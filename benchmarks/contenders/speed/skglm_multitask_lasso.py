"""skglm's row-sparse least squares: one fit, at 0.1 of the alpha that gives zero; the first fit compiles."""

import numpy as np

TASK = "a row-sparse model, one setting"
NAME = "skglm MultiTaskLasso"
REQUIREMENTS = ("skglm==0.5",)


def prepare(X, y):
    from skglm import MultiTaskLasso

    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    alpha = 0.1 * np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max() / len(y)
    return lambda: MultiTaskLasso(alpha, tol=1e-4).fit(X, Y)


def describe(model):
    return {"features": int(np.any(model.coef_, axis=0).sum())}
