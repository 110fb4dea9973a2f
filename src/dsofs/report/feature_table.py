"""The chosen features, one by one, and what the score of a feature is: each method has its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dsofs.examination.findings import Feature, Findings, Origin
from dsofs.report.html import Markup, label, tag
from dsofs.report.images import distribution_picture
from dsofs.report.page import CLASS_NAME, class_legend, class_names, section, table
from dsofs.report.svg import N_COLOURS

FEATURES_SHOWN = 50
RARE = 0.2  # share of the resamples below which a feature is grey
UNUSED = (
    "Features below the double line have weight 0 in the selector's own model: they only fill up the number asked for."
)
DROPPED = "below 1, how long the solver kept a feature before dropping it"
OF_RANKINGS = {  # of the methods that have this parameter
    "forward": f"1 plus the part of the class labels that the features above it leave unexplained; {DROPPED}",
    "backward": f"at least 2 for those ranked by backward elimination; {DROPPED}",
    "forward_backward": "at least 4 for those that forward selection puts first, at least 2 for those ranked by "
    f"backward elimination; {DROPPED}",
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


def features(findings: Findings) -> Markup:
    names = class_names(findings)
    boxes = len(names) <= N_COLOURS
    shown = findings.chosen[:FEATURES_SHOWN]
    how = (
        "Lines run from the 5 % to the 95 % quantile of each class, boxes from 25 to 75 %; bars are medians."
        if boxes
        else f"Each cell is the mean of a class, in the order {names[0]} to {names[-1]}: blue below the mean of all "
        "samples, orange above."
    )
    first_unused = _first_without_weight(shown)
    left_out = len(findings.chosen) - len(shown)
    return section(
        "features", "The chosen features",
        tag("p", "Best first. “Chosen again” is the share of resamples, each on 60 % of the samples, that chose the "
            f"feature too (grey below {RARE:.0%}). {score_meaning(findings.origin)} ",
            f"{UNUSED} " if first_unused is not None else None, how),
        class_legend(findings) if boxes else None,
        table(
            ["rank", "feature", "score", "chosen again", "by class", "highest in", "lowest in"],
            [_feature_row(feature, names, _decimals(shown)) for feature in shown], "features",
            [_row_class(feature, place == first_unused) for place, feature in enumerate(shown)],
        ),
        tag("p", f"{left_out} more are not shown here; selected.csv has them all.") if left_out else None,
    )  # fmt: skip


def _first_without_weight(shown: Sequence[Feature]) -> int | None:
    """The position of the first feature without a weight in the model; None if there is none, or others follow."""
    used = [feature.has_weight is not False for feature in shown]
    n_used = sum(used)
    return n_used if all(used[:n_used]) and n_used < len(shown) else None


def _row_class(feature: Feature, first_unused: bool) -> str | None:
    kinds = [*["rare"] * (feature.frequency < RARE), *["weightless-from"] * first_unused]
    return " ".join(kinds) or None


def _decimals(features: Sequence[Feature]) -> int:
    """The number of decimals that gives the largest score four digits."""
    largest = max(abs(feature.score or 0.0) for feature in features)
    return min(6, max(0, 3 - math.floor(math.log10(largest)))) if largest > 0 else 0


def _feature_row(feature: Feature, names: list[str], decimals: int) -> list[object]:
    highest, lowest = (feature.profile.index(extreme(feature.profile)) for extreme in (max, min))
    share = tag("meter", value=feature.frequency, min=0, max=1, aria_label="share of resamples")
    return [
        str(feature.rank), label(feature.name), score_words(feature.score, f".{decimals}f"),
        [share, f" {feature.frequency:.0%}"], distribution_picture(feature, names),
        label(names[highest], CLASS_NAME), label(names[lowest], CLASS_NAME),
    ]  # fmt: skip


def score_meaning(origin: Origin) -> str:
    """A sentence on the scores of a method; a general one for methods not listed here."""
    meaning = OF_RANKINGS.get(str(origin.parameters.get("ranking"))) or OF_METHODS.get(origin.method)
    if meaning is None:
        return "The score is the method's own: higher is better, and scores of other methods are not comparable."
    return f"The score is {meaning}."


def score_words(score: float | None, form: str = ".3g") -> str:
    return "–" if score is None else format(score, form)
