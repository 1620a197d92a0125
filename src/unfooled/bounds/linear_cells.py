"""Bounds over cells of any network that has a graph: backward linear bounds on boxes from intervals."""

from __future__ import annotations

import numpy as np
import torch

from unfooled.bounds.cells import Bounded, CellBounds, Doubles, Ints
from unfooled.bounds.margins import Bounds, margins
from unfooled.bounds.reading import Reading
from unfooled.bounds.region import Region
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.regions import Region as Stretch
from unfooled.sweeps.regions import Regions, Span
from unfooled.sweeps.sweep import Walker

_NUMBERS = 1 << 22  # in the vectors of the texts that are bounded together


class LinearCells(CellBounds):
    """The region of one text; its nodes are bounded many at a time, its texts walked through."""

    def __init__(self, reading: Reading, label: int, *, walker: Walker) -> None:
        super().__init__(reading, label)
        self._walker = walker
        self._region = Region.of([reading], [0])
        vectors = reading.text.numel() * max(1, reading.network.config.units)
        self._nodes = max(1, _NUMBERS // max(1, vectors))

    def largest(self, radius: int) -> float:
        root = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        return float(self._bounds(*root, budget=radius).scale[0])

    def lower(self, fixed: Ints, start: Ints, *, budget: int) -> Bounded:
        parts = [
            self._bounds(fixed[i : i + self._nodes], start[i : i + self._nodes], budget=budget)
            for i in range(0, len(fixed), self._nodes)
        ]
        found = np.concatenate([np.empty(0), *(part.margin.numpy() for part in parts)])
        return Bounded(found, (start + self.swaps.columns) // 2)

    def _bounds(self, fixed: Ints, start: Ints, *, budget: int) -> Bounds:
        reading = self.reading
        picks = [self.swaps.picks(row) for row in fixed]
        nodes = self._region.nodes(
            picks, torch.from_numpy(start), budget=torch.full((len(picks),), budget)
        )
        other = None if reading.other is None else reading.other.expand(len(picks), -1)
        labels = [self.label] * len(picks)
        return margins(reading.network, nodes, labels=labels, other=other, second=reading.second)

    def logits(self, fixed: Ints, first: Ints, last: Ints) -> Doubles:
        regions = Regions(self.reading.plan.weights, fixed.shape[1] + 1)
        parts = [np.empty((0, self.reading.network.config.classes))]
        for row, begin, end in zip(fixed, first.tolist(), last.tolist(), strict=True):
            if begin == end:
                continue
            forced = tuple(Span(c, k, k + 1) for c, k in self.swaps.picks(row))
            with torch.inference_mode():
                leaves = self._walker.leaves(regions, Stretch(forced, 1, begin, end))
                found = self.reading.classify(leaves.features)
            if isinstance(self._walker, RecurrentWalker):  # its texts come in the order of a tree
                free = [max(leaves.picks(i)) for i in range(len(found))]
                found = found[sorted(range(len(free)), key=free.__getitem__)]
            parts.append(found.numpy())
        return np.concatenate(parts)
