"""What covariates predict alone and with the chosen features, and whether these tell batches apart."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from dsofs import DSOSelector
from dsofs.report import examine

COLUMNS = {"batch": [20, 21], "age": [22]}
FREE = {column: 0.0 for columns in COLUMNS.values() for column in columns}


def confounded(agreement=0.8, seed=0, m=120):
    """Feature 0 follows the batch, feature 1 the class; batch and class agree so often. Last come batch and age."""
    rng = np.random.default_rng(seed)
    batch = rng.integers(2, size=m)
    y = np.where(rng.random(m) < agreement, batch, 1 - batch)
    X = rng.normal(size=(m, 23))
    X[:, 0] += 5 * batch
    X[:, 1] += 2.5 * y
    X[:, 20], X[:, 21] = batch == 0, batch == 1
    return X, y


def findings(X, y, **settings):
    settings = {"covariates": COLUMNS, "n_resamples": 6, "n_permutations": 0} | settings
    return examine(X, y, DSOSelector(1, penalty_factor=FREE), **settings)


def test_covariates_alone_and_with_the_features():
    found = findings(*confounded())
    assert [feature.index for feature in found.chosen] == [1]
    assert found.chosen[0].frequency == 1  # the batch is adjusted for in every resample
    assert found.n_features == 20
    assert found.covariates.names == ["batch", "age"]
    assert found.covariates.alone.mean == pytest.approx(0.8, abs=0.15)
    assert found.covariates.together.mean > found.covariates.alone.mean
    assert [each.name for each in found.covariates.levels] == ["batch"]  # age is no category
    assert max(found.accuracy.ks) <= 20  # covariates are never counted among the features


def test_a_batch_that_is_not_adjusted_for_is_selected():
    X, y = confounded(agreement=0.97)
    assert DSOSelector(1, exclude=[20, 21, 22]).fit(X, y).get_support()[0]
    assert findings(X, y).chosen[0].index == 1


def test_features_that_tell_batches_apart():
    X, y = confounded(agreement=0.5)
    told = examine(
        X, y, DSOSelector(2, include=[0], penalty_factor=FREE), covariates=COLUMNS, n_resamples=6, n_permutations=0
    ).covariates.levels[0]
    assert told.n_levels == 2
    assert told.balanced.skill > 0.9
    assert findings(X, y).covariates.levels[0].balanced.skill < 0.3


def test_a_selector_that_can_select_covariates_is_refused():
    X, y = confounded()
    with pytest.raises(ValueError, match=r"never select them, .* It can select 'batch', 'age'"):
        examine(X, y, SelectKBest(k=2), covariates=COLUMNS)
    for wrong in ({"a": [23]}, {"a": [1], "b": [1]}):
        with pytest.raises(ValueError, match="The 'covariates' of examine must give each its own columns of X"):
            findings(X, y, covariates=wrong)


def test_images_are_of_features_alone():
    X, y = confounded()
    assert findings(X, y, image_shape=(4, 5)).image.chosen == [1]
