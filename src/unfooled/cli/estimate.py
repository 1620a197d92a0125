"""`unfooled estimate`: PR of every text of a data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.stopping import stoppable

if TYPE_CHECKING:
    from unfooled.estimates import Estimated


def estimate(
    victim: o.VictimArgument,
    data: o.DataArgument,
    radius: Annotated[int | None, typer.Option(help="Within so many swaps.", min=0)] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Within this share of the words; default 0.25.", min=0, max=1),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Half width of the interval.")] = 0.025,
    delta: Annotated[float, typer.Option(help="Chance that an interval misses.")] = 0.005,
    method: Annotated[str, typer.Option(help="sequential, hoeffding or exact.")] = "sequential",
    candidates: o.Candidates = "wordnet",
    max_queries: o.MaxQueries = None,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    labels: o.Labels = None,
    out: o.Out = None,
    shard: o.Shard = None,
    device: o.Device = None,
    batch: o.Batch = None,
    in_flight: o.InFlight = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Estimate PR: the share of texts within a radius that keep the label VICTIM should give.

    Example: unfooled estimate my-model reviews.csv --radius 3
    """
    import unfooled as uf

    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "candidates": candidates, "radius": radius, "rate": rate, "epsilon": epsilon,
        "delta": delta, "method": method, "max_queries": max_queries, "seed": seed,
    }  # fmt: skip
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    source |= {} if labels is None else {"labels": labels}
    folder = out or printing.default_folder("pr", victim, data, {**source, **asked}, shard=shard)
    with stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device, labels=o.class_names(labels))
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        found = uf.estimate(
            loaded, dataset, out=folder, shard=shard, in_flight=in_flight, batch=batch,
            progress=not (quiet or as_json), **asked,
        )  # fmt: skip
    print_estimates(found, folder=folder, as_json=as_json)


def print_estimates(found: Sequence[Estimated], *, folder: Path, as_json: bool) -> None:
    """The mean of PR, how many texts are above 0.9, and what that took; misclassified texts apart."""
    held = [e for e in found if not e.misclassified]
    values = [e.value for e in held if e.value is not None]
    mean = sum(values) / len(values) if values else None
    high = sum(v > 0.9 for v in values) / len(values) if values else None
    samples = sum(e.samples for e in held) / len(held) if held else None
    exact = sum(e.exact for e in held)
    misclassified, errors = len(found) - len(held), sum(e.value is None for e in held)
    if as_json:
        counts = {"texts": len(found), "misclassified": misclassified, "errors": errors}
        figures = {"exact": exact, "mean_pr": mean, "pr_above_0.9": high}
        print(json.dumps({"run": str(folder), **counts, **figures}))
        return
    printing.figures(
        [
            ("texts", f"{len(found)}, {misclassified} misclassified from the start"),
            *([("not measured", str(errors))] if errors else []),
            ("mean PR", printing.number(mean, digits=3)),
            ("PR above 0.9", printing.percent(high)),
            ("counted exactly", str(exact)),
            ("samples per text", printing.number(samples)),
        ]
    )
    printing.reasons((e.id, e.error) for e in found if e.error)
    printing.line("run", str(folder))
