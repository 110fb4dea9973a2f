"""DSOSelectorCV: p, C and the number of features by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from dsofs.design.backends.chunked import ChunkedArray
from dsofs.design.linalg import on_host, take
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.methods.dso.fit import (
    AUTO,
    DSO_RULES,
    TrainingData,
    check_call,
    dso_conflicts,
    prepare,
    publish,
    ranked,
    solve_dso,
    training_data,
    warn_about,
    warn_without_features,
)
from dsofs.methods.dso.search_results import SearchResults, Setting, parameters
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, follow
from dsofs.problem import Penalty, Solution, Status, Survival
from dsofs.ranking import first_ranked
from dsofs.validation import (
    ANY_INT,
    ARRAY_LIKE,
    NONE,
    Rule,
    all_or_nothing,
    broken_entries,
    integer,
    is_dispatched,
    options,
    real,
    rows_of,
    wrong_sample_weight,
)

CV_RULES: dict[str, Rule] = DSO_RULES | {
    "n_features_to_select": N_FEATURES_RULE,
    "ps": ARRAY_LIKE,
    "Cs": ARRAY_LIKE | NONE,
    "ks": ARRAY_LIKE | NONE,
    "rule": options("best", "one_se"),
    "n_jobs": ANY_INT | NONE,
}
# Parameter -> what each of its entries may be.
ENTRIES: dict[str, Rule] = {"ps": DSO_RULES["p"], "Cs": DSO_RULES["C"], "ks": integer(1)}
HOLDS_A_NUMBER = Rule(lambda Cs: ARRAY_LIKE.test(Cs) and any(map(real(0).test, Cs)), "values with a number among them")
# X up to this size is copied for every worker. joblib puts a larger array into a file that workers share, and often
# waits for a tenth of a second before it removes that: as long as it takes to copy this much for three workers.
COPIED = "10M"
CV_CONFLICTS = dso_conflicts("Cs", HOLDS_A_NUMBER, "must hold no number")


@dataclass(frozen=True)
class PathPoint:
    """The solution for one (C, p) and the ranking it gives."""

    C: float | str | None
    p: float
    norms: Floats  # of the groups of rows of W
    solution: Solution
    scores: Floats
    ranking: Ints


@dataclass(frozen=True)
class AllSamples:
    """What folds take their samples from: no more than they need, as every worker is handed it."""

    X: AnyArray
    codes: Ints
    classes: np.ndarray
    importance: Floats | None
    weights: Floats | None

    def part(self, selector: DSOSelectorCV, index: Ints) -> TrainingData:
        """Some of them, with their own mean, scale and classes."""
        present, codes = np.unique(self.codes[index], return_inverse=True)
        importance, weights = (None if of is None else of[index] for of in (self.importance, self.weights))
        return training_data(selector, rows_of(self.X, index), codes, self.classes[present], importance, weights)


class DSOSelectorCV(RankedSelector):
    """:class:`DSOSelector` with p, C and the number of features chosen by cross-validation.

    Within each fold the values of C and p are solved as one path: C from hard margins down to the smallest, for
    each C the values of p from the largest down, each starting where its neighbour ended. Only the first works on all
    rows. The final fit on all data follows the same path, so it need not equal a cold ``DSOSelector(p=best_p_)``.
    Folds share nothing, so that nothing leaks.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        As in :class:`DSOSelector`. The number of features at which settings are compared, unless ``ks`` is given.
    ps : sequence of float, default=(0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
        Values of p.
    Cs : sequence of (float, "auto" or None), default=None
        Values of C, as in :class:`DSOSelector`; None is "auto" alone.
    ks : sequence of int, default=None
        Numbers of features to choose from; None takes ``n_features_to_select`` as it is. The best is selected until
        ``n_features_to_select`` is changed.
    cv : int, cross-validation generator or iterable, default=5
        An int is stratified folds, as many as the smallest class has samples at most.
    scoring : str, callable or None, default=None
        None is the estimator's own score: accuracy.
    estimator : classifier or None, default=None
        What is scored on the selected features; None is a linear SVM (C = 1) on standardised features.
    rule : {"best", "one_se"}, default="best"
        "one_se" takes the fewest features whose score is within one standard error of the best.
    loss, constraint, solver, ranking, standardize, fit_intercept, feature_groups, penalty_factor
    intercept_penalty, include, exclude, class_weight, tol, max_iter
        As in :class:`DSOSelector`.
    memory_limit : int or None, default=None
        As in :class:`DSOSelector`.
    n_jobs : int or None, default=None
        Folds, and the fits on all data, in parallel.
    verbose : int, default=0

    Attributes
    ----------
    best_params_ : dict
        The setting chosen: p, C and k, the number of features. Also as ``best_p_``, ``best_C_`` and ``best_k_``.
    best_score_, best_index_ :
        Its mean score, and its place in ``cv_results_``.
    cv_results_ : dict
        With the keys of scikit-learn's searches, one entry per setting: param_p, param_C, param_k, params,
        split0_test_score ..., mean_test_score, std_test_score (with n - 1 in the denominator) and rank_test_score.
    path_ : list of dict
        p, C, objective, certificate, status and n_rows of the fits on all data.
    scores_, ranking_, coef_, intercept_, objective_, ... :
        Those of the final fit; see :class:`DSOSelector`.

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    DSOClassifier : The linear model itself, to predict with.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import DSOSelectorCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = DSOSelectorCV(ps=(0.85, 1.0), ks=(5, 10, 20), cv=3).fit(X[:150], y[:150])
    >>> sorted(search.best_params_), search.transform(X).shape[1] == search.best_k_
    (['C', 'k', 'p'], True)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        ps: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0),
        Cs: Sequence[float | str | None] | None = None,
        ks: Sequence[int] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        estimator: Any = None,
        rule: str = "best",
        loss: str = "squared_hinge",
        constraint: str = "margin",
        solver: str = "joint",
        ranking: str = "forward_backward",
        standardize: bool = True,
        fit_intercept: bool = True,
        feature_groups: AnyArray | None = None,
        penalty_factor: AnyArray | None = None,
        intercept_penalty: float = 1.0,
        include: AnyArray | None = None,
        exclude: AnyArray | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        memory_limit: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.ps = ps
        self.Cs = Cs
        self.ks = ks
        self.cv = cv
        self.scoring = scoring
        self.estimator = estimator
        self.rule = rule
        self.loss = loss
        self.constraint = constraint
        self.solver = solver
        self.ranking = ranking
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.penalty_factor = penalty_factor
        self.intercept_penalty = intercept_penalty
        self.include = include
        self.exclude = exclude
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None, groups: AnyArray | None = None
    ) -> DSOSelectorCV:
        """Choose p, C and k by cross-validation on (X, y), then fit on all of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, one of weight 0 not at all: in all fits, in
            that of the estimator that is scored, and in its score, as far as these take weights. None is 1 for all.
        groups : array-like of shape (n_samples,) or None, default=None
            Labels that go to the ``split`` of ``cv``, such as GroupKFold.
        """
        wrong = [*self._wrong_settings(), *wrong_sample_weight(self, sample_weight, y), *_wrong_groups(self, groups, y)]
        check_call(self, X, y, CV_RULES, CV_CONFLICTS, wrong)
        data = prepare(self, X, y, sample_weight)
        settings = list(product(self._Cs(), self._ps(), self._ks()))  # the order in which ``_score_fold`` scores them
        if self.ks is None:
            self._warn_if_too_many()
        folds = _folds(self.cv, data, groups)
        _refuse_one_class(folds, data)
        samples = AllSamples(data.X, data.codes, data.classes, data.importance, data.design.sample_weight)
        # Whatever the folds say, the path on all data is needed, and it takes longest: it comes first.
        jobs: list[Callable[[], Any]] = [partial(_score_fold, self, samples, *fold) for fold in folds]
        path, *scores = _shared_out([partial(_whole_path, self, data), *jobs], self.n_jobs)
        self._n_features_at_fit = self.n_features_to_select
        self._choose(settings, np.stack(scores, axis=1))
        self._publish_path(data, path)
        follow(self, data.X, y)
        return self

    def _wrong_settings(self) -> Iterator[str]:
        """What is wrong with the lists of settings, with ``cv`` and with how settings are scored."""
        owner = type(self).__name__
        for name, rule in ENTRIES.items():
            values = getattr(self, name)
            yield from broken_entries(owner, name, rule, values)
            if ARRAY_LIKE.test(values) and not len(values):
                yield f"The {name!r} parameter of {owner} must not be empty."
        if isinstance(self.cv, Integral) and self.cv < 2:
            yield f"The 'cv' parameter of {owner} must be at least 2. Got {self.cv!r} instead."
        try:
            check_scoring(SVC() if self.estimator is None else self.estimator, self.scoring)
        except (TypeError, ValueError) as error:
            yield f"The 'estimator' of {owner} cannot be scored by its 'scoring' parameter. {error}"

    def _ps(self) -> list[float]:
        return sorted({float(p) for p in self.ps}, reverse=True)

    def _Cs(self) -> list[float | str | None]:
        """Hard margins first, then from the largest C down: fewer and fewer rows; "auto" last."""

        def size(C: float | str | None) -> float:
            return {None: -np.inf, AUTO: np.inf}[C] if C in (None, AUTO) else -float(C)

        return [AUTO] if self.Cs is None else sorted(set(self.Cs), key=size)

    def _ks(self) -> list[int]:
        wanted = [self._n_selected(self._n_candidates())] if self.ks is None else self.ks
        return [min(int(k), self._n_candidates()) for k in wanted]

    def _path(self, data: TrainingData) -> Iterator[PathPoint]:
        """Solve every (C, p), each p from the solution of the one before, the first p from that of the C before."""
        first: PathPoint | None = None
        for C in self._Cs():
            last = first
            for p in self._ps():
                weights, survival = _start(last, p)
                problem, solution = solve_dso(self, data, p, C, weights=weights, survival=survival)
                scores, ranking = ranked(self, data, problem, solution)
                last = PathPoint(C, p, problem.norms(solution.W), solution, scores, ranking)
                first = last if p == self._ps()[0] else first
                yield last

    def _choose(self, settings: list[Setting], scores: Floats) -> None:
        """Best mean score; ties go to fewer features, then to the larger p."""
        results = SearchResults.of(settings, scores)
        mean, std, ps, ks = (results[key] for key in ("mean_test_score", "std_test_score", "param_p", "param_k"))
        if not np.isfinite(mean).all():
            raise ValueError(
                f"{type(self).__name__}: 'scoring' gave no number on some folds; choose another 'cv' or 'scoring'."
            )
        eligible = mean >= mean.max()
        if self.rule == "one_se":
            best = int(mean.argmax())
            eligible = mean >= mean[best] - std[best] / np.sqrt(scores.shape[1])
        candidates = np.flatnonzero(eligible)
        chosen = int(candidates[np.lexsort((-ps[candidates], -mean[candidates], ks[candidates]))[0]])
        self.cv_results_ = results
        self.best_index_, self.best_score_ = chosen, float(mean[chosen])
        self.best_C_, self.best_p_, self.best_k_ = settings[chosen]
        self.best_params_ = parameters(settings[chosen])

    def _publish_path(self, data: TrainingData, path: list[PathPoint]) -> None:
        chosen = next(point for point in path if (point.C, point.p) == (self.best_C_, self.best_p_))
        problem = data.problem(chosen.p, None)
        warn_about(self, problem, chosen.solution, self.tol)
        warn_without_features(self, problem, chosen.solution)
        publish(self, data, problem, chosen.solution)
        self.scores_, self.ranking_ = chosen.scores, chosen.ranking
        self.path_ = [
            {
                "p": point.p,
                "C": point.C,
                "objective": point.solution.objective,
                "certificate": point.solution.certificate,
                "status": point.solution.status.short,
                "n_rows": int(np.count_nonzero(point.norms)),
            }
            for point in path
        ]

    def _n_selected(self, n_candidates: int) -> int:
        chosen = self.ks is not None and hasattr(self, "best_k_")
        if chosen and self.n_features_to_select == self._n_features_at_fit:
            return int(self.best_k_)
        return super()._n_selected(n_candidates)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags


def _start(point: PathPoint | None, p: float) -> tuple[Floats | None, Survival | None]:
    """Where the path goes on from ``point``; a cold start if it has no zero rows (p > 1), or no others."""
    if point is None or point.p > 1 or not point.norms.any() or point.solution.status is Status.ZERO:
        return None, None
    return Penalty(p).weights(point.norms), point.solution.survival


def _wrong_groups(selector: DSOSelectorCV, groups: AnyArray | None, y: AnyArray) -> Iterator[str]:
    if groups is not None and hasattr(y, "__len__") and np.shape(groups) != (len(y),):
        yield (
            f"The 'groups' of {type(selector).__name__}.fit must hold one label per sample ({len(y)}). Got shape "
            f"{np.shape(groups)} instead."
        )


def _folds(cv: Any, data: TrainingData, groups: AnyArray | None) -> list[tuple[Ints, Ints]]:
    """Training and test samples of every fold, among those of ``data``. Folds given as lists are of the user's X."""
    if groups is not None:
        groups = np.asarray(groups)
        groups = groups if data.given is None else groups[data.given]
    folds = list(_splitter(cv, data.codes).split(np.empty(len(data.codes)), data.codes, groups))
    if data.given is None or isinstance(cv, Integral) or hasattr(cv, "split"):
        return folds
    folds = [(_places(data.given, train), _places(data.given, test)) for train, test in folds]
    if not all(len(train) and len(test) for train, test in folds):
        raise ValueError("The 'cv' parameter of DSOSelectorCV has a fold without samples of positive weight.")
    return folds


def _refuse_one_class(folds: list[tuple[Ints, Ints]], data: TrainingData) -> None:
    for train, _ in folds:
        present = np.unique(data.codes[train])
        if len(present) < 2:
            raise ValueError(
                "The 'cv' parameter of DSOSelectorCV must leave samples of at least 2 classes to learn from in each "
                f"fold. One leaves those of {data.classes.tolist()[present[0]]!r} alone: give other folds, or more "
                "samples of the other classes."
            )


def _places(given: Ints, samples: Ints) -> Ints:
    """Where these samples are among the given ones; a mask, too, says which they are."""
    samples = np.asarray(samples)
    return np.flatnonzero(np.isin(given, np.flatnonzero(samples) if samples.dtype == bool else samples))


def _splitter(cv: Any, codes: Ints) -> Any:
    """Stratified folds, no more than the smallest class has samples (and at least two)."""
    if isinstance(cv, Integral):
        cv = max(2, min(int(cv), int(np.bincount(codes).min())))
    return check_cv(cv, codes, classifier=True)


def _shared_out(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """What each returns. A worker is handed all that it is to do at once, and so X only once."""
    n = min(effective_n_jobs(n_jobs), len(jobs))
    answers = Parallel(n_jobs, batch_size=1, pre_dispatch="all", max_nbytes=COPIED)(
        delayed(_one_by_one)(jobs[worker::n]) for worker in range(n)
    )
    return [answers[place % n][place // n] for place in range(len(jobs))]


def _one_by_one(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    return [job() for job in jobs]


def _whole_path(selector: DSOSelectorCV, data: TrainingData) -> list[PathPoint]:
    return list(selector._path(data))


def _score_fold(selector: DSOSelectorCV, samples: AllSamples, train: Ints, test: Ints) -> Floats:
    """Score on ``test`` of every (C, p, k), selected and fitted on ``train``."""
    fold, X_test, weights = samples.part(selector, train), rows_of(samples.X, test), samples.weights
    y_train, y_test = (samples.classes[samples.codes[part]] for part in (train, test))
    estimator = _default_estimator(fold.X) if selector.estimator is None else selector.estimator
    in_fit = {} if weights is None else _weights_for_fit(estimator, weights[train])
    score = _weighted_score(check_scoring(estimator, selector.scoring), None if weights is None else weights[test])
    results = []
    with config_context(enable_metadata_routing=False):  # weights are handed on here, to all that takes them
        for point in selector._path(fold):
            for k in selector._ks():
                top = np.flatnonzero(first_ranked(point.ranking, selector._groups, k))
                model = clone(estimator).fit(_columns_on_host(fold.X, top), y_train, **in_fit)
                results.append(score(model, _columns_on_host(X_test, top), y_test))
    return np.array(results)


def _weights_for_fit(estimator: Any, weights: Floats) -> dict[str, Floats]:
    """The arguments by which ``fit`` takes weights of samples: none, if it does not; of a pipeline, those of steps."""
    if not isinstance(estimator, Pipeline):
        return {"sample_weight": weights} if has_fit_parameter(estimator, "sample_weight") else {}
    steps = [
        name for name, step in estimator.steps if hasattr(step, "fit") and has_fit_parameter(step, "sample_weight")
    ]
    return {f"{name}__sample_weight": weights for name in steps}


def _weighted_score(score: Callable[..., float], weights: Floats | None) -> Callable[..., float]:
    """With weights of the samples, if ``score`` takes them."""

    def weighted(model: Any, X: AnyArray, y: np.ndarray) -> float:
        try:
            return score(model, X, y, sample_weight=weights)
        except TypeError:  # scikit-learn has no public way to ask a scorer for its arguments
            return score(model, X, y)

    return score if weights is None else weighted


def _columns_on_host(X: AnyArray, index: Ints) -> AnyArray:
    """A few columns, where the classifier that scores them can read them."""
    if isinstance(X, ChunkedArray):
        return X.fetch_columns(index)
    return on_host(take(X, index, axis=1)) if is_dispatched(X) else X[:, index]


def _default_estimator(X: AnyArray) -> Any:
    return make_pipeline(StandardScaler(with_mean=not issparse(X)), SVC(kernel="linear"))
