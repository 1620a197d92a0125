"""`unfooled certify`: one certifier on every text of a data set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unfooled.cli import options as o
from unfooled.cli import printing

if TYPE_CHECKING:
    from unfooled.proofs import Verdict


def certify(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The certifier: exhaustive, intervals or linear.",
            show_default=False,
        ),
    ],
    victim: o.VictimArgument,
    data: o.DataArgument,
    radius: Annotated[int, typer.Option(help="Prove up to so many swaps.", min=0)] = 3,
    candidates: o.Candidates = "wordnet",
    max_queries: o.MaxQueries = None,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    out: o.Out = None,
    shard: o.Shard = None,
    device: o.Device = None,
    batch: o.Batch = None,
    in_flight: o.InFlight = 64,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Prove that no text within a radius fools VICTIM, or find one that does.

    Example: unfooled certify exhaustive my-model reviews.csv --radius 2
    """
    import unfooled as uf

    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "candidates": candidates, "radius": radius, "max_queries": max_queries, "seed": seed,
    }  # fmt: skip
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    folder = out or printing.default_folder(name, victim, data, {**source, **asked}, shard=shard)
    with printing.stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device)
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        found = uf.certify(
            name, loaded, dataset, out=folder, shard=shard, in_flight=in_flight, batch=batch,
            progress=not (quiet or as_json), **asked,
        )  # fmt: skip
    print_verdicts(found, folder=folder, as_json=as_json)


def print_verdicts(found: Sequence[Verdict], *, folder: Path, as_json: bool) -> None:
    """How many texts have which verdict, up to which radius, and why some are unknown."""
    count = Counter(verdict.verdict for verdict in found)
    radii = Counter(verdict.radius for verdict in found)
    if as_json:
        by_radius = {str(r): n for r, n in sorted(radii.items())}
        print(json.dumps({"run": str(folder), **count, "texts": len(found), "radius": by_radius}))
        return
    rows = [[kind, str(count[kind])] for kind in ("certified", "falsified", "unknown", "error")]
    printing.columns(("verdict", "texts"), [row for row in rows if row[1] != "0"])
    named = {-1: "misclassified"}
    printing.columns(
        ("largest proved radius", "texts"),
        [[named.get(r, str(r)), str(n)] for r, n in sorted(radii.items())],
    )
    for reason, texts in Counter(v.reason for v in found if v.reason).most_common(3):
        printing.line(f"{texts} text{'s' if texts > 1 else ''}", reason)
    printing.line("run", str(folder))
