"""Logistic regression with an elastic net, half l1: norms of the weights, and the F-test for features of weight 0."""

from dsofs.design.linalg import row_norms
from dsofs.methods.shared.scored import ScoreSelector, f_scores
from dsofs.ranking import two_tier_scores


def scores(Z, codes, k, random_state):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(solver="saga", C=0.1, l1_ratio=0.5, max_iter=200, random_state=random_state)
    return two_tier_scores(row_norms(model.fit(Z, codes).coef_.T), f_scores(Z, codes, k, random_state))


def make(k, seed=0):
    return ScoreSelector(k, score_func=scores, random_state=seed)
