"""`unfooled candidates`: what may replace what in one sentence, and why."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli.printing import console


def candidates(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A sentence.", show_default=False)],
    candidates: o.Candidates = "wordnet",
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Also show what was rejected, and why.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Show which words may replace which in TEXT, with their similarity.

    Example: unfooled candidates "A warm and funny film." --candidates wordnet:k=8
    """
    from rich.table import Table

    from unfooled import Space, Text
    from unfooled.candidates import explain, load

    loaded = load(candidates)
    parsed = Text.parse(text)
    rows = explain(loaded, parsed)
    space = Space(parsed, {row.position: row.kept for row in rows})
    if as_json:
        print(json.dumps({"size": space.size(), "rows": [asdict(row) for row in rows]}))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("#", justify="right", style="dim")
    table.add_column("word", style="bold", no_wrap=True)
    table.add_column("tag", style="dim")
    table.add_column("candidates (similarity)")
    for row in rows:
        shown = [
            c.word
            + ("" if c.similarity is None else f" {c.similarity:.2f}")
            + (f" ✗ {c.rejected}" if c.rejected else "")
            for c in row.candidates
            if rejected or not c.rejected
        ]
        table.add_row(
            str(row.position), row.word, row.tag, ", ".join(shown) or f"– {row.reason}".rstrip()
        )
    page = console()
    page.print(table)
    sizes = ", ".join(
        f"{space.size(r):,} within {r}" for r in (1, 2, 3) if r < len(space.positions)
    )
    page.print(f"{space.size():,} texts in the space" + (f" ({sizes} swaps)" if sizes else ""))
