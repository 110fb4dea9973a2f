"""How many resamples and labellings fit into the time; the clock is given, so that nothing depends on the machine."""

import numpy as np
import pytest

from dsofs import METHODS
from dsofs.examination.examine import examine
from dsofs.examination.findings import Plan
from dsofs.examination.resampling import PREFERRED, Costs, make_plan
from tests.problems import random_data


@pytest.mark.parametrize(
    ("resample", "labelling", "numbers"),
    [
        (0.0, 0.0, (20, 99)),
        (0.1, 0.1, (20, 99)),  # 11.9 s: a fifth of a minute is 12
        (0.17, 0.17, (20, 49)),
        (0.3, 0.3, (20, 19)),
        (0.1, 2.9, (20, 19)),
        (2.0, 2.0, (10, 19)),
        (2.0, 9.0, (20, 0)),
        (5.0, 9.0, (10, 0)),
        (99.0, 99.0, (5, 0)),  # the least, whatever it takes
    ],
)
def test_the_most_that_the_time_allows(resample, labelling, numbers):
    costs = Costs(resample, labelling)
    plan = make_plan(costs, None, None, 60.0)
    assert (plan.n_resamples, plan.n_permutations) == numbers
    assert plan.seconds == pytest.approx(numbers[0] * resample + numbers[1] * labelling)
    assert make_plan(costs, None, None, None) == Plan(*PREFERRED[0], costs.seconds(*PREFERRED[0]), None)


def test_numbers_that_are_given_stay():
    slow = Costs(100.0, 100.0)
    assert make_plan(slow, 30, 1000, 1.0) == Plan(30, 1000, 103_000.0, None)
    assert make_plan(slow, None, 7, 1.0) == Plan(5, 7, 1200.0, 1.0)
    assert make_plan(slow, 30, None, 1.0) == Plan(30, 0, 3000.0, 1.0)
    assert make_plan(Costs(0.01, 1.0), None, 200, 210.0).n_resamples == 20


def test_a_slow_selection_makes_shuffled_labels_costly():
    """Half a second of it is taken for the loading of libraries."""
    X, y = random_data(0, 40, 12, 2)
    found = examine(X, y, METHODS["f_test"](3), n_resamples=3, n_permutations=0)
    assert found.origin.plan.n_resamples == 3
    runs = [type("Run", (), {"seconds": seconds}) for seconds in (9.0, 1.0, 1.0)]
    assert Costs.of(runs, 2, 0.3, 1) == Costs(1.0, 2.0)
    assert Costs.of(runs, 2, 10.5, 1) == Costs(1.0, 12.0)
    assert Costs.of(runs, 2, 10.5, 4) == Costs(0.25, 3.0)


def test_examine_measures_what_the_plan_says():
    X, y = random_data(0, 40, 12, 2)
    plans = []
    chosen = examine(X, y, METHODS["f_test"](3), time_limit=1e-9, on_plan=plans.append)
    assert [(plan.n_resamples, plan.n_permutations) for plan in plans] == [(5, 0)]
    assert chosen.origin.plan == plans[0]
    assert chosen.permutation is None
    given = examine(X, y, METHODS["f_test"](3), n_resamples=5, n_permutations=0)
    assert given.origin.plan.time_limit is None
    for name in ("accuracy", "stability", "confusion", "suspects", "chosen"):
        assert getattr(chosen, name) == getattr(given, name)
    assert np.isfinite(plans[0].seconds)
    with pytest.raises(ValueError, match="'time_limit' of examine must be at least 0 or None"):
        examine(X, y, METHODS["f_test"](3), time_limit=-1)
