import numpy as np
import pytest

from dsofs.report.svg import Scale


@pytest.mark.parametrize("seed", range(20))
def test_ticks_are_few_even_and_inside(seed):
    rng = np.random.default_rng(seed)
    low = float(rng.normal() * 10.0 ** rng.integers(-6, 6))
    scale = Scale(low, low + float(10.0 ** rng.uniform(-3, 6)), 0, 100)
    ticks = np.array(scale.ticks())
    assert 2 <= len(ticks) <= 8
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])
    assert all(-1e-6 <= scale(tick) <= 100 + 1e-6 for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(1, 50), (1, 2), (1, 1000), (1e-5, 3.0), (1e-12, 1.0)])
def test_logarithmic_ticks(low, high):
    ticks = Scale(low, high, 0, 100, log=True).ticks()
    assert 2 <= len(ticks) <= 12
    assert all(low * 0.99 <= tick <= high * 1.01 for tick in ticks)


def test_a_scale_without_length():
    assert Scale(3, 3, 0, 100)(3) == 50
    assert Scale(3, 3, 0, 100).ticks() == [3]
