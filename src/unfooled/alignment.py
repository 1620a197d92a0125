"""Labels of a data set counted as a victim counts its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unfooled.data import Dataset
from unfooled.errors import InputError

_SHOWN = 20  # classes that a message names


def aligned(dataset: Dataset, labels: Sequence[str], *, owner: str) -> Dataset:
    """The data set with labels counted as `owner` (a victim) counts its classes.

    Classes are matched by name where both sides have names, in any order and case. Where one side
    only has numbers (0, 1, ...; LABEL_0, LABEL_1, ...) they are matched by number.
    """
    theirs = {name.strip().casefold(): index for index, name in enumerate(labels)}
    mine = [name.strip().casefold() for name in dataset.labels]
    if all(name in theirs for name in mine):
        index = [theirs[name] for name in mine]
    elif _numbered(mine) or _numbered(list(theirs)):
        index = list(range(len(mine)))
    else:
        raise InputError(
            f"the data has the classes {shortened(dataset.labels)}, {owner} has {shortened(labels)}: "
            "rename the labels of one, or number them from 0 in the order of the other"
        )
    for example in dataset.examples:
        if index[example.label] >= len(labels):
            raise InputError(
                f"example {example.id} has label {example.label}, but {owner} has the classes "
                f"0 to {len(labels) - 1} ({', '.join(labels)})"
            )
    if index == list(range(len(labels))):
        return replace(dataset, labels=tuple(labels))
    moved = tuple(replace(e, label=index[e.label]) for e in dataset.examples)
    return Dataset(dataset.name, moved, tuple(labels))


def _numbered(names: Sequence[str]) -> bool:
    return all(name.removeprefix("label_") == str(i) for i, name in enumerate(names))


def shortened(names: Sequence[str]) -> str:
    """Some of the names, and how many there are where these are not all: texts may be taken for labels."""
    shown = [name if len(name) <= 20 else f"{name[:19]}…" for name in names[:_SHOWN]]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
