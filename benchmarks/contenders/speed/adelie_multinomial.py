"""adelie's multinomial regression, a group per feature: a path of up to 100 penalties, on all cores."""

import os

import numpy as np

TASK = "a row-sparse model, a path"
NAME = "adelie path"
REQUIREMENTS = ("adelie==1.1.52",)


def prepare(X, y):
    import adelie
    from scipy.sparse import csc_matrix

    Y = np.eye(len(np.unique(y)))[y]
    Z = np.asfortranarray(X) if isinstance(X, np.ndarray) else adelie.matrix.sparse(csc_matrix(X))
    settings = {"n_threads": os.cpu_count(), "progress_bar": False}
    return lambda: adelie.grpnet(Z, adelie.glm.multinomial(Y), **settings)


def describe(path):
    classes = path.intercepts.shape[1]
    return {"features": int(np.any(path.betas[-1].toarray().reshape(-1, classes), axis=1).sum())}
