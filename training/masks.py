"""Windows of tokens cut from texts, and batches of them with some tokens masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor

from unfooled.text import Text

Ids = NDArray[np.int64]

MASKED, KEPT, REPLACED = 0.15, 0.025, 0.025  # of the tokens that are not special


@dataclass(frozen=True)
class Window:
    """Token ids with the special ones, and which side of a pair each belongs to."""

    ids: Ids
    types: Ids

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Masked:
    """A padded batch, the places to predict as (row, column), and what stood there."""

    inputs: dict[str, Tensor]
    places: tuple[Tensor, Tensor]
    targets: Tensor


def windows(texts: Sequence[Text], tokenizer: Any, *, length: int) -> list[Window]:
    """Every text cut into windows of at most so many tokens; a pair that is longer is cut short."""
    pairs = [t.source for t in texts if t.is_pair]
    single = [t.source for t in texts if not t.is_pair]
    found = []
    if pairs:
        rows = tokenizer([p[0] for p in pairs], [p[1] for p in pairs])
        for ids, types in zip(rows["input_ids"], rows["token_type_ids"], strict=True):
            found.append(Window(np.array(ids[:length]), np.array(types[:length])))
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    if single:
        for ids in tokenizer(single, add_special_tokens=False, verbose=False)["input_ids"]:
            for at in range(0, len(ids), length - 2):
                part = np.array([start, *ids[at : at + length - 2], end])
                found.append(Window(part, np.zeros_like(part)))
    return [w for w in found if len(w) >= 6]


def shuffled(pool: Sequence[Window], tokens: int, *, rng: Generator) -> Iterator[list[Window]]:
    """Batches of windows of similar length, in random order, each with at most so many tokens."""
    order = rng.permutation(len(pool))
    batches: list[list[Window]] = []
    for block in np.array_split(order, max(1, len(order) // 4096)):
        batch: list[Window] = []
        for index in sorted(block, key=lambda i: len(pool[i])):
            if batch and len(pool[index]) * (len(batch) + 1) > tokens:
                batches.append(batch)
                batch = []
            batch.append(pool[index])
        batches.append(batch)
    yield from (batches[i] for i in rng.permutation(len(batches)))


def masked(
    batch: Sequence[Window], *, special: Ids, mask: int, words: Ids | None, rng: Generator
) -> Masked:
    """The batch with a share of its tokens to predict: most masked, some kept, some replaced.

    Without `words`, the ids that a replacement is drawn from, every place to predict is masked.
    """
    width = max(map(len, batch))
    ids = np.zeros((len(batch), width), dtype=np.int64)
    types, real = np.zeros_like(ids), np.zeros_like(ids)
    for row, window in enumerate(batch):
        ids[row, : len(window)], types[row, : len(window)] = window.ids, window.types
        real[row, : len(window)] = 1
    open_ = (real == 1) & ~np.isin(ids, special)
    drawn = np.where(open_, rng.random(ids.shape), 2.0)
    share = MASKED if words is None else MASKED + KEPT + REPLACED
    rows, columns = np.nonzero(drawn < share)
    targets = ids[rows, columns]
    if words is not None:
        replaced = (drawn >= MASKED + KEPT) & (drawn < share)
        ids[replaced] = rng.choice(words, int(replaced.sum()))
    ids[drawn < MASKED] = mask
    inputs = {"input_ids": ids, "token_type_ids": types, "attention_mask": real}
    return Masked(
        {name: torch.from_numpy(value) for name, value in inputs.items()},
        (torch.from_numpy(rows), torch.from_numpy(columns)),
        torch.from_numpy(targets),
    )
