"""``dsofs demo``: the main job on data that come with scikit-learn, offline."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsofs import DSOSelector
from dsofs.cli import CALLED, options
from dsofs.cli.messages import errors_in_one_line
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.files import write_whole
from dsofs.report import Source, examine, render
from dsofs.report.verdict import in_words
from dsofs.workflows.select import ALL_CORES

SHADES = " ░▒▓█"
DIGITS_SHAPE = (8, 8)
TRAINING = 0.6  # part of the samples
RESAMPLES, PERMUTATIONS = 8, 19  # few, so that a demonstration does not take long


@click.command(cls=options.Respelled, old={"-p": "--p"})
@click.option("-k", "n_features", type=click.IntRange(1),
              help="Number of features to select; by default 10 measurements and 20 pixels.")  # fmt: skip
@options.p("Power of the norm", default=0.85, show_default=True)
@options.seed("seed")
@click.option("--out", metavar="FILE", default="dsofs-demo.html", show_default=True,
              type=click.Path(dir_okay=False, path_type=Path),
              help="The file for the report on the digits.")  # fmt: skip
def main(n_features: int | None, p: float, seed: int, out: Path) -> None:
    """Select features of data that come with scikit-learn, see which they are, and write a report."""
    console = Console()
    if not out.parent.is_dir():
        raise click.UsageError(f"--out must be in a folder that exists. Got {str(out)!r} instead.")
    with errors_in_one_line():
        show_breast_cancer(console, min(n_features or 10, 30), p, seed)
        show_digits(console, min(n_features or 20, 64), p, seed)
        write_report(console, min(n_features or 20, 64), p, seed, out)


def show_breast_cancer(console: Console, k: int, p: float, seed: int) -> None:
    """Named features, two classes."""
    data = load_breast_cancer()
    console.rule("[bold]Breast cancer: malignant or benign, from 30 measurements")
    selector, sentences = run_selector(data.data, data.target, k, p, seed)
    table = Table("rank", "feature", "score", box=None)
    for rank, index in enumerate(np.argsort(selector.ranking_)[:k], 1):
        table.add_row(str(rank), str(data.feature_names[index]), f"{selector.scores_[index]:.3f}")
    console.print(table)
    console.print("\n".join(sentences))


def show_digits(console: Console, k: int, p: float, seed: int) -> None:
    """Pixels, ten classes: where on the 8 x 8 image the chosen ones are."""
    X, y = load_digits(return_X_y=True)
    console.rule("[bold]Digits: 0 to 9, from 8 x 8 pixels")
    selector, sentences = run_selector(X, y, k, p, seed)
    console.print(pixel_map(X.mean(axis=0), selector.ranking_, k), end="")
    console.print("Shades: the mean image. Numbers: the chosen pixels, 1 is the best.\n", highlight=False)
    console.print("\n".join(sentences))


def write_report(console: Console, k: int, p: float, seed: int, out: Path) -> None:
    """The same pixels examined: how good, how stable, and which digits look mislabelled."""
    data = load_digits()
    with console.status("Examining the choice of pixels ..."):
        findings = examine(
            data.data, data.target, DSOSelector(k, p=p), feature_names=data.feature_names, image_shape=DIGITS_SHAPE,
            n_resamples=RESAMPLES, n_permutations=PERMUTATIONS, random_state=seed, n_jobs=ALL_CORES,
            source=Source("the digits of scikit-learn", None, click.get_current_context().meta.get(CALLED)),
        )  # fmt: skip
    write_whole(out, render(findings))
    console.rule("[bold]A report to hand on")
    console.print(Text(in_words(findings)), soft_wrap=True)
    console.print(Text(f"Written: {out.resolve()}"), soft_wrap=True)
    console.print(
        "\nYour own table: [bold]dsofs select table.csv --target LABEL -k 20 --out result[/]", highlight=False
    )


def run_selector(X: AnyArray, y: AnyArray, k: int, p: float, seed: int) -> tuple[DSOSelector, list[str]]:
    """Select on the training samples, score a linear SVM on the rest; the selector, and what was found in words."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=TRAINING, stratify=y, random_state=seed)
    clock = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes that cannot be separated are reported below
        selector = DSOSelector(k, p=p).fit(X_train, y_train)
    seconds = time.perf_counter() - clock
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    some = model.fit(selector.transform(X_train), y_train).score(selector.transform(X_test), y_test)
    everything = model.fit(X_train, y_train).score(X_test, y_test)
    return selector, [
        f"Selected in {seconds:.2f} s from {len(y_train):,} training samples of {selector.classes_.size} classes.",
        f"Held-out accuracy of a linear SVM on the other {len(y_test)}: [bold]{some:.1%}[/] with {k} features, "
        f"{everything:.1%} with all {X.shape[1]}.",
        *certificate(selector),
        "",
    ]


def certificate(selector: DSOSelector) -> list[str]:
    """How near the optimum the weights are, and whether the classes can be separated."""
    reached = f"the conditions of a local optimum hold to {selector.stationarity_:.1e}"
    if selector.p >= 1:
        reached = f"certified within {selector.duality_gap_:.1e} of the optimum"
    rows = int(np.count_nonzero(np.any(selector.coef_ != 0, axis=0)))
    steps = f"{selector.n_iter_} steps ({selector.status_})"
    found = [f"Certificate: {reached} after {steps}; {rows} features have a nonzero weight."]
    if n := len(selector.conflicts_):
        found.append(f"{n} training samples contradict each other: no linear rule classifies all of them correctly.")
    return found


def pixel_map(mean_image: Floats, ranking: Ints, k: int) -> Text:
    """The mean image in shades, with the rank of each chosen pixel on it."""
    text = Text()
    level = np.ceil(mean_image / mean_image.max() * (len(SHADES) - 1)).astype(int)
    for row in np.arange(len(ranking)).reshape(DIGITS_SHAPE):
        text.append("   ")
        for pixel in row:
            if ranking[pixel] <= k:
                text.append(f"{ranking[pixel]:^4}", style="bold black on yellow")
            else:
                text.append(SHADES[level[pixel]] * 4, style="dim")
        text.append("\n")
    return text
