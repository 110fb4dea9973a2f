"""abess: the best subset of 100 features for multinomial regression, by splicing."""

import os

import numpy as np

TASK = "100 features"
NAME = "abess multinomial"
REQUIREMENTS = ("abess==0.4.11",)


def prepare(X, y):
    from abess import MultinomialRegression

    k = min(100, X.shape[1], len(X) - 1)  # so many columns span all that centred samples can
    return lambda: MultinomialRegression(support_size=k, thread=os.cpu_count()).fit(X, y)


def describe(model):
    return {"features": int(np.any(model.coef_, axis=1).sum())}
