"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

VictimArgument = Annotated[
    str,
    typer.Argument(
        metavar="VICTIM",
        help="The classifier: a folder saved by [b]train[/b], a Hugging Face folder or [b]hf:NAME[/b], "
        "[b]sklearn:FILE.skops[/b], [b]http(s)://…[/b], [b]python:module:function[/b].",
        show_default=False,
    ),
]
DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, JSONL or Parquet file with columns text,label or premise,hypothesis,label, or an "
        "asset name such as [b]mr[/b].",
        show_default=False,
    ),
]
Split = Annotated[
    str | None, typer.Option(help="Which part of the data; an asset's default is test.")
]
Limit = Annotated[int | None, typer.Option(help="Draw so many texts by --seed.", min=1)]
Seed = Annotated[int, typer.Option(help="Same seed, same outcomes.")]
TextColumn = Annotated[
    str | None, typer.Option(help="Column of the text; [b]a,b[/b] names a pair.")
]
LabelColumn = Annotated[str | None, typer.Option(help="Column of the label.")]
Device = Annotated[str | None, typer.Option(help="Where torch models run, such as cpu or cuda.")]
Candidates = Annotated[
    str,
    typer.Option(
        help="What may replace a word: [b]wordnet[/b], [b]embedding:k=8[/b], "
        "[b]sememes:file=F[/b], [b]table:F[/b]; + unites, & intersects, |pos filters."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
