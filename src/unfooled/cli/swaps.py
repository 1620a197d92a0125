"""`unfooled swaps`: which words an attack swapped for which, beside the training data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from unfooled.cli import options as o
from unfooled.cli import printing

if TYPE_CHECKING:
    from unfooled.swaps import Swapped, Usage


def swaps(
    run: o.RunArgument,
    train: o.Train = None,
    vectors: o.Vectors = "glove-50",
    split: o.TrainSplit = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    as_json: o.Json = False,
) -> None:
    """Compare the words that were swapped: how common they are, how near to each other.

    With --train, the data the victim was trained on: how often the original words and the words of
    the attack occur there, and how many of them are most frequent in the true class.

    Example: unfooled swaps runs/beam --train mr
    """
    from unfooled import swaps as study
    from unfooled.outcomes import read

    found, manifest = read(run)
    columns = {"text_column": text_column, "label_column": label_column}
    known = None if train is None else study.training(train, split=split, **columns)
    swapped = study.study(found, labels=manifest["labels"], train=known, vectors=vectors)
    if as_json:
        print(json.dumps({"run": str(run), **swapped.summary()}))
    else:
        _print(swapped)


def _print(swapped: Swapped) -> None:
    summed = swapped.summary()
    low, middle, high = summed["cosine_quartiles"] or (None, None, None)
    printing.figures(
        [
            ("swaps", str(summed["swaps"])),
            ("mean cosine", printing.number(summed["mean_cosine"], digits=3)),
            ("median cosine", printing.number(middle, digits=3)),
            ("lower quartile", printing.number(low, digits=3)),
            ("upper quartile", printing.number(high, digits=3)),
            ("without a vector", str(summed["without_vector"])),
        ]
    )
    if swapped.old is not None and swapped.new is not None:
        lines = [_line("original", swapped.old), _line("attack", swapped.new)]
        printing.columns(("words", "median", "in class", "unseen"), lines)


def _line(name: str, usage: Usage) -> tuple[str, ...]:
    share = printing.percent
    return name, printing.number(usage.median), share(usage.in_class), share(usage.unseen)
