"""From texts to padded arrays of word numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from unfooled.errors import InputError
from unfooled.models.vocabulary import Vocabulary
from unfooled.text import Source, Text, words_of

Row = tuple[list[int], ...]
"""The word numbers of one text, or of a premise and a hypothesis."""


class Batch(NamedTuple):
    """Arguments of a network: ids (n, words) and mask (n, words), for pairs of both sides."""

    ids: Tensor
    mask: Tensor
    second_ids: Tensor | None = None
    second_mask: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        return Batch(*(None if part is None else part.to(device) for part in self))  # type: ignore[arg-type]


def sides(text: Text | Source) -> tuple[tuple[str, ...], ...]:
    """The words of a text: one tuple, or for a pair those of the premise and the hypothesis."""
    if isinstance(text, str):
        return (words_of(text),)
    parsed = Text.parse(text)
    return tuple(map(words_of, parsed.source)) if parsed.is_pair else (parsed.words,)


def encode(text: Text | Source, vocabulary: Vocabulary, *, max_words: int, pair: bool) -> Row:
    """The numbers of the first `max_words` words of each side; an empty side is one unknown."""
    found = sides(text)
    if len(found) - 1 != pair:
        expected, got = ("a pair", "a single text") if pair else ("a single text", "a pair")
        raise InputError(f"this model reads {expected}, but {got} was given: {str(text)!r:.60}")
    return tuple(vocabulary.ids(words[:max_words]) or [Vocabulary.unknown] for words in found)


def pad(rows: Sequence[Row], *, width: int | None = None) -> Batch:
    """Rows padded on the right to the longest of each side, or to `width` words."""
    columns = [_pad_side([row[side] for row in rows], width) for side in range(len(rows[0]))]
    return Batch(*(part for column in columns for part in column))


def bucketed(
    lengths: Sequence[int], batch: int, *, generator: torch.Generator
) -> Iterator[list[int]]:
    """Indices in random batches of similar length, every index once.

    The indices are shuffled, sorted by length within pools of 50 batches, and the batches are
    shuffled again: little padding, and an order that still differs from epoch to epoch.
    """
    order = torch.randperm(len(lengths), generator=generator).tolist()
    pool = 50 * batch
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lengths.__getitem__)
        batches += [near[cut : cut + batch] for cut in range(0, len(near), batch)]
    for index in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[index]


def _pad_side(rows: Sequence[list[int]], width: int | None) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows)) if width is None else width
    ids = torch.tensor([row + [Vocabulary.padding] * (longest - len(row)) for row in rows])
    words = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(longest) < words.unsqueeze(1)
