"""Which cells a fit is made on."""

import numpy as np

from dsofs import DSOSelector
from dsofs.sc.working_set import even_cells, least_margins, turns, violating


def test_cells_are_taken_evenly_and_rare_types_whole():
    codes = np.repeat([0, 1, 2], [100, 3, 50])
    cells = even_cells(codes, 43)
    assert np.bincount(codes[cells]).tolist() == [20, 3, 20]
    assert (np.diff(cells) > 0).all()


def test_turns_count_within_a_type():
    assert turns(np.array([2, 0, 2, 0, 2]), np.array([0.3, 0.2, 0.1, 0.1, 0.2])).tolist() == [2, 1, 0, 0, 1]


def test_the_worst_of_each_type_come_first():
    margins, codes = np.array([0.9, -1.0, -2.0, 0.1, 0.2, -3.0]), np.array([0, 0, 0, 1, 1, 0])
    assert violating(margins, codes, np.array([5]), 2).tolist() == [2, 3]
    assert violating(margins, codes, np.array([5]), 9).tolist() == [1, 2, 3, 4]
    assert violating(margins, codes, np.arange(6), 9).tolist() == []


def test_least_margins_are_those_of_the_constraints():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    X = rng.normal(size=(60, 10)) + 4 * np.eye(3, 10)[codes]
    for types in (3, 2):
        part = codes < types
        fit = DSOSelector(3, C=None).fit(X[part], codes[part])
        margins = least_margins(fit, X[part], codes[part])
        assert margins.min() > 1 - 1e-6
        assert margins.min() < 1 + 1e-3
