"""``dsofs apply``: the columns of a selection, taken from another file."""

from __future__ import annotations

from pathlib import Path

import click

from dsofs.cli import options
from dsofs.cli.messages import errors_in_one_line, messages, show_notes
from dsofs.workflows.apply import apply_selection


@click.command()
@click.argument("selection", type=options.FILE)
@click.argument("file", type=options.FILE)
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="The file to write: .csv, .tsv, .parquet or .npz.")  # fmt: skip
@options.columns("--keep", "Columns to keep together with the features, such as the label")
def main(selection: Path, file: Path, out: Path, keep: list[str]) -> None:
    """Reduce FILE to the features of SELECTION, a selection.json.

    Columns are found by their names, in any order, and by position where there are no names. IDs of the samples, where
    FILE has them, are the first column (in .npz the array sample_names). Exit codes: 0 done; 2 the files or options
    cannot be used; 130 interrupted, with nothing half-written.
    """
    console = messages()
    with errors_in_one_line(), console.status("Reading ..."):
        applied = apply_selection(selection, file, out, keep=keep)
    show_notes(console, applied.notes)
    n_samples, n_features = applied.X.shape
    console.print(f"{n_samples} samples x {n_features} features written.")
