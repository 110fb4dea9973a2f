"""The sections of the page, in the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dsofs.evaluation.findings import Feature, Findings
from dsofs.report.html import Markup, label, tag
from dsofs.report.parts import CLASS_NAME, answer_first, cite, facts, figure, legend, section, table
from dsofs.report.pictures.confusion import confusion_picture, most_confused
from dsofs.report.pictures.convergence import convergence_picture
from dsofs.report.pictures.curves import accuracy_picture, stability_picture
from dsofs.report.pictures.distribution import distribution_picture
from dsofs.report.pictures.heatmap import heatmap_picture
from dsofs.report.pictures.permutation import permutation_picture
from dsofs.report.pictures.pixels import pixels_picture
from dsofs.report.pictures.scatter import scatter_picture
from dsofs.report.svg import N_COLOURS
from dsofs.report.verdict import accuracy_words, balanced_accuracy, headline, looks_like_chance, remarks

FEATURES_SHOWN = 50
SUSPECTS_SHOWN = 25
IN_LEGEND = 20  # classes; more are named in the picture itself


def answer(findings: Findings) -> Markup:
    """The headline, the figures, and what they mean."""
    data = findings.origin.data, findings.n_samples, findings.n_features, len(findings.classes)
    return answer_first(
        data, headline(findings), [accuracy_words(findings).capitalize(), "."], _tiles(findings), remarks(findings)
    )


def _tiles(findings: Findings) -> Iterable[tuple[str, str, str]]:
    curve, index, test = findings.accuracy, findings.stability.at_k, findings.permutation
    yield "held-out accuracy", f"{curve.at_k:.1%}", f"± {100 * curve.deviation_at_k:.1f} over {_resamples(findings)}"
    yield "balanced accuracy", f"{balanced_accuracy(findings):.1%}", "every class counts alike"
    yield "chance", f"{curve.chance:.1%}", "always the largest class"
    if test is not None:
        yield "p-value", f"{test.p_value:.2g}", f"{len(test.shuffled)} shuffled labellings"
    if index is not None:
        yield "stability", f"{index:.2f}", "1: always the same features"
    yield "features advised", f"{curve.one_se_k}", "one-standard-error rule"


def _resamples(findings: Findings) -> str:
    return f"{findings.origin.n_resamples} resamples"


def features(findings: Findings) -> Markup:
    names = _class_names(findings)
    boxes = len(names) <= N_COLOURS
    shown = findings.chosen[:FEATURES_SHOWN]
    how = (
        "Lines run from the 5 % to the 95 % quantile of the class, boxes from 25 to 75 %, the bar is the median."
        if boxes
        else f"Each cell is the mean of a class, in the order {_order(names)}: blue below the mean of all samples, "
        "orange above."
    )
    left_out = len(findings.chosen) - len(shown)
    return section(
        "features", "The chosen features",
        tag("p", "Best first. “Chosen again” is the share of the resamples, each on 60 % of the samples, in which the "
            f"feature was among the best {findings.accuracy.k}. ", how),
        _legend(findings) if boxes else None,
        table(
            ["rank", "feature", "score", "chosen again", "by class", "highest in", "lowest in"],
            [_feature_row(feature, names, _decimals(shown)) for feature in shown], "features",
        ),
        tag("p", f"{left_out} more are not shown here; selected.csv has them all.") if left_out else None,
    )  # fmt: skip


def _decimals(features: Sequence[Feature]) -> int:
    """So many that the largest score has four digits."""
    largest = max(abs(feature.score) for feature in features)
    return min(6, max(0, 3 - math.floor(math.log10(largest)))) if largest > 0 else 0


def _feature_row(feature: Feature, names: list[str], decimals: int) -> list[object]:
    highest, lowest = (feature.profile.index(extreme(feature.profile)) for extreme in (max, min))
    share = tag("meter", value=feature.frequency, min=0, max=1, aria_label="share of resamples")
    return [
        str(feature.rank), label(feature.name), f"{feature.score:.{decimals}f}", [share, f" {feature.frequency:.0%}"],
        distribution_picture(feature, names), label(names[highest], CLASS_NAME), label(names[lowest], CLASS_NAME),
    ]  # fmt: skip


def _order(names: list[str]) -> str:
    return f"{names[0]} to {names[-1]}"


def pixels(findings: Findings) -> Markup | None:
    if findings.image is None:
        return None
    rows, columns = findings.image.shape
    return section(
        "pixels", "Where the chosen pixels lie",
        figure(pixels_picture(findings.image), f"Mean of all {findings.n_samples:,} images of {rows} × {columns} "
                "pixels, with the chosen ones marked."),
        half=True,
    )  # fmt: skip


def prediction(findings: Findings) -> Markup:
    curve = findings.accuracy
    return section(
        "accuracy", "How many features are needed",
        figure(accuracy_picture(curve), f"{_resamples(findings)}: features are chosen and a "
                f"{findings.origin.classifier} is fitted on 60 % of the samples, drawn class by class, and the other "
                "40 % are predicted. Nothing of them is used before, scaling included. The band is one standard "
                "deviation. Advised are the fewest features within one standard error of the best, corrected for "
                "samples that resamples share (Nadeau and Bengio)."),
        half=True,
    )  # fmt: skip


def chance(findings: Findings) -> Markup | None:
    test = findings.permutation
    if test is None:
        return None
    splits = "split" if test.n_splits == 1 else "splits"
    return section(
        "chance", "Is it better than chance?",
        figure(permutation_picture(test), f"Labels were shuffled {len(test.shuffled)} times and everything was done "
                f"again with them, the selection included, on {test.n_splits} {splits}. p = (1 + times as good) / "
                f"(1 + {len(test.shuffled)}) = {test.p_value:.2g}."),
        half=True,
    )  # fmt: skip


def stability(findings: Findings) -> Markup | None:
    drawn = stability_picture(findings.stability)
    if not drawn:
        return None
    return section(
        "stability", "How stable the choice is",
        figure(drawn, "Nogueira's index of the sets chosen in the resamples, with its 95 % interval: 1 if all are "
                "equal, 0 if they agree as random sets do."),
        half=True,
    )  # fmt: skip


def samples(findings: Findings) -> Markup:
    names, view = _class_names(findings), findings.view
    few = len(names) <= IN_LEGEND
    caption = (
        "Features were chosen and the axes fitted on 60 % of the samples (small, faint); the other 40 % (large) were "
        "only placed on them. " + _left_out(view.n_left_out)
    )
    return section(
        "samples", "The samples on two axes",
        _legend(findings) if few else None,
        figure(scatter_picture(view, names, few), caption),
        half=_n_halves_before(findings) % 2 == 1,
    )  # fmt: skip


def _n_halves_before(findings: Findings) -> int:
    """Half sections before the samples; an odd one leaves room beside it."""
    return sum(part(findings) is not None for part in (pixels, prediction, chance, stability))


def heat_map(findings: Findings) -> Markup:
    heat = findings.heat_map
    caption = (
        "Columns are samples, ordered by class; rows are features, ordered by the class in which they are highest, "
        f"with their rank. Colours end at ± {heat.limit:g} standard deviations: blue below the mean, orange above. "
        + (f"The best {len(heat.features)} features are drawn. " if len(heat.features) < len(findings.chosen) else "")
        + _left_out(heat.n_left_out)
    )
    return section("heat-map", "The chosen features, sample by sample", figure(heatmap_picture(findings), caption))


def _left_out(n: int) -> str:
    return f"{n:,} samples, evenly spread over each class, are not drawn." if n else ""


def confusion(findings: Findings) -> Markup:
    names = _class_names(findings)
    pairs = most_confused(findings.confusion, names)
    rows: list[list[object]] = [[label(a, CLASS_NAME), label(b, CLASS_NAME), f"{share:.0%}"] for a, b, share in pairs]
    return section(
        "confusion", "Which classes are confused",
        tag(
            "div",
            figure(confusion_picture(findings.confusion, names), "Held-out predictions of all resamples, in % of the "
                    "true class. Blue is right, orange is wrong."),
            tag("div", tag("h3", "Most often"), table(["true class", "taken for", "share"], rows, "plain"))
            if rows else None,
            class_="beside",
        ),
    )  # fmt: skip


def suspects(findings: Findings) -> Markup:
    shown = findings.suspects[:SUSPECTS_SHOWN]
    if not shown:
        text = "None: no sample is predicted as another class most of the time, or part of a proof of a conflict."
        return section("suspects", "Samples in conflict", tag("p", text))
    rows: list[list[object]] = [
        [
            label(s.sample), label(s.label, CLASS_NAME), "–" if s.predicted is None else label(s.predicted, CLASS_NAME),
            f"{s.wrong} of {s.held_out}", "yes" if s.in_conflict else "no",
        ]
        for s in shown
    ]  # fmt: skip
    left_out = len(findings.suspects) - len(shown)
    return section(
        "suspects", "Samples in conflict: possible label errors",
        tag("p", "Samples that were mostly predicted as another class when they were held out, and samples that belong "
            "to a proof that no linear rule gets all of them right. ",
            "Since the predictions are no better than chance, this says little." if looks_like_chance(findings)
            else "Check their labels first."),
        table(["sample", "label", "predicted most often", "wrong when held out", "in the proof"], rows, "plain"),
        tag("p", f"{left_out} more are not shown.") if left_out else None,
    )  # fmt: skip


def convergence(findings: Findings) -> Markup | None:
    found = findings.convergence
    if found is None:
        return None
    value = "unknown" if found.value is None else f"{found.value:.2g}"
    entries = [("status", found.status.replace("_", " ")), (found.certificate, value), ("steps", str(len(found.gap))),
             ("features with weight", f"{found.n_rows:,}")]  # fmt: skip
    meaning = {
        "duality gap": "The duality gap bounds how far the weights can be from the optimum, relative to it.",
        "stationarity": "The largest relative violation of the conditions that a local optimum meets.",
    }[found.certificate]
    drawn = convergence_picture(found)
    return section(
        "convergence", "Convergence and certificate", facts(entries), figure(drawn, meaning) if drawn else None
    )


def made(findings: Findings) -> Markup:
    origin = findings.origin
    parameters = ", ".join(f"{name}={value!r}" for name, value in origin.parameters.items() if value is not None)
    seconds = ", ".join(f"{stage} {value:.1f} s" for stage, value in origin.seconds.items())
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    entries = [
        ("data", origin.data), ("SHA-256", origin.sha256), ("command", origin.command),
        ("method", f"{origin.method}({parameters})"), ("seed", str(origin.seed)), ("made", origin.created),
        ("time", seconds), ("versions", versions),
    ]  # fmt: skip
    return section("made", "How it was made", facts([(name, value) for name, value in entries if value]))


SECTIONS = (
    features, pixels, prediction, chance, stability, samples, heat_map, confusion, suspects, convergence, made, cite,
)  # fmt: skip


def _legend(findings: Findings) -> Markup:
    return legend([(entry.name, f" ({entry.n_samples:,})") for entry in findings.classes], "classes")


def _class_names(findings: Findings) -> list[str]:
    return [entry.name for entry in findings.classes]
