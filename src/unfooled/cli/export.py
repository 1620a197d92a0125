"""`unfooled export`: the texts that fooled the victim as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing


def export(
    run: o.RunArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The file: .csv, .jsonl or .parquet.", show_default=False),
    ],
    as_json: o.Json = False,
) -> None:
    """Write the texts that fooled the victim to a file, with originals, classes and swaps.

    In a CSV file a cell that a spreadsheet may take for a formula gets an apostrophe in front.

    Example: unfooled export runs/beam -o fooled.csv
    """
    from unfooled import exports
    from unfooled.outcomes import read

    found, manifest = read(run)
    rows = exports.rows(found, labels=manifest["labels"])
    exports.write(out, rows)
    if as_json:
        print(json.dumps({"file": str(out), "texts": len(rows)}))
    else:
        printing.line("texts", str(len(rows)))
        printing.line("file", str(out))
