"""scikit-learn's linear SVM with its defaults, which selects nothing."""

from sklearn.svm import LinearSVC

TASK = "a linear model"
NAME = "LinearSVC"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: LinearSVC().fit(X, y)
