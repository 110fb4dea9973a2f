import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from dsofs import METHODS, DSOSelector, ReliefFSelector
from dsofs.examination.examine import examine
from dsofs.examination.findings import Findings
from dsofs.examination.record import Source
from dsofs.examination.resampling import shuffle_labels
from tests.problems import random_data

FEW = {"n_resamples": 4, "n_permutations": 3}


def planted(seed=0, m=80, n=300, informative=4, apart=2.0):
    """Two classes whose means differ in the first features alone."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.normal(size=(m, n))
    X[:, :informative] += apart * y[:, None]
    return X, y


def same(one, other):
    """Findings are equal but for when they were made and how long it took."""
    return all(getattr(one, name) == getattr(other, name) for name in one.__dataclass_fields__ if name != "origin")


def test_planted_features_are_found_stable_and_better_than_chance():
    X, y = planted()
    found = examine(X, y, DSOSelector(4, p=1.0, C=None, ranking="norm"), n_resamples=10, n_permutations=19)
    assert {feature.index for feature in found.chosen} == set(range(4))
    assert all(feature.frequency > 0.8 for feature in found.chosen)
    assert found.accuracy.at_k > 0.95
    assert found.accuracy.chance == 0.5
    assert found.accuracy.one_se_k <= 4
    assert found.stability.at_k > 0.8
    assert found.permutation.p_value == 1 / 20
    assert found.origin.n_resamples == 10
    assert np.trace(found.confusion) / np.sum(found.confusion) == pytest.approx(found.accuracy.at_k)


def test_noise_is_no_better_than_chance():
    """Selecting before splitting would predict noise of 3,000 features almost perfectly."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3000)), np.arange(50) % 2
    found = examine(X, y, DSOSelector(10), n_resamples=10, n_permutations=19)
    assert 0.3 < found.accuracy.at_k < 0.7
    assert found.permutation.p_value > 0.05
    assert found.stability.at_k < 0.3
    assert found.accuracy.all_features < 0.7


def test_wrong_labels_are_suspected():
    X, y = planted(apart=4.0)
    y[[3, 10]] = 1 - y[[3, 10]]
    found = examine(X, y, DSOSelector(4), n_resamples=20, n_permutations=0, sample_names=[f"s{i}" for i in range(80)])
    assert {s.sample for s in found.suspects} == {"s3", "s10"}
    assert all(s.predicted != s.label for s in found.suspects)
    assert found.permutation is None


def test_json_brings_everything_back():
    X, y = random_data(0, 40, 30, 3)
    found = examine(X, y, DSOSelector(5), image_shape=(5, 6), **FEW)
    assert Findings.from_json(found.to_json()) == found
    with pytest.raises(ValueError, match="schema"):
        Findings.from_json('{"schema": 99}')


def test_the_number_of_workers_changes_nothing():
    X, y = random_data(1, 40, 60, 3)
    assert same(*(examine(X, y, DSOSelector(5), n_jobs=n_jobs, **FEW) for n_jobs in (None, 2)))


def test_a_fitted_selector_is_taken_as_it_is():
    X, y = random_data(2, 40, 60, 3)
    fitted = DSOSelector(5).fit(X, y)
    assert same(examine(X, y, DSOSelector(5), **FEW), examine(X, y, fitted, **FEW))
    with pytest.raises(ValueError, match="fitted on 60 features, and X has 50"):
        examine(X[:, :50], y, fitted)


def test_sparse_data_give_the_same_choice():
    X, y = planted()
    X *= np.random.default_rng(0).random(X.shape) < 0.7
    dense, thin = (examine(data, y, DSOSelector(4), **FEW) for data in (X, sparse.csr_matrix(X)))
    assert [f.index for f in dense.chosen] == [f.index for f in thin.chosen]
    assert dense.accuracy.mean == pytest.approx(thin.accuracy.mean, abs=0.05)
    assert dense.heat_map == thin.heat_map


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_examined(method):
    X, y = planted(m=40, n=20)
    try:
        selector = METHODS[method](3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = examine(X, np.array(["no", "yes"])[y], selector, **FEW)
    except ImportError as error:
        pytest.skip(str(error))
    assert len(found.chosen) == 3
    assert [count.name for count in found.classes] == ["no", "yes"]
    assert found.accuracy.at_k > 0.6


@pytest.mark.parametrize("k", [1, 20])
@pytest.mark.parametrize("c", [2, 5])
def test_from_one_feature_to_all(k, c):
    X, y = random_data(3, 50, 20, c)
    found = examine(X, y, DSOSelector(k), **FEW)
    assert len(found.chosen) == k
    assert (found.stability.at_k is None) == (k == 20)
    assert np.isfinite([*found.view.x, *found.view.y]).all()


def test_a_class_of_one_sample_can_only_be_learnt_from():
    X, y = planted(m=41)
    y[0] = 2
    found = examine(X, y, DSOSelector(4), **FEW)
    assert sum(found.confusion[2]) == 0


@pytest.mark.parametrize("rare", [2, 3])
def test_a_rare_class_is_in_every_training_part_of_shuffled_labels_too(rare):
    X, _ = planted(m=40, n=20)
    y = (np.arange(40) < rare).astype(int)
    assert examine(X, y, METHODS["f_test"](3), n_resamples=4, n_permutations=30).permutation.p_value > 0


def test_many_sparse_samples(monkeypatch):
    """Beyond so many samples another classifier is used, which knows no sparse matrices."""
    monkeypatch.setattr("dsofs.statistics.classifier.SVM_SAMPLES", 20)
    X, y = planted(n=30)
    found = examine(sparse.csr_array(X), y, METHODS["f_test"](3), **FEW)
    assert found.accuracy.all_features is not None


def test_categorical_features_by_name():
    X, y = planted(n=4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(a=y)
    found = examine(frame, y, ReliefFSelector(2, categorical_features=["a"]), **FEW)
    assert found.chosen[0].name == "a"


def test_class_weights_go_by_the_names_of_the_classes():
    X, y = planted(m=40, n=20)
    selector = DSOSelector(3, C=1.0, class_weight={"no": 1, "yes": 2})
    assert len(examine(X, np.array(["no", "yes"])[y], selector, **FEW).chosen) == 3


def test_names_and_warnings():
    pd = pytest.importorskip("pandas")
    X, y = random_data(4, 60, 4, 3, informative=2)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    found = examine(
        frame, y, DSOSelector(2, C=None), source=Source("t.csv", "0" * 64, "dsofs", ("two columns",)), **FEW
    )
    assert {f.name for f in found.chosen} <= {"a", "b", "c", "d"}
    assert found.warnings[0] == "two columns"
    assert "cannot be separated" in found.warnings[1]
    assert (found.origin.data, found.origin.sha256, found.origin.command) == ("t.csv", "0" * 64, "dsofs")


def test_pixels_lie_where_the_image_has_them():
    """A bright pixel in row 1, column 2 of 3 x 4 images, stored row by row and column by column."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    images = rng.normal(size=(40, 3, 4))
    images[:, 1, 2] += 20 + 8 * y
    for order, X in (("C", images.reshape(40, -1)), ("F", images.transpose(0, 2, 1).reshape(40, -1))):
        image = examine(X, y, DSOSelector(1), image_shape=(3, 4), image_order=order, **FEW).image
        assert image.chosen == [1 * 4 + 2]
        assert np.argmax(image.mean) == 1 * 4 + 2


def test_shuffling_keeps_groups_exchangeable():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 3)
    whole = np.repeat(np.arange(10) % 2, 3)
    shuffled = shuffle_labels(whole, groups, rng)
    assert (shuffled.reshape(10, 3) == shuffled.reshape(10, 3)[:, :1]).all()
    assert sorted(shuffled) == sorted(whole)
    mixed = np.tile([0, 1, 1], 10)
    again = shuffle_labels(mixed, groups, rng)
    assert (again.reshape(10, 3).sum(axis=1) == 2).all()
    assert (again != mixed).any()


def test_other_names_of_groups_and_of_the_random_state():
    X, y = random_data(5, 40, 12, 2)
    groups = np.repeat(np.arange(20), 2)
    options = {"n_resamples": 3, "n_permutations": 3}

    def measured(**more):
        found = examine(X, y, METHODS["f_test"](3), **options, **more)
        return found.origin.seed, found.confusion, found.permutation

    expected = measured(groups=groups, random_state=1)
    assert measured(sample_groups=groups, random_state=1) == expected
    assert measured(random_state=1) != expected
    with pytest.warns(FutureWarning, match="The 'seed' parameter of examine is now 'random_state'"):
        assert measured(groups=groups, seed=1) == expected


def test_what_is_refused():
    X, y = random_data(5, 30, 12, 2)
    for options, message in (
        ({"feature_names": ["a"]}, "'feature_names' of examine must hold 12 names. Got 1"),
        ({"sample_names": ["a"]}, "'sample_names' of examine must hold 30 names. Got 1"),
        ({"groups": [1, 2]}, "'groups' of examine must hold one label per sample"),
        ({"image_shape": (3, 5)}, "with 12 pixels. Got"),
        ({"image_shape": (3, 4), "image_order": "A"}, "'image_order' of examine must be 'C' or 'F'"),
        ({"n_resamples": 1}, "'n_resamples' of examine must be at least 2"),
        ({"n_permutations": -1}, "'n_permutations' of examine must be at least 0"),
        ({"ks": [0]}, "'ks' of examine must be at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            examine(X, y, DSOSelector(3), **options)


def test_many_samples_are_thinned_in_the_pictures():
    X, y = random_data(6, 1500, 8, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = examine(X, y, METHODS["f_test"](3), n_resamples=2, n_permutations=0)
    assert len(found.view.x) + found.view.n_left_out == 1500
    assert len(found.view.x) <= 1000
    assert sum(found.heat_map.counts) <= 600
    assert min(found.heat_map.counts) > 0


def test_the_accuracy_is_that_of_another_linear_model():
    """Another classifier on the planted features, fitted on half, as an independent judge."""
    X, y = planted(apart=1.0)
    found = examine(X, y, DSOSelector(4), ks=[4], n_resamples=10, n_permutations=0)
    other = LogisticRegression().fit(X[:40, :4], y[:40]).score(X[40:, :4], y[40:])
    assert found.accuracy.at_k <= other + 0.1
    assert found.accuracy.ks == [4]
