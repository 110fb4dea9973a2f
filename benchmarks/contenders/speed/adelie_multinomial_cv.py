"""adelie's multinomial regression, a group per feature: the penalty tuned by 5 folds, 100 values, and fitted again."""

import os

import numpy as np

TASK = "a row-sparse model, tuned"
NAME = "adelie, tuned"
REQUIREMENTS = ("adelie==1.1.52",)


def prepare(X, y):
    import adelie

    Y, Z = np.eye(len(np.unique(y)))[y], np.asfortranarray(X)
    threads = os.cpu_count()

    def job():
        glm = adelie.glm.multinomial(Y)
        search = adelie.cv_grpnet(Z, glm, n_folds=5, seed=0, n_threads=threads, progress_bar=False)
        return search.fit(Z, glm, n_threads=threads, progress_bar=False)

    return job


def describe(path):
    classes = path.intercepts.shape[1]
    return {"features": int(np.any(path.betas[-1].toarray().reshape(-1, classes), axis=1).sum())}
