"""A table as text that Markdown understands; and the tables of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from dsofs.datasets.catalogue import CATALOGUE
from dsofs.reproduction import paper
from dsofs.reproduction.experiments import by_p
from dsofs.reproduction.summary import Results, accuracies, over_trials

NOT_AVAILABLE = "not available"
QUICK_NOTE = "Quick: no tuning, C = 1, two trials; an impression, not a result. "


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    notes: str = ""

    def markdown(self) -> str:
        body = [self.header, ("---", *["---:"] * (len(self.header) - 1)), *self.lines]
        rows = ["| " + " | ".join(line) + " |" for line in body]
        return "\n".join([f"## {self.title}", "", *rows, "", self.notes, ""])


def table_of(
    results: Results, title: str, header: tuple[str, ...], lines: Sequence[tuple[str, ...]], notes: str
) -> Table:
    """A table that says so if it was drawn from quick runs."""
    if results.quick:
        title, notes = f"{title}, quick", QUICK_NOTE + notes
    return Table(title, header, lines, notes)


def table1(results: Results) -> list[Table]:
    """The data sets: as the paper lists them, and as they were read."""
    facts = results.facts
    lines = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if name in facts)):
        dataset, found = CATALOGUE[name], facts.get(name)
        printed = [str(number) for number in (dataset.n_classes, dataset.n_features, dataset.n_samples)]
        ours = (
            [str(found[key]) for key in ("n_classes", "n_features", "n_samples")] if found else [NOT_AVAILABLE, "", ""]
        )
        lines.append((dataset.title, *(printed if name in paper.TABLE_2 else ["", "", ""]), *ours))
    header = ("", "classes (paper)", "features (paper)", "samples (paper)", "classes", "features", "samples")
    notes = (
        "Data sets, as the paper lists them and as they were read. Those without the paper's numbers stand in for sets "
        "that were not available."
    )
    return [Table("Table 1", header, lines, notes)]


def table2(results: Results) -> list[Table]:
    """Accuracy with 100 features: ours, and below it the paper's with the difference."""
    ours = {key: value for key, value in accuracies(results.paper).items() if key[2] == 100}
    found = {data for data, _, _ in ours}
    lines: list[tuple[str, ...]] = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if name in found)):
        values = [ours.get((name, method, 100)) for method in paper.METHODS]
        cells = [str(each) if each else "" for each in values]
        lines.append((CATALOGUE[name].title, *(cells if name in found else [results.why_not_run(name), *cells[1:]])))
        if name in paper.TABLE_2:
            printed = paper.TABLE_2[name]
            lines.append(("  paper", *(f"{mean:.2f}±{std:.2f}" for mean, std in printed)))
            pairs = zip(values, printed, strict=True)
            lines.append(("  difference", *(f"{each.mean - mean:+.2f}" if each else "" for each, (mean, _) in pairs)))
    trials = sorted({each.trials for each in ours.values()})
    notes = (
        f"Accuracy (%) with 100 features, mean ± standard deviation over {_span(trials)} trials; below it the paper's, "
        "and the difference."
    )
    return [table_of(results, "Table 2", ("", *paper.METHODS.values()), lines, notes)]


def surviving_features(results: Results) -> list[Table]:
    """Figure 1, the second part: how many features keep a weight, for each p."""
    counts = over_trials(results.paper, lambda row: row.values.get("n_weights"))
    lines = []
    for name in paper.FIGURE_1:
        found = [counts.get((name, by_p(p), 100)) for p in paper.PS]
        cells = [f"{fmean(each):.0f}" if each else "" for each in found]
        lines.append((CATALOGUE[name].title, *(cells if any(found) else [results.why_not_run(name), *cells[1:]])))
    header = ("", *(f"p = {p:g}" for p in paper.PS))
    notes = "Features whose weights are not all zero, mean over trials. All others are ranked by when they became zero."
    return [table_of(results, "Features that survive", header, lines, notes)]


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "".join(map(str, numbers)) or "no"
