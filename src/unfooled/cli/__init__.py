"""The command line: parses, calls the Python API, prints."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from unfooled import __version__
from unfooled.cli import (
    assets,
    attack,
    audit,
    candidates,
    certify,
    check,
    estimate,
    export,
    merge,
    presets,
    report,
    swaps,
    sweep,
    train,
)
from unfooled.cli.help import Command
from unfooled.cli.method_options import AttackCommand, CertifierCommand
from unfooled.cli.stopping import StoppableGroup, on_sigterm
from unfooled.errors import UnfooledError

app = typer.Typer(
    name="unfooled",
    cls=StoppableGroup,
    help="How robust is a text classifier to word substitutions, with what guarantee?\n\n"
    "Example: unfooled train bilstm mr -o my-model, then unfooled audit my-model mr",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("audit", cls=Command)(audit.audit)
app.command("attack", cls=AttackCommand, no_args_is_help=True)(attack.attack)
app.command("sweep", cls=Command)(sweep.sweep)
app.command("presets", cls=Command)(presets.presets)
app.command("certify", cls=CertifierCommand, no_args_is_help=True)(certify.certify)
app.command("estimate", cls=Command)(estimate.estimate)
app.command("report", cls=Command)(report.report)
app.command("swaps", cls=Command)(swaps.swaps)
app.command("export", cls=Command)(export.export)
app.command("check", cls=Command)(check.check)
app.command("candidates", cls=Command)(candidates.candidates)
app.command("train", cls=Command)(train.train)
app.command("merge", cls=Command)(merge.merge)
app.add_typer(assets.app, name="assets")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unfooled {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; an error meant for people is one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows a ? instead
            stream.reconfigure(errors="replace")
    try:
        try:
            with on_sigterm():
                app(prog_name="unfooled")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except UnfooledError as error:
        print(f"unfooled: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:  # a full disk; or the reader of our output has gone, which is no news
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"unfooled: {error}", file=sys.stderr)
        raise SystemExit(2) from None
