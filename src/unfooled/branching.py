"""Branching: the cells into which a branch and bound cuts the texts within a radius.

A node is some swaps that are made. All its texts with further swaps, at later columns, are one cell
from the first column on at which a bound over them is clear; the columns before that are branched
on. Nodes with more swaps go first, among these those that are closest to being fooled.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from unfooled.bounds.cells import CellBounds, Cells, Doubles, Ints, judged

_NODES = 512  # that are bounded together
_LEAVES = 1 << 16  # texts that are evaluated together
_SAMPLE = 48  # nodes of each depth from which the size of a tree is estimated
_LEAST = 4  # fewer say nothing
_TIMED = 1024  # texts by which it is estimated what a text takes
_DOUBTS = 4096  # texts in doubt that are kept


class Closed(NamedTuple):
    """Where the cells of some nodes start, and their bounds."""

    begin: Ints  # the first column after the swaps of each node
    start: Ints
    bound: Doubles


class Branching:
    """The tree over one space at one radius, grown step by step."""

    def __init__(self, cells: CellBounds, radius: int) -> None:
        self.cells, self.swaps = cells, cells.swaps
        self.radius = min(radius, self.swaps.columns)
        self.sure = cells.sure(self.radius)
        self.nodes = self.leaves = 0
        self.least: tuple[float, Ints | None] = math.inf, None  # of the leaves
        self.witness: Ints | None = None  # swaps that clearly fool
        self.doubtful: list[Ints] = []
        self.doubts = 0
        self._closed: list[list[Cells]] = [[] for _ in range(self.radius)]
        self._open: list[tuple[Ints, Doubles]] = []  # nodes with their margins, deepest last
        root = np.zeros((1, 0), dtype=np.int64)
        lead = judged(cells.original(), cells.label).margins
        if self.radius:
            self._open.append((root, lead))
        else:
            self.least, self.leaves = (float(lead[0]), root[0]), 1

    def step(self) -> bool:
        """Closes some nodes and branches on the rest; false once nothing is left or a text fools."""
        if not self._open or self.witness is not None:
            return False
        fixed, margin = self._open.pop()
        if len(fixed) > _NODES:
            self._open.append((fixed[_NODES:], margin[_NODES:]))
            fixed, margin = fixed[:_NODES], margin[:_NODES]
        begin, start, bound = self.closed(fixed, margin)
        self.nodes += len(fixed)
        self._closed[fixed.shape[1]].append(Cells(fixed, start, bound))
        self._branch(fixed, begin, start)
        return self.witness is None and bool(self._open)

    @property
    def complete(self) -> bool:
        """Whether every text is in a closed cell or was evaluated, and none fools."""
        return self.witness is None and not self._open

    def levels(self) -> list[Cells]:
        """The closed cells by the number of swaps that are made."""
        found = []
        for depth, parts in enumerate(self._closed):
            none = Cells(
                np.empty((0, depth), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
            )
            fixed, start, bound = zip(none, *parts, strict=True)
            found.append(Cells(np.concatenate(fixed), np.concatenate(start), np.concatenate(bound)))
        return found

    def closed(self, fixed: Ints, margin: Doubles) -> Closed:
        """The first column, found by bisection, from which on a bound over each node is clear.

        Behind the last column the margin of the node's own text is all that is left.
        """
        begin, columns = self.swaps.begin(fixed), self.swaps.columns
        budget = self.radius - fixed.shape[1]
        bound, guess, final = self.cells.lower(fixed, begin, budget=budget)
        if final is not None:
            return Closed(begin, guess, np.where(guess < columns, final, margin))
        clear = (bound > self.sure) | (begin == columns)
        low, high = begin.copy(), np.where(clear, begin, columns)
        bound = np.where(clear & (begin < columns), bound, margin)
        while True:
            todo = np.flatnonzero(high - low > 1)
            if not len(todo):
                return Closed(begin, high, bound)
            middle = np.clip(guess[todo], low[todo] + 1, high[todo] - 1)
            found, suggested, _ = self.cells.lower(fixed[todo], middle, budget=budget)
            enough = found > self.sure
            high[todo[enough]], bound[todo[enough]] = middle[enough], found[enough]
            low[todo[~enough]] = middle[~enough]
            guess[todo] = (low[todo] + high[todo]) // 2
            guess[todo[~enough]] = suggested[~enough]

    def _branch(self, fixed: Ints, first: Ints, last: Ints) -> None:
        """Evaluates the children of nodes; those that can be swapped further are left open."""
        widths = self.swaps.starts[last] - self.swaps.starts[first]
        ends, done = np.cumsum(widths), 0
        found: list[tuple[Ints, Doubles]] = []
        while done < len(fixed) and self.witness is None:
            before = ends[done - 1] if done else 0
            until = max(done + 1, int(np.searchsorted(ends, before + _LEAVES, side="right")))
            part = slice(done, until)
            children = self.swaps.children(fixed[part], first[part], last[part])
            if len(children):
                logits = self.cells.logits(fixed[part], first[part], last[part])
                found.append((children, self._look(children, logits)))
            done = until
        if found and fixed.shape[1] + 1 < self.radius and self.witness is None:
            children = np.concatenate([each for each, _ in found])
            margin = np.concatenate([each for _, each in found])
            order = np.argsort(margin, kind="stable")
            self._open.append((children[order], margin[order]))

    def _look(self, children: Ints, logits: Doubles) -> Doubles:
        """The margins of texts; notes those that fool, that are in doubt, and the least."""
        margin, fooled, doubtful = judged(logits, self.cells.label)
        if fooled.any():
            self.witness = children[int(margin.argmin())]
        doubts = children[doubtful]
        self.doubts += len(doubts)
        self.doubtful += list(doubts[: max(0, _DOUBTS - len(self.doubtful))])
        lowest = int(margin.argmin())
        if children.shape[1] == self.radius:
            self.leaves += len(children)
            if margin[lowest] < self.least[0]:
                self.least = float(margin[lowest]), children[lowest]
        return margin


def seconds_of(
    cells: CellBounds, radius: int, rng: Generator, *, most: float, patience: float
) -> float:
    """About how long the tree takes: a few random nodes of each depth stand for all of it.

    Once the estimate is above `most` the rest is not looked at. Infinite where bounds are so slow
    that not even the sample is done within `patience` seconds. What bounds prepare is kept by them.
    """
    tree, began = Branching(cells, radius), time.perf_counter()
    fixed, end = np.zeros((1, 0), dtype=np.int64), began + patience
    nodes, total = 1.0, 0.0
    final = cells.lower(fixed, tree.swaps.begin(fixed), budget=tree.radius).at
    looks = 1 if final is not None else tree.swaps.columns.bit_length()  # of a bisection
    if (looks - 1) * (time.perf_counter() - began) > patience:
        return math.inf
    for depth in range(tree.radius):
        _close(tree, fixed[:1])  # prepares
        closed, once = _close(tree, fixed[:1])
        each = once
        if len(fixed) > 1:
            closed, seconds = _close(tree, fixed)
            each = max(seconds - once, 0.0) / (len(fixed) - 1)
        total += once * math.ceil(nodes / _NODES) + each * max(0.0, nodes - 1)
        begin, column = closed[:2]
        children = cells.swaps.children(fixed, begin, column)
        if not len(children) or total > most:
            return total
        nodes *= len(children) / len(fixed)
        total += nodes * _text_seconds(cells, fixed, begin, column)
        left = (end - time.perf_counter() - once) / (tree.radius - depth)
        sample = _SAMPLE if each <= 0.0 else min(_SAMPLE, int(left / each))
        if depth + 1 < tree.radius and (sample < _LEAST or left < 0):
            return math.inf
        fixed = children[rng.permutation(len(children))[:sample]]
    return total


def _close(tree: Branching, fixed: Ints) -> tuple[Closed, float]:
    """Where the cells of nodes start, and the seconds it took to find out."""
    began = time.perf_counter()
    closed = tree.closed(fixed, np.zeros(len(fixed)))  # their margins are not looked at
    return closed, time.perf_counter() - began


def _text_seconds(cells: CellBounds, fixed: Ints, first: Ints, last: Ints) -> float:
    """How long it takes to evaluate one child of some of these nodes."""
    widths = cells.swaps.starts[last] - cells.swaps.starts[first]
    some = slice(0, max(int(np.argmax(widths > 0)) + 1, int((widths.cumsum() <= _TIMED).sum())))
    began = time.perf_counter()
    logits = cells.logits(fixed[some], first[some], last[some])
    return (time.perf_counter() - began) / len(logits)
