"""`unfooled assets`: data sets and lexical resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli.help import Command
from unfooled.cli.printing import console
from unfooled.errors import InputError

if TYPE_CHECKING:
    from unfooled.lexicon.simlex import Rated

SimLex = Annotated[
    Path | None,
    typer.Option(
        help="SimLex-999: print how far vectors agree with its ratings, before and after."
    ),
]

app = typer.Typer(
    help="Data sets and lexical resources: list them, fetch them.\n\n"
    "Example: unfooled assets get wordnet",
    no_args_is_help=True,
)


@app.command("list", cls=Command)
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


@app.command(cls=Command)
def get(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="One asset or several.", show_default=False),
    ],
    file: Annotated[
        Path | None, typer.Option(help="Take it from this file instead of the network.")
    ] = None,
    simlex: SimLex = None,
    quiet: o.Quiet = False,
) -> None:
    """Fetch or build assets; what is here already is left alone.

    Example: unfooled assets get mr wordnet glove-50
    """
    from unfooled import assets

    if file is not None and len(names) != 1:
        raise InputError(f"--file holds one asset, but {len(names)} were named")
    found = [assets.info(name) for name in names]
    rated = _rated(simlex)
    if rated and not any(asset.kind == "vectors" for asset in found):
        raise InputError("--simlex judges word vectors, but no asset of that kind was named")
    for asset in found:
        folder = assets.get(asset.name, file=file, progress=not quiet)
        typer.echo(f"{asset.name}: {folder}")
    for name in dict.fromkeys(
        n for a in found for n in (*(a.built.needs if a.built else ()), a.name)
    ):
        if rated and assets.info(name).kind == "vectors":
            _judge(name, rated=rated)


@app.command("counter-fit", cls=Command)
def counter_fit(
    vectors: Annotated[
        str,
        typer.Argument(metavar="VECTORS", help="An asset, a folder or a file.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)
    ],
    synonyms: Annotated[
        list[Path] | None,
        typer.Option(help="File with two words a line to draw together; may be repeated."),
    ] = None,
    antonyms: Annotated[
        list[Path] | None,
        typer.Option(help="File with two words a line to push apart; may be repeated."),
    ] = None,
    simlex: SimLex = None,
    quiet: o.Quiet = False,
) -> None:
    """Fit word vectors to synonyms and antonyms, WordNet's unless files are given.

    Example: unfooled assets counter-fit my-vectors.txt -o fitted --synonyms pairs.txt
    """
    from unfooled.assets.progress import building
    from unfooled.lexicon import constraints, counter_fit_asset, wordnet
    from unfooled.lexicon.counter_fit import CounterFit, fit
    from unfooled.lexicon.vectors import load

    if out.exists():
        raise InputError(f"{out} exists already; name a folder that does not")
    rated, table, options = _rated(simlex), load(vectors), CounterFit()
    with building(f"{vectors} counter-fitted", shown=not quiet) as told:
        if synonyms or antonyms:
            pairs = constraints.from_files(synonyms or (), antonyms or ())
        else:
            told("constraints", 0.0)
            pairs = constraints.from_wordnet(wordnet.load(), table.words)
        fitted = fit(table, pairs, options=options, told=told)
    out.mkdir(parents=True)
    for name, content in counter_fit_asset.files(fitted, options).items():
        (out / name).write_bytes(content)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in fitted.pairs.items())
    typer.echo(f"{out}: {len(table):,} words; pairs: {counts}")
    if rated:
        _judge(vectors, rated=rated)
        _judge(str(out), rated=rated)


def _rated(simlex: Path | None) -> list[Rated]:
    if simlex is None:
        return []
    from unfooled.lexicon.simlex import read

    return read(simlex)


def _judge(vectors: str, *, rated: list[Rated]) -> None:
    from unfooled.lexicon.simlex import agreement
    from unfooled.lexicon.vectors import load

    found = agreement(load(vectors), rated)
    pairs = f"{found.pairs:,} of {found.of:,} pairs"
    typer.echo(f"{vectors}: correlation with SimLex-999 {found.correlation:.3f} on {pairs}")
