"""`unfooled report`: the page of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders of audits, or of attacks.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; default: report.html in the first folder."),
    ] = None,
    train: o.Train = None,
    vectors: o.Vectors = "glove-50",
    encoder: Annotated[
        str | None,
        typer.Option(help="Of attacks: measure similarity by this encoder, such as minilm."),
    ] = None,
    split: o.TrainSplit = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
) -> None:
    """Write one HTML page about one run, or several side by side: audits, or attacks.

    With --train, a page about attacks also compares the swapped words with the training data.

    Example: unfooled report runs/bilstm runs/cnn -o compared.html
    """
    from unfooled import report as reports
    from unfooled.encoders import load_encoder
    from unfooled.swaps import training

    columns = {"text_column": text_column, "label_column": label_column}
    known = None if train is None else training(train, split=split, **columns)
    judge = None if encoder is None else load_encoder(encoder)
    path = reports.write(runs, out, train=known, vectors=vectors, encoder=judge)
    printing.line("report", str(path))
