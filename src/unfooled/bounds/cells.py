"""Cells: parts of a space that a branch and bound closes, what bounds them and whether they cover it.

A cell is a set of swaps that are made and a column from which on others may be made, as many as are
left of the radius. Swaps are numbered through the columns of a reading: with the columns in a fixed
order, the texts that extend some swaps by one are a stretch of numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.bounds.reading import Reading
from unfooled.counting import Rows, suffix_ways
from unfooled.evidence import SURE, margins, tolerance
from unfooled.sweeps.regions import Pick

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Cells(NamedTuple):
    """Cells with equally many swaps made, and a lower bound of the margin over each."""

    fixed: Ints  # (n, swaps) numbers, ascending in each row
    start: Ints  # (n,) the first column that may still be swapped
    bound: Doubles  # (n,)


class Bounded(NamedTuple):
    """Lower bounds over cells, and from which column on the same lines would have been enough."""

    lower: Doubles  # (n,)
    split: Ints  # (n,) the number of columns: not known to be enough anywhere
    at: Doubles | None = None  # (n,) the bounds at split, if no column before it is enough


class Swaps:
    """The swaps of a reading by number."""

    def __init__(self, reading: Reading) -> None:
        counts = [len(found) for found in reading.choices]
        self.reading, self.columns = reading, len(counts)
        self.starts: Ints = np.array([0, *accumulate(counts)], dtype=np.int64)
        self.column: Ints = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
        self.weights = [w for found in reading.plan.weights for w in found]

    def picks(self, fixed: Sequence[int] | Ints) -> list[Pick]:
        """Swaps as columns of the reading and choices."""
        columns = [int(self.column[number]) for number in fixed]
        return [Pick(c, int(n - self.starts[c])) for c, n in zip(columns, fixed, strict=True)]

    def row(self, fixed: Sequence[int] | Ints) -> Rows:
        """The row of the space with these swaps."""
        return self.reading.row(self.picks(fixed))

    def begin(self, fixed: Ints) -> Ints:
        """(n,): the first column after the swaps that are made."""
        if not fixed.shape[1]:
            return np.zeros(len(fixed), dtype=np.int64)
        return self.column[fixed[:, -1]] + 1

    def children(self, fixed: Ints, first: Ints, last: Ints) -> Ints:
        """The rows with one more swap, at columns first to last: those of the first row come first."""
        begin, widths = self.starts[first], self.starts[last] - self.starts[first]
        parent = np.repeat(np.arange(len(fixed)), widths)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(widths) - widths, widths)
        return np.column_stack((fixed[parent], np.repeat(begin, widths) + offset))

    def members(self, levels: Sequence[Cells], leaves: Ints) -> int:
        """How many members these cells and leaves have, if they are disjoint, told by the victim."""
        radius = len(levels)
        table = suffix_ways([sum(w) for w in self.reading.plan.weights], radius)
        within = [list(accumulate(row)) for row in table]
        total = sum(self._product(row) for row in leaves.tolist())
        for depth, cells in enumerate(levels):
            for fixed, start in zip(cells.fixed.tolist(), cells.start.tolist(), strict=True):
                total += self._product(fixed) * within[start][radius - depth]
        return total

    def _product(self, fixed: Sequence[int]) -> int:
        found = 1
        for number in fixed:
            found *= self.weights[number]
        return found


class CellBounds(ABC):
    """What one network computes over cells of one reading, in float64. Columns are in order."""

    setup: ClassVar[float] = 1.0  # how much longer than those of an MLP they take to be set up

    def __init__(self, reading: Reading, label: int) -> None:
        self.reading, self.label, self.swaps = reading, label, Swaps(reading)

    @abstractmethod
    def lower(self, fixed: Ints, start: Ints, *, budget: int) -> Bounded:
        """Lower bounds of the margin over the cells, the texts with no further swap included."""

    @abstractmethod
    def logits(self, fixed: Ints, first: Ints, last: Ints) -> Doubles:
        """(texts, classes): the scores of the children, in their order."""

    @abstractmethod
    def largest(self, radius: int) -> float:
        """No score of a text within the radius is larger in absolute value."""

    def weights(self, budgets: Collection[int]) -> list[dict[str, Any]]:
        """What bounds with these budgets rest on beside the network, as JSON values: nothing."""
        return []

    def original(self) -> Doubles:
        """(1, classes): the scores of the text itself."""
        found: Doubles = self.reading.logits([[]]).numpy()
        return found

    def sure(self, radius: int) -> float:
        """A bound above this proves that no text of the cell is a near-tie to the victim."""
        return SURE * max(1.0, self.largest(radius))


class Judged(NamedTuple):
    """What exact scores say: margins, and which texts clearly fool or are in doubt."""

    margins: Doubles
    fooled: NDArray[np.bool_]
    doubtful: NDArray[np.bool_]


def judged(logits: Doubles, label: int) -> Judged:
    """The margins of the label; within twice the tolerance of a tie a text is in doubt."""
    lead = np.asarray(margins(logits, label), dtype=np.float64)
    width = 2 * tolerance(logits)
    return Judged(lead, lead < -width, np.abs(lead) <= width)


def ordered(reading: Reading, order: Sequence[int]) -> Reading:
    """The reading with its columns in another order."""
    plan = reading.plan
    changed = replace(
        plan,
        columns=tuple(plan.columns[i] for i in order),
        places=tuple(plan.places[i] for i in order),
        choices=tuple(plan.choices[i] for i in order),
        weights=tuple(plan.weights[i] for i in order),
    )
    return replace(reading, plan=changed, choices=tuple(reading.choices[i] for i in order))
