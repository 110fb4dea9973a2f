"""cv_results_: scikit-learn's keys, and for a version those of before."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from dsofs import DSOSelectorCV
from dsofs.methods.dso.search_results import SearchResults
from tests.problems import random_data

SETTINGS = [(None, 1.0, 2), ("auto", 1.0, 5), (0.5, 0.5, 5)]
SCORES = np.array([[0.5, 0.7], [0.9, 0.7], [0.8, 0.8]])


def test_the_keys_are_those_of_a_grid_search():
    X, y = random_data(0, 20, 30, 2)
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2).fit(X, y).cv_results_
    ours = DSOSelectorCV(ps=(0.5, 1.0), cv=2).fit(X, y).cv_results_
    shared = {key for key in grid if not key.endswith("_time") and not key.startswith("param_")}
    assert set(ours) == shared | {"param_p", "param_C", "param_k"}
    assert {len(values) for values in ours.values()} == {2}


def test_what_the_keys_hold():
    results = SearchResults.of(SETTINGS, SCORES)
    frame = pd.DataFrame(results)
    assert list(frame["param_C"]) == [None, "auto", 0.5]
    assert list(frame["params"]) == [{"p": p, "C": C, "k": k} for C, p, k in SETTINGS]
    np.testing.assert_allclose(frame["mean_test_score"], [0.6, 0.8, 0.8])
    assert list(results["rank_test_score"]) == [3, 1, 1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(results)).split_scores, SCORES)


@pytest.mark.parametrize(("old", "new"), [("p", "param_p"), ("C", "param_C"), ("k", "param_k")])
def test_old_keys_warn(old, new):
    results = SearchResults.of(SETTINGS, SCORES)
    with pytest.warns(FutureWarning, match=f"The key '{old}' of cv_results_ is deprecated.*Use {new} instead"):
        np.testing.assert_array_equal(results[old], results[new])
    assert old not in results


def test_the_old_table_of_splits_warns():
    with pytest.warns(FutureWarning, match=r"'split_test_scores'.*Use split0_test_score, split1_test_score, \.\.\."):
        np.testing.assert_array_equal(SearchResults.of(SETTINGS, SCORES)["split_test_scores"], SCORES)


def test_an_unknown_key_is_an_error():
    with pytest.raises(KeyError, match="nothing"):
        SearchResults.of(SETTINGS, SCORES)["nothing"]
