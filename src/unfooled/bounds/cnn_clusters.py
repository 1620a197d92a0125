"""Clusters: swaps that share windows, what they can answer there, and what is made of them already."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from unfooled.bounds.cells import Doubles, Ints, Swaps
from unfooled.bounds.cnn_windows import REACH, Flags, Windows

_NUMBERS = 1 << 20  # of clusters times features, if swaps are combined one by one


class Clusters(NamedTuple):
    """Swaps that share windows, the first `made` of them, by column, before the others.

    Either a cluster is of swaps, or of columns, of which any choice is meant.
    """

    made: int
    columns: Ints  # (n, size), ascending
    touched: Ints  # (n, windows): those that the others change, and not the first; -1 is none
    high: Doubles  # (n, features): no answer of the windows of the others is above it,
    low: Doubles  # (n, features): and some answer of the windows of all is not below this
    lost: Doubles  # (n, features): no answer of the first, before the others, is above it
    swaps: Ints | None = None  # (n, size), if it is not columns


class Near:
    """Which columns are so near that swaps there share windows, or that a third can join them."""

    def __init__(self, windows: Windows, *, radius: int) -> None:
        gap = np.abs(windows.places[:, None] - windows.places)
        share = (gap <= REACH) & (gap > 0)
        self._slot = np.cumsum(share, axis=1) - 1
        most = int(share.sum(axis=1).max(initial=0))
        self.columns: Ints = np.full((len(gap), most), -1)  # those that share windows with each
        row, column = np.nonzero(share)
        self.columns[row, self._slot[row, column]] = column
        joined = (gap <= REACH * (radius - 1)) & (gap > 0)
        self.pairs = int(joined.sum())
        self.pair: Ints = np.full(gap.shape, -1)  # their number, -1 if nothing can join them
        self.pair[joined] = np.arange(self.pairs)

    def slot(self, column: Ints, other: Ints) -> Ints:
        """Which of the columns near `column` the other is."""
        found: Ints = self._slot[column, other]
        return found


def singles(windows: Windows, swaps: Swaps) -> Clusters:
    """Every swap alone."""
    touched = _around(windows, windows.place[:, None])
    none = np.zeros_like(windows.alone)
    return Clusters(0, swaps.column[:, None], touched, windows.alone, windows.alone, none)


def kept(clusters: Clusters, which: Flags) -> Clusters:
    """Some of them."""
    made, columns, touched, high, low, lost, swaps = clusters
    parts = columns[which], touched[which], high[which], low[which], lost[which]
    return Clusters(made, *parts, None if swaps is None else swaps[which])


def clusters(windows: Windows, swaps: Swaps, size: int) -> list[Clusters]:
    """All of one size: with none made before, with one, ... with all but one."""
    found, exact = chains(windows.places, size), None
    counts = np.diff(swaps.starts).tolist()
    many = sum(prod(counts[c] for c in chain) for chain in found)
    if many * windows.features <= _NUMBERS:
        items = exact = _swaps(found, swaps, size)
        place, column, rise = windows.place[items], swaps.column[items], windows.added
        fall = rise
    else:
        items = column = np.array(found, dtype=np.int64).reshape(-1, size)
        place = windows.places[items]
        rise = np.maximum.reduceat(windows.added, swaps.starts[:-1])
        fall = np.minimum.reduceat(windows.added, swaps.starts[:-1])
    low = windows.joint(items, place, fall)
    parts = []
    for made in range(size):
        later = _around(windows, place)[:, 3 * made :]
        for at in place[:, :made].T:
            later = np.where(np.abs(later - at[:, None]) <= 1, -1, later)
        high = windows.joint(items, place, rise, first=made)
        lost = windows.joint(items[:, :made], place[:, :made], rise)
        parts.append(Clusters(made, column, later, high, low, lost, exact))
    return parts


def _swaps(found: list[tuple[int, ...]], swaps: Swaps, size: int) -> Ints:
    """(n, size): all choices at these columns."""
    every = [np.empty((0, size), dtype=np.int64)]
    for chain in found:
        ranges = [np.arange(swaps.starts[c], swaps.starts[c + 1]) for c in chain]
        every.append(np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, size))
    return np.concatenate(every)


def chains(places: Ints, size: int) -> list[tuple[int, ...]]:
    """The sets of so many columns whose places, one after the other, are near; each ascending."""
    by_place = [int(c) for c in np.argsort(places)]
    found = [[i] for i in range(len(by_place))]
    for _ in range(size - 1):
        found = [
            [*chain, after]
            for chain in found
            for after in range(chain[-1] + 1, min(chain[-1] + REACH + 1, len(by_place)))
            if places[by_place[after]] - places[by_place[chain[-1]]] <= REACH
        ]
    return [tuple(sorted(by_place[i] for i in chain)) for chain in found]


def _around(windows: Windows, place: Ints) -> Ints:
    """(n, 3 size): the windows that swaps at these places (n, size) change, each once, the last kept."""
    found = (place[:, :, None] + np.array((-1, 0, 1))).reshape(-1, 3 * place.shape[1])
    found = np.where((found >= 0) & (found < windows.words), found, -1)
    for at in range(found.shape[1] - 1):
        again = (found[:, at : at + 1] == found[:, at + 1 :]).any(axis=1)
        found[again, at] = -1
    return found
