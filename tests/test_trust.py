"""Whatever is called converged passes an independent check, on unscaled data."""

import numpy as np
import pytest

from dsofs import DSOClassifier
from tests.problems import random_data

POWERS = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.3]


def random_fit(seed):
    """A problem of random shape, units and parameters."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 60))
    n, c = int(rng.integers(m + 5, 220)), int(rng.integers(2, min(6, m // 2) + 1))
    X, y = random_data(seed, m, n, c, correlated=bool(seed % 3 == 0))
    X = X * 10.0 ** rng.uniform(-4, 4, n) + 10.0 ** rng.uniform(-2, 2, n)
    options = {
        "p": POWERS[seed % len(POWERS)],
        "constraint": "equality" if seed % 5 == 0 else "margin",
        "feature_groups": np.arange(n) // 3 if seed % 4 == 0 else None,
    }
    return X, y, DSOClassifier(**options).fit(X, y)


@pytest.mark.parametrize("batch", range(10))
def test_corpus(batch):
    for seed in range(30 * batch, 30 * batch + 30):
        X, y, fit = random_fit(seed)
        Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)
        Y = Y[:, 1:] if len(fit.classes_) == 2 else Y
        margins = Y * (X @ fit.coef_.T + fit.intercept_)
        assert fit.status_ == "converged", seed
        assert margins.min() >= 1 - 1e-6, seed
        if fit.constraint == "equality":
            assert margins.max() <= 1 + 1e-6, seed
        certificate = fit.duality_gap_ if fit.p >= 1 else fit.stationarity_
        assert 0 <= certificate <= fit.tol, seed
        assert np.isfinite(fit.objective_), seed
