"""Bounds over cells of the MLP: what a swap adds to the first layer is a vector, known in advance.

The box of a pre-activation over a cell is its value at the made swaps plus the largest sums of what
the free columns can add; these depend only on where the free columns start and on how many may be
swapped, so they are tables. On that box every ReLU is bounded by a line; what is left is linear in
the swaps, and its least value over the cell is the sum of the lowest drops.
"""

from __future__ import annotations

import numpy as np

from unfooled.bounds.cells import Bounded, CellBounds, Doubles, Ints
from unfooled.bounds.reading import Reading
from unfooled.models.mlp import MLP

_ROWS = 1 << 14  # texts of which the hidden layer is made at once


class MLPCells(CellBounds):
    """The first layer of the text, and what every swap adds to it."""

    def __init__(self, reading: Reading, label: int, *, radius: int) -> None:
        super().__init__(reading, label)
        network = reading.network
        assert isinstance(network, MLP)
        weight = network.affine.weight.detach().numpy()
        text = reading.text.numpy()
        weight = weight.reshape(len(weight), -1, text.shape[1])  # (units, words, d)
        used = weight[:, : len(text)]
        self._base = np.einsum("uwd,wd->u", used, text) + network.affine.bias.detach().numpy()
        added = [
            (found.numpy() - text[place]) @ weight[:, place].T
            for place, found in zip(reading.plan.places, reading.choices, strict=True)
        ]
        self._added: Doubles = np.concatenate([np.empty((0, len(self._base))), *added])
        last = dict(network.output.named_parameters())
        self._weight, self._bias = (last[n].detach().numpy() for n in ("weight", "bias"))
        self._fall = _suffix_sums([np.minimum(a.min(axis=0), 0.0) for a in added], radius, self)
        self._rise = -_suffix_sums([-np.maximum(a.max(axis=0), 0.0) for a in added], radius, self)

    @property
    def units(self) -> int:
        """The width of the hidden layer."""
        return len(self._base)

    def largest(self, radius: int) -> float:
        high = np.maximum(self._base + self._rise[radius, 0], 0.0)
        return float((np.abs(self._weight) @ high + np.abs(self._bias)).max())

    def lower(self, fixed: Ints, start: Ints, *, budget: int) -> Bounded:
        sums = self._base + self._added[fixed].sum(axis=1)  # (n, units)
        low, high = sums + self._fall[budget, start], sums + self._rise[budget, start]
        found = [
            self._against(other, sums, (low, high), start, budget)
            for other in range(len(self._bias))
            if other != self.label
        ]
        lower = np.min([each.lower for each in found], axis=0)
        return Bounded(lower, np.max([each.split for each in found], axis=0))

    def _against(
        self, other: int, sums: Doubles, box: tuple[Doubles, Doubles], start: Ints, budget: int
    ) -> Bounded:
        """Bounds of the lead over one other class."""
        weight = self._weight[self.label] - self._weight[other]
        low, high = box
        mixed = (low < 0) & (high > 0)
        chord = np.where(mixed, high / np.where(mixed, high - low, 1.0), high > 0)
        below = np.where(mixed, high > -low, chord)  # the line through 0 nearer to the ReLU
        slope = np.where(weight > 0, below, chord) * weight  # (n, units)
        lift = np.where(mixed & (weight < 0), -chord * low, 0.0)
        constant = (slope * sums).sum(axis=1) + lift @ weight
        constant += self._bias[self.label] - self._bias[other]
        if not self.swaps.columns:
            return Bounded(constant, np.zeros(len(sums), dtype=np.int64))
        drops = np.minimum.reduceat(slope @ self._added.T, self.swaps.starts[:-1], axis=1)
        return _from_drops(constant, np.minimum(drops, 0.0), start, budget)

    def logits(self, fixed: Ints, first: Ints, last: Ints) -> Doubles:
        children = self.swaps.children(fixed, first, last)
        out = np.empty((len(children), len(self._bias)))
        widths = self.swaps.starts[last] - self.swaps.starts[first]
        parent = np.repeat(np.arange(len(fixed)), widths)
        sums = self._base + self._added[fixed].sum(axis=1)
        for begin in range(0, len(children), _ROWS):
            part = slice(begin, begin + _ROWS)
            hidden = sums[parent[part]]
            hidden += self._added[children[part, -1]]
            np.maximum(hidden, 0.0, out=hidden)
            out[part] = hidden @ self._weight.T
        out += self._bias
        return out


def _suffix_sums(lowest: list[Doubles], radius: int, cells: MLPCells) -> Doubles:
    """(radius + 1, columns + 1, units): the sum of the k lowest entries from each column on."""
    columns = len(lowest)
    best = np.zeros((radius, cells.units))  # the lowest so far, ascending
    sums = np.zeros((radius + 1, columns + 1, cells.units))
    for column in range(columns - 1, -1, -1):
        best = np.sort(np.concatenate((best, lowest[column][None])), axis=0)[:radius]
        sums[1:, column] = best.cumsum(axis=0)
    return sums


def _from_drops(constant: Doubles, drops: Doubles, start: Ints, budget: int) -> Bounded:
    """Bounds from the lowest drops (n, columns) at columns from `start` on, and where they suffice."""
    n, columns = drops.shape
    best = np.zeros((n, budget))  # the lowest so far, none in particular order
    after = np.empty((n, columns + 1))  # the sum of the lowest drops from each column on
    after[:, columns] = 0.0
    for column in range(columns - 1, -1, -1):
        here = drops[:, column]
        if budget == 1:
            np.minimum(best[:, 0], here, out=best[:, 0])
        else:
            for rank in range(budget):  # an insertion into sorted values
                low = np.minimum(best[:, rank], here)
                here = np.maximum(best[:, rank], here)
                best[:, rank] = low
        after[:, column] = best.sum(axis=1)
    lower = constant + after[np.arange(n), start]
    enough = constant[:, None] + after > 0.0
    split = np.where(enough.any(axis=1), enough.argmax(axis=1), columns)
    return Bounded(lower, np.maximum(split, start))
