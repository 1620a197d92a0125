"""Which examples are trained on and which are held out for early stopping."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from unfooled.errors import InputError
from unfooled.text import Example

if TYPE_CHECKING:
    from unfooled.data import Dataset


class Split(NamedTuple):
    """Examples to train on and examples to measure on."""

    train: tuple[Example, ...]
    dev: tuple[Example, ...]


def split(dataset: Dataset, dev: Dataset | None, *, early_stopping: bool) -> Split:
    """The examples and the dev examples: those given, a held-out tenth, or none."""
    _check(dataset, "the training data")
    if dev is not None:
        _check(dev, "the dev data")
        if tuple(dev.labels) != tuple(dataset.labels):
            raise InputError(
                f"the dev data has the labels {list(dev.labels)}, the training data "
                f"{list(dataset.labels)}: they must be the same, in the same order"
            )
        return Split(tuple(dataset.examples), tuple(dev.examples))
    if not early_stopping:
        return Split(tuple(dataset.examples), ())
    return hold_out(tuple(dataset.examples))


def hold_out(examples: tuple[Example, ...], *, share: float = 0.1) -> Split:
    """A tenth of the distinct texts, chosen by hash: neither order nor seed changes the choice.

    Equal texts fall on the same side, so no dev text was trained on.
    """
    keys = [_hash(example) for example in examples]
    distinct = sorted(set(keys))
    if len(distinct) < 2:
        raise InputError(
            "early stopping holds out a tenth of the texts, but there is only one distinct text: "
            "give a dev split or switch early stopping off"
        )
    held = set(distinct[: max(1, round(share * len(distinct)))])
    train = tuple(e for e, key in zip(examples, keys, strict=True) if key not in held)
    return Split(train, tuple(e for e, key in zip(examples, keys, strict=True) if key in held))


def _hash(example: Example) -> bytes:
    return hashlib.blake2b(repr(example.text.source).encode("utf-8", "surrogatepass")).digest()


def _check(dataset: Dataset, name: str) -> None:
    if not dataset.examples:
        raise InputError(f"{name} has no examples")
    if len(dataset.labels) < 2:
        raise InputError(f"{name} has {len(dataset.labels)} label, a classifier needs two or more")
    pair = dataset.examples[0].text.is_pair
    for number, example in enumerate(dataset.examples):
        if not 0 <= example.label < len(dataset.labels):
            raise InputError(
                f"{name}, example {example.id or number}: label {example.label} is outside the "
                f"{len(dataset.labels)} labels"
            )
        if example.text.is_pair != pair:
            raise InputError(
                f"{name} mixes single texts and pairs (example {example.id or number})"
            )
