"""Clusters of swaps that share windows: what each can bring, and the windows that it changes."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from unfooled.bounds.cells import Doubles, Ints, Swaps
from unfooled.bounds.cnn_windows import REACH, Windows

_PAIRS = 1 << 14  # pairs of swaps that are computed one by one


class Clusters(NamedTuple):
    """Sets of swaps that share windows, or of columns of which any choice is meant.

    `high` bounds what the changed windows answer from above, `low` from below.
    """

    columns: Ints  # (n, size), ascending
    touched: Ints  # (n, windows), those that change; -1 is none
    high: Doubles  # (n, features)
    low: Doubles  # (n, features)


class Pairs(NamedTuple):
    """Two swaps that share windows: the first, at the earlier column, may be made before the second."""

    both: Clusters
    swaps: Ints  # (n, 2)
    second: Clusters  # the second given the first: the windows that only the second changes
    lost: Doubles  # (n, features): the strongest answer of the first alone


def singles(windows: Windows, swaps: Swaps) -> Clusters:
    """Every swap alone."""
    touched = _around(windows, windows.place[:, None])
    return Clusters(swaps.column[:, None], touched, windows.alone, windows.alone)


def pairs(windows: Windows, swaps: Swaps) -> Pairs | None:
    """All pairs of swaps that share windows; None: there are too many."""
    found = [np.empty((0, 2), dtype=np.int64)]
    starts, many = swaps.starts, 0
    for columns in chains(windows.places, 2):
        a, b = (np.arange(starts[c], starts[c + 1]) for c in columns)
        many += len(a) * len(b)
        if many > _PAIRS:
            return None
        found.append(np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2))
    both = np.concatenate(found)
    place, column = windows.place[both], swaps.column[both]
    high = windows.together(both)
    touched = _around(windows, place)
    second = np.where(
        np.abs(touched[:, 3:] - place[:, :1]) <= 1, -1, _around(windows, place[:, 1:])
    )
    later = windows.together(both, last=1)
    return Pairs(
        Clusters(column, touched, high, high),
        both,
        Clusters(column, second, later, high),
        windows.alone[both[:, 0]],
    )


def envelopes(windows: Windows, swaps: Swaps, size: int) -> Clusters:
    """So many columns that share windows, whatever is chosen there and whether it is swapped or not."""
    columns = np.array(chains(windows.places, size), dtype=np.int64).reshape(-1, size)
    place = windows.places[columns]
    touched = _around(windows, place)
    rise = np.maximum.reduceat(np.maximum(windows.added, 0.0), swaps.starts[:-1])
    high = np.zeros((len(columns), windows.features))
    for at in (place[:, :, None] + np.array((-1, 0, 1))).reshape(-1, 3 * size).T:
        total = windows.answers[np.clip(at, 0, windows.words - 1)]
        for column, here in zip(columns.T, place.T, strict=True):
            row = np.flatnonzero(np.abs(here - at) <= 1)
            total[row] += rise[column[row], here[row] + 1 - at[row]]
        real = (at >= 0) & (at < windows.words)
        high[real] = np.maximum(high[real], total[real])
    return Clusters(columns, touched, high, np.zeros_like(high))


def chains(places: Ints, size: int) -> list[tuple[int, ...]]:
    """The sets of so many columns whose places, one after the other, are near; each ascending."""
    by_place = [int(c) for c in np.argsort(places)]
    found = [[i] for i in range(len(by_place))]
    for _ in range(size - 1):
        found = [
            [*chain, i]
            for chain, step in product(found, range(1, REACH + 1))
            if (i := chain[-1] + step) < len(by_place)
            and places[by_place[i]] - places[by_place[chain[-1]]] <= REACH
        ]
    return [tuple(sorted(by_place[i] for i in chain)) for chain in found]


def _around(windows: Windows, place: Ints) -> Ints:
    """(n, windows): the windows that swaps at these places (n, size) change, each once."""
    found = (place[:, :, None] + np.array((-1, 0, 1))).reshape(-1, 3 * place.shape[1])
    found = np.where((found >= 0) & (found < windows.words), found, -1)
    for later in range(1, found.shape[1]):
        again = (found[:, :later] == found[:, later : later + 1]).any(axis=1)
        found[again, later] = -1
    return found
