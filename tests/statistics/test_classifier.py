import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsofs.statistics.classifier import LinearModel, linear_svm, scores


@pytest.mark.parametrize("seed", range(5))
def test_balanced_accuracy_is_scikit_learn_s(seed):
    truth, predicted = np.random.default_rng(seed).integers(0, 4, (2, 50))
    assert scores(truth, predicted)["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, predicted))


def test_a_class_that_is_only_predicted_is_no_reason_for_a_warning():
    """Random folds may lack a class; warnings are errors here."""
    found = scores(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1]))
    assert found["accuracy"] == 0.75
    assert found["balanced_accuracy"] == 0.75
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "c"), [(5, 2), (200, 2), (200, 4)])
def test_wide_and_narrow_samples_are_judged_as_by_a_pipeline(n, c, kind):
    """With many features the SVM is given products of samples: the same model."""
    rng = np.random.default_rng(n + c)
    X, y = rng.normal(size=(90, n)), np.arange(90) % c
    X[:, 0] += y
    training, test = kind(X[:60]), kind(X[60:])
    expected = make_pipeline(StandardScaler(with_mean=kind is np.asarray), linear_svm()).fit(training, y[:60])
    found = LinearModel(training, y[:60]).predict_with_margins(test, y[60:])
    np.testing.assert_array_equal(found.predicted, expected.predict(test))
    np.testing.assert_array_equal(LinearModel(training, y[:60]).predict(test), found.predicted)
    if c == 2:
        np.testing.assert_allclose(found.margins, expected.decision_function(test) * (2 * y[60:] - 1), atol=1e-3)
