"""Importance of the features in a random forest of 500 trees."""

from dsofs.methods.shared.scored import ScoreSelector


def scores(Z, codes, k, random_state):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, random_state=random_state).fit(Z, codes).feature_importances_


def make(k, seed=0):
    return ScoreSelector(k, score_func=scores, random_state=seed)
