"""What tuning may ask of a method."""

import numpy as np
import pytest

from dsofs import METHODS
from dsofs.experiments import PAPER
from tests.problems import random_data

TUNED = [name for name in METHODS if METHODS[name].grid]


def test_the_paper_tunes_p_and_lambda():
    assert sorted(PAPER.grids["dso"]["p"]) == [0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
    for name in ("rfs", "lasso"):
        np.testing.assert_allclose(METHODS[name].grid["lam"], 10.0 ** np.arange(-3, 4))


@pytest.mark.parametrize("name", TUNED)
def test_every_value_of_a_grid_makes_a_selector_and_some_differ(name):
    X, y = random_data(1, 45, 60, 3)
    ((parameter, values),) = METHODS[name].grid.items()
    rankings = [METHODS[name](10, seed=0, **{parameter: value}).fit(X, y).ranking_ for value in values]
    assert all(sorted(ranking) == list(range(1, 61)) for ranking in rankings)
    assert len({tuple(ranking) for ranking in rankings}) > 1
