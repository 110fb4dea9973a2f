import re
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from dsofs.records import read_record


@dataclass(frozen=True)
class Leaf:
    name: str
    share: float | None


@dataclass(frozen=True)
class Tree:
    leaves: list[Leaf]
    best: Leaf | None
    sizes: dict[str, int]
    grown: bool
    more: dict[str, Any] = field(default_factory=dict)


TREE = Tree([Leaf("a", 0.5), Leaf("b", None)], Leaf("c", 1), {"x": 3}, True, {"any": [1, "text", None]})


def test_a_record_comes_back_as_it_was():
    assert read_record(Tree, asdict(TREE)) == TREE
    assert read_record(Tree, asdict(TREE) | {"best": None}).best is None


def test_defaults_are_taken_where_they_may_be():
    given = {name: value for name, value in asdict(TREE).items() if name != "more"}
    assert read_record(Tree, given, defaults=True).more == {}
    with pytest.raises(ValueError, match=r"^more is missing$"):
        read_record(Tree, given)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"leaves": {}}, "leaves must be a list, and is '{}'"),
        ({"leaves": [{"name": "a", "share": 1}, {"name": 2, "share": 1}]}, "leaves[1].name must be a text, and is '2'"),
        ({"leaves": [{"name": "a"}]}, "leaves[0].share is missing"),
        ({"best": {"name": "a", "share": True}}, "best.share must be a number or null, and is 'True'"),
        ({"best": 1}, "best must be an object or null, and is '1'"),
        ({"sizes": {"x": 1.5}}, "sizes.x must be a whole number, and is '1.5'"),
        ({"grown": 1}, "grown must be true or false, and is '1'"),
        ({"fallen": 1}, "fallen is not known"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        read_record(Tree, asdict(TREE) | changes)


def test_what_is_no_object_is_refused():
    with pytest.raises(ValueError, match=r"^it must be an object$"):
        read_record(Tree, [])
