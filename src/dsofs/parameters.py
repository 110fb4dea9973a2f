"""What parameters may be, one by one and together, and one error that lists all that is wrong with a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


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
    """Settings that do not go together: a parameter -> the values that clash with those of the others."""

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
    """Raise one ValueError that lists every broken rule, every conflict, and ``others``: what else is wrong."""
    owner, given = type(estimator).__name__, estimator.get_params(deep=False)
    wrong = [
        *_broken(rules, given, owner),
        *(conflict.sentence.format(owner=owner) for conflict in conflicts if conflict.among(given)),
        *others,
    ]
    if len(wrong) > 1:
        lines = "".join(f"\n- {sentence}" for sentence in wrong)
        raise ValueError(f"{len(wrong)} things are wrong with the parameters of {owner}:{lines}")
    if wrong:
        raise ValueError(wrong[0])


def _broken(rules: Mapping[str, Rule], given: Mapping[str, Any], owner: str) -> Iterator[str]:
    for name, value in given.items():
        rule = rules.get(name)
        if rule is not None and not rule.test(value):
            yield f"The {name!r} parameter of {owner} must be {rule.words}. Got {value!r} instead."


def broken_entries(owner: str, name: str, rule: Rule, values: Any) -> Iterator[str]:
    """What is wrong with the entries of a list of values for one parameter."""
    for value in values if ARRAY_LIKE.test(values) else ():
        if not rule.test(value):
            yield f"Each entry of the {name!r} parameter of {owner} must be {rule.words}. Got {value!r} instead."
