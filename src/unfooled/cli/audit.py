"""`unfooled audit`: brackets, PR and a report for every text."""

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
    from unfooled.audited import Audit


def audit(
    victim: o.VictimArgument,
    data: o.DataArgument,
    radius: Annotated[
        int, typer.Option(help="Prove up to so many swaps, and estimate PR within them.", min=1)
    ] = 4,
    attacks: Annotated[
        str, typer.Option(help="Attacks for the upper bounds, such as pdp,beam.")
    ] = "pdp",
    certifiers: Annotated[
        str | None,
        typer.Option(
            help="Certifiers for the lower bounds, one after the other, such as linear,exhaustive; "
            "default: those that suit VICTIM.",
            show_default=False,
        ),
    ] = None,
    candidates: o.Candidates = "wordnet",
    max_rate: o.MaxRate = None,
    max_queries: o.MaxQueries = 20_000,
    time_limit: Annotated[
        float,
        typer.Option(
            help="Seconds for each text and certifier that computes with the layers.", min=0.001
        ),
    ] = 10.0,
    epsilon: Annotated[float, typer.Option(help="Half width of the PR interval.")] = 0.025,
    delta: Annotated[float, typer.Option(help="Chance that a PR interval misses.")] = 0.005,
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
    """Bracket the least number of swaps that fools VICTIM, for every text in DATA.

    An attack gives the upper bound, a proof the lower one; where they meet, the minimum is
    known exactly. PR is the share of texts within the radius that keep their label. --max-queries holds
    for each text and method. The same command again continues where it was stopped.

    Example: unfooled audit my-model reviews.csv --radius 3 --attacks pdp,beam
    """
    import unfooled as uf
    from unfooled import report

    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "candidates": candidates,
        "radius": radius,
        "attacks": _names(attacks),
        "certifiers": None if certifiers is None else _names(certifiers),
        "max_rate": max_rate,
        "max_queries": max_queries,
        "time_limit": time_limit,
        "epsilon": epsilon,
        "delta": delta,
        "seed": seed,
    }
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    source |= {} if labels is None else {"labels": labels}
    folder = out or printing.default_folder("audit", victim, data, {**source, **asked}, shard=shard)
    with stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device, labels=o.class_names(labels))
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        shown = not (quiet or as_json)
        how: dict[str, Any] = {"progress": shown, "in_flight": in_flight, "batch": batch}
        found = uf.audit(loaded, dataset, out=folder, shard=shard, **asked, **how)
        page = report.write([folder])
    print_audit(found, folder=folder, page=page, as_json=as_json)


def print_audit(found: Audit, *, folder: Path, page: Path, as_json: bool) -> None:
    """The figures of an audit and where its report is."""
    figures = found.summary()
    if as_json:
        print(json.dumps({"run": str(folder), "report": str(page), **figures}))
        return
    percent, number = printing.percent, printing.number
    aua, quartiles = figures["accuracy_under_attack"]["any"], figures["pr_quartiles"]
    printing.figures(
        [
            ("texts", f"{figures['texts']}, {figures['skipped']} misclassified from the start"),
            ("errors", f"{figures['errors']}"),
            ("least fooling swaps known exactly", percent(figures["exact"])),
            ("mean least swaps, broken texts", _interval(figures["mean_minimum"])),
            ("mean bracket width, broken texts", number(figures["mean_width"], digits=2)),
            ("mean least swaps if any (MMWS)", _interval(figures["mmws"])),
            ("not broken by any attack", percent(figures["not_broken"])),
            ("accuracy under attack", _interval(aua and [100 * end for end in aua], unit=" %")),
            (f"PR within {found.radius} swaps, mean", number(figures["mean_pr"], digits=3)),
            ("PR quartiles", " / ".join(f"{q:.3f}" for q in quartiles) if quartiles else "–"),
            ("PR above 0.9", percent(figures["pr_above_0.9"])),
        ]
    )
    shares = [
        [
            r,
            percent(figures["proved"][r]),
            percent(figures["broken"][r]),
            percent(_unknown(figures, r)),
        ]
        for r in figures["proved"]
    ]
    printing.columns(("swaps", "proved", "broken", "unknown"), shares)
    costs = [
        [
            name,
            f"{c['texts']:.0f}",
            f"{c['queries']:,.0f}",
            f"{c['forwards']:,.0f}",
            f"{c['seconds']:.1f}",
        ]
        for name, c in figures["costs"].items()
    ]
    printing.columns(("method", "texts", "queries", "forwards", "seconds"), costs)
    printing.reasons((a.id, a.error) for a in found if a.error is not None)
    printing.line("report", str(page))


def _names(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(",") if name.strip())


def _interval(ends: Sequence[float | None] | None, *, unit: str = "") -> str:
    low, high = ends or (None, None)
    if low is None or high is None:
        return "–"
    digits = 1 if unit else 2
    one, other = f"{low:.{digits}f}{unit}", f"{high:.{digits}f}{unit}"
    return one if one == other else f"{one} to {other}"


def _unknown(figures: dict[str, Any], radius: str) -> float | None:
    proved, broken = figures["proved"][radius], figures["broken"][radius]
    return None if proved is None else max(0.0, 1 - proved - broken)
