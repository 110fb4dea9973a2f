"""The option for the number of cores, as joblib understands it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def cores(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    if value == 0:
        raise click.BadParameter("it must be 1 or more, or below 0: -1 is all cores, -2 all but one.", ctx, param)
    return value


def cores_option(name: str = "--n-jobs", **more: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(name, type=int, callback=cores, help="Cores to use; -1 is all of them, -2 all but one.", **more)
