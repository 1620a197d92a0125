"""What a space lets swap in a text, as the word vectors of a word model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from unfooled.models.networks import Network
from unfooled.models.vocabulary import Vocabulary
from unfooled.sweeps.plan import Plan
from unfooled.victims.pieces import Ids, PieceTable


class Points(NamedTuple):
    """The columns of a space that matter to a network, and the vectors that can stand there."""

    plan: Plan
    text: Tensor  # (words, d)
    choices: tuple[Tensor, ...]  # (choices, d), one for each column of the plan


def points(network: Network, table: PieceTable, *, order: tuple[int, ...], limit: int) -> Points:
    """The distinct words of every column within the model's length, and their vectors."""
    options = {c: _distinct(table, c) for c in order if table.offsets[c] < limit}
    columns = tuple(c for c, (choices, _) in options.items() if len(choices))
    choices = tuple(options[c][0] for c in columns)
    places = tuple(int(table.offsets[c]) for c in columns)
    weights = tuple(tuple(options[c][1].tolist()) for c in columns)
    plan = Plan(table.space.counts, columns, places, choices, weights)
    words = table.base[:limit] if len(table.base) else np.array([Vocabulary.unknown])
    with torch.inference_mode():
        found = [
            _vectors(network, table.picks[c, k]) for c, k in zip(columns, choices, strict=True)
        ]
        return Points(plan, _vectors(network, words), tuple(found))


def _distinct(table: PieceTable, column: int) -> tuple[Ids, Ids]:
    """The first choice of every id but the original's, and how many candidates have that id."""
    ids = table.picks[column, : table.space.counts[column] + 1]
    _, first, counts = np.unique(ids, return_index=True, return_counts=True)
    other = ids[first] != ids[0]
    by_choice = np.argsort(first[other])
    return first[other][by_choice], counts[other][by_choice]


def _vectors(network: Network, ids: Ids) -> Tensor:
    device = network.embedding.weight.device
    vectors: Tensor = network.embedding(torch.from_numpy(ids).to(device))
    return vectors
