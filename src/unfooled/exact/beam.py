"""Few swaps that fool a piecewise network, by greedy or beam search over the first layer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from unfooled.evidence import NOISE, margins
from unfooled.exact.piecewise import Floats, Piecewise
from unfooled.sweeps.regions import Pick

_FLOATS = 1 << 22  # of the pre-activations that are computed at once


class Fooling(NamedTuple):
    """Swaps that fool, and the margin of the label."""

    picks: tuple[Pick, ...]
    margin: float


def search(
    network: Piecewise, label: int, *, width: int, most_swaps: int, deadline: float
) -> Fooling | None:
    """The first text that clearly fools, among those that keep the lowest margins at each swap."""
    columns = np.repeat(np.arange(network.columns), network.sizes)
    choices = np.concatenate([np.arange(n) for n in network.sizes] or [np.empty(0, int)])
    states, made = network.base[None], [()]  # type: tuple[Floats, list[tuple[Pick, ...]]]
    for _ in range(min(most_swaps, network.columns)):
        if time.perf_counter() > deadline:
            return None
        lead, noise = _leads(network, states, label=label)
        for row, picks in enumerate(made):
            lead[row, np.isin(columns, [pick.column for pick in picks])] = np.inf
        best = np.unravel_index(lead.argmin(), lead.shape)
        if lead[best] < -noise[best]:
            row, swap = map(int, best)
            picks = (*made[row], Pick(int(columns[swap]), int(choices[swap])))
            return Fooling(picks, float(lead[best]))
        states, made = _kept(network, made, lead, columns=columns, choices=choices, width=width)
        if not made:
            return None
    return None


def _leads(network: Piecewise, states: Floats, *, label: int) -> tuple[Floats, Floats]:
    """(states, swaps) each: the margin after every single swap, and the width of a near-tie."""
    lead = np.empty((len(states), sum(network.sizes)))
    noise = np.empty_like(lead)
    share = max(1, _FLOATS // max(1, states.shape[1]))
    for at, start, values in _stretches(network):
        for first in range(0, len(values), share):
            some = values[first : first + share]
            for row, state in enumerate(states):
                now = np.repeat(state[None], len(some), axis=0)
                now[:, start : start + some.shape[1]] += some
                scores = network.logits(now)
                here = slice(at + first, at + first + len(some))
                lead[row, here] = margins(scores, label)
                noise[row, here] = NOISE * np.maximum(1.0, np.abs(scores).max(axis=1))
    return lead, noise


def _stretches(network: Piecewise) -> Iterator[tuple[int, int, Floats]]:
    """Neighbouring columns with effects on the same pre-activations, joined: number, start, values."""
    at = 0
    for start, group in groupby(network.effects, key=lambda e: (e.start, e.stop)):
        values = np.concatenate([effect.values for effect in group])
        yield at, start[0], values
        at += len(values)


def _kept(
    network: Piecewise,
    made: list[tuple[Pick, ...]],
    lead: Floats,
    *,
    columns: np.ndarray,
    choices: np.ndarray,
    width: int,
) -> tuple[Floats, list[tuple[Pick, ...]]]:
    """The states of the lowest margins, each set of swaps once."""
    order = np.argsort(lead, axis=None)[: 4 * width]
    found: dict[frozenset[Pick], tuple[Pick, ...]] = {}
    for index in order:
        row, swap = np.unravel_index(int(index), lead.shape)
        if len(found) == width or not np.isfinite(lead[row, swap]):
            break
        picks = (*made[int(row)], Pick(int(columns[swap]), int(choices[swap])))
        found.setdefault(frozenset(picks), picks)
    kept = list(found.values())
    return np.stack([network.first(picks) for picks in kept]) if kept else network.base[:0], kept
