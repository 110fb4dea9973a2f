"""scikit-learn's own checks, over several parameter sets, with no expected failure."""

from importlib.util import find_spec

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dsofs import (
    METHODS,
    DSOClassifier,
    DSOSelector,
    DSOSelectorCV,
    LassoSelector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
)

# The checks fit data that cannot be separated, and fewer columns than the default asks for: both warn, as they should.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*the classes cannot be separated:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*all are kept:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]

ESTIMATORS = [
    DSOSelector(),
    DSOSelector(0.5, p=0.5, ranking="norm"),
    DSOSelector(None, p=1.5, standardize=False, fit_intercept=False),
    DSOSelector(2, constraint="equality", C=1.0),
    DSOSelector(2, solver="alternating", max_iter=50),
    DSOClassifier(),
    DSOClassifier(p=0.5, C=1.0),
    DSOClassifier(C=10.0, fit_intercept=True, class_weight="balanced"),
    DSOSelectorCV(ps=(0.5, 1.0), cv=2),
    DSOSelectorCV(2, ps=(1.0,), Cs=(None, 1.0), ks=(1, 2), cv=2, rule="one_se"),
    LassoSelector(),
    LassoSelector(0.5, multi_task=True, standardize=False),
    LassoSelector(None, lam=1.0, solver="sklearn", fit_intercept=False),
    RFSSelector(),
    RFSSelector(0.5, p=0.5, q=0.5, lam=0.1, ranking="survival"),
    RFSSelector(None, p=2.0, q=1.5, standardize=False, fit_intercept=False),
    RFSSelector(2, q=2.0, task="regression"),
    MRMRSelector(),
    MRMRSelector(2, scheme="MIQ", discretize="quantile", n_bins=4),
    MRMRSelector(0.5, scheme="FCD"),
    MRMRSelector(None, scheme="FCQ"),
    ReliefFSelector(),
    ReliefFSelector(0.5, n_neighbors=2, n_samples=0.5, random_state=0, n_jobs=2),
    ReliefFSelector(2, task="regression"),
    *(METHODS[name](2) for name in ("f_test", "l1_svm", "svm_rfe")),
    *(METHODS[name](2) for name in ("fastcan", "abess") if find_spec(name)),
]


def _cases():
    """As scikit-learn's ``parametrize_with_checks``, with names that are the same in every process."""
    for number, estimator in enumerate(ESTIMATORS):
        for case, check in estimator_checks_generator(estimator):
            name = getattr(check, "__name__", None) or check.func.__name__
            yield pytest.param(case, check, id=f"{type(estimator).__name__}-{number}-{name}")


@pytest.mark.parametrize(("estimator", "check"), [*_cases()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
