"""The markers of a type, and the order in which each type has its own."""

import numpy as np

from dsofs.sc.choice import largest_weights, with_markers


def test_largest_weights_are_positive_ones():
    weights = np.array([[0.1, 0.5, -2.0, 0.0], [-1.0, -1.0, 0.0, -0.1]])
    first, second = largest_weights(weights, 3)
    assert first.tolist() == [1, 0]
    assert second.tolist() == []


def test_markers_of_best_rank_replace_the_others_of_worst_rank():
    order = np.array([5, 3, 0, 1, 2, 4])
    largest = [np.array([4, 2]), np.array([5, 1])]
    assert with_markers(order, largest, 3, 0, 0).tolist() == order.tolist()
    assert with_markers(order, largest, 3, 1, 0).tolist() == [5, 3, 2, 0, 1, 4]
    assert with_markers(order, largest, 4, 1, 2).tolist() == [5, 3, 0, 2, 1, 4]
    assert with_markers(order, largest, 4, 2, 0).tolist() == [5, 1, 2, 4, 3, 0]
