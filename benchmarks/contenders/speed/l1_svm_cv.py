"""LinearSVC with an l1 penalty, C tuned by GridSearchCV: 5 folds, C = 0.01, 0.1, 1, 10."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

TASK = "a sparse model, tuned"
NAME = "L1-SVM, C tuned"
REQUIREMENTS = ()


def prepare(X, y):
    svm = LinearSVC(penalty="l1", dual=False, random_state=0)
    return lambda: GridSearchCV(svm, {"C": (0.01, 0.1, 1.0, 10.0)}, cv=5).fit(X, y)


def describe(search):
    return {"features": int(np.any(search.best_estimator_.coef_, axis=0).sum())}
