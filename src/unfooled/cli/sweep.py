"""`unfooled sweep`: accuracy under attacks while one limit moves and the others stay."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.stopping import stoppable


def sweep(
    attacks: Annotated[
        str,
        typer.Argument(
            metavar="NAMES", help="The attacks, such as textfooler,pwws.", show_default=False
        ),
    ],
    victim: o.VictimArgument,
    data: o.DataArgument,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="LIMIT=VALUES",
            help="A limit and its values, such as [b]max-candidates=5,10,20,50[/b]; may be given again.",
            show_default=False,
        ),
    ],
    preset: o.Preset = None,
    candidates: o.OwnCandidates = None,
    max_rate: o.MaxRate = None,
    max_queries: o.MaxQueriesPerWord = None,
    max_candidates: o.MaxCandidates = None,
    min_similarity: o.MinSimilarity = None,
    similarity: o.Similarity = None,
    encoder: o.Encoder = None,
    window: o.Window = None,
    reference: o.Reference = None,
    min_word_cosine: o.MinWordCosine = None,
    word_vectors: o.WordVectors = None,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    labels: o.Labels = None,
    out: o.Out = None,
    device: o.Device = None,
    batch: o.Batch = None,
    in_flight: o.InFlight = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Attack VICTIM at every value of a limit, and chart the accuracy that is left.

    One limit moves at a time, the others stay where they are given or where the preset has them. Every
    point is a run in a folder of its own; the same command again continues where it was stopped.

    Example: unfooled sweep textfooler,pwws my-model imdb --preset defender-imdb --over max-rate=0.05,0.1,0.2
    """
    import unfooled as uf
    from unfooled.limit_sweep import parse
    from unfooled.report import swept as chart

    names = [name.strip() for name in attacks.split(",") if name.strip()]
    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "over": parse(over), "preset": preset, "candidates": candidates, "max_rate": max_rate,
        "max_queries": int(max_queries) if max_queries and max_queries.isdecimal() else max_queries,
        "max_candidates": max_candidates,
        "min_similarity": min_similarity, "similarity": similarity, "encoder": encoder,
        "window": window, "min_word_cosine": min_word_cosine, "word_vectors": word_vectors,
        "seed": seed,
    }  # fmt: skip
    # The name of a folder stays what it was where none is given.
    asked |= {} if reference is None else {"reference": reference}
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    source |= {} if labels is None else {"labels": labels}
    question = {**source, **asked, "attacks": names}
    folder = out or printing.default_folder("sweep", victim, data, question)
    with stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device, labels=o.class_names(labels))
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        found = uf.sweep(
            names, loaded, dataset, out=folder, device=device, batch=batch, in_flight=in_flight,
            progress=not (quiet or as_json), **asked,
        )  # fmt: skip
        path = chart.write(found, folder)
    if as_json:
        points = [point.figures() for point in found.points]
        print(json.dumps({"folder": str(folder), "chart": str(path), "points": points}))
        return
    for swept in found.limits:
        rows = [
            (str(value), *(printing.percent(row.get(name)) for name in found.attacks))
            for value, row in found.under(swept).items()
        ]
        printing.columns((swept.replace("_", " "), *found.attacks), rows)
    printing.line("chart", str(path))
    printing.line("runs", str(folder))
