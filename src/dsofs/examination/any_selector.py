"""What any fitted selector chose, and in which order: this package's, scikit-learn's, and pipelines of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from dsofs.design.types import Floats, Ints

NEEDED = (
    "a selector with the methods fit and get_support, as scikit-learn's have, or a Pipeline of such selectors and of "
    "steps that keep every column"
)


@dataclass(frozen=True)
class Choice:
    """All features, the chosen ones first, and within both the best first."""

    order: Ints
    n_chosen: int
    n_ordered: int  # how many of the first are in a known order; 0 if the selector does not say which are better
    scores: Floats  # higher is better; NaN where the selector gives none
    n_selectable: int  # how many of the first can be selected; covariates and excluded features come after them

    @property
    def selectable(self) -> Ints:
        return np.sort(self.order[: self.n_selectable])


def check_selector(selector: Any) -> None:
    """Refuse selectors that say nothing about single features."""
    if isinstance(selector, type):
        raise ValueError(
            f"The 'selector' of examine must be {NEEDED}. Got the class {selector.__name__}: make one of it, "
            f"{selector.__name__}()."
        )
    steps = [selector]
    if isinstance(selector, Pipeline):
        steps = [step for _, step in selector.steps]
        if not hasattr(steps[-1], "transform") and steps[-1] != "passthrough":
            raise ValueError(
                f"The 'selector' of examine must be {NEEDED}. The last step of the Pipeline is "
                f"{type(steps[-1]).__name__}, which predicts: leave it out, pipeline[:-1]."
            )
    if not any(isinstance(step, Pipeline) or hasattr(step, "get_support") for step in steps):
        raise ValueError(f"The 'selector' of examine must be {NEEDED}. Got {type(selector).__name__} instead.")


def choice_of(fitted: Any, n_features: int) -> Choice:
    """What a fitted selector chose among ``n_features``."""
    if not isinstance(fitted, Pipeline):
        return _of_selector(fitted, n_features)
    every = np.arange(n_features)
    choice = Choice(every, n_features, 0, np.full(n_features, np.nan), n_features)
    for _, step in fitted.steps:
        choice = _after(choice, step)
    return choice


def _after(choice: Choice, step: Any) -> Choice:
    """The choice of two steps of a pipeline, the second of which chose among the features of the first."""
    if step is None or step == "passthrough":
        return choice
    columns = np.sort(choice.order[: choice.n_chosen])  # as they reach the step
    if not (isinstance(step, Pipeline) or hasattr(step, "get_support")):
        _check_keeps_columns(step, len(columns))
        return choice
    within = choice_of(step, len(columns))
    scores = np.full(len(choice.order), np.nan)
    scores[columns] = within.scores
    # Features that earlier steps left out keep their order, after those that reached this step.
    goes_on = within.n_ordered == len(columns) and choice.n_ordered > len(columns)
    return Choice(
        order=np.concatenate([columns[within.order], choice.order[choice.n_chosen :]]),
        n_chosen=within.n_chosen,
        n_ordered=choice.n_ordered if goes_on else within.n_ordered,
        scores=scores,
        n_selectable=len(choice.order),
    )


def _check_keeps_columns(step: Any, n_columns: int) -> None:
    try:
        names = list(step.get_feature_names_out())
    except (AttributeError, ValueError):
        names = []
    if names != list(getattr(step, "feature_names_in_", [f"x{i}" for i in range(n_columns)])):
        raise ValueError(
            f"The 'selector' of examine must be {NEEDED}. The step {type(step).__name__} makes other columns, or "
            "does not say which (get_feature_names_out)."
        )


def _of_selector(fitted: Any, n_features: int) -> Choice:
    support = np.asarray(fitted.get_support())
    if len(support) != n_features:
        raise ValueError(f"The 'selector' of examine was fitted on {len(support)} features, and X has {n_features}.")
    scores = _scores(fitted, support)
    rank = getattr(fitted, "ranking_", None)
    known = rank is not None or np.isfinite(scores).any()
    best_first = -np.nan_to_num(scores, nan=-np.inf)
    order = np.lexsort((best_first, np.zeros(n_features) if rank is None else rank, ~support))
    n_selectable = _n_selectable(fitted, order)
    return Choice(order, int(support.sum()), n_selectable if known else 0, scores, n_selectable)


def _n_selectable(fitted: Any, order: Ints) -> int:
    """Features up to the last with an ordinary penalty: not 0, as of covariates, nor infinite, as of excluded ones."""
    factor = getattr(fitted, "penalty_factor_", None)
    if factor is None:
        return len(order)
    penalised = (factor > 0) & np.isfinite(factor)
    return int(np.flatnonzero(penalised[order])[-1]) + 1


def _scores(fitted: Any, support: np.ndarray) -> Floats:
    """Scores of the features, or their weights in the model that the selector fitted to all or to those it kept."""
    scores = np.full(len(support), np.nan)
    given = getattr(fitted, "scores_", None)
    if given is None:
        given = _importance(getattr(fitted, "estimator_", None))
    if given is None:
        return scores
    if len(given) == len(support):
        return np.asarray(given, dtype=np.float64)
    if len(given) == support.sum():
        scores[support] = given
    return scores


def _importance(model: Any) -> Floats | None:
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=np.float64)
    coef = getattr(model, "coef_", None)
    return None if coef is None else np.linalg.norm(np.atleast_2d(coef), axis=0)
