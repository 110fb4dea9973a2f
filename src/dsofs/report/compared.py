"""The report of ``dsofs compare``: methods side by side and what that means, from their results file alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dsofs.experiments.side_by_side import CLEAR, ENOUGH_TRIALS, Best, Luck, SideBySide
from dsofs.report.charts import CurvePoint, methods_picture
from dsofs.report.grade import CERTAIN, Grade
from dsofs.report.html import Markup, label, tag
from dsofs.report.page import INTERVAL, answer_first, cite, half_section, legend, page, record, section, table
from dsofs.report.verdict import Remark

TILES = 6  # numbers of features at the head of the page
CLASSES_SHOWN = 25
NO_SELECTION = "no selection"
TINY = 0.001  # smaller p-values are not distinguished


def render_comparison(found: SideBySide) -> str:
    """A comparison of methods as one self-contained HTML page, with the same safeguards as :func:`render`.

    Parameters
    ----------
    found : SideBySide
        What :func:`dsofs.experiments.side_by_side.side_by_side` reads from the results file.

    Returns
    -------
    str
        The page; write it to a file as UTF-8.
    """
    return page(found.asked.file, headline(found), answer(found), (part(found) for part in SECTIONS))


def answer(found: SideBySide) -> Markup:
    """Which method was best, by how much, and whether that is more than chance."""
    asked = found.asked
    data = asked.file, asked.n_samples, asked.n_features, len(asked.classes)
    return answer_first(data, headline(found), lead(found), _tiles(found), remarks(found))


def _tiles(found: SideBySide) -> Iterable[tuple[str, str, str]]:
    for best in found.best()[:TILES]:
        yield f"best at k = {best.k}", f"{best.accuracy:.1%}", f"{best.method}, ± {100 * best.deviation:.1f}"
    yield NO_SELECTION, f"{found.all_features.mean():.1%}", "all features"


def accuracy(found: SideBySide) -> Markup:
    ks, mean, deviation = found.asked.ks, found.mean, found.deviation
    lines = [
        [CurvePoint(k, value, value - spread, min(1.0, value + spread))
         for k, value, spread in zip(ks, *pair, strict=True)]
        for pair in zip(mean.tolist(), deviation.tolist(), strict=True)
    ]  # fmt: skip
    reference = float(found.all_features.mean())
    description = f"Held-out accuracy of {len(lines)} methods against the number of features, between {mean.min():.0%} "
    description += f"and {mean.max():.0%}; all features reach {reference:.0%}. The table below has all figures."
    named = (reference, f"{NO_SELECTION} {reference:.0%}")
    drawn = methods_picture(lines, ks, ("held-out accuracy", ".0%"), description, named)
    caption = "Means over the trials; bars are one standard deviation. Methods stand a little apart at each number."
    return half_section("accuracy", "Accuracy against number of features", drawn, caption, _legend(found))


def stability(found: SideBySide) -> Markup | None:
    ks = found.asked.ks
    lines = [
        [CurvePoint(k, each.index, each.low, min(1.0, each.high)) for k, each in zip(ks, line, strict=True) if each]
        for line in found.stability
    ]
    values = [point.value for line in lines for point in line]
    if not values:
        return None
    description = f"Nogueira's stability of {len(lines)} methods against the number of features, between "
    description += f"{min(values):.2f} and {max(values):.2f}. The table below has all figures."
    drawn = methods_picture(lines, ks, ("stability (1: always the same)", ".1f"), description)
    caption = f"Nogueira's index of the sets chosen in the trials, {INTERVAL}"
    return half_section("stability", "How stable the choices are", drawn, caption, _legend(found))


def _legend(found: SideBySide) -> Markup:
    return legend([(method, "") for method in found.asked.methods], "methods")


def ahead(found: SideBySide) -> Markup | None:
    if len(found.asked.methods) == 1:
        return None
    headings = ["features", "best", "accuracy", "next", "by", "trials won", "luck of the splits", "luck of the samples",
                "worse than the best"]  # fmt: skip
    trials = found.asked.trials
    return section(
        "best", "Which method is best", table(headings, [_ahead_row(best, trials) for best in found.best()], "plain"),
        tag("p", "Against the next best method: the difference of the means, in points of accuracy; the trials in "
            "which the best had more; how likely chance alone makes such a difference if the splits of these samples "
            "were drawn again (Wilcoxon's signed ranks), and if the samples were (Student's t, with the variance of "
            "Nadeau and Bengio, since splits share samples). Both are corrected for the number of methods (Holm); that "
            "the best is chosen by the same trials makes them a little too small. Worse are those with p < 0.05 for "
            "the splits.", class_="note"),
    )  # fmt: skip


def _ahead_row(best: Best, trials: int) -> list[object]:
    luck = ["too few trials"] * 2 if best.luck is None else [p_value(best.luck.splits), p_value(best.luck.samples)]
    return [
        str(best.k), tag("strong", best.method), f"{best.accuracy:.1%} ± {100 * best.deviation:.1f}", best.next,
        f"{100 * best.lead:.1f}", f"{best.wins} of {trials}", *luck, ", ".join(best.worse) or "–",
    ]  # fmt: skip


def figures(found: SideBySide) -> Markup:
    ks = found.asked.ks
    mean, deviation = found.mean.tolist(), found.deviation.tolist()
    top = found.mean.max(axis=0).tolist()
    accuracies: list[list[object]] = [
        [method, *(tag("strong" if value == best else "span", f"{value:.1%} ± {100 * spread:.1f}")
                   for value, spread, best in zip(mean[row], deviation[row], top, strict=True))]
        for row, method in enumerate(found.asked.methods)
    ]  # fmt: skip
    stabilities = [
        [method, *("–" if each is None else f"{each.index:.2f}" for each in line)]
        for method, line in zip(found.asked.methods, found.stability, strict=True)
    ]
    headings = ["method", *(f"k = {k}" for k in ks)]
    return section(
        "figures", "All figures",
        tag(
            "div",
            tag("div", tag("h3", "Accuracy"), table(headings, accuracies, "plain")),
            tag("div", tag("h3", "Stability"), table(headings, stabilities, "plain")),
            class_="beside",
        ),
    )  # fmt: skip


def seconds(found: SideBySide) -> Markup:
    spent, tuning = found.seconds.mean(axis=1).tolist(), found.tuning_seconds.mean(axis=1).tolist()
    slowest = max(spent)
    rows = [
        [method, tag("meter", value=f"{value / slowest:.3f}" if slowest else 0, min=0, max=1, aria_label="of slowest"),
         f"{value:.3g} s", f"{tuned:.3g} s"]
        for method, value, tuned in zip(found.asked.methods, spent, tuning, strict=True)
    ]  # fmt: skip
    return section(
        "seconds", "Seconds", table(["method", "", "selecting", "tuning"], rows, "plain"),
        tag("p", "Means over the trials, each on one training part, on the machine below. One selection serves every "
            "number of features.", class_="note"),
        half=True,
    )  # fmt: skip


def classes(found: SideBySide) -> Markup:
    counts = list(found.asked.classes.items())
    rows = [[label(name), f"{count:,}"] for name, count in counts[:CLASSES_SHOWN]]
    left_out = len(counts) - len(rows)
    return section(
        "classes", "The classes", table(["class", "samples"], rows, "plain"),
        tag("p", f"{left_out} more are not shown.") if left_out else None,
        half=True,
    )  # fmt: skip


def provenance(found: SideBySide) -> Markup:
    asked = found.asked
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return record([
        ("data", asked.file), ("SHA-256", asked.sha256), ("command", asked.command), ("protocol", asked.protocol),
        ("trials", str(asked.trials)), ("versions", versions),
    ])  # fmt: skip


SECTIONS = (ahead, accuracy, stability, figures, seconds, classes, provenance, cite)


def headline(found: SideBySide) -> str:
    """The answer in one line."""
    best = found.best()
    if not beats_chance(found):
        return f"{Grade.REJECT.words}: no method is shown to predict better than chance"
    winners = {each.method: [other.k for other in best if other.method == each.method] for each in best}
    if len(found.asked.methods) == 1:
        return f"{best[0].method} predicts {max(each.accuracy for each in best):.1%} of the held-out samples correctly"
    if len(winners) == 1:
        where = f"at every k tried ({_listed(winners[best[0].method])})" if len(best) > 1 else f"at k = {best[0].k}"
        return f"{best[0].method} was best {where}{_level(best)}{_how_surely(best)}"
    who = [f"{method} {'was best ' if not place else ''}at k = {_listed(ks)}"
           for place, (method, ks) in enumerate(winners.items())]  # fmt: skip
    return f"{', '.join(who)}{_level(best)}{_how_surely(best)}"


def beats_chance(found: SideBySide) -> bool:
    """Whether some method is shown to be better than chance, by the rule that grades a single selection."""
    return found.above_chance() > CERTAIN


def _level(best: Sequence[Best]) -> str:
    """Where the next method was as good."""
    tied_ks = [each.k for each in best if each.next is not None and not each.lead]
    if not tied_ks:
        return ""
    return f", level with {best[0].next}" if len(best) == 1 else f", level with the next at k = {_listed(tied_ks)}"


def _how_surely(best: Sequence[Best]) -> str:
    luck = [each.luck for each in best if each.luck is not None]
    if not luck:
        return ", over too few trials to rule out chance"
    if all(each.samples < CLEAR for each in luck):
        return ", by more than chance"
    steady = [each.k for each in best if each.luck is not None and each.luck.splits < CLEAR]
    if not steady:
        return ", but by no more than chance allows"
    where = "" if len(steady) == len(best) else f" at k = {_listed(steady)}"
    return f", by more than the luck of the splits{where}"


def lead(found: SideBySide) -> str:
    """How it was measured, in one sentence."""
    trials = "1 random split" if found.asked.trials == 1 else f"{found.asked.trials} random splits"
    return (
        f"Held-out accuracy over {trials}, with everything chosen and tuned on the training part alone; always naming "
        f"the largest class reaches {found.chance:.0%}."
    )


def remarks(found: SideBySide) -> list[Remark]:
    """What a reader should know before choosing a method."""
    best = found.best()
    return [
        *(remark for each in best if (remark := _ahead(each)) is not None),
        *_few_trials(found),
        _no_selection(found, best),
        *_useless(found, best),
        *_warnings(found),
        *(Remark(note, True) for note in found.asked.notes),
    ]


def _ahead(best: Best) -> Remark | None:
    if best.next is None:
        return None
    features = "1 feature" if best.k == 1 else f"{best.k} features"
    start = f"With {features}, {best.method} reaches {best.accuracy:.1%}"
    if best.lead == 0:
        return Remark(f"{start}, and {best.next} the same.")
    sentence = f"{start}, {100 * best.lead:.1f} points more than {best.next}, the next"
    return Remark(f"{sentence}{_luck_words(best.luck)}.")


def _luck_words(luck: Luck | None) -> str:
    if luck is None:
        return ""
    if luck.samples < CLEAR:
        return f": more than chance ({p_value(luck.samples)})"
    if luck.splits < CLEAR:
        return (
            f": on these samples more than the luck of the splits ({p_value(luck.splits)}), though other samples "
            f"of the kind might show otherwise ({p_value(luck.samples)})"
        )
    return f": that may be chance ({p_value(luck.splits)})"


def p_value(p: float) -> str:
    return f"p < {TINY:g}" if p < TINY else f"p = {p:.2g}"


def _few_trials(found: SideBySide) -> Iterable[Remark]:
    if found.asked.trials < ENOUGH_TRIALS and len(found.asked.methods) > 1:
        yield Remark(
            f"{ENOUGH_TRIALS} trials or more are needed to say whether a difference is more than chance: the same "
            "command with a larger --trials continues from here.", True,
        )  # fmt: skip


def _no_selection(found: SideBySide, best: Sequence[Best]) -> Remark:
    top = max(best, key=lambda each: each.accuracy)
    reference = float(found.all_features.mean())
    n = f"all {found.asked.n_features:,} features"
    if top.accuracy >= reference:
        return Remark(f"Selecting costs no accuracy: {n} reach {reference:.1%}, {top.k} of them {top.accuracy:.1%}.")
    return Remark(f"Without selection, {n} reach {reference:.1%}: {100 * (reference - top.accuracy):.1f} points more "
                  f"than {top.method} with {top.k}.", True)  # fmt: skip


def _useless(found: SideBySide, best: Sequence[Best]) -> Iterable[Remark]:
    if not beats_chance(found):
        yield Remark("With equal weight for each class, no accuracy exceeds chance by more than its uncertainty.", True)
    elif max(each.accuracy for each in best) <= found.chance:
        yield Remark("No method predicts better than always naming the largest class.", True)


def _warnings(found: SideBySide) -> Iterable[Remark]:
    for (method, kind), times in found.warnings.items():
        yield Remark(f"{method} warned in {times} of {found.asked.trials} trials ({kind}).", True)


def _listed(items: Sequence[object]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
