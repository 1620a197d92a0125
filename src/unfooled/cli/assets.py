"""`unfooled assets`: data sets and lexical resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli.printing import console
from unfooled.errors import InputError

app = typer.Typer(
    help="Data sets and lexical resources: list them, fetch them.\n\n"
    "Example: unfooled assets get wordnet",
    no_args_is_help=True,
)


@app.command("list")
def listing(as_json: o.Json = False) -> None:
    """List all assets, what they are and whether they are here.

    Example: unfooled assets list
    """
    from rich.table import Table

    from unfooled import assets

    found = [assets.info(name) for name in assets.names()]
    if as_json:
        rows = [
            {
                "name": a.name,
                "kind": a.kind,
                "summary": a.summary,
                "licence": a.licence,
                "here": assets.installed(a.name),
            }
            for a in found
        ]
        print(json.dumps({"home": str(assets.home()), "assets": rows}))
        return
    page = console()
    narrow = page.width < 80
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for column in ("", "asset", "kind", "what it is", "licence")[: 4 if narrow else 5]:
        table.add_column(column, no_wrap=column == "asset", overflow="fold")
    for asset in found:
        here = "✓" if assets.installed(asset.name) else ""
        about = [f"{asset.summary}; {asset.licence}"] if narrow else [asset.summary, asset.licence]
        table.add_row(here, asset.name, asset.kind, *about)
    page.print(table)
    page.print(f"kept in {assets.home()}", style="dim", soft_wrap=True)


@app.command()
def get(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="One asset or several.", show_default=False),
    ],
    file: Annotated[
        Path | None, typer.Option(help="Take it from this file instead of the network.")
    ] = None,
    quiet: o.Quiet = False,
) -> None:
    """Fetch assets; what is here already is left alone.

    Example: unfooled assets get mr wordnet glove-50
    """
    from unfooled import assets

    if file is not None and len(names) != 1:
        raise InputError(f"--file holds one asset, but {len(names)} were named")
    for name in names:
        assets.info(name)
    for name in names:
        folder = assets.get(name, file=file, progress=not quiet)
        typer.echo(f"{name}: {folder}")
