"""Tables, as text that Markdown understands and as rich tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as RichTable
from rich.text import Text

from dsofs.datasets.catalogue import CATALOGUE
from dsofs.evaluation import PAPER, PAPER_QUICK, Row
from dsofs.reproduction import paper
from dsofs.reproduction.experiments import FACTS
from dsofs.reproduction.summary import accuracies, of_protocol

NOT_RUN = "not run: data not available"
NOT_AT_HAND = "not at hand"


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    notes: str = ""

    def markdown(self) -> str:
        body = [self.header, ("---",) * len(self.header), *self.lines]
        rows = ["| " + " | ".join(line) + " |" for line in body]
        return "\n".join([f"# {self.title}", "", *rows, "", self.notes, ""])

    def rich(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left", caption=self.notes, caption_justify="left", box=None)
        for number, heading in enumerate(self.header):
            table.add_column(heading, justify="right" if number else "left", no_wrap=number == 0)
        for line in self.lines:
            table.add_row(*(Text(cell) for cell in line))
        return table


def table1(rows: Sequence[Row], quick: bool = False) -> Table:
    """The data sets: as the paper lists them, and as they were read."""
    facts = {row.data: row.values for row in rows if row.method == FACTS}
    lines = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if name in facts)):
        dataset, found = CATALOGUE[name], facts.get(name)
        printed = [str(number) for number in (dataset.n_classes, dataset.n_features, dataset.n_samples)]
        ours = [str(found[key]) for key in ("n_classes", "n_features", "n_samples")] if found else [NOT_AT_HAND, "", ""]
        lines.append((dataset.title, *(printed if name in paper.TABLE_2 else ["", "", ""]), *ours))
    header = ("", "classes (paper)", "features (paper)", "samples (paper)", "classes", "features", "samples")
    notes = (
        "Data sets, as the paper lists them and as they were read. Those without the paper's numbers stand in for sets "
        "that could not be had."
    )
    return Table("Table 1", header, lines, notes)


def table2(rows: Sequence[Row], quick: bool = False) -> Table:
    """Accuracy with 100 features: ours, and below it the paper's with the difference."""
    protocol = PAPER_QUICK if quick else PAPER
    ours = accuracies(of_protocol(rows, protocol.name))
    lines: list[tuple[str, ...]] = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if any(row.data == name for row in rows))):
        found = [ours.get((name, method, 100)) for method in paper.METHODS]
        title = CATALOGUE[name].title
        if any(found):
            lines.append((title, *("" if each is None else str(each) for each in found)))
        else:
            lines.append((title, NOT_RUN, *[""] * (len(found) - 1)))
        if name in paper.TABLE_2:
            printed = [paper.printed(name, method) for method in paper.METHODS]
            lines.append(("  paper", *(
                f"{mean:.2f} ± {std:.2f}" + (f" ({each.mean - mean:+.2f})" if each else "")
                for each, (mean, std) in zip(found, filter(None, printed), strict=True)
            )))  # fmt: skip
    trials = sorted({each.trials for each in ours.values()})
    label = "Quick: no tuning, C = 1; an impression, not a result. " if quick else ""
    notes = (
        f"{label}Accuracy (%) with 100 features, mean ± standard deviation over {_span(trials)} trials; the paper's, "
    )
    return Table(
        "Table 2" + (", quick" if quick else ""), ("", *paper.METHODS.values()), lines, notes + "and ours less it."
    )


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "".join(map(str, numbers)) or "no"
