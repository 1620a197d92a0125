"""The command line: parses, calls the Python API, prints."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from unfooled import __version__
from unfooled.cli import assets, attack, candidates, merge, train
from unfooled.errors import UnfooledError

app = typer.Typer(
    name="unfooled",
    help="How robust is a text classifier to word substitutions, with what guarantee?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("attack", context_settings=attack.SETTINGS, no_args_is_help=True)(attack.attack)
app.command("candidates")(candidates.candidates)
app.command("train")(train.train)
app.command("merge")(merge.merge)
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
    try:
        app()
    except UnfooledError as error:
        print(f"unfooled: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("unfooled: stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        raise SystemExit(0) from None
