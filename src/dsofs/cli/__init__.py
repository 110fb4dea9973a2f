"""The command line: one file per command, loaded when it is called."""

from __future__ import annotations

import shlex
from importlib import import_module
from typing import Any

import click

from dsofs import __version__
from dsofs.files import readable

# Command -> what it does; its code is ``main`` in the module of the same name.
COMMANDS = {
    "demo": "Select features of data that come with scikit-learn, and see which they are.",
    "select": "Select the features of a file that separate its classes.",
    "apply": "Reduce another file to the same features.",
    "compare": "Compare methods on a file: how well their features tell its classes apart.",
    "datasets": "List the data sets of the paper, whether they are available and where.",
    "reproduce": "Compute the paper's tables and figures again, next to the printed numbers.",
}
INTERRUPTED = 130  # the exit code that shells use for Ctrl-C
CALLED = "dsofs.called"  # where a command finds the words it was called with


class LazyGroup(click.Group):
    """Lists its commands without loading them, so that --help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"dsofs.cli.{cmd_name}").main
        assert isinstance(command, click.Command)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Remember the words of the command, which reports show."""
        called = readable(shlex.join(["dsofs", *args]))
        ctx = super().make_context(info_name, args, parent, **extra)
        ctx.meta[CALLED] = called
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsofs")
def main() -> None:
    """Find the few features of a wide data set that tell its classes apart."""
