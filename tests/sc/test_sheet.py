"""Figures per type, by hand."""

import numpy as np
import pytest

from dsofs.sc.sheet import (
    accuracy_sheet,
    nearest_types,
    on_target_fractions,
    predicted_in_folds,
    predicted_types,
    type_sheet,
)

pytest.importorskip("pandas")


def test_on_target_fractions():
    means = np.array([[3.0, 0.0, -1.0], [1.0, 0.0, 2.0]])
    assert on_target_fractions(means).tolist() == [[0.75, 0.0, 0.0], [0.25, 0.0, 1.0]]


def test_nearest_types():
    truth, predicted = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 1, 2, 2, 1, 0])
    assert nearest_types(truth, predicted, 3).tolist() == [2, -1, 0]


def test_the_sheet():
    truth, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    fractions = np.array([[0.8, 0.4], [0.2, 0.6]])
    sheet = type_sheet(["a", "b"], truth, predicted, fractions, [np.array([0, 1]), np.array([], dtype=int)], ["x", "y"])
    assert sheet["n_cells"].tolist() == [3, 2]
    precision, recall = np.array([1.0, 2 / 3]), np.array([2 / 3, 1.0])
    np.testing.assert_allclose(sheet["f_beta"], 1.25 * precision * recall / (0.25 * precision + recall))
    assert sheet.loc["a", "on_target"] == pytest.approx(0.6)
    assert np.isnan(sheet.loc["b", "on_target"])
    assert sheet["nearest"].tolist() == ["b", ""]
    assert sheet["markers"].tolist() == ["x,y", ""]
    assert sheet["n_markers"].tolist() == [2, 0]


def test_cells_are_predicted_by_others():
    codes = np.repeat(np.arange(3), [20, 20, 1])
    X = np.eye(3)[codes] + 0.01 * np.random.default_rng(0).normal(size=(41, 3))
    predicted = predicted_in_folds(X, codes)
    assert (predicted[:40] == codes[:40]).all()
    assert predicted[40] != 2


def test_few_cells_are_predicted_too():
    X = np.array([[0.0], [1.0], [5.0]])
    assert predicted_types(X, np.array([0, 1, 2]), np.array([[0.9], [7.0]])).tolist() == [1, 2]
    assert predicted_types(X, np.array([1, 1, 1]), X).tolist() == [1, 1, 1]


def test_accuracy_of_batches():
    sheet = accuracy_sheet(["a", "b", "c"], np.array([0, 0, 2]), np.array([True, False, True]))
    assert sheet.to_dict("list") == {"n_cells": [2, 1], "accuracy": [0.5, 1.0]}
    assert list(sheet.index) == ["a", "c"]
