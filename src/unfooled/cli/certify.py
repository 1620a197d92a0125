"""`unfooled certify`: one certifier on every text of a data set."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.method_options import given
from unfooled.cli.stopping import stoppable

if TYPE_CHECKING:
    from unfooled.least import Interval
    from unfooled.minima import Minima
    from unfooled.proofs import Verdict


def _list(wanted: bool) -> None:
    if wanted:
        printing.certifiers()
        raise typer.Exit


def certify(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The certifier; see --list.", show_default=False)
    ],
    victim: o.VictimArgument,
    data: o.DataArgument,
    listing: Annotated[
        bool,
        typer.Option(
            "--list", callback=_list, is_eager=True, help="List the certifiers and their options."
        ),
    ] = False,
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
    """Prove that no text within a radius fools VICTIM, or find one that does.

    minimum finds the least number of swaps that fools, and proves it. Options of the certifier itself
    (see --list) are given like any other, such as --radius 2 or --time-limit 30.

    Example: unfooled certify branch-and-bound my-model reviews.csv --radius 2
    """
    import unfooled as uf

    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "candidates": candidates, "max_queries": max_queries, "seed": seed, **given(context.args),
    }  # fmt: skip
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    source |= {} if labels is None else {"labels": labels}
    folder = out or printing.default_folder(name, victim, data, {**source, **asked}, shard=shard)
    with stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device, labels=o.class_names(labels))
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        found = uf.certify(
            name, loaded, dataset, out=folder, shard=shard, in_flight=in_flight, batch=batch,
            progress=not (quiet or as_json), **asked,
        )  # fmt: skip
    if isinstance(found, uf.Minima):
        print_minima(found, folder=folder, as_json=as_json)
    else:
        print_verdicts(found, folder=folder, as_json=as_json)


def print_minima(found: Minima, *, folder: Path, as_json: bool) -> None:
    """How many texts are decided, the figures of all together, and how long they took."""
    figures = found.summary()
    if as_json:
        print(json.dumps({"run": str(folder), **_finite(figures)}))
        return
    shown = [
        [name, str(figures[name])]
        for name in ("optimal", "robust", "bracketed", "skipped", "error")
    ]
    printing.columns(("status", "texts"), [row for row in shown if row[1] != "0"])
    if figures["swaps"]:
        rows = [[str(swaps), str(texts)] for swaps, texts in figures["swaps"].items()]
        printing.columns(("least swaps", "texts"), rows)
    printing.line("accuracy under attack", _interval(figures["aua"]))
    within = ", ".join(f"{_interval(v)} (r = {r})" for r, v in figures["aua_within"].items())
    printing.line("limited to r swaps", within)
    printing.line("mean minimum swaps", _interval(figures["mmws"]))
    printing.line("robust share", _interval(figures["robust_share"]))
    if figures["median_s"] is not None:
        times = [figures[name] for name in ("median_s", "p90_s", "max_s")]
        printing.line("seconds a text", "median {:.3g}, p90 {:.3g}, most {:.3g}".format(*times))
    for reason, texts in Counter(m.reason for m in found if m.reason).most_common(3):
        printing.line(f"{texts} text{'s' if texts > 1 else ''}", reason)
    printing.line("run", str(folder))


def _interval(value: Interval | None) -> str:
    """The figure, or from where to where it can be."""
    if value is None:
        return "no text"
    low, high = (f"{end:.3f}" for end in value)
    return low if value.exact else f"{low} to {high.replace('inf', 'any')}"


def _finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures without infinities, which JSON does not have: null stands for no bound."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [None if end == math.inf else end for end in value]
        return {str(k): plain(v) for k, v in value.items()} if isinstance(value, dict) else value

    return {name: plain(value) for name, value in figures.items()}


def print_verdicts(found: Sequence[Verdict], *, folder: Path, as_json: bool) -> None:
    """How many texts have which verdict, up to which radius, and why some are unknown.

    A misclassified text has no radius, nor has a near-tie or a text that the victim failed on.
    """
    count = Counter(_kind(verdict) for verdict in found)
    radii = Counter(verdict.radius for verdict in found if verdict.radius >= 0)
    if as_json:
        by_radius = {str(r): n for r, n in sorted(radii.items())}
        print(json.dumps({"run": str(folder), **count, "texts": len(found), "radius": by_radius}))
        return
    kinds = ("certified", "falsified", "unknown", "misclassified", "error")
    rows = [[kind, str(count[kind])] for kind in kinds]
    printing.columns(("verdict", "texts"), [row for row in rows if row[1] != "0"])
    printing.columns(
        ("largest proved radius", "texts"), [[str(r), str(n)] for r, n in sorted(radii.items())]
    )
    for reason, texts in Counter(v.reason for v in found if v.reason).most_common(3):
        printing.line(f"{texts} text{'s' if texts > 1 else ''}", reason)
    printing.line("run", str(folder))


def _kind(verdict: Verdict) -> str:
    """The verdict, or that the text is fooled as it is, without a swap."""
    fooled_itself = verdict.verdict == "falsified" and not verdict.changes
    return "misclassified" if fooled_itself else verdict.verdict
