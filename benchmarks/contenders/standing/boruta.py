"""Boruta (the package of that name): ranks by how often a feature beats shuffled copies, then by its importance."""

import numpy as np

REQUIRES = "boruta"


class Boruta:
    def __init__(self, seed):
        self.seed = seed

    def fit(self, X, y):
        from boruta import BorutaPy
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(max_depth=5, random_state=self.seed)
        found = BorutaPy(forest, n_estimators="auto", random_state=self.seed).fit(X, y)
        importance = np.nan_to_num(np.nanmean(found.importance_history_, axis=0))
        self.ranking_ = np.argsort(np.lexsort((-importance, found.ranking_))) + 1
        return self


def make(k, seed=0):
    return Boruta(seed)
