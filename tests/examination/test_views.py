import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from dsofs.examination import views
from tests.problems import random_data


@pytest.mark.parametrize("c", [2, 3, 6])
def test_axes_are_those_of_discriminant_analysis(c, monkeypatch):
    monkeypatch.setattr(views, "RIDGE", 0.0)
    X, y = random_data(0, 120, 8, c)
    axes = views.discriminant_axes(X, y)
    oracle = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_
    for column in range(min(c - 1, 2)):
        cosine = axes[:, column] @ oracle[:, column]
        assert abs(cosine) == pytest.approx(np.linalg.norm(axes[:, column]) * np.linalg.norm(oracle[:, column]))


def test_the_second_axis_of_two_classes_is_orthogonal_to_the_first():
    X, y = random_data(1, 60, 5, 2)
    first, second = views.discriminant_axes(X, y).T
    assert first @ second == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("limit", [5, 40, 1000])
def test_thinning_leaves_no_class_out(limit):
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [1, 5, 50, 200]))
    kept = views.thin(codes, limit)
    assert len(np.unique(kept)) == len(kept)
    assert set(codes[kept]) == {0, 1, 2, 3}
    assert (np.diff(codes[kept]) >= 0).all()
    assert len(kept) <= limit + 4  # at least one of each class


def test_constant_columns_have_no_deviation_to_divide_by():
    A = np.column_stack([np.full(5, 3.0), np.arange(5.0)])
    Z = views.standardise(A, A)
    assert (Z[:, 0] == 0).all()
    assert Z[:, 1].std() == pytest.approx(1)
