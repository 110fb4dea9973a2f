"""The only place that coerces or refuses what a user gives: parameters, X, y, groups, weights. And y as a matrix.

What a function ``wrong_...`` yields is found without a pass over X, before the fit begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_dask_array
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from dsofs.design.backends import in_chunks
from dsofs.design.backends.chunked import ChunkedArray, entries
from dsofs.design.linalg import on_host, take
from dsofs.design.types import AnyArray, Bools, Floats, Ints

P = ParamSpec("P")
Fitted = TypeVar("Fitted")
LARGEST = 1e100  # products of two such numbers and their sums are still finite


# Parameters: what they may be, one by one and together, and one error that lists everything that is wrong with a call.


@dataclass(frozen=True)
class Rule:
    """What a parameter may be: a test, and the words for it."""

    test: Callable[[Any], bool]
    words: str

    def __or__(self, other: Rule) -> Rule:
        return Rule(lambda value: self.test(value) or other.test(value), f"{self.words} or {other.words}")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def real(low: float, high: float = np.inf, *, closed: str = "neither") -> Rule:
    """A real number in an interval."""
    left, right = closed in ("left", "both"), closed in ("right", "both")

    def test(value: Any) -> bool:
        if not _is_real(value):
            return False
        return bool((low <= value if left else low < value) and (value <= high if right else value < high))

    return Rule(test, f"a float in the range {'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}")


def integer(low: int) -> Rule:
    return Rule(lambda value: _is_int(value) and value >= low, f"an int of at least {low}")


def options(*names: str) -> Rule:
    return Rule(lambda value: isinstance(value, str) and value in names, " or ".join(map(repr, names)))


DEPRECATED = "deprecated"  # scikit-learn's default of a parameter that is about to go
ANY_INT = Rule(_is_int, "an int")
BOOLEAN = Rule(lambda value: isinstance(value, bool | np.bool_), "a bool")
NONE = Rule(lambda value: value is None, "None")
MAPPING = Rule(lambda value: isinstance(value, Mapping), "a dict")
ARRAY_LIKE = Rule(lambda value: not isinstance(value, str) and hasattr(value, "__len__"), "an array-like")


@dataclass(frozen=True)
class Conflict:
    """Settings that contradict each other: a parameter -> its values that do not work with those of the others."""

    settings: Mapping[str, Rule]
    sentence: str  # the cure; {owner} is the name of the estimator

    def among(self, given: Mapping[str, Any]) -> bool:
        return all(rule.test(given[name]) for name, rule in self.settings.items())


def check_parameters(
    estimator: BaseEstimator,
    rules: Mapping[str, Rule],
    conflicts: Iterable[Conflict] = (),
    others: Iterable[str] = (),
) -> None:
    """Raise one ValueError that lists every broken rule, every conflict, and ``others``: what else is wrong.

    Of a parameter that breaks its own rule nothing else is said.
    """
    # As ``get_params`` gives them, which looks at the signature each time: that takes longer than all tests here.
    owner, given = type(estimator).__name__, dict(sorted(vars(estimator).items()))
    broken = broken_rules(rules, given, owner)
    wrong = [
        *broken.values(),
        *(conflict.sentence.format(owner=owner) for conflict in conflicts if conflict.among(given)),
        *(sentence for sentence in others if not any(f"{name!r} parameter" in sentence for name in broken)),
    ]
    if len(wrong) > 1:
        lines = "".join(f"\n- {sentence}" for sentence in wrong)
        raise ValueError(f"{len(wrong)} things are wrong with the parameters of {owner}:{lines}")
    if wrong:
        raise ValueError(wrong[0])


def broken_rules(rules: Mapping[str, Rule], given: Mapping[str, Any], owner: str) -> dict[str, str]:
    """A sentence on each parameter that breaks its rule."""
    return {
        name: f"The {name!r} parameter of {owner} must be {rules[name].words}. Got {value!r} instead."
        for name, value in given.items()
        if name in rules and not rules[name].test(value)
    }


def refuse(wrong: Iterable[str]) -> None:
    """Raise the first of these sentences, if there is one."""
    for sentence in wrong:
        raise ValueError(sentence)


def broken_entries(owner: str, name: str, rule: Rule, values: Any) -> Iterator[str]:
    """What is wrong with the entries of a list of values for one parameter."""
    for value in values if ARRAY_LIKE.test(values) else ():
        if not rule.test(value):
            yield f"Each entry of the {name!r} parameter of {owner} must be {rule.words}. Got {value!r} instead."


# Data: X, y, feature groups and weights.


def all_or_nothing(fit: Callable[P, Fitted]) -> Callable[P, Fitted]:
    """A ``fit`` that leaves the estimator as it was if it fails: never with attributes of two data sets."""

    @wraps(fit)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Fitted:
        attributes = args[0].__dict__
        before = attributes.copy()
        try:
            return fit(*args, **kwargs)
        except BaseException:
            attributes.clear()
            attributes.update(before)
            raise

    return guarded


def check_X_y(
    estimator: BaseEstimator, X: AnyArray, y: AnyArray, *, allow_nan: bool = False
) -> tuple[AnyArray, Ints, np.ndarray]:
    """Numeric, finite X (dense or sparse, its float dtype kept), class codes 0..c-1, and the classes."""
    y = labels_on_host(estimator, y)
    _check_labels(estimator, y)
    X, y = _numeric(estimator, X, y, allow_nan=allow_nan)
    classes, codes = np.unique(y, return_inverse=True)
    # Few whole numbers are classes; looking closer takes time.
    if y.dtype.kind not in "iu" or 2 * len(classes) > len(y):
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes; y has 1 class: {classes.tolist()[0]!r}."
        )
    return X, codes.astype(np.intp), classes


def indicators(codes: Ints, n_states: int) -> Floats:
    """One column of 0 / 1 per state."""
    return (codes[:, None] == np.arange(n_states)).astype(np.float64)


def one_versus_rest(codes: Ints, n_classes: int) -> Floats:
    """Y: one column of +1 / -1 per class; for two classes one column, +1 for the second."""
    Y = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    return Y[:, 1:] if n_classes == 2 else Y


def check_weighted_X_y(
    estimator: BaseEstimator, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None
) -> tuple[AnyArray, Ints, np.ndarray, Floats | None, Ints | None]:
    """As ``check_X_y`` of the samples of positive weight, with what ``positive_weights`` says of these.

    A class without such samples is gone.
    """
    X, codes, classes = check_X_y(estimator, X, y)
    weights, index = positive_weights(estimator, sample_weight)
    if index is None:
        return X, codes, classes, weights, None
    present, codes = np.unique(codes[index], return_inverse=True)
    if len(present) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes; only the class "
            f"{classes.tolist()[present[0]]!r} has samples of positive weight."
        )
    return rows_of(X, index), codes.astype(np.intp), classes[present], weights, index


def positive_weights(estimator: BaseEstimator, sample_weight: AnyArray | None) -> tuple[Floats | None, Ints | None]:
    """The positive weights, once ``wrong_sample_weight`` has checked them, and the samples they belong to.

    None in place of weights that are all 1, and where they are those of all samples.
    """
    if sample_weight is None:
        return None, None
    weights = _as_weights(estimator, sample_weight)
    index = np.flatnonzero(weights)
    positive = weights[index]
    return None if (positive == 1).all() else positive, None if len(index) == len(weights) else index


def _as_weights(estimator: BaseEstimator, sample_weight: AnyArray) -> Floats:
    return np.asarray(labels_on_host(estimator, sample_weight), dtype=np.float64)


def rows_of(X: AnyArray, index: Ints) -> AnyArray:
    """These samples of an X that was checked."""
    if isinstance(X, ChunkedArray):
        return X.rows_of(index)
    return take(X, index, axis=0) if is_dispatched(X) else X[index]


def _check_labels(estimator: BaseEstimator, y: AnyArray) -> None:
    """Refuse labels that are missing or of several kinds: NumPy would make text of them, or could not sort them."""
    if not isinstance(y, list | tuple) and getattr(getattr(y, "dtype", None), "kind", None) != "O":
        return
    labels = np.asarray(y, dtype=object)
    if labels.ndim != 1:
        return
    owner = type(estimator).__name__
    missing = [index for index, label in enumerate(labels) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"{owner} needs a label for each sample; y contains NaN or None in {len(missing)} of {len(labels)}, first "
            f"for sample {missing[0]}. Give the labels, or leave those samples out."
        )
    kinds = {_kind(label): label for label in labels}
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise ValueError(
            f"{owner} needs labels of one kind; y mixes {one} ({first!r}) and {other} ({second!r}). Make all of them "
            "text, or all whole numbers."
        )


def _is_missing(label: Any) -> bool:
    is_nan = isinstance(label, Real) and label != label
    return label is None or type(label).__name__ in ("NAType", "NaTType") or is_nan


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    return "numbers" if isinstance(label, Real | np.bool_) else type(label).__name__


def check_X_target(
    estimator: BaseEstimator, X: AnyArray, y: AnyArray, *, allow_nan: bool = False, multi_output: bool = False
) -> tuple[AnyArray, Floats]:
    """Numeric, finite X as for ``check_X_y``, and a finite target, or several, that are not all constant."""
    X, y = _numeric(estimator, X, y, allow_nan=allow_nan, y_numeric=True, multi_output=multi_output)
    y = np.asarray(y, dtype=np.float64)
    _check_varying_target(estimator, y)
    return X, y


def check_weighted_X_target(
    estimator: BaseEstimator, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None
) -> tuple[AnyArray, Floats, Floats | None]:
    """As ``check_X_target``, of one target or several, for the samples of positive weight, and their weights."""
    X, y = check_X_target(estimator, X, y, multi_output=True)
    weights, index = positive_weights(estimator, sample_weight)
    if index is None:
        return X, y, weights
    _check_varying_target(estimator, y[index])
    return rows_of(X, index), y[index], weights


def _check_varying_target(estimator: BaseEstimator, y: Floats) -> None:
    if (np.ptp(y, axis=0) == 0).all():
        raise ValueError(f"{type(estimator).__name__} needs a target that varies; all values of y are {y.flat[0]:g}.")


def _numeric(
    estimator: BaseEstimator,
    X: AnyArray,
    y: AnyArray,
    *,
    allow_nan: bool,
    y_numeric: bool = False,
    multi_output: bool = False,
) -> tuple[AnyArray, np.ndarray]:
    X = reachable(estimator, X)
    given = X.stand_in() if isinstance(X, ChunkedArray) else X
    try:
        checked, y = validate_data(
            estimator,
            given,
            y,
            accept_sparse=("csr", "csc"),
            dtype=_floats(given),
            ensure_all_finite=False,
            ensure_min_samples=2,
            y_numeric=y_numeric,
            multi_output=multi_output,
        )
    except (ValueError, TypeError) as error:
        _explain_text(estimator, given, error)
        raise
    if isinstance(X, ChunkedArray):
        validate_data(estimator, X.header(), skip_check_array=True)  # which names its features, if anything does
    if allow_nan:
        explain_not_finite(estimator, checked, allow_nan=True)
    return X if isinstance(X, ChunkedArray) else checked, y


def is_dispatched(X: AnyArray) -> bool:
    """Whether scikit-learn is asked to leave X in its array library."""
    foreign = is_array_api_obj(X) and not (isinstance(X, np.ndarray) or is_dask_array(X))
    return bool(get_config()["array_api_dispatch"]) and foreign


def _floats(X: AnyArray) -> tuple[Any, ...]:
    """The types of numbers that are kept; others become the first."""
    if not is_dispatched(X):
        return np.float64, np.float32
    floats = array_namespace(X).__array_namespace_info__().dtypes(device=device(X), kind="real floating")
    return tuple(floats[name] for name in ("float64", "float32") if name in floats)


def reachable(estimator: BaseEstimator, X: AnyArray) -> AnyArray:
    """X, or as a NumPy array where the estimator works on no other; refused if NumPy cannot read it where it is.

    X on a disk or on a cluster is read in pieces by the estimators that work on any kind of array.
    """
    if hasattr(type(X), "obs_names"):
        raise ValueError(
            f"{type(estimator).__name__} needs a matrix as X. Got an AnnData object: give its adata.X, or one of its "
            "layers, and a column of its adata.obs as y."
        )
    chunked = in_chunks(X)
    if chunked is not None and get_tags(estimator).array_api_support:
        return chunked
    if is_dispatched(X):
        return X if get_tags(estimator).array_api_support else on_host(X)
    if not is_array_api_obj(X) or isinstance(X, np.ndarray):
        return X
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"{type(estimator).__name__} cannot read X, which is on the device {device(X)}. Allow it to work there by "
            "sklearn.set_config(array_api_dispatch=True), with SCIPY_ARRAY_API=1 in the environment before SciPy is "
            "imported; or move X to the CPU."
        ) from error


def labels_on_host(estimator: BaseEstimator, y: AnyArray) -> AnyArray:
    """Labels of any array library as a NumPy array; others as they are."""
    if not is_array_api_obj(y) or isinstance(y, np.ndarray):
        return y
    return on_host(y) if is_dispatched(y) else reachable(estimator, y)


def check_codes(estimator: BaseEstimator, X: AnyArray) -> None:
    """Refuse numbers that are not whole where they are to be read as codes of states."""
    stored = X.tocoo() if sparse.issparse(X) else None
    columns, values = (np.arange(X.shape[1]), X) if stored is None else (stored.col, stored.data)
    broken = np.modf(values)[0] != 0
    if broken.any():
        column = np.broadcast_to(columns, values.shape)[broken][0]
        raise ValueError(
            f"{type(estimator).__name__} with discretize=None reads X as codes, and "
            f"{column_name(estimator, int(column))} holds {values[broken][0]}. Give whole numbers, or discretize='std' "
            "or 'quantile'."
        )


def check_positive(estimator: BaseEstimator, name: str, values: AnyArray) -> Floats:
    """A list of positive numbers."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers) or not (np.isfinite(numbers) & (numbers > 0)).all():
        owner = type(estimator).__name__
        raise ValueError(f"The {name!r} of {owner} must be a list of positive numbers. Got {values!r} instead.")
    return numbers


def check_squares(estimator: BaseEstimator, mean: Floats, scale: Floats) -> None:
    """Refuse values too large to be squared."""
    if np.abs(mean).max() + scale.max() > LARGEST:
        owner = type(estimator).__name__
        raise ValueError(f"{owner} cannot square the values of X: they are too large. Use standardize=True.")


def check_varies(estimator: BaseEstimator, kept: Ints, n_features: int) -> None:
    """Refuse X if no feature is left in ``kept``, those that are not constant."""
    if not len(kept):
        raise ValueError(
            f"{type(estimator).__name__} cannot select from X: all of its {n_features} feature(s) are constant."
        )


def column_name(estimator: BaseEstimator, index: int) -> str:
    """The column's name if X came with names, else its number."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {index}" if names is None else f"column {names[index]!r}"


def _explain_text(estimator: BaseEstimator, X: AnyArray, error: Exception) -> None:
    """If X could not be read because a column holds text or dates, say which one and what it holds."""
    if sparse.issparse(X) or getattr(X, "ndim", 2) != 2 or _holds_numbers(X):
        return
    table = X if hasattr(X, "columns") else np.asarray(X, dtype=object)
    if getattr(table, "ndim", 2) != 2:
        return
    names = list(table.columns) if hasattr(table, "columns") else range(table.shape[1])
    for name in names:
        values = np.asarray(table[name] if hasattr(table, "columns") else table[:, name])
        if values.dtype.kind in "mM":
            raise ValueError(
                f"{type(estimator).__name__} needs numbers, and column {name!r} of X holds dates or durations. Make "
                "numbers of them, such as days since the first, or leave the column out."
            ) from error
        for value in () if _holds_numbers(values) else values:
            if isinstance(value, str) and not _reads_as_number(value):
                raise ValueError(
                    f"{type(estimator).__name__} needs numbers, and column {name!r} of X holds text ({value!r}). "
                    "Encode it or leave it out."
                ) from error


def _holds_numbers(values: AnyArray) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "biufc"


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _not_finite(values: np.ndarray) -> np.ndarray:
    return ~np.isfinite(values)


def explain_not_finite(estimator: BaseEstimator, X: AnyArray, *, allow_nan: bool = False) -> None:
    """Refuse values that are not finite, and say which."""
    refused = np.isinf if allow_nan else _not_finite
    if isinstance(X, ChunkedArray):
        rows, columns, found = X.find(refused)
    else:
        (rows, columns, found), _ = entries(X if sparse.issparse(X) else on_host(X), refused)
    if not len(rows):
        return
    kind = "NaN" if np.isnan(found[0]) else "infinity"
    raise ValueError(
        f"Input X contains {kind}: {column_name(estimator, int(columns[0]))}, row {int(rows[0])} (value {found[0]}). "
        f"{type(estimator).__name__} needs finite numbers; {len(rows)} value(s) in {len(np.unique(columns))} column(s) "
        "are not. Impute them or leave those columns out."
    )


def n_features_of(X: AnyArray) -> int | None:
    """The number of columns of X, or None where only reading it would tell."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return int(shape[1]) if len(shape) == 2 else None


def names_of(X: AnyArray) -> AnyArray | None:
    """The names of the columns of a table, if all of them are texts."""
    names = getattr(X, "columns", None)
    is_named = names is not None and all(isinstance(name, str) for name in names)
    return np.asarray(names, dtype=object) if is_named else None


def wrong_groups(owner: str, feature_groups: AnyArray | None, n_features: int | None) -> Iterator[str]:
    if feature_groups is None or n_features is None or not ARRAY_LIKE.test(feature_groups):
        return
    shape = np.shape(feature_groups)
    if shape != (n_features,):
        yield (
            f"The 'feature_groups' parameter of {owner} must hold one label per feature ({n_features}). Got shape "
            f"{shape} instead."
        )


def check_groups(estimator: BaseEstimator, feature_groups: AnyArray, n_features: int) -> Ints:
    """Group labels as codes, one per feature."""
    refuse(wrong_groups(type(estimator).__name__, feature_groups, n_features))
    labels = np.asarray(feature_groups)
    if labels.dtype == object:
        labels = labels.astype(str)  # labels of several types, None among them, have no order
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def wrong_categorical(owner: str, categorical_features: AnyArray | None, X: AnyArray) -> Iterator[str]:
    n_features, names = n_features_of(X), names_of(X)
    if n_features is None or not ARRAY_LIKE.test(categorical_features):
        return
    if names is None and hasattr(X, "columns"):
        return  # left to ``check_categorical``: some kinds of table keep their names elsewhere
    if _categorical_mask(categorical_features, names, n_features) is None:
        yield _not_categorical(owner, categorical_features, n_features)


def check_categorical(estimator: BaseEstimator, categorical_features: AnyArray | None, n_features: int) -> Bools:
    """A mask of the categorical features from a mask, positions or names."""
    names = getattr(estimator, "feature_names_in_", None)
    mask = _categorical_mask(categorical_features, names, n_features)
    if mask is None:
        raise ValueError(_not_categorical(type(estimator).__name__, categorical_features, n_features))
    return mask


def _categorical_mask(categorical_features: AnyArray | None, names: AnyArray | None, n_features: int) -> Bools | None:
    positions = feature_positions(categorical_features, names, n_features)
    return None if positions is None else np.isin(np.arange(n_features), positions)


def feature_positions(given: AnyArray | None, names: AnyArray | None, n_features: int) -> Ints | None:
    """Positions of features from positions, a mask, or names if there are any; None if that cannot be read so."""
    if given is None or len(given) == 0:
        return np.empty(0, dtype=np.intp)
    values = np.asarray(given)
    if values.dtype.kind in "OU" and names is not None and np.isin(values.astype(object), names).all():
        place = {name: position for position, name in enumerate(names)}
        return np.array([place[name] for name in values.astype(object)], dtype=np.intp)
    if values.dtype == bool and values.shape == (n_features,):
        return np.flatnonzero(values)
    if values.dtype.kind in "iu" and values.ndim == 1 and ((values >= -n_features) & (values < n_features)).all():
        return values.astype(np.intp) % n_features
    return None


def _not_categorical(owner: str, given: Any, n_features: int) -> str:
    return (
        f"The 'categorical_features' parameter of {owner} must be a mask of {n_features} features, positions among "
        f"them, or names of columns of X. Got {given!r} instead."
    )


def wrong_class_weight(owner: str, class_weight: Any, y: AnyArray) -> Iterator[str]:
    """Weights must be positive, and of classes of y (as in scikit-learn, more of them if every class has one)."""
    if not isinstance(class_weight, Mapping):
        return
    if not all(map(real(0).test, class_weight.values())):
        yield f"The 'class_weight' parameter must give positive weights. Got {class_weight!r} instead."
    classes = set(np.ravel(np.asarray(y)).tolist())
    unknown = [label for label in class_weight if label not in classes]
    if unknown and not classes <= set(class_weight):
        yield f"The 'class_weight' parameter of {owner} must name classes of y. Got {unknown!r} as well."


def wrong_sample_weight(estimator: BaseEstimator, sample_weight: AnyArray | None, y: AnyArray) -> Iterator[str]:
    """Weights must be finite numbers of at least 0, one for each sample, and not all of them 0."""
    if sample_weight is None:
        return
    rule = f"The 'sample_weight' of {type(estimator).__name__}.fit must hold one finite number of at least 0 per sample"
    try:
        weights = _as_weights(estimator, sample_weight)
    except (TypeError, ValueError):
        yield f"{rule}. Got {sample_weight!r} instead."
        return
    n_samples = len(y) if hasattr(y, "__len__") else None
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)).ravel())
    if weights.ndim != 1 or n_samples not in (None, len(weights)):
        yield f"{rule} ({n_samples}). Got shape {weights.shape} instead."
    elif len(wrong):
        yield f"{rule}. Got {weights[wrong[0]]:g} for sample {wrong[0]} instead."
    elif not weights.any():
        yield f"{rule}, and not zero for all of them."


def sample_importance(
    class_weight: Any, classes: np.ndarray, codes: Ints, sample_weight: Floats | None = None
) -> Floats | None:
    """The weight of its class for each sample; "balanced" classes have equal sums of both weights."""
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        # Not by scikit-learn, which takes labels such as "1" for numbers and then does not find them.
        return np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)[codes]
    counts = np.bincount(codes, weights=sample_weight)
    return np.asarray(counts.sum() / (len(counts) * counts))[codes]
