"""DSO against whatever else a user would take to pick the features that tell classes apart: ``contenders/speed``.

The first fit of each contender in a fresh process, and the median of interleaved rounds after it (``arena``): seconds,
CPU seconds, extra memory. A contender that was ended at the time limit is spared data that are larger in every way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from statistics import median
from types import ModuleType

import click
import numpy as np

from benchmarks.arena import in_words, interleaved, typical
from benchmarks.contenders import contenders
from benchmarks.data import WIDE, available, load, synthetic
from benchmarks.harness import SLOW, keep, record, rows_of, write_table
from dsofs.experiments.results import Row

STUDY, QUICK = "speed", "speed_quick"
OURS = "dso p=1"
TASKS = (
    "DSO", "the same problem", "the paper's algorithm", "a row-sparse model, tuned", "a sparse model, tuned",
    "a row-sparse model, a path", "a row-sparse model, one setting", "100 features", "a pass over the data",
)  # fmt: skip
# Samples, features, classes. Hard margins want at least half as many features as samples.
SHAPES = [(100, 50, 2), (50, 100, 2), (50, 100, 10)] + [
    (m, n, c) for n in (2000, 20000) for m in (50, 200, 1000) for c in (2, 10)
]
QUICK_SETS = ("synthetic 100x50x2", "synthetic 50x100x10", "synthetic 200x2000x2", "ar")
MIB = 2**20

Data = tuple[np.ndarray, np.ndarray]


@click.command()
@click.option("--quick", is_flag=True, help="A few small sets; the results go to files of their own.")
@click.option("--rounds", default=5, show_default=True, help="After the first fit.")
@click.option("--limit", default=120.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--data", default="", help="Only data whose names start with this; the rows of others are kept.")
@click.option("--go-on", is_flag=True, help="Keep what the results file has of data that are done.")
@click.option("--table", is_flag=True, help="Only draw the tables from the results file.")
def main(quick: bool, rounds: int, limit: float, data: str, go_on: bool, table: bool) -> None:
    study = QUICK if quick else STUDY
    chosen = {name: make for name, make in sets(quick).items() if name.startswith(data)}
    if not table:
        rows = rows_of(study)
        again = [row for row in rows if row.data.startswith(data)]
        keep(study, [row for row in rows if row not in again] + (settled(again, rounds) if go_on else []))
        for number, (name, make) in enumerate(chosen.items(), start=1):
            print(f"[{number}/{len(chosen)}] {name}", flush=True)
            measure(study, name, make, rounds, limit)
    draw(study)


def sets(quick: bool) -> dict[str, Callable[[], Data]]:
    made = {f"synthetic {m}x{n}x{c}": partial(synthetic, 0, m, n, c) for m, n, c in SHAPES}
    made |= {name: partial(load, name) for name in available()}
    return {name: make for name, make in made.items() if name in QUICK_SETS} if quick else made


def entrants() -> list[ModuleType]:
    return sorted(contenders(STUDY), key=lambda module: (TASKS.index(module.TASK), module.NAME != OURS, module.NAME))


def settled(rows: list[Row], rounds: int) -> list[Row]:
    """All rows of data on which every contender is done, and of others those of contenders that will not be repeated:
    the rest is measured again, interleaved."""
    names = {module.NAME for module in entrants()}
    kept = []
    for data in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == data]
        over = {row.method for row in of_set if row.seconds is None or row.seconds > SLOW}
        done = over | {row.method for row in of_set if row.seed >= rounds}
        kept += [row for row in of_set if names <= done or row.method in over]
    return kept


def measure(study: str, name: str, make: Callable[[], Data], rounds: int, limit: float) -> None:
    rows = rows_of(study)
    done = {row.method for row in rows if row.data == name}
    rivals = [module for module in entrants() if module.NAME not in done]
    if not rivals:
        return
    X, y = make()
    shape = [*X.shape, len(np.unique(y))]
    for module in list(rivals):
        smaller = too_slow_on(rows, module.NAME, shape, limit)
        if smaller:
            rivals.remove(module)
            record(study, Row(name, module.NAME, 0, values={"shape": shape, "spared": smaller}))
    for number, module, answer in interleaved(rivals, X, y, rounds, limit):
        print(f"{name:24s} {'first' if number == 0 else number!s:>5s} {module.NAME:24s} {in_words(answer)}", flush=True)
        seconds = answer.pop("seconds", None)
        record(study, Row(name, module.NAME, number, seconds=seconds, values={"shape": shape, **answer}))


def too_slow_on(rows: Iterable[Row], method: str, shape: list[int], limit: float) -> str | None:
    """Data, no larger in any way, on which the method was ended at that limit or a later one."""
    for row in rows:
        no_larger = all(a <= b for a, b in zip(row.values["shape"], shape, strict=True))
        if row.method == method and row.values.get("limit", 0.0) >= limit and no_larger:
            return row.data
    return None


def draw(study: str) -> None:
    rows = [row for row in rows_of(study) if row.method in {module.NAME for module in entrants()}]
    lines = []
    for data in dict.fromkeys(row.data for row in rows):
        for module in entrants():
            lines += line(data, [row for row in rows if row.data == data], module.NAME)
    write_table(
        study,
        "Speed: the features that tell classes apart",
        ["data", "who", "start, s", "first fit, s", "s", "over dso p=1", "CPU s", "extra MiB", "features", "objective"],
        lines,
        notes(),
        rows,
    )
    draw_ratios(study, rows)


def notes() -> str:
    about = "\n".join(f"* **{m.NAME}** ({m.TASK}): {m.__doc__.strip().splitlines()[0]}" for m in entrants())
    return (
        "60 % of each real set (samples x features x classes), standardised; all cores. Start: importing what is "
        "needed, and preparing. First fit: in that fresh process. Then s: the median of interleaved rounds; short fits "
        "were repeated for half a second in every round, a fit of more than a minute was not repeated. CPU: of all "
        "threads. Extra MiB: what the first fit added to the process at its peak, code that it loads included. "
        "Packages that dsofs does not need itself run in environments of their own. RFS, ReliefF, mRMR and Lasso have "
        "a table of their own (`peers`).\n\n" + about
    )


def line(data: str, rows: list[Row], name: str) -> list[list[str]]:
    """The line of a contender, if it has one."""
    own, ours = [row for row in rows if row.method == name], typical([row for row in rows if row.method == OURS])
    if not own:
        return []
    first = own[0]
    extra = first.values.get("extra")
    return [[
        labelled(data, first), name, number(first.values.get("start")), number(first.seconds), duration(own),
        ratio(own, ours), number(median_of(own, "cpu")), "" if extra is None else f"{max(extra, 0) / MIB:.0f}",
        str(first.values.get("features", "")), number(first.values.get("objective"), digits=6),
    ]]  # fmt: skip


def labelled(data: str, row: Row) -> str:
    return f"{data} {'x'.join(map(str, row.values['shape']))}" if data in WIDE else data


def duration(rows: list[Row]) -> str:
    seconds, last = typical(rows), rows[-1].values
    if seconds is not None:
        return number(seconds)
    if "limit" in last:
        return f"> {last['limit']:g}"
    return f"not run: too slow on {last['spared']}" if "spared" in last else f"failed: {last['error']}"


def ratio(rows: list[Row], ours: float | None) -> str:
    seconds, limit = typical(rows), rows[-1].values.get("limit")
    if ours is None or (seconds is None and limit is None):
        return ""
    return f"> {limit / ours:.3g} x" if seconds is None else f"{seconds / ours:.3g} x"


def median_of(rows: list[Row], value: str) -> float | None:
    """Of the rounds after the first, as ``typical``."""
    found = [row.values[value] for row in rows if value in row.values]
    return median(found[1:] or found) if found else None


def number(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def draw_ratios(study: str, rows: list[Row]) -> None:
    """A line per contender, its time over ours on every real set, for the README."""
    names = [data for data in dict.fromkeys(row.data for row in rows) if data in WIDE]
    if not names:
        return
    by: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by.setdefault((row.data, row.method), []).append(row)
    ours = {data: typical(by[data, OURS]) for data in names}
    lines = [["**dso p=1**", *(f"**{number(ours[data])} s**" for data in names)]]
    for name in [module.NAME for module in entrants() if module.NAME != OURS]:
        cells = [ratio(by[data, name], ours[data]) or "-" if (data, name) in by else "-" for data in names]
        lines.append([name, *cells])
    write_table(
        f"{study}_readme",
        "Speed on wide data, in short",
        ["", *names],
        lines,
        "Our seconds, and the time of others over ours; -: failed, or not run after it was too slow on smaller data.",
        [row for row in rows if row.data in names],
    )


if __name__ == "__main__":
    main()
