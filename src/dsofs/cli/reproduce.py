"""``dsofs reproduce``: the paper's tables and figures, computed again, next to the printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from dsofs.cli import options
from dsofs.cli.messages import InputError, errors_in_one_line, watched
from dsofs.cli.options import on_cluster
from dsofs.datasets import DatasetNotFoundError, load_dataset
from dsofs.datasets.catalogue import CATALOGUE
from dsofs.datasets.store import locate, where_to_get
from dsofs.experiments import CellsFailedError
from dsofs.reproduction import paper
from dsofs.reproduction.exhibits import EXHIBITS, draw, needed
from dsofs.reproduction.experiments import perform
from dsofs.reproduction.tables import Table

RESULTS = "results.jsonl"


@click.command(cls=options.Respelled, old={"--jobs": "--n-jobs"})
@click.argument("exhibit", type=click.Choice([*EXHIBITS, "all"]))
@options.out_folder("Folder for the results, tables and figures; given again, it continues a run.",
                    default="reproduction", show_default=True)  # fmt: skip
@click.option("--quick", is_flag=True, help="Tune nothing: 2 trials on the six data sets that are easy to get.")
@click.option("--draw-only", is_flag=True, help="Run nothing: draw what the results file holds.")
@options.names("--data", "names", known=CATALOGUE, metavar="NAMES",
               help="Data sets to run on, with commas; may be repeated. By default those available.")  # fmt: skip
@options.trials("by default the protocol's number")
@options.data_dir
@click.option("--download", is_flag=True, help="Download data sets that are missing.")
@options.cores(default=-1, show_default=True)
@options.scheduler
def main(
    exhibit: str,
    out: Path,
    quick: bool,
    draw_only: bool,
    names: list[str],
    trials: int | None,
    data_dir: Path | None,
    download: bool,
    n_jobs: int,
    scheduler: str | None,
) -> None:
    """Compute a table or figure of the paper again, next to the printed numbers; or all of them."""
    console = Console()
    exhibits = list(EXHIBITS) if exhibit == "all" else [exhibit]
    with errors_in_one_line():
        if not draw_only:
            data = tuple(names) or chosen_data(quick, data_dir)
            make_available(data, data_dir, download=download)
            with on_cluster(scheduler), resumable(out / RESULTS), watched(console) as progress:
                out.mkdir(parents=True, exist_ok=True)
                experiments = [replace(need, trials=trials) for need in needed(exhibits, data, quick=quick)]
                perform(out / RESULTS, experiments, data, data_dir=data_dir, n_jobs=n_jobs, progress=progress)
        elif not out.is_dir():
            raise InputError(
                f"There is no folder {str(out)!r} with results to draw: leave out --draw-only to run them."
            )
        for path, tables in draw(results_in(out), exhibits, out, quick=quick):
            for table in tables:
                console.print(for_terminal(table))
            click.echo(f"{path}\n")


def for_terminal(table: Table) -> RichTable:
    """Text without the marks of Markdown."""
    drawn = RichTable(title=table.title, title_justify="left", caption=table.notes, caption_justify="left", box=None,
                      pad_edge=False)  # fmt: skip
    for number, heading in enumerate(table.header):
        drawn.add_column(heading, justify="right" if number else "left", no_wrap=number == 0)
    for line in table.lines:
        drawn.add_row(*(Text(cell.replace("*", "")) for cell in line))
    return drawn


@contextmanager
def resumable(results: Path) -> Iterator[None]:
    try:
        yield
    except CellsFailedError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo(f"What is finished is in {results}: the same command continues from there.", err=True)
        raise


def results_in(out: Path) -> Path:
    """The results file, or the gzipped one where that is all there is."""
    packed = out / f"{RESULTS}.gz"
    return packed if packed.exists() and not (out / RESULTS).exists() else out / RESULTS


def chosen_data(quick: bool, data_dir: Path | None) -> tuple[str, ...]:
    """The six that are easy to get, and all others that are available."""
    others = () if quick else (*paper.DATA, *paper.STAND_INS)
    more = (name for name in others if name not in paper.AVAILABLE and locate(CATALOGUE[name], data_dir))
    return (*paper.AVAILABLE, *more)


def make_available(names: Iterable[str], data_dir: Path | None, *, download: bool) -> None:
    """Say what is missing and where to get it, and end with exit code 2; or download it."""
    missing = [CATALOGUE[name] for name in names if locate(CATALOGUE[name], data_dir) is None]
    try:
        for dataset in missing if download else ():
            load_dataset(dataset.name, data_dir=data_dir)
    except DatasetNotFoundError as error:
        raise InputError(str(error)) from error
    if not missing or download:
        return
    how = "\n\n".join(f"{dataset.title} ({dataset.name})\n{where_to_get(dataset, data_dir)}" for dataset in missing)
    raise InputError(
        f"These data sets are not available: {', '.join(dataset.name for dataset in missing)}.\n\n{how}\n\n"
        "Or download them: --download. Or run on others: --data NAME (`dsofs datasets` lists them)."
    )
