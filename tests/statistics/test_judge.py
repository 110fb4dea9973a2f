import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from dsofs.statistics.judge import scores


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
