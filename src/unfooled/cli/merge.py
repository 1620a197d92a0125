"""`unfooled merge`: the parts of a sharded run as one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing


def merge(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="The folders of the parts.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the whole.", show_default=False)
    ],
    show: Annotated[
        int, typer.Option(help="Show so many fooling texts with their swaps.", min=0)
    ] = 0,
    as_json: o.Json = False,
) -> None:
    """Join runs made with --shard into one and print its table.

    Example: unfooled merge runs/part-1 runs/part-2 -o runs/whole
    """
    from unfooled.outcomes import Outcome, Outcomes
    from unfooled.records import merge as join

    with join(runs, out) as run:
        found = tuple(Outcome.from_record(record) for record in run.records())
        labels, name, texts = (run.manifest[field] for field in ("labels", "method", "texts"))
    whole = Outcomes(name, found)
    if len(found) < texts:
        missing = f"{len(found)} of {texts} texts are there: a part is missing or not finished"
        print(f"unfooled: {missing}", file=sys.stderr)
    if as_json:
        print(json.dumps({"run": str(out), **whole.summary()}))
    else:
        printing.outcomes(whole, labels, folder=out, show=show)
