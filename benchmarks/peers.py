"""The methods of the paper against other packages, interleaved (``arena``)."""

from __future__ import annotations

from types import ModuleType

import click

from benchmarks.arena import in_words, interleaved, typical
from benchmarks.contenders import contenders
from benchmarks.data import synthetic
from benchmarks.harness import keep, record, rows_of, write_table
from dsofs.experiments.results import Row

STUDY = "peers"
OURS = "dsofs"
SHAPES = ((200, 5000, 5), (1000, 20000, 10))


@click.command()
@click.option("--rounds", default=5, show_default=True, help="After the first, which warms up.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--task", default="", help="Only tasks that start with this; the rows of others are kept.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, limit: float, task: str, table: bool) -> None:
    if not table:
        keep(STUDY, [row for row in rows_of(STUDY) if not row.values["task"].startswith(task)])
        for shape in SHAPES:
            for name, rivals in tasks().items():
                if name.startswith(task):
                    measure(name, rivals, shape, rounds, limit)
    draw()


def tasks() -> dict[str, list[ModuleType]]:
    """Task -> its contenders, ours first."""
    rivals = sorted(contenders(STUDY), key=lambda module: (module.TASK, module.NAME != OURS, module.NAME))
    return {task: [module for module in rivals if task == module.TASK] for task in sorted({m.TASK for m in rivals})}


def measure(task: str, rivals: list[ModuleType], shape: tuple[int, int, int], rounds: int, limit: float) -> None:
    label = " x ".join(map(str, shape))
    for number, module, answer in interleaved(rivals, *synthetic(0, *shape), rounds, limit):
        print(f"{label:16s} {task:45s} {module.NAME:20s} {in_words(answer)}", flush=True)
        seconds = answer.pop("seconds", None)
        record(STUDY, Row(label, module.NAME, number, seconds=seconds, values={"task": task, **answer}))


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for task in dict.fromkeys(row.values["task"] for row in rows):
        for shape in dict.fromkeys(row.data for row in rows):
            of_task = [row for row in rows if (row.values["task"], row.data) == (task, shape)]
            names = dict.fromkeys(row.method for row in of_task)
            times = {name: typical([row for row in of_task if row.method == name]) for name in names}
            lines += [[task, shape, name, *cells(of_task, name, times)] for name in times]
    write_table(
        STUDY,
        "The methods of the paper against other packages",
        ["task", "samples x features x classes", "who", "seconds", "over dsofs"],
        lines,
        "Synthetic data, all cores; medians of interleaved rounds after one that warms up (and compiles). Short fits "
        "were repeated for half a second in every round, a fit of more than a minute was not repeated. Packages from "
        "PyPI, each in an environment of its own. The bare solver is given standardised data and its parameter; our "
        "time includes checking, standardising and scoring.",
    )


def cells(rows: list[Row], name: str, times: dict[str, float | None]) -> tuple[str, str]:
    seconds, ours = times[name], times[OURS]
    assert ours is not None
    if seconds is None:
        limit = next(row.values.get("limit") for row in rows if row.method == name and row.seconds is None)
        return (f"not done after {limit:g}", f"> {limit / ours:.3g} x") if limit else ("failed", "")
    return f"{seconds:.3g}", f"{seconds / ours:.3g} x"


if __name__ == "__main__":
    main()
