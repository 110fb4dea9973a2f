"""Mistakes that other packages make (their numbers in PEERS.md): each test fails on that behaviour."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from dsofs import DSOSelector, LassoSelector, MRMRSelector, ReliefFSelector, RFSSelector
from dsofs.design.budget import Team
from dsofs.methods import mrmr
from dsofs.methods.relieff import selector as relief
from dsofs.methods.relieff.differences import Differences
from tests.problems import random_data


@pytest.mark.parametrize("Selector", [DSOSelector, LassoSelector, MRMRSelector, ReliefFSelector, RFSSelector])
def test_1_the_ranking_is_the_inverse_permutation_of_the_order(Selector):
    X, y = random_data(0, 40, 50, 3)
    fit = Selector(5).fit(X, y)
    order = np.argsort(-fit.scores_, kind="stable")
    np.testing.assert_array_equal(fit.ranking_[order], np.arange(1, 51))
    assert not np.array_equal(fit.ranking_, order + 1)


def test_2_redundancy_weighs_one_over_the_number_of_features_chosen():
    codes, y = np.random.default_rng(0).integers(0, 3, (60, 20)), np.arange(60) % 3
    fit = MRMRSelector(6, discretize=None).fit(codes, y)
    order = np.argsort(fit.ranking_)[:6]
    for size, feature in enumerate(order[1:], 1):
        redundancy = [mutual_info_score(codes[:, feature], codes[:, other]) for other in order[:size]]
        expected = mutual_info_score(codes[:, feature], y) - sum(redundancy) / size
        assert fit.criterion_[feature] == pytest.approx(expected, abs=1e-12)


def test_2_each_step_of_mrmr_weighs_only_the_feature_chosen_last(monkeypatch):
    """Work is O(n k): one row of redundancies per feature chosen, and nothing conditional."""
    asked = []
    redundancy = mrmr.MutualInformation.redundancy
    monkeypatch.setattr(mrmr.MutualInformation, "redundancy", lambda self, j: asked.append(j) or redundancy(self, j))
    fit = MRMRSelector(6).fit(*random_data(0, 40, 100, 3))
    assert asked == list(np.argsort(fit.ranking_)[:5])


def test_2_continuous_input_is_never_taken_as_codes():
    X, y = random_data(0, 30, 20, 2)
    for given in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"discretize=None reads X as codes, and column 0 holds .*whole numbers"):
            MRMRSelector(5, discretize=None).fit(given, y)


def test_3_class_priors_of_relieff_are_not_inverted():
    """Misses of a class count P(C) / (1 - P(own)): the frequent one of the others counts more."""
    codes = np.array([0, 0, 1, 1, 1, 1, 1, 1, 2, 2])
    pairs = relief.Pairs(np.zeros(3, dtype=int), np.array([1, 2, 8]), np.zeros(3), 1)
    np.testing.assert_allclose(relief.class_weights(pairs, codes), [-1, 0.6 / 0.8, 0.2 / 0.8])


def test_3_differences_of_relieff_are_scaled_by_the_range():
    X, y = random_data(0, 60, 30, 3)
    plain = ReliefFSelector().fit(X, y)
    units = ReliefFSelector().fit(X * 2.0 ** np.arange(-15, 15) + 3, y)
    np.testing.assert_allclose(units.scores_, plain.scores_, atol=1e-9)
    assert np.abs(plain.scores_).max() <= 1


def test_3_fewer_than_k_neighbours_are_averaged_over_their_own_number():
    """By hand: every sample has one hit, 0.1 away, and two misses, 0.9 away on average."""
    fit = ReliefFSelector(1, n_neighbors=5).fit([[0.0], [0.1], [1.0], [0.9]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(fit.scores_, [0.9 - 0.1])


def test_3_a_sample_is_never_its_own_hit():
    X, y = random_data(2, 40, 20, 2)
    for copies in (1, 2):  # a copy is another sample, and a hit at distance 0
        Z, z = np.repeat(X, copies, axis=0), np.repeat(y, copies)
        pairs = relief.nearest(Differences(Z, np.zeros(20, dtype=bool), z, Team(1)), np.arange(len(z)), z, 3)
        assert (pairs.sample != pairs.neighbour).all()
        assert (pairs.distance == 0).sum() == (len(z) if copies == 2 else 0)


def test_4_more_than_ten_classes_are_classes():
    """The names of classes, and so their order as numbers, do not matter."""
    X, y = random_data(3, 90, 30, 15)
    renamed = np.random.default_rng(0).permutation(15)[y]
    model = ReliefFSelector(n_neighbors=3)
    np.testing.assert_allclose(model.fit(X, y).scores_, model.fit(X, renamed).scores_, atol=1e-12)
    with pytest.raises(ValueError, match="continuous"):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize("Selector", [DSOSelector, LassoSelector, MRMRSelector, ReliefFSelector, RFSSelector])
def test_4_labels_may_be_text(Selector):
    X, y = random_data(4, 40, 50, 3)
    names = np.array(["a", "b", "c"], dtype=object)
    np.testing.assert_array_equal(Selector(5).fit(X, names[y]).ranking_, Selector(5).fit(X, y).ranking_)


def test_5_rfs_needs_no_matrix_of_features_by_features():
    X, y = random_data(7, 30, 20_000, 2)
    tracemalloc.start()
    try:
        RFSSelector().fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.05 * 8 * 20_000**2


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_5_rfs_stops_by_a_tolerance_that_knows_no_units(factor):
    X, _ = random_data(8, 40, 80, 2)
    target = X[:, :3].sum(axis=1) + np.random.default_rng(0).normal(size=40)
    model = RFSSelector(task="regression")
    plain = model.fit(X, target)
    coef, steps, gap = plain.coef_, plain.n_iter_, plain.duality_gap_
    scaled = model.fit(X, factor * target)
    assert (scaled.n_iter_, scaled.status_) == (steps, "converged")
    assert scaled.duality_gap_ == pytest.approx(gap, rel=1e-3)
    np.testing.assert_allclose(scaled.coef_ / factor, coef, atol=1e-9)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_6_weights_leave_zero_below_p_1(p):
    X, y = random_data(5, 30, 60, 2)
    fit = DSOSelector(p=p, C=None).fit(X, y)
    assert fit.coef_.any()
    assert (np.where(y == fit.classes_[1], 1, -1) * (X @ fit.coef_[0] + fit.intercept_[0])).min() >= 1 - 1e-6


def test_7_importing_every_module_leaves_the_warning_filters_alone():
    code = """
import warnings
from importlib import import_module
from pkgutil import walk_packages
import sklearn.svm, sklearn.utils.parallel, scipy.sparse
before = list(warnings.filters)
import dsofs
for module in walk_packages(dsofs.__path__, "dsofs."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
print(before == warnings.filters)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_7_mrmr_needs_no_matrix_of_features_by_features():
    X, y = random_data(6, 30, 20_000, 2)
    tracemalloc.start()
    try:
        MRMRSelector(5).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.05 * 8 * 20_000**2
