"""Sweeps of word models: what a space lets swap, in the network's own terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import MLP
from unfooled.models.networks import Network
from unfooled.models.recurrent import LSTM, BiLSTM
from unfooled.models.vocabulary import Vocabulary
from unfooled.program import Sweep, Swept
from unfooled.sweeps.cnn import CNNWalker
from unfooled.sweeps.mlp import MLPWalker
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.sweep import Plan, Walker, sweep
from unfooled.victims.pieces import Ids, PieceTable
from unfooled.victims.word_table import WordTable


class Planned(NamedTuple):
    """A space and a network made ready for sweeps in one order of the columns."""

    order: tuple[int, ...]
    plan: Plan
    walker: Walker | None  # None: a network that no sweep knows


def sweep_words(
    network: Network,
    prepared: WordTable,
    asked: Sweep,
    *,
    head: Callable[[Tensor], Tensor],
    limit: int | None,
) -> Iterator[Swept] | None:
    """The stretches of a sweep; None where words are no single ids, or the network is unknown."""
    if prepared.table is None or not prepared.table.simple:
        return None
    if prepared.planned is None or prepared.planned.order != asked.order:
        prepared.planned = planned(network, prepared.table, order=asked.order, limit=prepared.limit)
    _, plan, walker = prepared.planned
    if walker is None or (isinstance(walker, RecurrentWalker) and not walker.reaches(asked.swaps)):
        return None
    return sweep(plan, walker, label=asked.label, swaps=asked.swaps, head=head, limit=limit)


def planned(network: Network, table: PieceTable, *, order: tuple[int, ...], limit: int) -> Planned:
    """The distinct words of every column within the model's length, and their vectors."""
    options = {c: _distinct(table, c) for c in order if table.offsets[c] < limit}
    columns = tuple(c for c, (choices, _) in options.items() if len(choices))
    choices = tuple(options[c][0] for c in columns)
    places = tuple(int(table.offsets[c]) for c in columns)
    weights = tuple(tuple(options[c][1].tolist()) for c in columns)
    plan = Plan(table.space.counts, columns, places, choices, weights)
    words = table.base[:limit] if len(table.base) else np.array([Vocabulary.unknown])
    with torch.inference_mode():
        text = _vectors(network, words)
        found = [
            _vectors(network, table.picks[c, k]) for c, k in zip(columns, choices, strict=True)
        ]
        return Planned(order, plan, _walker(network, text, places=places, choices=found))


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


def _walker(
    network: Network, text: Tensor, *, places: tuple[int, ...], choices: list[Tensor]
) -> Walker | None:
    match network:
        case MLP():
            return MLPWalker(network, text, places=places, choices=choices)
        case CNN() | CNNMSR():
            return CNNWalker(network, text, places=places, choices=choices)
        case LSTM() | BiLSTM():
            return RecurrentWalker(network, text, places=places, choices=choices)
    return None
