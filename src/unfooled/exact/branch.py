"""Branch and bound for one hidden ReLU layer: does any text within a radius have too small a margin?

Cells are cut by the sign of a neuron or by what stands at a column, and closed when the dual bound of
`shallow` lies above the threshold. The least text of every bound is evaluated exactly, so fooling
texts turn up on the way. Many cells are bounded at once: matrix products carry the cost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unfooled.exact.piecewise import Floats
from unfooled.exact.shallow import Bound, Cells, Ints, Lines, Shallow, bound, lines, settled, whole
from unfooled.sweeps.regions import Pick

_BATCH = 64  # cells bounded at once
_STEPS = 20  # of the ascent of a cell; the root has more, as it often suffices
_ROOT_STEPS = 60
_NEURON_SHARE = 0.3  # of the gap that a chord must have for a neuron to be split


@dataclass(frozen=True)
class Searched:
    """How a search ended: refuted (with its tree), a text at or below the threshold, or undecided."""

    tree: list[Any] | None = None
    picks: tuple[Pick, ...] | None = None
    cells: int = 0


def refute(
    problem: Shallow,
    radius: int,
    *,
    threshold: float,
    deadline: float,
    most_cells: int | None = None,
) -> Searched:
    """Whether all texts within the radius have margins above the threshold.

    `deadline` is a time of `time.perf_counter`; with `most_cells` 1 only the root is bounded.
    """
    search = _Search(problem, threshold)
    search.push(whole(problem, radius), np.zeros((1, len(problem.base))), ids=[search.node(())])
    while search.stack:
        late = search.bounded and time.perf_counter() > deadline
        if late or (most_cells is not None and search.bounded >= most_cells):
            return Searched(cells=search.bounded)
        search.advance()
        if search.found is not None:
            return Searched(picks=search.found, cells=search.bounded)
    return Searched(tree=search.tokens(), cells=search.bounded)


class _Chunk(NamedTuple):
    cells: Cells
    slopes: Floats
    ids: list[int]


class _Search:
    def __init__(self, problem: Shallow, threshold: float) -> None:
        self.problem, self.threshold = problem, threshold
        self.stack: list[_Chunk] = []
        self.made: list[tuple[Pick, ...]] = []  # the swaps that are settled, by node
        self.said: list[Any] = []  # what the certificate says of a node
        self.below: list[list[int]] = []  # its parts
        self.bounded = 0
        self.found: tuple[Pick, ...] | None = None

    def node(self, made: tuple[Pick, ...]) -> int:
        self.made.append(made)
        self.said.append(None)
        self.below.append([])
        return len(self.made) - 1

    def push(self, cells: Cells, slopes: Floats, *, ids: list[int]) -> None:
        self.stack.append(_Chunk(cells, slopes, ids))

    def _pop(self) -> _Chunk:
        taken: list[_Chunk] = []
        count = 0
        while self.stack and count < _BATCH:
            chunk = self.stack.pop()
            room = _BATCH - count
            if len(chunk.ids) > room:
                self.push(chunk.cells[:-room], chunk.slopes[:-room], ids=chunk.ids[:-room])
                chunk = _Chunk(chunk.cells[-room:], chunk.slopes[-room:], chunk.ids[-room:])
            taken.append(chunk)
            count += len(chunk.ids)
        if len(taken) == 1:
            return taken[0]
        return _Chunk(
            Cells.joined([c.cells for c in taken]),
            np.concatenate([c.slopes for c in taken]),
            [i for c in taken for i in c.ids],
        )

    def advance(self) -> None:
        """Bounds the next cells: closes those above the threshold, cuts the others."""
        chunk = self._pop()
        steps = _STEPS if self.bounded else _ROOT_STEPS
        self.bounded += len(chunk.ids)
        climbed = _climb(self.problem, chunk, threshold=self.threshold, steps=steps)
        if climbed.text is not None:
            which, picks = climbed.text
            self.found = self.made[chunk.ids[which]] + picks
            return
        closed = climbed.values > self.threshold
        self._close(chunk, climbed, np.flatnonzero(closed))
        if not closed.all():
            self._cut(chunk, climbed, np.flatnonzero(~closed))

    def _close(self, chunk: _Chunk, climbed: _Climbed, which: Ints) -> None:
        """Notes the slopes of closed cells, rounded where the bound stays above the threshold."""
        if not len(which):
            return
        cells, exact = chunk.cells[which], climbed.slopes[which]
        limits = lines(self.problem, cells)
        short = _clipped(np.array([[float(f"{s:.4g}") for s in row] for row in exact]), limits)
        values = bound(self.problem, cells, short, constant=limits.constant).values
        free = (limits.most > limits.least) & (exact != 0)
        for i, index in enumerate(which.tolist()):
            slopes = short[i] if values[i] > self.threshold else exact[i]
            neurons = np.flatnonzero(free[i])
            self.said[chunk.ids[index]] = ["slopes", neurons.tolist(), slopes[neurons].tolist()]

    def _cut(self, chunk: _Chunk, climbed: _Climbed, which: Ints) -> None:
        """Cuts cells by the neuron whose chord is furthest off, or else by a column."""
        cells, at = chunk.cells[which], climbed.first[which]
        gaps = _gaps(self.problem, cells, at)
        neurons = gaps.argmax(axis=1)
        widest = gaps[np.arange(len(which)), neurons]
        total = self.problem.margins(at) - climbed.values[which]
        by_neuron = (widest > 0) & (widest >= _NEURON_SHARE * total)
        for i in np.flatnonzero(~by_neuron):
            index = int(which[i])
            column = self._column(cells[i : i + 1], climbed.column[index])
            if column is None and widest[i] > 0:
                by_neuron[i] = True
            else:
                assert column is not None  # a settled cell without a chord has an exact bound
                self._settle(chunk, index, column=column, slopes=climbed.slopes[index])
        if by_neuron.any():
            self._split(chunk, climbed, which[by_neuron], neurons[by_neuron])

    def _column(self, cell: Cells, used: int) -> int | None:
        """The column to cut by: the strongest of the least text, or else of all that are open."""
        if used >= 0:
            return int(used)
        if not cell.open.any() or cell.left[0] == 0:
            return None
        lows, highs = self.problem.pushes
        reach = (highs - lows) @ np.abs(self.problem.weights)
        return int(np.where(cell.open[0], reach, -1.0).argmax())

    def _settle(self, chunk: _Chunk, index: int, *, column: int, slopes: Floats) -> None:
        node = chunk.ids[index]
        parts = settled(self.problem, chunk.cells[index : index + 1], column)
        made, real = self.made[node], np.flatnonzero(self.problem.effects[column].any(axis=1))
        swaps = [made, *((*made, Pick(column, int(k))) for k in real[: len(parts) - 1])]
        ids = [self.node(made) for made in swaps]
        self.said[node], self.below[node] = ["column", column], ids
        self.push(parts, np.repeat(slopes[None], len(parts), axis=0), ids=ids)

    def _split(self, chunk: _Chunk, climbed: _Climbed, which: Ints, neurons: Ints) -> None:
        """Each of these cells becomes two: its neuron on, its neuron off."""
        twice = np.repeat(which, 2)
        cells, slopes = chunk.cells[twice], climbed.slopes[twice].copy()
        rows, sides = np.arange(len(twice)), np.tile(np.array([1, -1], np.int8), len(which))
        at = np.repeat(neurons, 2)
        cells.sides[rows, at] = sides
        slopes[rows, at] = np.where(
            sides > 0, np.minimum(slopes[rows, at], self.problem.weights[at]), 0
        )
        ids: list[int] = []
        for index, neuron in zip(which.tolist(), neurons.tolist(), strict=True):
            node = chunk.ids[index]
            self.said[node] = ["neuron", neuron]
            self.below[node] = [self.node(self.made[node]), self.node(self.made[node])]
            ids += self.below[node]
        self.push(cells, slopes, ids=ids)

    def tokens(self) -> list[Any]:
        """The tree in preorder: what is said of each node, before its parts."""
        found, left = [], [0]
        while left:
            node = left.pop()
            found.append(self.said[node])
            left += reversed(self.below[node])
        return found


@dataclass
class _Climbed:
    values: Floats  # (cells,): the best bounds
    slopes: Floats  # (cells, n): and their slopes,
    first: Floats  # (cells, n): where they are taken,
    column: Ints  # (cells,): and the strongest column there, -1: none
    text: tuple[int, tuple[Pick, ...]] | None = None  # a cell and a text at or below the threshold


def _climb(problem: Shallow, chunk: _Chunk, *, threshold: float, steps: int) -> _Climbed:
    """Ascends the dual bound of each cell by Polyak steps until it is above the threshold."""
    count = len(chunk.ids)
    limits = lines(problem, chunk.cells)
    best = _Climbed(
        np.full(count, -np.inf), np.zeros_like(chunk.slopes), chunk.cells.base.copy(),
        np.full(count, -1),
    )  # fmt: skip
    active, cells, slopes = np.arange(count), chunk.cells, _clipped(chunk.slopes, limits)
    for step in range(steps):
        found = bound(problem, cells, slopes, constant=limits.constant)
        first = found.first(problem, cells)
        margins = problem.margins(first)
        lowest = int(margins.argmin())
        if margins[lowest] <= threshold:
            best.text = int(active[lowest]), _picks(found, lowest)
            return best
        _keep_best(best, active, found, slopes=slopes, first=first)
        kept = found.values <= threshold
        if not kept.any() or step == steps - 1:
            return best
        gain = _directions(first, slopes, limits)
        aim = threshold + 0.05 * (margins - found.values)
        length = (aim - found.values) / np.maximum(np.einsum("cn,cn->c", gain, gain), 1e-12)
        kept &= (gain != 0).any(axis=1)
        slopes = _clipped(slopes + length[:, None] * gain, limits)
        if not kept.all():
            if not kept.any():
                return best
            active, cells, slopes = active[kept], cells[kept], slopes[kept]
            limits = Lines(limits.least[kept], limits.most[kept], limits.constant[kept])
    return best


def _keep_best(
    best: _Climbed, active: Ints, found: Bound, *, slopes: Floats, first: Floats
) -> None:
    better = found.values > best.values[active]
    at = active[better]
    best.values[at] = found.values[better]
    best.slopes[at] = slopes[better]
    best.first[at] = first[better]
    if found.used.shape[1]:
        best.column[at] = np.where(found.used[better, 0], found.columns[better, 0], -1)


def _directions(first: Floats, slopes: Floats, limits: Lines) -> Floats:
    """The supergradient: a line with slope s through the origin has value s z; ends hold it back."""
    stuck = ((first > 0) & (slopes >= limits.most)) | ((first < 0) & (slopes <= limits.least))
    gain: Floats = np.where(stuck, 0.0, first)
    return gain


def _clipped(slopes: Floats, limits: Lines) -> Floats:
    found: Floats = np.minimum(np.maximum(slopes, limits.least), limits.most)
    return found


def _picks(found: Bound, cell: int) -> tuple[Pick, ...]:
    used = found.used[cell]
    pairs = zip(found.columns[cell][used].tolist(), found.choices[cell][used].tolist(), strict=True)
    return tuple(Pick(column, choice) for column, choice in pairs)


def _gaps(problem: Shallow, cells: Cells, first: Floats) -> Floats:
    """(cells, n): how far the chord of each neuron that can be split lies below it."""
    g = problem.weights
    bent = (cells.sides == 0) & (cells.low < 0) & (cells.high > 0) & (g < 0)
    width = np.where(bent, cells.high - cells.low, 1.0)
    chord = cells.high * (first - cells.low) / width
    found: Floats = np.where(bent, g * (np.maximum(first, 0.0) - chord), 0.0)
    return found
