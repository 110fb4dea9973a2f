"""scikit-learn's RFE of a linear SVM, a tenth of the features that are left at a time, until one is left."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

TENTH = 0.1


class TenthAtATime(BaseEstimator):
    """RFE takes a constant number at a time; here a new one goes on with those that the last one left."""

    def fit(self, X, y):
        left, order = np.arange(X.shape[1]), []
        while len(left) > 1:
            n_left = len(left) - max(1, int(TENTH * len(left)))
            rfe = RFE(SVC(kernel="linear"), n_features_to_select=n_left, step=len(left) - n_left)
            rfe.fit(X[:, left], y)
            order = [*left[~rfe.support_], *order]
            left = left[rfe.support_]
        self.ranking_ = np.argsort([*left, *order]) + 1
        return self


def make(k, seed=0):
    return TenthAtATime()
