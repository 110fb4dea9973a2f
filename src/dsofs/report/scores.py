"""What the score of a feature is: each method has its own."""

from __future__ import annotations

from dsofs.examination.findings import Origin

DROPPED = "below 1, how long the solver kept a feature that it dropped in the end"
OF_RANKINGS = {  # of the methods that have this parameter
    "forward": f"1 plus the part of the class labels that the features above it leave unexplained; {DROPPED}",
    "survival": f"1 plus the size of its weights relative to the largest; {DROPPED}",
    "norm": "the size of its weights on standardised features",
}
STATISTIC = "the statistic of its test against the classes"
OF_METHODS = {
    "LassoSelector": "1 plus the size of its weights relative to the largest; below 1, for features without weight, "
    "how near they are to entering the model",
    "RFSSelector": "the size of its weights on standardised features",
    "ReliefFSelector": "how much more it differs between near samples of different classes than of the same",
    "MRMRSelector": "above 1 for features chosen in turn, the earlier the higher; below 1, the relevance of the others "
    "for the classes, relative to the largest",
    "SelectKBest": STATISTIC,
    "SelectPercentile": STATISTIC,
    "SelectFromModel": "the size of its weights, or its importance, in the fitted model",
    "RFE": "the size of its weights, or its importance, in the last model",
}


def score_meaning(origin: Origin) -> str:
    """A sentence on the scores of a method; of those not known here, what holds for all."""
    meaning = OF_RANKINGS.get(str(origin.parameters.get("ranking"))) or OF_METHODS.get(origin.method)
    if meaning is None:
        return "The score is the method's own: higher is better, and scores of other methods are not comparable."
    return f"The score is {meaning}."


def score_words(score: float | None, form: str = ".3g") -> str:
    return "–" if score is None else format(score, form)
