"""The tree of a Monte Carlo tree search: sets of positions, their values and visits, UCT."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unfooled.program import first_best


def uct(value: float, visits: int, *, parent: int, alpha: float) -> float:
    """How urgent a vertex is: its mean value, and more the less it was visited beside its siblings.

    >>> uct(0.8, 2, parent=1, alpha=0.5)
    0.4
    """
    return value / visits + alpha * math.sqrt(2 * math.log(parent) / visits)


@dataclass(eq=False)
class Vertex:
    """A set of positions to swap together; `value` is the sum of what its visits were worth."""

    columns: tuple[int, ...]
    parent: Vertex | None
    visits: int = 1
    value: float = 0.0


class Tree:
    """The vertices up to a depth, each set of positions once, whatever their order."""

    def __init__(self, positions: int, depth: int, *, alpha: float) -> None:
        self.positions, self.depth, self.alpha = positions, depth, alpha
        self.root = Vertex((), None, visits=0)
        self.leaves = [self.root]  # those above the depth
        self._sets: set[tuple[int, ...]] = set()

    @property
    def explored(self) -> int:
        """How many vertices there are below the root."""
        return len(self._sets)

    @property
    def size(self) -> int:
        """How many vertices there can be below the root."""
        return sum(math.comb(self.positions, n) for n in range(1, self.depth + 1))

    def select(self) -> Vertex | None:
        """The leaf with the highest UCT, of equal ones the oldest; None: no leaf can be expanded."""
        if not self.leaves or self.leaves == [self.root]:
            return self.leaves[0] if self.leaves else None
        return self.leaves[first_best(np.array([self._urgency(leaf) for leaf in self.leaves]))]

    def _urgency(self, leaf: Vertex) -> float:
        assert leaf.parent is not None  # the root is a leaf only while it is alone
        return uct(leaf.value, leaf.visits, parent=leaf.parent.visits, alpha=self.alpha)

    def expand(self, leaf: Vertex) -> list[Vertex]:
        """Children with one more position each, but for sets that the tree has already."""
        self.leaves.remove(leaf)
        children = []
        for column in range(self.positions):
            columns = tuple(sorted({*leaf.columns, column}))
            if column not in leaf.columns and columns not in self._sets:
                self._sets.add(columns)
                children.append(Vertex(columns, leaf))
        if len(leaf.columns) + 1 < self.depth:
            self.leaves += children
        return children

    def backpropagate(self, leaf: Vertex, reward: float) -> None:
        """One more visit, worth the reward, of the expanded vertex and of all above it."""
        vertex: Vertex | None = leaf
        while vertex is not None:
            vertex.visits += 1
            vertex.value += reward
            vertex = vertex.parent
