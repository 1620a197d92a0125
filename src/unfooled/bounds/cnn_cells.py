"""Bounds over cells of convolutional networks: the cost of a set of swaps is that of its clusters.

Swaps that share windows are a cluster; clusters change different windows, and what those answer then
is known. A lead over another class is a sum over features, and each is bounded so that clusters add up.
A feature against the label rises to a ceiling, any, plus what every cluster brings above that. One that
is for the label loses what lies between its window of rank j and the next only if all windows up to
rank j are changed and none answers as much again: every cluster pays for the shares of the windows that
it changes, and the shares have the sum 1. So the margin over a cell is above that of its made swaps, less
what these have not paid for in full, less the largest total of clusters of as many swaps as are left.

Windows that made swaps have changed can change again: clusters next to them have losses of their own,
and count only up to the last column that shares windows with a made swap. The ceilings and shares
are given for a few starting columns each, and the best bound counts.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from unfooled.bounds.cells import Bounded, CellBounds, Doubles, Ints, Swaps
from unfooled.bounds.cnn_clusters import Near, clusters, singles
from unfooled.bounds.cnn_losses import Levels, Prices, Weigh, Weights
from unfooled.bounds.cnn_potential import Node, Potential, held
from unfooled.bounds.cnn_weights import stored
from unfooled.bounds.cnn_windows import Windows
from unfooled.bounds.reading import Reading

_STARTS = (0, 4, 12, 32)  # columns from which on losses are made small; with many classes the first


class _Shapes:
    """All clusters of a text, single swaps first."""

    def __init__(self, windows: Windows, swaps: Swaps, radius: int) -> None:
        self.near = Near(windows, radius=radius)
        self.needed = windows.needed(3 * radius)
        self.clusters = [singles(windows, swaps)]
        for size in range(2, min(radius, swaps.columns) + 1):
            self.clusters += clusters(windows, swaps, size)


class _Chosen(NamedTuple):
    """What is the same for all potentials against one class, and their weights."""

    levels: Levels
    prices: list[Prices]
    weights: list[Weights]


class CNNCells(CellBounds):
    """The windows of a text, and for every budget what swaps and clusters of swaps can cost."""

    setup = 6.0

    def __init__(self, reading: Reading, label: int, *, radius: int, weigh: Weigh) -> None:
        super().__init__(reading, label)
        self._radius, self._weigh = radius, weigh
        self._windows = Windows(reading, self.swaps, radius=radius)
        last = dict(reading.network.output.named_parameters())
        self._output, self._bias = (last[n].detach().numpy() for n in ("weight", "bias"))
        self._largest: dict[int, float] = {}
        self._shapes: _Shapes | None = None
        self._chosen: dict[tuple[int, int], _Chosen] = {}
        self._potentials: dict[tuple[int, int], list[list[Potential]]] = {}

    def largest(self, radius: int) -> float:
        if radius not in self._largest:
            self._largest[radius] = self._reach(radius)
        return self._largest[radius]

    def _reach(self, radius: int) -> float:
        high = self._windows.ceiling(self.swaps, radius)
        up = np.maximum(self._output, 0.0) @ high + self._bias
        down = np.minimum(self._output, 0.0) @ high + self._bias
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
        logits = node.encoded @ self._output.T + self._bias
        found = []
        others = [c for c in range(len(self._bias)) if c != self.label]
        for other, choices in zip(others, self._of(fixed.shape[1], budget), strict=True):
            margin = logits[:, self.label] - logits[:, other]
            parts = held(choices[0].levels, node) if choices else None
            bounds = [each.lower(node, parts, margin) for each in choices if parts is not None]
            last = np.broadcast_to(margin[:, None], (len(fixed), self.swaps.columns + 1))
            found.append(np.max(bounds, axis=0) if bounds else last)
        lower: Doubles = np.min(found, axis=0)
        return lower

    def _of(self, depth: int, budget: int) -> list[list[Potential]]:
        """The potentials for each other class, whatever the radius that the cells were made for."""
        key = depth, budget
        if key not in self._potentials:
            for other in [k for k in self._potentials if sum(k) != depth + budget]:
                del self._potentials[other]  # of another radius
            others = [c for c in range(len(self._bias)) if c != self.label]
            self._potentials[key] = [self._against(other, depth, budget) for other in others]
        return self._potentials[key]

    def _against(self, other: int, depth: int, budget: int) -> list[Potential]:
        """One potential for each choice of weights; none where nothing can be swapped."""
        if not budget or not self.swaps.columns:
            return []
        if self._shapes is None:
            self._shapes = _Shapes(self._windows, self.swaps, self._radius)
        near = self._shapes.near
        if (other, budget) not in self._chosen:
            self._chosen[other, budget] = self._choose(other, budget, self._shapes)
        levels, every, chosen = self._chosen[other, budget]
        prices = [p for p in every if p.columns.shape[1] <= depth + budget]
        return [Potential(near, self.swaps, levels, each, prices) for each in chosen]

    def _choose(self, other: int, budget: int, shapes: _Shapes) -> _Chosen:
        lead = self._output[self.label] - self._output[other]
        levels = Levels(
            self._windows, lead, needed=shapes.needed, radius=self._radius, budget=budget
        )
        few = [c for c in shapes.clusters if c.columns.shape[1] - c.made <= budget]
        many = max(1, len(_STARTS) // (len(self._bias) - 1))
        starts = [s for s in _STARTS if s < self.swaps.columns][:many]
        chosen = self._weigh(levels, shapes.clusters[0], other=other, starts=starts)
        return _Chosen(levels, [Prices(levels, each) for each in few], chosen)

    def weights(self, budgets: Collection[int]) -> list[dict[str, Any]]:
        return [
            {"against": other, "budget": budget, "choices": [stored(levels, w) for w in chosen]}
            for (other, budget), (levels, _, chosen) in sorted(
                self._chosen.items(), key=itemgetter(0)
            )
            if budget in budgets
        ]

    def logits(self, fixed: Ints, first: Ints, last: Ints) -> Doubles:
        widths = self.swaps.starts[last] - self.swaps.starts[first]
        out, done = np.empty((int(widths.sum()), len(self._bias))), 0
        for part in self._parts(len(fixed)):
            parent = np.repeat(np.arange(len(fixed[part])), widths[part])
            swap = self.swaps.children(fixed[part], first[part], last[part])[:, -1]
            for encoded in self._windows.children(fixed[part], parent, swap):
                np.matmul(encoded, self._output.T, out=out[done : done + len(encoded)])
                done += len(encoded)
        out += self._bias
        return out
