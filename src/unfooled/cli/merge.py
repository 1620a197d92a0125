"""`unfooled merge`: the parts of a sharded run as one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.audit import print_audit
from unfooled.cli.certify import print_minima, print_verdicts
from unfooled.cli.estimate import print_estimates

if TYPE_CHECKING:
    from unfooled.records import Run


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
    from unfooled.records import merge as join

    with join(runs, out) as run:
        manifest, kept = run.manifest, run.records()
    if manifest["method"] == "audit":
        _audit(runs, out, texts=manifest["texts"], as_json=as_json)
        return
    _say_missing(len(kept), manifest["texts"])
    if "attack" in manifest["options"]:
        _attack(out, show=show, as_json=as_json)
    elif "certifier" in manifest["options"]:
        _certified(run, out=out, as_json=as_json)
    else:
        from unfooled.estimates import Estimated

        print_estimates(
            [run.rebuilt(r, Estimated.from_record) for r in kept], folder=out, as_json=as_json
        )


def _attack(out: Path, *, show: int, as_json: bool) -> None:
    from unfooled import outcomes

    whole, manifest = outcomes.read(out)
    counted, named = printing.candidate_figures(whole), manifest["options"].get("preset")
    if as_json:
        print(json.dumps({"run": str(out), **whole.summary(), **counted}))
        return
    if named is not None:
        printing.preset(named, counted)
    printing.outcomes(whole, manifest["labels"], folder=out, show=show)


def _certified(run: Run, *, out: Path, as_json: bool) -> None:
    """The verdicts, or of a certifier that was asked for no radius the least swaps."""
    from unfooled.minima import Minima, Minimum
    from unfooled.proofs import Verdict

    if "radius" in run.manifest["options"]["certifier"]:
        verdicts = [run.rebuilt(record, Verdict.from_record) for record in run.records()]
        print_verdicts(verdicts, folder=out, as_json=as_json)
        return
    found = tuple(run.rebuilt(record, Minimum.from_record) for record in run.records())
    print_minima(Minima(found), folder=out, as_json=as_json)


def _audit(runs: list[Path], out: Path, *, texts: int, as_json: bool) -> None:
    """Adds up what the parts took, and prints the whole audit."""
    from unfooled import auditing, report
    from unfooled.costs import join_costs

    join_costs(out, runs)
    found, _ = auditing.read(out)
    _say_missing(len(found), texts)
    print_audit(found, folder=out, page=report.write([out]), as_json=as_json)


def _say_missing(found: int, texts: int) -> None:
    if found < texts:
        missing = f"{found} of {texts} texts are there: a part is missing or not finished"
        print(f"unfooled: {missing}", file=sys.stderr)
