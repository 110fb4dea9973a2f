"""The formulas of penalties and losses, against derivatives and the inequality of Fenchel and Young."""

import numpy as np
import pytest

from dsofs.problem import Conjugate, Hinge, Penalty, Squared, SquaredHinge

rng = np.random.default_rng(0)
NORMS, C = rng.uniform(0.1, 3, 20), rng.uniform(0.5, 2, 20)


def slope(function, x, step=1e-6):
    return (function(x + step) - function(x - step)) / (2 * step)


@pytest.mark.parametrize("p", [0.3, 1.0, 1.5, 2.0, rng.uniform(0.3, 2, 20)], ids=["0.3", "1", "1.5", "2", "mixed"])
def test_the_square_bounds_the_penalty_and_touches_it(p):
    penalty = Penalty(p)
    d = penalty.weights(NORMS)

    def excess(norms):
        return 0.5 * np.sum((norms**2 - NORMS**2) / d) - penalty.value(norms) + penalty.value(NORMS)

    assert excess(NORMS) == 0
    assert all(excess(rng.uniform(0, 5, 20)) >= -1e-9 for _ in range(20))


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
def test_the_conjugate_of_the_penalty(p):
    """value(n) + conjugate(g) >= n'g, with equality at g = n^(p-1)."""
    penalty = Penalty(p)

    def gap(g):
        (conjugate,) = penalty.conjugates(g)
        return penalty.value(NORMS) + conjugate.at(1.0) - NORMS @ g

    assert gap(NORMS ** (p - 1)) == pytest.approx(0, abs=1e-9)
    assert all(gap(rng.uniform(0, 5, 20)) >= 0 for _ in range(20))


def test_at_p_1_the_conjugate_is_a_constraint():
    assert Penalty(1.0).conjugates(NORMS) == []
    assert Penalty(1.0).largest_multiple(NORMS) == 1 / NORMS.max()
    assert Penalty(1.5).largest_multiple(NORMS) == np.inf


def test_a_conjugate_of_a_large_power_does_not_overflow():
    assert np.isfinite(Conjugate.of(np.array([1e3, 1.0]), 1.001).at(1e-3))


@pytest.mark.parametrize("kind", [SquaredHinge, Squared])
def test_multipliers_are_the_slope_of_the_cost(kind):
    loss, t = kind(1 / C), rng.uniform(-1, 3, 20)
    for i in range(20):

        def cost(x, i=i):
            return loss.cost(loss.multipliers(np.where(np.arange(20) == i, x, t)))

        assert slope(cost, t[i]) == pytest.approx(-loss.multipliers(t)[i], abs=1e-6)
    np.testing.assert_array_equal(loss.free(t), loss.multipliers(t) != 0)
    (conjugate,) = loss.conjugates(NORMS)
    assert conjugate.at(1.0) == pytest.approx(0.5 * np.sum(NORMS**2 / C))


def test_plain_slack_costs_nothing_in_the_dual_up_to_its_bound():
    loss = Hinge(C)
    assert loss.cost(C, np.full(20, 0.25)) == pytest.approx(0.75 * C.sum())
    assert loss.conjugates(NORMS) == []
    largest = loss.largest_multiple(NORMS)
    assert (largest * NORMS <= C * (1 + 1e-12)).all()
    assert np.isclose(largest * NORMS, C).any()
