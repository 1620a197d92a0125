"""Re-verifies the argument of a certificate of `minimum` without searching.

A tree of splits is walked once: every cut must name a neuron or an open column, the parts of a cut are
rebuilt here and all of them must follow, and every closed cell's bound is computed again from its slopes.
Slopes are taken into the range that is sound for the cell, so no stored number can prove what is not so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unfooled.evidence import margins, tolerance
from unfooled.exact.piecewise import Floats, Piecewise
from unfooled.exact.shallow import Cells, Shallow, bound, lines, settled, threshold, whole

_BATCH = 256  # cells whose bounds are computed at once


def refusal(network: Piecewise, argument: Mapping[str, Any], *, label: int) -> str | None:
    """Why the argument does not prove that no text within its radius fools; None: it does.

    A solver's refutation carries no proof, so of kind `solver` only the text itself is verified: the
    caller has to label it solver-trusted.
    """
    scores = network.logits(network.base)
    if margins(scores, label)[0] <= tolerance(scores)[0]:
        return "the text itself is not clearly classified as its label"
    kind, radius = argument.get("kind"), argument.get("radius")
    if not isinstance(radius, int) or isinstance(radius, bool) or radius < 0:
        return f"a radius is a number of swaps, 0 or more, not {radius!r}"
    if kind == "original":
        alone = radius == 0 or network.columns == 0
        return None if alone else f"the text alone proves radius 0, not {radius}"
    if kind == "solver":
        return None
    if kind != "splits":
        return f"there is no argument of the kind {kind!r} here"
    if not network.shallow:
        return "splits are an argument about one hidden ReLU layer, and this network has others"
    return _splits(network, argument.get("targets"), radius=radius, label=label)


def _splits(network: Piecewise, trees: Any, *, radius: int, label: int) -> str | None:
    wanted = {str(c) for c in range(network.classes) if c != label}
    if not isinstance(trees, Mapping) or set(trees) != wanted:
        return f"there must be a tree for each of the classes {', '.join(sorted(wanted))}"
    level = threshold(network, radius)
    for target in sorted(wanted):
        walk = _Walk(Shallow.of(network, label, int(target)), level)
        why = walk.run(trees[target], radius)
        if why is not None:
            return f"class {target}: {why}"
    return None


class _Walk:
    """The cells that a tree still owes, and the closed ones whose bounds are to be computed."""

    def __init__(self, problem: Shallow, level: float) -> None:
        self.problem, self.level = problem, level
        self.closed: list[tuple[Cells, Floats]] = []

    def run(self, tree: Any, radius: int) -> str | None:
        if not isinstance(tree, list):
            return "a tree is a list"
        owed = [whole(self.problem, radius)]
        for place, said in enumerate(tree):
            if not owed:
                return f"the tree ends before its entry {place}"
            why = self._entry(owed, said)
            if why is None and len(self.closed) >= _BATCH:
                why = self._judged()
            if why is not None:
                return f"entry {place}: {why}"
        if owed:
            return f"{len(owed)} cells are missing"
        return self._judged()

    def _entry(self, owed: list[Cells], said: Any) -> str | None:
        if not isinstance(said, list) or not said:
            return f"not a cut nor slopes: {said!r:.60}"
        cell, rest = owed.pop(), said[1:]
        if said[0] == "slopes":
            slopes = self._slopes(rest)
            if isinstance(slopes, str):
                return slopes
            self.closed.append((cell, slopes))
            return None
        if said[0] == "neuron" and len(rest) == 1 and _index(rest[0], len(self.problem.base)):
            if cell.sides[0, rest[0]]:
                return f"neuron {rest[0]} is split twice"
            owed += [_side(cell, rest[0], -1), _side(cell, rest[0], 1)]
            return None
        if said[0] == "column" and len(rest) == 1 and _index(rest[0], len(self.problem.effects)):
            if not cell.open[0, rest[0]]:
                return f"column {rest[0]} is settled twice"
            parts = settled(self.problem, cell, rest[0])
            owed += [parts[i : i + 1] for i in range(len(parts) - 1, -1, -1)]
            return None
        return f"not a cut nor slopes: {said!r:.60}"

    def _slopes(self, rest: list[Any]) -> Floats | str:
        """(n,): the slopes that are named, zero for others."""
        if len(rest) != 2 or not all(isinstance(part, list) for part in rest):
            return "slopes are two lists: neurons and values"
        neurons, values = rest
        if len(neurons) != len(values) or not all(
            _index(k, len(self.problem.base)) for k in neurons
        ):
            return "the slopes name neurons that the network does not have"
        if not all(_finite(v) for v in values):
            return "a slope is not a number"
        slopes = np.zeros(len(self.problem.base))
        slopes[neurons] = values
        return slopes

    def _judged(self) -> str | None:
        """Computes the bounds of the closed cells."""
        if not self.closed:
            return None
        cells = Cells.joined([cell for cell, _ in self.closed])
        limits = lines(self.problem, cells)
        slopes = np.stack([slopes for _, slopes in self.closed])
        slopes = np.minimum(np.maximum(slopes, limits.least), limits.most)
        values = bound(self.problem, cells, slopes, constant=limits.constant).values
        self.closed.clear()
        lowest = float(values.min())
        if not lowest > self.level:
            return f"a cell has a bound of {lowest:.6g}, which is not above {self.level:.6g}"
        return None


def _side(cell: Cells, neuron: int, side: int) -> Cells:
    sides = cell.sides.copy()
    sides[0, neuron] = side
    return Cells(cell.base, cell.open, cell.left, sides, cell.low, cell.high)


def _finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))


def _index(value: Any, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size
