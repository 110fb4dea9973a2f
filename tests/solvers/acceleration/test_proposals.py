"""Below p = 1 no single row can be set to zero, all else being equal, for a lower objective."""

import numpy as np
import pytest

from dsofs import DSOClassifier
from tests.problems import label_columns, random_data, standardised


def fit_and_objective(seed):
    """A converged fit, its weights with the bias as last row, and the objective of other weights, by definition."""
    rng = np.random.default_rng(seed)
    m, n, c = int(rng.integers(8, 50)), int(rng.integers(5, 120)), int(rng.integers(2, 5))
    X, y = random_data(seed, m, n, c)
    C = None if seed % 2 else float(10.0 ** rng.uniform(-0.5, 2))
    fit = DSOClassifier(p=[0.1, 0.3, 0.5, 0.7][seed % 4], C=C).fit(X, y)
    Z, Y = np.column_stack([standardised(X), np.ones(m)]), label_columns(y)

    def objective(W):
        margins = Y * (Z @ W)
        if C is None:
            if margins.min() <= 0:
                return np.inf
            W, margins = W / margins.min(), np.maximum(margins, 1.0)
        norms = np.linalg.norm(W, axis=1)
        norms[norms < 1e-12 * norms.max()] = 0.0
        return np.sum(norms**fit.p) + (0 if C is None else fit.p * C / 2 * np.sum(np.maximum(1 - margins, 0) ** 2))

    W = np.vstack([(fit.coef_ * X.std(axis=0)).T, fit.intercept_ + fit.coef_ @ X.mean(axis=0)])
    return fit, W, objective


@pytest.mark.filterwarnings("ignore:.*(W = 0 is the best|margins cannot be met|cannot be separated)")
@pytest.mark.parametrize("batch", range(4))
def test_no_row_can_be_set_to_zero_for_a_lower_objective(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        fit, W, objective = fit_and_objective(seed)
        if fit.status_ not in ("converged", "zero"):
            continue
        reached = fit.objective_
        assert reached == pytest.approx(objective(W) if W.any() else reached, rel=1e-6), seed
        for row in np.flatnonzero(W.any(axis=1)):
            fewer = W.copy()
            fewer[row] = 0.0
            assert objective(fewer) >= reached * (1 - 1e-5), (seed, row)


@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize("negated", [False, True])
def test_one_feature_ten_times_costs_as_much_as_once(p, negated):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x, others = rng.normal(size=(40, 1)) / 3 + 2 * y[:, None], rng.normal(size=(40, 5))
    copies = np.repeat(x, 10, axis=1) * (np.where(np.arange(10) % 2, -1, 1) if negated else 1)
    once, often = (DSOClassifier(p=p).fit(np.hstack([x_, others]), y) for x_ in (x, copies))
    assert often.objective_ == pytest.approx(once.objective_, rel=1e-9)
    assert np.count_nonzero(often.coef_) == np.count_nonzero(once.coef_)
