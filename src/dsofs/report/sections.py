"""The report on a selection: its page, section by section in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterable

from dsofs.examination.findings import Findings, Origin, PermutationTest
from dsofs.report.charts import (
    accuracy_picture,
    confusion_picture,
    convergence_picture,
    most_confused,
    permutation_picture,
    scatter_picture,
    stability_picture,
)
from dsofs.report.feature_table import features, score_words
from dsofs.report.grade import beats_chance, grade, too_few_labellings
from dsofs.report.html import Markup, label, shorten, tag
from dsofs.report.images import heatmap_picture, pixels_picture
from dsofs.report.page import (
    CLASS_NAME,
    INTERVAL,
    answer_first,
    cite,
    class_legend,
    class_names,
    facts,
    figure,
    half_section,
    page,
    record,
    section,
    table,
)
from dsofs.report.verdict import accuracy_words, headline, p_words, remarks

SUSPECTS_SHOWN = 25
ADVISED = (
    " Advised are the fewest features within one standard error of the best, corrected for samples that resamples "
    "share (Nadeau and Bengio)."
)
TOP_FEATURES = 10  # in a notebook
NAMED_WHERE_ROOM = "Classes are named where there is room; a pointer on a sample shows its class. "
IN_LEGEND = 20  # classes; more are named in the picture itself


def render(findings: Findings) -> str:
    """The report as one self-contained HTML page.

    It holds no script, loads nothing, and its content-security policy forbids both. Names from the data are escaped.

    Parameters
    ----------
    findings : Findings
        What :func:`examine` returned, or ``Findings.from_json`` read.

    Returns
    -------
    str
        The page; write it to a file as UTF-8.
    """
    return page(findings.origin.data, headline(findings), answer(findings), (part(findings) for part in SECTIONS))


def summary(findings: Findings) -> str:
    """What a notebook shows: the answer and the best features."""
    rows = [
        tag("tr", [tag("td", cell) for cell in (str(feature.rank), label(feature.name), score_words(feature.score),
                                                f"{feature.frequency:.0%}")])
        for feature in findings.chosen[:TOP_FEATURES]
    ]  # fmt: skip
    head = tag("tr", [tag("th", name) for name in ("rank", "feature", "score", "chosen again")])
    more = len(findings.chosen) - len(rows)
    return tag(
        "div",
        tag("p", tag("strong", headline(findings)), ". ", accuracy_words(findings), "."),
        tag("table", tag("thead", head), tag("tbody", rows)),
        tag("p", f"and {more} more") if more > 0 else None,
    )


def answer(findings: Findings) -> Markup:
    """The headline, the figures, and what they mean."""
    data = findings.origin.data, findings.n_samples, findings.n_features, len(findings.classes)
    return answer_first(
        data,
        headline(findings),
        [accuracy_words(findings), ". ", grade(findings).meaning],
        _tiles(findings),
        remarks(findings),
    )


def _tiles(findings: Findings) -> Iterable[tuple[str, str, str]]:
    curve, index, test = findings.accuracy, findings.stability.at_k, findings.permutation
    yield "held-out accuracy", f"{curve.at_k:.1%}", f"± {100 * curve.deviation_at_k:.1f} over {_resamples(findings)}"
    if curve.all_features is not None:
        yield "with all features", f"{curve.all_features:.1%}", f"{findings.n_features:,}, no selection"
    if (balanced := findings.balanced) is not None:
        over = f"over {balanced.n_tested} of {len(findings.classes)} classes: the others were never held out"
        yield "balanced accuracy", f"{balanced.mean:.1%}", over if balanced.untested else "mean over the classes"
    yield "chance", f"{curve.chance:.1%}", "always the largest class"
    if test is not None:
        yield "p-value", f"{test.p_value:.2g}", _shuffles(test)
    if index is not None:
        yield "stability", f"{index:.2f}", "1: always the same features"
    if _advised(findings):
        yield "features advised", f"{curve.one_se_k}", "one-standard-error rule"


def _advised(findings: Findings) -> bool:
    """Whether a number of features can be advised: not for noise, nor if only one number was tried."""
    return len(findings.accuracy.ks) > 1 and beats_chance(findings)


def _shuffles(test: PermutationTest) -> str:
    """How many shuffles the p-value rests on, and whether it could be smaller."""
    if too_few_labellings(test):
        return f"cannot be below {test.smallest:.2g} here"
    return f"smallest for {len(test.shuffled)} shuffles" if not test.n_as_good else f"{len(test.shuffled)} shuffles"


def _resamples(findings: Findings) -> str:
    return f"{findings.origin.n_resamples} resamples"


def covariates(findings: Findings) -> Markup | None:
    """What the covariates predict with and without the chosen features, and what these tell apart."""
    found, curve = findings.covariates, findings.accuracy
    if found is None:
        return None
    accuracies = [
        ("covariates alone", found.alone.mean, found.alone.deviation),
        ("covariates and chosen features", found.together.mean, found.together.deviation),
        ("chosen features alone", curve.at_k, curve.deviation_at_k),
    ]
    told = [("classes", len(findings.classes), findings.balanced)]
    told += [(f"levels of {shorten(each.name, CLASS_NAME)}", each.n_levels, each.balanced) for each in found.levels]
    names = ", ".join(shorten(name, CLASS_NAME) for name in found.names)
    return section(
        "covariates", "What the covariates predict",
        tag("p", f"The selection was adjusted for {names}, in every resample too, and they are never selected. A "
            f"{findings.origin.classifier} on the samples of each resample predicts the held-out ones:"),
        table(["predicted by", "held-out accuracy"],
              [[name, f"{mean:.1%} ± {100 * deviation:.1f}"] for name, mean, deviation in accuracies], "plain"),
        tag("p", "What else the chosen features tell apart. If they predict the levels of a covariate as well as the "
            "classes, they may say more about it than about the classes."),
        table(["told apart by the chosen features", "how many", "balanced accuracy", "chance"],
              [[name, str(n), f"{balanced.mean:.1%}", f"{balanced.chance:.1%}"]
               for name, n, balanced in told if balanced is not None], "plain"),
    )  # fmt: skip


def pixels(findings: Findings) -> Markup | None:
    if findings.image is None:
        return None
    rows, columns = findings.image.shape
    caption = f"Mean of all {findings.n_samples:,} images of {rows} × {columns} pixels, with the chosen ones marked."
    return half_section("pixels", "Where the chosen pixels lie", pixels_picture(findings.image), caption)


def prediction(findings: Findings) -> Markup:
    advised = _advised(findings)
    caption = (
        f"{_resamples(findings)}: features are chosen and a {findings.origin.classifier} is fitted on 60 % of the "
        "samples, drawn class by class, and the other 40 % are predicted. Nothing of them is used before, scaling "
        "included. The band is one standard deviation." + ADVISED * advised
    )
    drawn = accuracy_picture(findings.accuracy, advised=advised)
    return half_section("accuracy", "How many features are needed", drawn, caption)


def chance(findings: Findings) -> Markup | None:
    test = findings.permutation
    if test is None:
        return None
    splits = "split" if test.n_splits == 1 else "splits"
    caption = (
        f"Labels were shuffled {len(test.shuffled)} times and everything was done again with them, the selection "
        f"included, on {test.n_splits} {splits}. p = (1 + times as good) / (1 + {len(test.shuffled)}); "
        f"{p_words(findings)}."
    )
    return half_section("chance", "Is it better than chance?", permutation_picture(test), caption)


def stability(findings: Findings) -> Markup | None:
    drawn = stability_picture(findings.stability)
    caption = f"Nogueira's index of the sets chosen in the resamples, {INTERVAL}"
    return half_section("stability", "How stable the choice is", drawn, caption) if drawn else None


def samples(findings: Findings) -> Markup:
    names, view = class_names(findings), findings.view
    few = len(names) <= IN_LEGEND
    caption = (
        "Features were chosen and the axes fitted on 60 % of the samples (small, faint); the other 40 % (large) were "
        "only placed on them. " + NAMED_WHERE_ROOM * (not few) + _left_out(view.n_left_out)
    )
    return section(
        "samples", "The samples on two axes",
        class_legend(findings) if few else None,
        figure(scatter_picture(view, names, few), caption),
        half=_n_halves_before(findings) % 2 == 1,
    )  # fmt: skip


def _n_halves_before(findings: Findings) -> int:
    """Half sections before the samples; after an odd number there is room for one more."""
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
    names = class_names(findings)
    pairs = most_confused(findings.confusion, names)
    rows: list[list[object]] = [[label(a, CLASS_NAME), label(b, CLASS_NAME), f"{share:.0%}"] for a, b, share in pairs]
    return section(
        "confusion", "Which classes are confused",
        tag(
            "div",
            figure(confusion_picture(findings.confusion, names), "Held-out predictions of all resamples, in % of the "
                    "true class. Blue is correct, orange is wrong."),
            tag("div", tag("h3", "Most often"), table(["true class", "taken for", "share"], rows, "plain"))
            if rows else None,
            class_="beside",
        ),
    )  # fmt: skip


def suspects(findings: Findings) -> Markup:
    shown = findings.suspects[:SUSPECTS_SHOWN]
    if not shown:
        text = "None: no sample looks more like another class than the spread within the classes explains."
        return section("suspects", "Labels to check", tag("p", text))
    proof = any(each.in_conflict for each in findings.suspects)
    headings = ["sample", "label", "predicted most often", "predicted as another class", *["in the proof"] * proof]
    rows: list[list[object]] = [
        [
            label(s.sample), label(s.label, CLASS_NAME), "–" if s.predicted is None else label(s.predicted, CLASS_NAME),
            f"in {s.wrong} of {s.held_out}", *["yes" if s.in_conflict else "no"] * proof,
        ]
        for s in shown
    ]  # fmt: skip
    left_out = len(findings.suspects) - len(shown)
    return section(
        "suspects", "Labels to check",
        tag("p", "Samples that were mostly predicted as another class when they were held out (by all features, if "
            "they predict no worse than the chosen ones), and that lie further on its side than the spread within the "
            "classes explains. Where classes overlap, samples are mispredicted without being listed, and some that are "
            "listed will turn out to be correct. ",
            "Samples of a proof that no linear rule classifies all correctly are listed too. " if proof else None,
            "Since the predictions may be no better than chance, this says little." if not beats_chance(findings)
            else "Check their labels first."),
        table(headings, rows, "plain"),
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


def provenance(findings: Findings) -> Markup:
    origin = findings.origin
    parameters = ", ".join(f"{name}={value!r}" for name, value in origin.parameters.items() if value is not None)
    seconds = ", ".join(f"{stage} {value:.1f} s" for stage, value in origin.seconds.items())
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    return record([
        ("data", origin.data), ("SHA-256", origin.sha256), ("command", origin.command),
        ("method", f"{origin.method}({parameters})"), ("seed", str(origin.seed)), ("measured", _plan(origin)),
        ("made", origin.created),
        ("time", seconds), ("versions", versions),
    ])  # fmt: skip


def _plan(origin: Origin) -> str | None:
    plan = origin.plan
    if plan is None:
        return None
    limit = "" if plan.time_limit is None else f"; {plan.time_limit:.0f} s were left of the time limit"
    return f"{plan.words}, estimated to take {plan.seconds:.0f} s{limit}"


SECTIONS = (
    features, covariates, pixels, prediction, chance, stability, samples, heat_map, confusion, suspects, convergence,
    provenance, cite,
)  # fmt: skip
