"""Rules for parameters, one by one and together."""

import pytest
from sklearn.base import BaseEstimator

from dsofs.validation import BOOLEAN, NONE, Conflict, check_parameters, integer, options, real

RULES = {"size": integer(1) | NONE, "kind": options("small", "large"), "exact": BOOLEAN}
CONFLICTS = [Conflict({"kind": options("large"), "size": integer(1)}, "'size' of {owner} must be None with 'large'.")]


class Example(BaseEstimator):
    def __init__(self, size=None, kind="small", exact=True):
        self.size, self.kind, self.exact = size, kind, exact


def test_what_is_right_passes():
    check_parameters(Example(3), RULES, CONFLICTS)
    check_parameters(Example(None, "large"), RULES, CONFLICTS)


def test_one_error_is_one_sentence():
    with pytest.raises(ValueError, match=r"^The 'size' parameter of Example must be an int of at least 1 or None"):
        check_parameters(Example(0), RULES, CONFLICTS)
    with pytest.raises(ValueError, match=r"^'size' of Example must be None with 'large'\.$"):
        check_parameters(Example(3, "large"), RULES, CONFLICTS)


def test_several_are_listed_in_one_error():
    with pytest.raises(ValueError, match="3 things are wrong with the parameters of Example:") as refused:
        check_parameters(Example(2, "large", exact=1), RULES, CONFLICTS, others=["X is on fire."])
    assert str(refused.value).split("\n- ")[1:] == [
        "The 'exact' parameter of Example must be a bool. Got 1 instead.",
        "'size' of Example must be None with 'large'.",
        "X is on fire.",
    ]


def test_a_parameter_that_breaks_its_rule_is_complained_of_once():
    others = ["The 'size' parameter of Example must be at least 2, the number of samples."]
    with pytest.raises(ValueError, match=r"^The 'size' parameter of Example must be an int of at least 1 or None"):
        check_parameters(Example(-1), RULES, others=others)
    with pytest.raises(ValueError, match="at least 2, the number of samples"):
        check_parameters(Example(1), RULES, others=others)


@pytest.mark.parametrize(
    ("closed", "inside", "outside"),
    [("neither", [0.5], [0, 1, "a", True]), ("right", [1], [0, 1.1]), ("left", [0], [1]), ("both", [0, 1], [-0.1])],
)
def test_the_ends_of_an_interval(closed, inside, outside):
    rule = real(0, 1, closed=closed)
    assert all(map(rule.test, inside))
    assert not any(map(rule.test, outside))
