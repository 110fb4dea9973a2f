"""X of other array libraries: estimators work where X is, with scikit-learn's dispatch, and say what to do without."""

import array_api_strict
import numpy as np
import pytest
from sklearn import config_context
from sklearn.utils.estimator_checks import check_array_api_input_and_values

from dsofs import DSOClassifier, DSOSelector, DSOSelectorCV, LassoSelector, MRMRSelector, ReliefFSelector, RFSSelector
from tests.arrays import KINDS, LIBRARIES, never_as_numpy
from tests.problems import random_data

FOLLOWING = [
    DSOSelector(5),
    DSOSelector(5, p=1.0, C=None, ranking="norm"),
    DSOClassifier(),
    DSOSelectorCV(5, ps=(0.5, 1.0), cv=2),
]
OTHERS = [LassoSelector(5), MRMRSelector(5), ReliefFSelector(5), RFSSelector(5)]


def named(estimator):
    return type(estimator).__name__


def host(array):
    return array if isinstance(array, np.ndarray) else np.from_dlpack(array)


@pytest.fixture(params=LIBRARIES)
def library(request, tmp_path):
    return lambda X: KINDS[request.param](X, tmp_path)


@pytest.fixture(scope="module")
def data():
    return random_data(3, 40, 120, 3)


@pytest.fixture
def dispatch():
    with config_context(array_api_dispatch=True):
        yield


@pytest.mark.parametrize("namespace", ["numpy", "array_api_strict", "torch"])
@pytest.mark.parametrize("estimator", FOLLOWING, ids=named)
@pytest.mark.filterwarnings("ignore:.*the classes cannot be separated:UserWarning")
def test_values_are_those_of_numpy(estimator, namespace):
    pytest.importorskip(namespace)
    check_array_api_input_and_values(named(estimator), estimator, namespace)


@pytest.mark.parametrize("estimator", FOLLOWING, ids=named)
def test_all_follows_x_which_never_becomes_a_numpy_array(estimator, data, library, dispatch, monkeypatch):
    X, y = data
    plain = estimator.fit(X, y)
    coef = plain.coef_
    given = library(X)
    never_as_numpy(given, monkeypatch)
    fitted = estimator.fit(given, y)
    assert type(fitted.coef_) is type(given)
    assert fitted.coef_.device == given.device
    assert isinstance(fitted.classes_, np.ndarray)
    np.testing.assert_allclose(host(fitted.coef_), coef, atol=1e-8)


@pytest.mark.parametrize("estimator", FOLLOWING, ids=named)
def test_labels_may_be_text(estimator, data, library, dispatch):
    X, y = data
    fitted = estimator.fit(library(X), np.array(["no", "perhaps", "yes"])[y])
    assert list(fitted.classes_) == ["no", "perhaps", "yes"]
    if isinstance(fitted, DSOClassifier):
        assert np.mean(fitted.predict(library(X)) == fitted.classes_[y]) == 1


@pytest.mark.parametrize("estimator", OTHERS, ids=named)
def test_methods_without_support_work_on_the_host(estimator, data, library, dispatch):
    X, y = data
    expected = estimator.fit_transform(X, y)
    np.testing.assert_array_equal(estimator.fit_transform(library(X), y), expected)


@pytest.mark.parametrize("estimator", [*FOLLOWING, *OTHERS], ids=named)
def test_without_dispatch_x_is_taken_as_a_numpy_array(estimator, data, tmp_path):
    X, y = data
    fitted = estimator.fit(KINDS["strict"](X, tmp_path), y)
    assert isinstance(vars(fitted).get("ranking_", fitted), np.ndarray | DSOClassifier)


@pytest.mark.parametrize("estimator", [*FOLLOWING, *OTHERS], ids=named)
def test_without_dispatch_a_device_is_refused_with_the_cure(estimator, data):
    X, y = data
    given = array_api_strict.asarray(X, device=array_api_strict.Device("device1"))
    with pytest.raises(ValueError, match=rf"{named(estimator)} cannot read X, which is on the device .*dispatch=True"):
        estimator.fit(given, y)


def test_values_that_are_not_finite_are_named(data, library, dispatch):
    X, y = data
    X = X.copy()
    X[4, 17] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN: column 17, row 4"):
        DSOSelector().fit(library(X), y)
