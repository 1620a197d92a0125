"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LIMITS, RUN = "Limits", "Run"


def class_names(given: str | None) -> list[str] | int | None:
    """What `--labels` says: names, or how many classes there are."""
    if given is None or given.strip().isdecimal():
        return None if given is None else int(given)
    return [name.strip() for name in given.split(",")]


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
RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of an attack.", show_default=False)
]
Train = Annotated[
    str | None,
    typer.Option(
        metavar="DATA", help="What the victim was trained on: a file, or an asset's split train."
    ),
]
TrainSplit = Annotated[str | None, typer.Option(help="Which part of the training data.")]
Vectors = Annotated[
    str, typer.Option(help="Word vectors that compare words: an asset, folder or file.")
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
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="The names of VICTIM's classes in the order of its scores, or how many there are; needed "
        "where it does not know them itself.",
        show_default=False,
    ),
]
Device = Annotated[str | None, typer.Option(help="Where torch models run, such as cpu or cuda.")]
_CANDIDATES = (
    "What may replace a word: [b]wordnet[/b], [b]embedding:k=8[/b], "
    "[b]sememes:file=F[/b], [b]table:F[/b], [b]typos[/b]; + unites, & intersects, |pos filters."
)
Candidates = Annotated[str, typer.Option(help=_CANDIDATES)]
OwnCandidates = Annotated[  # a preset's unless they are given
    str | None,
    typer.Option(help=_CANDIDATES, show_default="the attack's own (attack --list), or wordnet"),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Candidates, limits and options of a paper, such as [b]defender-imdb[/b]; those given here "
        "go before. [b]unfooled presets[/b] lists them.",
        rich_help_panel=LIMITS,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="The run folder; run again to resume. Default: a name in runs/.",
        rich_help_panel=RUN,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(help="Do part i of n, as i/n; join the parts with merge.", rich_help_panel=RUN),
]
Batch = Annotated[
    int | None,
    typer.Option(help="Texts per batch at most; outcomes do not depend on it.", min=1),
]
InFlight = Annotated[
    int | None,
    typer.Option(
        help="Texts worked on at once (default: as many as fill a batch, 64 at the least); outcomes do "
        "not depend on it.",
        min=1,
    ),
]
MaxRate = Annotated[
    float | None,
    typer.Option(
        help="Swap at most this share of a text's words.", min=0, max=1, rich_help_panel=LIMITS
    ),
]
MaxQueries = Annotated[
    int | None,
    typer.Option(help="Ask the victim at most so often per text.", min=1, rich_help_panel=LIMITS),
]
MaxQueriesPerWord = Annotated[
    str | None,
    typer.Option(
        help="Ask the victim at most so often per text; [b]50x[/b]: 50 times per word of it, [b]KxL[/b]: --max-candidates times.",
        metavar="NUMBER",
        rich_help_panel=LIMITS,
    ),
]
MaxCandidates = Annotated[
    int | None,
    typer.Option(
        help="Only the first so many candidates of each word.", min=1, rich_help_panel=LIMITS
    ),
]
MinSimilarity = Annotated[
    float | None,
    typer.Option(
        help="Stay at least this similar to the original (or see --reference), by a sentence encoder.",
        min=-1,
        max=1,
        rich_help_panel=LIMITS,
    ),
]
Similarity = Annotated[
    str | None,
    typer.Option(
        help="How --min-similarity counts: [b]cosine[/b] or [b]angular[/b].",
        show_default="cosine",
        rich_help_panel=LIMITS,
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="The sentence encoder: [b]minilm[/b], [b]use[/b], a Hugging Face folder or [b]hf:NAME[/b].",
        show_default="minilm",
        rich_help_panel=LIMITS,
    ),
]
Masked = Annotated[
    str | None,
    typer.Option(
        help="The masked language model of attacks that ask one at every step, as [b]bae[/b] does unless "
        "--candidates or --preset is given: [b]minilm[/b], a Hugging Face folder or a hub name.",
        show_default="minilm",
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        help="Compare so many words around each swapped one, not whole texts.",
        min=1,
        rich_help_panel=LIMITS,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        help="What --min-similarity compares with: the [b]original[/b], or at every step of an attack that "
        "compares step by step the [b]previous[/b] text. Without it, what the attack's own rule compares with.",
        show_default="original",
        rich_help_panel=LIMITS,
    ),
]
MinWordCosine = Annotated[
    float | None,
    typer.Option(
        help="Only candidates whose word vector has this cosine with the word's, or more.",
        min=-1,
        max=1,
        rich_help_panel=LIMITS,
    ),
]
WordVectors = Annotated[
    str | None,
    typer.Option(
        help="The vectors of --min-word-cosine: an asset or a file.",
        show_default="glove-50-counter-fitted",
        rich_help_panel=LIMITS,
    ),
]
