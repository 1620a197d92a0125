"""`unfooled train`: a reference model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o

SCHEDULE = "Schedule"


def train(
    arch: Annotated[
        str,
        typer.Argument(
            metavar="ARCH",
            help="[b]mlp[/b], [b]dan[/b], [b]cnn[/b], [b]cnn-msr[/b], [b]lstm[/b], [b]bilstm[/b], [b]transformer[/b]; [b]hf[/b] for MiniLM, "
            "[b]hf:NAME[/b] or a folder for another Hugging Face encoder.",
            show_default=False,
        ),
    ],
    data: o.DataArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The folder to save the model in.", show_default=False),
    ],
    dev: Annotated[
        str | None,
        typer.Option(
            help="Data to stop early by; default: an asset's dev split, or a tenth of DATA."
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Data to report accuracy on; default: an asset's test split.")
    ] = None,
    vectors: Annotated[
        str, typer.Option(help="Word vectors: an asset, a file, [b]auto[/b] or [b]none[/b].")
    ] = "auto",
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Keep the word vectors as they are.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(min=1, rich_help_panel=SCHEDULE)] = None,
    batch: Annotated[int | None, typer.Option(min=1, rich_help_panel=SCHEDULE)] = None,
    lr: Annotated[
        float | None, typer.Option(help="Learning rate.", rich_help_panel=SCHEDULE)
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Words (tokens) read of a text.", min=1)
    ] = None,
    layers: Annotated[
        int | None, typer.Option(help="Affine layers with ReLU, of mlp and dan.", min=1)
    ] = None,
    early_stopping: Annotated[
        bool, typer.Option(help="Stop when dev accuracy falls.", rich_help_panel=SCHEDULE)
    ] = True,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    device: o.Device = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Train a reference model on DATA and save it as a folder that is a VICTIM.

    Example: unfooled train bilstm mr -o models/bilstm
    """
    from unfooled import assets, models
    from unfooled import data as loader
    from unfooled.data import Dataset

    def read(spec: str, part: str | None, labels: tuple[str, ...] | None) -> Dataset:
        return loader.load(
            spec, split=part, text_column=text_column, label_column=label_column, labels=labels
        )

    named = data in assets.names()
    dataset = loader.load(
        data,
        split=split or ("train" if named else None),
        limit=limit,
        seed=seed,
        text_column=text_column,
        label_column=label_column,
    )
    held_out = (
        read(dev, None, dataset.labels) if dev else read(data, "dev", None) if named else None
    )
    tested = (
        read(test, None, dataset.labels) if test else read(data, "test", None) if named else None
    )
    result = models.train(
        arch, dataset, out=out, dev=held_out if early_stopping else None, vectors=None if vectors == "none" else vectors,
        frozen=frozen, epochs=epochs, batch=batch, lr=lr, max_length=max_length, layers=layers, seed=seed,
        early_stopping=early_stopping, progress=not (quiet or as_json), device=device,
    )  # fmt: skip
    accuracy = None if tested is None else result.accuracy(tested)
    if as_json:
        figures = {
            "seconds": result.seconds,
            "dev_accuracy": result.dev_accuracy,
            "test_accuracy": accuracy,
        }
        print(json.dumps({"model": str(out), **figures}))
        return
    shown = [f"{len(dataset)} texts in {result.seconds:.0f} s"]
    shown += [] if result.dev_accuracy is None else [f"dev accuracy {result.dev_accuracy:.3f}"]
    shown += [] if accuracy is None else [f"test accuracy {accuracy:.3f}"]
    typer.echo(f"trained {arch} on {', '.join(shown)}; saved in {out}")
