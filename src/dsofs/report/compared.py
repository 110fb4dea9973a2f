"""The report of ``dsofs compare``: methods side by side, drawn from their results file alone."""

from __future__ import annotations

from collections.abc import Iterable

from dsofs.experiments.side_by_side import Best, SideBySide
from dsofs.report.compared_verdict import headline, lead, p_words, remarks
from dsofs.report.html import Markup, label, shorten, tag
from dsofs.report.page import page
from dsofs.report.parts import INTERVAL, answer_first, cite, half_section, legend, record, section, table
from dsofs.report.pictures.charts import CurvePoint, methods_picture

TILES = 6  # numbers of features at the head of the page
CLASSES_SHOWN = 25
NO_SELECTION = "no selection"


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
    sections = [drawn for part in SECTIONS if (drawn := part(found)) is not None]
    return page(f"{shorten(found.asked.file, 80)}: {headline(found)}", answer(found), sections)


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
            "the best is picked by the same trials makes them a little too small. Worse are those with p < 0.05 for "
            "the splits.", class_="note"),
    )  # fmt: skip


def _ahead_row(best: Best, trials: int) -> list[object]:
    luck = ["too few trials"] * 2 if best.luck is None else [p_words(best.luck.splits), p_words(best.luck.samples)]
    return [
        str(best.k), tag("strong", best.method), f"{best.accuracy:.1%} ± {100 * best.deviation:.1f}", best.next,
        f"{100 * best.lead:.1f}", f"{best.wins} of {trials}", *luck, ", ".join(best.worse) or "–",
    ]  # fmt: skip


def figures(found: SideBySide) -> Markup:
    ks = found.asked.ks
    mean, deviation = found.mean.tolist(), found.deviation.tolist()
    top = found.mean.max(axis=0).tolist()
    accuracies: list[list[object]] = [
        [method, *(_accuracy_cell(*cell) for cell in zip(mean[row], deviation[row], top, strict=True))]
        for row, method in enumerate(found.asked.methods)
    ]
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


def _accuracy_cell(value: float, deviation: float, top: float) -> Markup:
    return tag("strong" if value == top else "span", f"{value:.1%} ± {100 * deviation:.1f}")


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
