"""How the members with exactly k swaps are cut into regions that can be computed as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from unfooled.counting import suffix_ways

_GROWTH = 4  # of the size of regions: small ones first, so that an early end costs little


class Span(NamedTuple):
    """Choices start to stop of a column that every member of a region swaps."""

    column: int
    start: int
    stop: int

    @property
    def width(self) -> int:
        return self.stop - self.start


class Region(NamedTuple):
    """The members that swap the forced columns and `free` more of the columns first to last."""

    forced: tuple[Span, ...]
    free: int
    first: int
    last: int


class Pick(NamedTuple):
    """One swap: a column of the sweep, and which of its choices."""

    column: int
    choice: int


class Regions:
    """The members of a space with exactly `swaps` swaps, columns in the order of the sweep.

    `weights[c][k]` says for how many candidates choice k of column c stands: candidates that the
    victim cannot tell apart are computed once and counted as what they are.
    """

    def __init__(self, weights: Sequence[Sequence[int]], swaps: int) -> None:
        self.weights, self.swaps = weights, swaps
        self.counts = [len(w) for w in weights]
        totals = [sum(w) for w in weights]
        self._texts, self._members = suffix_ways(self.counts, swaps), suffix_ways(totals, swaps)
        self.starts = [0, *accumulate(self.counts)]  # where the choices of each column start
        self._before = [0, *accumulate(totals)]
        self.root = Region((), swaps, 0, len(weights))

    def texts(self, region: Region) -> int:
        """How many texts of a region differ to the victim."""
        forced = math.prod(span.width for span in region.forced)
        if region.free == 1:
            return forced * (self.starts[region.last] - self.starts[region.first])
        return forced * self._texts[region.first][region.free]

    def members(self, region: Region) -> int:
        """How many members a region has."""
        forced = math.prod(sum(self.weights[c][a:b]) for c, a, b in region.forced)
        if region.free == 1:
            return forced * (self._before[region.last] - self._before[region.first])
        return forced * self._members[region.first][region.free]

    def halves(self, region: Region) -> list[Region]:
        """Two regions with the same members, the more sensitive columns first; one text: none."""
        forced, free, first, last = region
        if free > 1:
            whole = Span(first, 0, self.counts[first])
            return [
                Region((*forced, whole), free - 1, first + 1, last),
                Region(forced, free, first + 1, last),
            ]
        if free == 1 and last - first > 1:
            middle = (first + last) // 2
            return [Region(forced, 1, first, middle), Region(forced, 1, middle, last)]
        if free == 1:
            return [Region((*forced, Span(first, 0, self.counts[first])), 0, last, last)]
        widest = max(range(len(forced)), key=lambda i: forced[i].width, default=None)
        if widest is None or forced[widest].width < 2:
            return []
        column, start, stop = forced[widest]
        middle = (start + stop) // 2
        return [
            Region((*forced[:widest], span, *forced[widest + 1 :]), 0, first, last)
            for span in (Span(column, start, middle), Span(column, middle, stop))
        ]

    def walk(
        self, *, least: int = 64, most: int, most_free: int, limit: int | None
    ) -> Iterator[Region]:
        """Regions that together have every member once: of `least` texts at first, then of `most`.

        With a limit, as many as have no more members than it allows: the affordable prefix.
        """
        stack, size, left = [self.root], min(least, most), limit
        while stack:
            region = stack.pop()
            texts = self.texts(region)
            if not texts:
                continue
            members = self.members(region)
            dear = left is not None and members > left
            if texts > size or region.free > most_free or dear:
                parts = self.halves(region)
                if parts:
                    stack += reversed(parts)
                    continue
                if dear:
                    return
            yield region
            size = min(_GROWTH * size, most)
            left = None if left is None else left - members

    def products(self, region: Region) -> list[Region]:
        """The same members as regions with at most one free swap."""
        if region.free <= 1:
            return [region]
        return [part for half in self.halves(region) for part in self._kept(half)]

    def _kept(self, region: Region) -> list[Region]:
        return self.products(region) if self.texts(region) else []

    def picks(self, region: Region, number: int) -> list[Pick]:
        """The swaps of one text of a region with at most one free swap, listed as a product.

        Choices of the last forced column run faster than those before, the free swap fastest.
        """
        found = []
        if region.free:
            tail = self.starts[region.last] - self.starts[region.first]
            number, single = divmod(number, tail)
            found.append(self.pick(self.starts[region.first] + single))
        for column, start, stop in reversed(region.forced):
            number, choice = divmod(number, stop - start)
            found.append(Pick(column, start + choice))
        return found[::-1]

    def pick(self, single: int) -> Pick:
        """The swap with this number, when those of all columns are numbered through."""
        column = next(c for c in range(len(self.counts)) if single < self.starts[c + 1])
        return Pick(column, single - self.starts[column])
