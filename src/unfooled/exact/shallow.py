"""The dual bound of a network with one hidden ReLU layer: what a proof and its replay compute.

Over all texts within r swaps, margin(z) = constant + weights . ReLU(z), and z = base + effects of the
swaps. Each ReLU is replaced by a line with some slope below it:

    g > 0, undecided sign    slope in [0, g]: g ReLU(z) >= s z
    g < 0, undecided sign    the chord of g ReLU over the range of z, its convex hull
    z >= 0 (by a split)      g z - m z with m >= 0: any slope up to g
    z <= 0 (by a split)      m z with m >= 0: any slope from 0 up

What is left is linear in the swaps, so its least value takes the r columns that lower it most: a
sum of the smallest per-column minima, and no linear program. Any slopes in range are sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unfooled.evidence import SURE
from unfooled.exact.piecewise import Floats, Piecewise

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Shallow:
    """The margin of a label over one other class, as a function of swaps."""

    base: Floats  # (n,)
    effects: Floats  # (columns, choices, n), zero where a column has fewer choices
    weights: Floats  # (n,)
    constant: float

    @classmethod
    def of(cls, network: Piecewise, label: int, target: int) -> Shallow:
        """The margin of `label` over `target`."""
        output = network.layers[0]
        return cls(
            network.base,
            padded(network),
            output.weight[label] - output.weight[target],
            float(output.bias[label] - output.bias[target]),
        )

    @cached_property
    def pushes(self) -> tuple[Floats, Floats]:
        """(columns, n) each: the most that one swap lowers and raises a pre-activation."""
        if not self.effects.size:
            none = np.zeros((len(self.effects), len(self.base)))
            return none, none
        return np.minimum(self.effects.min(axis=1), 0.0), np.maximum(self.effects.max(axis=1), 0.0)

    def margins(self, first: Floats) -> Floats:
        """The exact margins of first pre-activations (texts, n)."""
        found: Floats = np.maximum(first, 0.0) @ self.weights + self.constant
        return found


def padded(network: Piecewise) -> Floats:
    """(columns, choices, n): the effects of all columns, zero where there are fewer choices."""
    found = np.zeros((network.columns, max(network.sizes, default=0), len(network.base)))
    for column, effect in enumerate(network.effects):
        found[column, : len(effect.values), effect.start : effect.stop] = effect.values
    return found


@dataclass(frozen=True)
class Cells:
    """Parts of the texts within a radius: some columns settled, some neurons known to be on or off."""

    base: Floats  # (cells, n): with the swaps that are settled
    open: Bools  # (cells, columns): which columns are not settled
    left: Ints  # (cells,): swaps that may still be made
    sides: NDArray[np.int8]  # (cells, n): 1 on, -1 off, 0 not split
    low: Floats  # (cells, n): the range of each pre-activation, splits aside
    high: Floats

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, which: NDArray[np.int64] | Bools | slice) -> Cells:
        return Cells(
            self.base[which], self.open[which], self.left[which],
            self.sides[which], self.low[which], self.high[which],
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """All cells of the parts."""
        names = ("base", "open", "left", "sides", "low", "high")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def whole(problem: Shallow, radius: int) -> Cells:
    """One cell: all texts within the radius."""
    columns = len(problem.effects)
    cells = (problem.base[None], np.ones((1, columns), bool), np.array([min(radius, columns)]))
    return Cells(*cells, np.zeros((1, len(problem.base)), np.int8), *ranges(problem, *cells))


def ranges(problem: Shallow, base: Floats, free: Bools, left: Ints) -> tuple[Floats, Floats]:
    """(cells, n) each: the least and the greatest pre-activations within a cell."""
    low, high = base.copy(), base.copy()
    lows, highs = problem.pushes
    for cell, (columns, swaps) in enumerate(zip(free, left.tolist(), strict=True)):
        down, up = lows[columns], highs[columns]
        if 0 < swaps < len(down):
            down = np.partition(down, swaps - 1, axis=0)[:swaps]
            up = np.partition(up, len(up) - swaps, axis=0)[-swaps:]
        if swaps:
            low[cell] += down.sum(axis=0)
            high[cell] += up.sum(axis=0)
    return low, high


def settled(problem: Shallow, cells: Cells, column: int) -> Cells:
    """A single cell cut by what stands at a column: the original word first, then every choice."""
    choices = problem.effects[column]
    choices = choices[choices.any(axis=1)] if cells.left[0] > 0 else choices[:0]
    count = 1 + len(choices)
    base = np.repeat(cells.base, count, axis=0)
    base[1:] += choices
    free = np.repeat(cells.open, count, axis=0)
    free[:, column] = False
    left = np.repeat(cells.left, count)
    left[1:] -= 1
    left = np.minimum(left, free.sum(axis=1))
    return Cells(
        base, free, left, np.repeat(cells.sides, count, axis=0), *ranges(problem, base, free, left)
    )


@dataclass(frozen=True)
class Lines:
    """The slopes that a cell allows, and what the chords add."""

    least: Floats  # (cells, n)
    most: Floats
    constant: Floats  # (cells,)


def lines(problem: Shallow, cells: Cells) -> Lines:
    """Which slopes are sound for each neuron of each cell."""
    g = problem.weights
    on, off = cells.sides > 0, cells.sides < 0
    positive, negative = cells.low >= 0, cells.high <= 0
    bent = ~(positive | negative | on | off)
    up = bent & (g > 0)
    down = bent & (g <= 0)
    steep = cells.high / np.where(down, cells.high - cells.low, 1.0)
    exact = np.where(positive, g, np.where(down, g * steep, 0.0))
    least = np.where(on, -np.inf, np.where(off | up, 0.0, exact))
    most = np.where(off, np.inf, np.where(on | up, g, exact))
    constant = problem.constant - np.where(down, g * steep * cells.low, 0.0).sum(axis=1)
    return Lines(least, most, constant)


@dataclass(frozen=True)
class Bound:
    """The least values of the lines over each cell, and where they are taken."""

    values: Floats  # (cells,)
    columns: Ints  # (cells, most swaps left): the columns that lower it most, best first
    choices: Ints  # (cells, most swaps left): their choices
    used: Bools  # (cells, most swaps left): whether the swap is made

    def first(self, problem: Shallow, cells: Cells) -> Floats:
        """(cells, n): the first pre-activations where the least values are taken."""
        if not self.columns.shape[1]:
            return cells.base
        added = problem.effects[self.columns, self.choices] * self.used[:, :, None]
        found: Floats = cells.base + added.sum(axis=1)
        return found


def bound(problem: Shallow, cells: Cells, slopes: Floats, *, constant: Floats) -> Bound:
    """What the margins in each cell are at least, by lines with these slopes (cells, n)."""
    columns, choices, n = problem.effects.shape
    count, most = len(cells), int(cells.left.max(initial=0))
    value = constant + np.einsum("cn,cn->c", slopes, cells.base)
    if most == 0 or choices == 0:
        none = np.zeros((count, 0), np.int64)
        return Bound(value, none, none, none.astype(bool))
    pushes = (slopes @ problem.effects.reshape(-1, n).T).reshape(count, columns, choices)
    best = pushes.argmin(axis=2)
    least = np.take_along_axis(pushes, best[:, :, None], axis=2)[:, :, 0]
    least = np.where(cells.open, np.minimum(least, 0.0), 0.0)
    order = np.argsort(least, axis=1)[:, :most]
    gains = np.take_along_axis(least, order, axis=1)
    gains[np.arange(most) >= cells.left[:, None]] = 0.0
    return Bound(
        value + gains.sum(axis=1), order, np.take_along_axis(best, order, axis=1), gains < 0
    )


def threshold(network: Piecewise, radius: int) -> float:
    """The margin above which no text within the radius is a near-tie.

    A near-tie is relative to the largest score of its text, so this takes the largest that any text
    within the radius can have.
    """
    low, high = network.extremes(radius)
    if network.windows is not None:
        low, high = (ends.reshape(network.windows, -1).max(axis=0) for ends in (low, high))
    for layer in network.layers:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        middle, half = (low + high) / 2, (high - low) / 2
        centre, spread = layer(middle), half @ np.abs(layer.weight).T
        low, high = centre - spread, centre + spread
    return SURE * max(1.0, float(np.abs(low).max()), float(np.abs(high).max()))
