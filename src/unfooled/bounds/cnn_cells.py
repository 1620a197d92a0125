"""Bounds over cells of a convolutional network: swaps that share no windows cost no more than each."""

from __future__ import annotations

import numpy as np

from unfooled.bounds.cells import Bounded, CellBounds, Doubles, Ints, Swaps
from unfooled.bounds.cnn_clusters import Near, clusters, singles
from unfooled.bounds.cnn_losses import Levels, Prices, weights
from unfooled.bounds.cnn_potential import Node, Potential
from unfooled.bounds.cnn_windows import Windows
from unfooled.bounds.reading import Reading

_STARTS = (0, 4, 12, 32)  # columns from which on losses are made small
_LEADS = 3  # with more classes there are fewer of them


class _Shapes:
    """All clusters of a text, single swaps first."""

    def __init__(self, windows: Windows, swaps: Swaps, radius: int) -> None:
        self.near = Near(windows, radius=radius)
        self.needed = windows.needed(3 * radius)
        self.clusters = [singles(windows, swaps)]
        for size in range(2, min(radius, swaps.columns) + 1):
            self.clusters += clusters(windows, swaps, size)


class CNNCells(CellBounds):
    """The windows of a text, and for every budget what swaps and clusters of swaps can cost."""

    def __init__(self, reading: Reading, label: int, *, radius: int) -> None:
        super().__init__(reading, label)
        self._radius = radius
        self._windows = Windows(reading, self.swaps, radius=radius)
        last = dict(reading.network.output.named_parameters())
        self._weight, self._bias = (last[n].detach().numpy() for n in ("weight", "bias"))
        self._largest: dict[int, float] = {}
        self._shapes: _Shapes | None = None
        self._potentials: dict[int, list[list[Potential]]] = {}

    def largest(self, radius: int) -> float:
        if radius not in self._largest:
            self._largest[radius] = self._reach(radius)
        return self._largest[radius]

    def _reach(self, radius: int) -> float:
        high = self._windows.ceiling(self.swaps, radius)
        up = np.maximum(self._weight, 0.0) @ high + self._bias
        down = np.minimum(self._weight, 0.0) @ high + self._bias
        return float(max(up.max(), -down.min()))

    def lower(self, fixed: Ints, start: Ints, *, budget: int) -> Bounded:
        parts = [self._lower(fixed[part], budget) for part in self._parts(len(fixed))]
        every = np.concatenate(parts) if parts else np.empty((0, self.swaps.columns + 1))
        rows = np.arange(len(fixed))
        enough = every > self.sure(fixed.shape[1] + budget)
        enough &= np.arange(self.swaps.columns + 1) >= start[:, None]
        enough[:, -1] = True
        split = enough.argmax(axis=1)
        return Bounded(every[rows, start], split, every[rows, split])

    def _parts(self, texts: int) -> list[slice]:
        block = self._windows.block
        return [slice(at, at + block) for at in range(0, texts, block)]

    def _lower(self, fixed: Ints, budget: int) -> Doubles:
        """(n, columns + 1): bounds over the cells from each column on."""
        windows = self._windows
        touched, made = windows.touched(fixed), windows.strongest(fixed)
        rest = windows.left(touched, 1).value[:, 0]
        node = Node(fixed, touched, np.maximum(rest, made), made)
        logits = node.encoded @ self._weight.T + self._bias
        found = []
        others = [c for c in range(len(self._bias)) if c != self.label]
        for other, choices in zip(others, self._of(budget), strict=True):
            margin = logits[:, self.label] - logits[:, other]
            bounds = [each.lower(node, margin) for each in choices]
            last = np.broadcast_to(margin[:, None], (len(fixed), self.swaps.columns + 1))
            found.append(np.max(bounds, axis=0) if bounds else last)
        return np.min(found, axis=0)

    def _of(self, budget: int) -> list[list[Potential]]:
        """For each other class the potentials of a budget; none where nothing can be swapped."""
        if budget not in self._potentials:
            others = [c for c in range(len(self._bias)) if c != self.label]
            self._potentials[budget] = [self._against(other, budget) for other in others]
        return self._potentials[budget]

    def _against(self, other: int, budget: int) -> list[Potential]:
        if not budget or not self.swaps.columns:
            return []
        if self._shapes is None:
            self._shapes = _Shapes(self._windows, self.swaps, self._radius)
        shapes = self._shapes
        lead = self._weight[self.label] - self._weight[other]
        levels = Levels(
            self._windows, lead, needed=shapes.needed, radius=self._radius, budget=budget
        )
        prices = [
            Prices(levels, each)
            for each in shapes.clusters
            if each.columns.shape[1] - each.made <= budget
        ]
        many = max(1, _LEADS // (len(self._bias) - 1) + 1)
        found = []
        for start in [s for s in _STARTS if s < self.swaps.columns][:many]:
            chosen = weights(levels, shapes.clusters[0], start=start)
            found.append(Potential(shapes.near, self.swaps, levels, chosen, prices))
        return found

    def logits(self, fixed: Ints, first: Ints, last: Ints) -> Doubles:
        widths = self.swaps.starts[last] - self.swaps.starts[first]
        parent = np.repeat(np.arange(len(fixed)), widths)
        swap = self.swaps.children(fixed, first, last)[:, -1]
        out = np.empty((len(swap), len(self._bias)))
        for part in self._parts(len(swap)):
            above = parent[part]
            low, high = above[0], above[-1] + 1
            encoded = self._windows.children(fixed[low:high], above - low, swap[part])
            out[part] = encoded @ self._weight.T
        out += self._bias
        return out
