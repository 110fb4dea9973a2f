"""Whatever is wrong with the parameters is refused in one error, before X is read."""

import numpy as np
import pandas as pd
import pytest

from dsofs import (
    DSOClassifier,
    DSOSelector,
    DSOSelectorCV,
    LassoSelector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
)
from dsofs.methods.dso.fit import CONSTRAINTS, LOSSES
from dsofs.solvers import SOLVERS, SUPPORTS
from tests.problems import random_data

Y = np.arange(20) % 2


class Unreadable:
    """Knows its shape, and fails the test if it is read."""

    shape = (20, 30)
    ndim = 2

    def __array__(self, *args, **kwargs):
        pytest.fail("X was read before the parameters were refused")

    def __len__(self):
        return 20


@pytest.mark.parametrize(
    ("estimator", "sentences"),
    [
        (DSOSelector(p=3, tol=-1), ["The 'p' parameter", "The 'tol' parameter"]),
        (
            DSOSelector(constraint="equality", loss="hinge", feature_groups=[1, 2], class_weight={0: -1.0, 1: 1.0}),
            [
                "The 'loss' parameter of DSOSelector must be 'squared_hinge' with constraint='equality'.",
                "The 'feature_groups' parameter of DSOSelector must hold one label per feature (30). Got shape (2,)",
                "The 'class_weight' parameter must give positive weights.",
            ],
        ),
        (
            DSOClassifier(solver="alternating", C=1.0, class_weight={"a": 1.0}),
            [
                "The 'C' parameter must be None with solver='alternating': the paper's algorithm has no slack.",
                "The 'class_weight' parameter of DSOClassifier must name classes of y. Got ['a'] as well.",
            ],
        ),
        (
            DSOSelectorCV(ps=(1.0, 5.0), Cs=("auto", 2.0), ks=(), cv=1, solver="alternating", scoring="luck"),
            [
                "The 'Cs' parameter must hold no number with solver='alternating'",
                "Each entry of the 'ps' parameter of DSOSelectorCV must be a float in the range (0, 2). Got 5.0",
                "The 'ks' parameter of DSOSelectorCV must not be empty.",
                "The 'cv' parameter of DSOSelectorCV must be at least 2. Got 1 instead.",
                "The 'estimator' of DSOSelectorCV cannot be scored by its 'scoring' parameter.",
            ],
        ),
        (
            LassoSelector(lam=-1.0, multi_task=True, solver="celer"),
            ["The 'lam' parameter", "solver='celer' has no multi-task form here"],
        ),
        (RFSSelector(q=3.0, task="ranking"), ["The 'q' parameter", "The 'task' parameter"]),
        (MRMRSelector(0, n_bins=1), ["The 'n_bins' parameter", "The 'n_features_to_select' parameter"]),
        (
            ReliefFSelector(n_neighbors=0, categorical_features=[30]),
            ["The 'n_neighbors' parameter", "The 'categorical_features' parameter of ReliefFSelector must be a mask"],
        ),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_all_that_is_wrong_in_one_error(estimator, sentences):
    with pytest.raises(ValueError, match=f"^{len(sentences)} things are wrong with the parameters of ") as refused:
        estimator.fit(Unreadable(), Y)
    listed = str(refused.value).split("\n- ")[1:]
    assert len(listed) == len(sentences)
    for sentence, start in zip(listed, sentences, strict=True):
        assert sentence.startswith(start)


def test_settings_of_a_path_are_refused_first():
    with pytest.raises(ValueError, match="The 'lam' parameter"):
        LassoSelector().fit_each(Unreadable(), Y, [{"lam": 1.0}, {"lam": -1.0}])
    with pytest.raises(ValueError, match="The 'lams' of LassoSelector must be a list of positive numbers"):
        LassoSelector().path(Unreadable(), Y, lams=[0.0])


@pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")
@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # Algorithm 1 stops early
@pytest.mark.parametrize("C", [None, "auto", 1.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_solver_supports_is_what_it_does(solver, constraint, loss, C):
    """Every combination either is refused, as the solver declares, or solved."""
    X, y = random_data(0, 20, 30, 2)
    supports, selector = SUPPORTS[solver], DSOSelector(solver=solver, constraint=constraint, loss=loss, C=C, p=1.0)
    if loss not in supports.losses[constraint] or (C == 1.0 and supports.no_slack):
        with pytest.raises(ValueError, match="parameter"):
            selector.fit(X, y)
    else:
        assert selector.fit(X, y).status_ == "converged" or solver == "alternating"
        assert np.isfinite(selector.objective_)


def test_a_class_may_have_a_weight_and_no_sample_if_all_others_have_one():
    X, y = random_data(0, 20, 30, 2)
    fit = DSOSelector(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, y)
    np.testing.assert_array_equal(fit.ranking_, DSOSelector(class_weight={0: 1.0, 1: 2.0}).fit(X, y).ranking_)


def test_lists_and_names_of_columns():
    X, y = random_data(0, 20, 30, 2)
    with pytest.raises(ValueError, match=r"one label per feature \(30\)"):
        DSOSelector(feature_groups=[1]).fit(X.tolist(), y)
    frame = pd.DataFrame(np.round(X), columns=[f"gene {i}" for i in range(30)])
    assert ReliefFSelector(categorical_features=["gene 3"]).fit(frame, y).n_features_in_ == 30
    with pytest.raises(ValueError, match=r"names of columns of X. Got \['gene 99'\]"):
        ReliefFSelector(categorical_features=["gene 99"]).fit(frame, y)
