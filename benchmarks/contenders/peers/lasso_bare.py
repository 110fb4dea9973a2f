"""The solver by itself: scikit-learn's Lasso for each class, on standardised data and with lam known."""

import numpy as np
from sklearn.linear_model import Lasso

TASK = "Lasso, one-versus-rest"
NAME = "bare solver"
REQUIREMENTS = ()


def prepare(X, y):
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    alpha = 0.1 * np.abs(X.T @ (Y - Y.mean(axis=0))).max() / len(y)
    return lambda: [Lasso(alpha).fit(X, column) for column in Y.T]
