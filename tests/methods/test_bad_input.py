"""Bad input gets an error that names the parameter or column, the rule and the value."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

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
from tests.problems import random_data

pytestmark = pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")


@pytest.fixture
def data():
    return random_data(0, 20, 30, 2)


def test_an_error_about_y_does_not_turn_x_into_objects():
    X = np.zeros((200, 500))
    tracemalloc.start()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DSOSelector().fit(X, np.zeros(199))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes


def test_equalities_of_many_samples_are_refused_before_they_fill_the_memory():
    X, y = random_data(0, 1200, 4, 2, informative=2)
    for parameters in ({"constraint": "equality", "C": None}, {"solver": "alternating"}):
        with pytest.raises(MemoryError, match="bytes"):
            DSOSelector(memory_limit=20_000_000, **parameters).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", 1], r"y mixes text \('a'\) and numbers \(1\)\. Make all of them text, or all whole numbers\."),
        (np.array(["a", 1], dtype=object), r"y mixes text \('a'\) and numbers \(1\)"),
        (np.array([b"a", "a"], dtype=object), r"y mixes bytes \(b'a'\) and text \('a'\)"),
        (["a", None], "y contains NaN or None in 10 of 20, first for sample 1"),
        (["a", np.nan], "y contains NaN or None in 10 of 20, first for sample 1"),
        (pd.Series(["a", None], dtype="string"), "y contains NaN or None in 10 of 20"),
        (pd.Series(["a", None], dtype="category"), "y contains NaN or None in 10 of 20"),
    ],
)
def test_labels_of_mixed_types_are_refused_in_one_sentence(data, labels, message):
    y = repeated(labels)
    for selector in (DSOSelector(), DSOClassifier(), MRMRSelector()):
        with pytest.raises(ValueError, match=message):
            selector.fit(data[0], y)


@pytest.mark.parametrize("labels", [["a", "b"], [True, False], [1, 2.0], pd.Series(["a", "b"], dtype="category")])
def test_labels_of_one_kind_are_taken(data, labels):
    assert len(DSOClassifier().fit(data[0], repeated(labels)).classes_) == 2


def repeated(labels):
    if isinstance(labels, pd.Series):
        return pd.concat([labels] * 10)
    return np.tile(labels, 10) if isinstance(labels, np.ndarray) else labels * 10


PARAMETERS = [
    ({"p": 0}, r"The 'p' parameter of DSOSelector must be a float in the range \(0, 2\). Got 0 instead."),
    ({"p": 2.0}, r"The 'p' parameter .* Got 2.0 instead."),
    ({"p": "one"}, r"The 'p' parameter .* Got 'one' instead."),
    ({"p": True}, r"The 'p' parameter .* Got True instead."),
    (
        {"C": -1.0},
        r"The 'C' parameter of DSOSelector must be 'auto' or a float in the range \(0, inf\) or None. Got -1.0",
    ),
    ({"constraint": "both"}, "The 'constraint' parameter .* must be 'margin' or 'equality'. Got 'both' instead."),
    ({"solver": "magic"}, "The 'solver' parameter .* must be 'joint' or 'alternating'. Got 'magic' instead."),
    ({"ranking": "luck"}, "The 'ranking' parameter .* Got 'luck' instead."),
    ({"n_features_to_select": 0}, "The 'n_features_to_select' parameter .* Got 0 instead."),
    ({"n_features_to_select": 1.5}, "The 'n_features_to_select' parameter .* Got 1.5 instead."),
    ({"tol": 0}, "The 'tol' parameter .* Got 0 instead."),
    ({"max_iter": 0}, "The 'max_iter' parameter .* must be an int of at least 1. Got 0 instead."),
    ({"standardize": 1}, "The 'standardize' parameter .* must be a bool. Got 1 instead."),
    ({"class_weight": {0: 0.0, 1: 1.0}, "C": 1.0}, "The 'class_weight' parameter must give positive weights"),
    ({"solver": "alternating", "C": 1.0}, "The 'C' parameter must be None with solver='alternating'"),
    ({"class_weight": "heavy"}, "The 'class_weight' parameter .* Got 'heavy' instead."),
    (
        {"feature_groups": [1, 2]},
        r"'feature_groups' parameter .* one label per feature \(30\). Got shape \(2,\) instead.",
    ),
    ({"memory_limit": 1000}, r"MiB"),
]


@pytest.mark.parametrize(("parameter", "message"), PARAMETERS)
def test_parameters(data, parameter, message):
    error = MemoryError if "memory_limit" in parameter else ValueError
    with pytest.raises(error, match=message):
        DSOSelector(**parameter).fit(*data)


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_values_that_are_not_finite(data, value, name):
    X, y = data
    X[4, 7] = value
    message = rf"Input X contains {name}: column {{}}, row 4 .* 1 value\(s\) in 1 column\(s\) are not. Impute"
    with pytest.raises(ValueError, match=message.format("7")):
        DSOSelector().fit(X, y)
    with pytest.raises(ValueError, match=message.format("7")):
        DSOSelector().fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match=message.format("'gene 7'")):
        DSOSelector().fit(pd.DataFrame(X, columns=[f"gene {i}" for i in range(30)]), y)


def test_a_column_of_dates_is_named():
    X = pd.DataFrame({"gene": np.arange(6.0), "visit": pd.date_range("2024-01-01", periods=6)})
    with pytest.raises(ValueError, match="needs numbers, and column 'visit' of X holds dates"):
        DSOSelector(1).fit(X, np.arange(6) % 2)


def test_text_columns(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(30)])
    frame["gene 3"] = "high"
    with pytest.raises(ValueError, match=r"needs numbers, and column 'gene 3' of X holds text \('high'\)"):
        DSOSelector().fit(frame, y)
    with pytest.raises(ValueError, match=r"column 1 of X holds text \('b'\)"):
        DSOSelector().fit(np.array([[1, "b"], [2, "c"]], dtype=object), [0, 1])


def test_numbers_as_text_are_numbers(data):
    X, y = data
    np.testing.assert_array_equal(
        DSOSelector().fit(X.astype(str).astype(object), y).ranking_, DSOSelector().fit(X, y).ranking_
    )


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((4, 2)) * np.arange(4)[:, None], [1, 1, 1, 1], r"at least 2 classes; y has 1 class: .*1"),
        (np.arange(8.0).reshape(4, 2), [0, 1, 0], r"inconsistent numbers of samples: \[4, 3\]"),
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((3, 0)), [0, 1, 0], "0 feature"),
        (np.ones((4, 2)) * 1j, [0, 1, 0, 1], "Complex data not supported"),
        (np.ones((4, 2)), [0, 1, 0, 1], r"all of its 2 feature\(s\) are constant"),
        (np.arange(8.0).reshape(4, 2), [0.1, 0.2, 0.35, 0.7], "Unknown label type"),
        (np.arange(8.0).reshape(4, 2), [0, np.nan, 1, 0], "y contains NaN"),
        (np.arange(4.0), [0, 1, 0, 1], "Expected 2D array"),
    ],
)
def test_data(X, y, message):
    for estimator in (DSOSelector(1), DSOClassifier()):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)


def degenerate():
    rng = np.random.default_rng(0)
    X, y = random_data(1, 20, 30, 2)
    yield "two samples", rng.normal(size=(2, 5)), [0, 1]
    yield "one feature", np.arange(10.0)[:, None], np.arange(10) > 4
    yield "duplicated columns", np.repeat(X, 2, axis=1), y
    yield "duplicated rows", np.repeat(X, 2, axis=0), np.repeat(y, 2)
    yield "one sample in a class", X, np.r_[y[:19], 2]
    yield "huge entries", np.where(rng.random(X.shape) < 0.1, 1e300 * X, X), y
    yield "tiny entries", X * 1e-300, y
    yield "exclusive or", np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (5, 1)), [0, 1, 1, 0] * 5
    yield "integers", (10 * X).astype(np.int8), y


@pytest.mark.filterwarnings("ignore:.*(cannot be separated|no linear rule does better than none)")
@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize(("X", "y"), [case[1:] for case in degenerate()], ids=[case[0] for case in degenerate()])
def test_degenerate_data_never_give_nan(X, y, p):
    fit = DSOSelector(1, p=p).fit(X, y)
    assert np.isfinite(fit.scores_).all()
    assert np.isfinite(fit.coef_).all()
    assert sorted(fit.ranking_) == list(range(1, X.shape[1] + 1))
    assert fit.status_.startswith("converged") or (fit.status_ == "zero" and p < 1)


def test_values_too_large_to_square_without_standardising():
    X, y = random_data(0, 20, 30, 2)
    with pytest.raises(ValueError, match=r"cannot square the values of X.*standardize=True"):
        DSOSelector(standardize=False).fit(X * 1e200, y)


@pytest.mark.parametrize("factor", [1e-4, 1e6])
def test_units_without_standardising_prove_nothing(factor):
    X, y = random_data(0, 20, 40, 2)
    fit = DSOSelector(standardize=False).fit(X * factor, y)
    assert fit.status_ == "converged"
    assert fit.conflicts_.size == 0


def test_slack_that_costs_too_little_is_told():
    X, y = random_data(0, 30, 60, 3)
    with pytest.warns(ConvergenceWarning, match="misfit costs so little that W = 0 is the best.*Raise C"):
        assert DSOSelector(C=1e-3, p=0.5).fit(X, y).status_ == "zero"


def test_equalities_have_squared_slack_only():
    X, y = random_data(0, 30, 60, 3)
    with pytest.raises(ValueError, match="'squared_hinge' with constraint='equality'"):
        DSOSelector(constraint="equality", loss="hinge").fit(X, y)


def test_slack_that_costs_too_much_is_told():
    X, y = random_data(0, 30, 60, 2)
    X[1], y[:2] = X[0], np.unique(y)  # equal samples of different classes
    with pytest.raises(ValueError, match=r"The 'C' parameter.* is too large"):
        DSOSelector(2, C=1e14).fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        DSOSelector(3),
        DSOSelectorCV(3, ps=(1.0,), cv=2),
        DSOClassifier(),
        RFSSelector(3),
        LassoSelector(3),
        ReliefFSelector(3),
        MRMRSelector(3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_refused_second_fit_leaves_all_attributes_of_the_first(estimator, data):
    X, y = data
    fit = estimator.fit(pd.DataFrame(X, columns=[f"a{i}" for i in range(30)]), y)
    before = vars(fit).copy()
    with pytest.raises(ValueError, match="class"):
        fit.fit(pd.DataFrame(X[:, :5], columns=list("vwxyz")), np.zeros(20))
    assert vars(fit).keys() == before.keys()
    assert all(vars(fit)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    "selector", [DSOSelector, DSOSelectorCV, DSOClassifier, RFSSelector, MRMRSelector, ReliefFSelector]
)
def test_an_anndata_object_is_no_matrix(data, selector):
    anndata = pytest.importorskip("anndata")
    X, y = data
    cells = anndata.AnnData(X)
    with pytest.raises(
        ValueError, match=rf"^{selector.__name__} needs a matrix as X. Got an AnnData object: give its adata.X"
    ):
        selector().fit(cells, y)
    if hasattr(selector, "transform"):
        with pytest.raises(ValueError, match=r"give its adata\.X"):
            selector().fit(cells.X, y).transform(cells)
    names = pd.DataFrame(X).rename(columns=lambda place: ["obs_names", "obs"][place] if place < 2 else f"g{place}")
    selector().fit(names, y)


@pytest.mark.parametrize("count", [0, -3, 1.5, "x"])
@pytest.mark.parametrize("name", ["dso", "lasso", "relieff", "f_test"])
def test_a_number_of_features_that_was_changed_after_fit_is_checked(data, name, count):
    selector = METHODS[name](3).fit(*data)
    selector.n_features_to_select = count
    for call in (lambda: selector.transform(data[0]), selector.get_support):
        with pytest.raises(ValueError, match=f"The 'n_features_to_select' parameter of .* Got {count!r} instead"):
            call()


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_folds_that_leave_one_class_are_refused(data):
    X, _ = data
    with pytest.raises(ValueError, match=r"'cv' parameter .* must leave .* One leaves those of 'a' alone"):
        DSOSelectorCV(3).fit(X, ["a"] * 19 + ["b"])
    with pytest.raises(ValueError, match="One leaves those of 'b' alone: give other folds"):
        DSOSelectorCV(3, cv=[(np.arange(10), np.arange(10, 20))]).fit(X, ["b"] * 10 + ["a"] * 10)
