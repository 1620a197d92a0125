"""Sweeps of word models: what a space lets swap, in the network's own terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from unfooled.models.networks import Network
from unfooled.program import Sweep, Swept
from unfooled.sweeps.plan import Plan
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.sweep import Walker, sweep
from unfooled.sweeps.walkers import walker_of
from unfooled.victims.pieces import PieceTable
from unfooled.victims.word_points import points
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
    """The network's walker over what the space lets swap."""
    plan, text, choices = points(network, table, order=order, limit=limit)
    with torch.inference_mode():
        return Planned(order, plan, walker_of(network, text, places=plan.places, choices=choices))
