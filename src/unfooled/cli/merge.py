"""`unfooled merge`: the parts of a sharded run as one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.audit import print_audit
from unfooled.errors import InputError


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
    """Join runs made with --shard into one and print its table; an audit gets its report.

    Example: unfooled merge runs/part-1 runs/part-2 -o runs/whole
    """
    from unfooled.outcomes import Outcome, Outcomes
    from unfooled.records import merge as join

    with join(runs, out) as run:
        manifest, kept = run.manifest, list(run.records())
    if manifest["method"] == "audit":
        _audit(runs, out, texts=manifest["texts"], as_json=as_json)
        return
    labels, name = manifest["labels"], manifest["method"]
    if "attack" not in manifest["options"]:
        raise InputError(f"{out} holds the records of {name} now; merge prints attacks and audits")
    whole = Outcomes(name, tuple(Outcome.from_record(record) for record in kept))
    _missing(len(whole), manifest["texts"])
    if as_json:
        print(json.dumps({"run": str(out), **whole.summary()}))
    else:
        printing.outcomes(whole, labels, folder=out, show=show)


def _audit(runs: list[Path], out: Path, *, texts: int, as_json: bool) -> None:
    """Adds up what the parts took, and prints the whole audit."""
    from unfooled import auditing, report
    from unfooled.costs import add_costs, keep_costs

    keep_costs(out, add_costs(runs))
    found, _ = auditing.read(out)
    _missing(len(found), texts)
    print_audit(found, folder=out, page=report.write([out]), as_json=as_json)


def _missing(found: int, texts: int) -> None:
    if found < texts:
        missing = f"{found} of {texts} texts are there: a part is missing or not finished"
        print(f"unfooled: {missing}", file=sys.stderr)
