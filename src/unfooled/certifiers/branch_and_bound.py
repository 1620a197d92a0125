"""Branch and bound over swaps: whole sets of texts are proved by a bound, the rest is branched on."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unfooled.bounds.cell_bounds import cell_bounds, reach
from unfooled.bounds.cells import CellBounds, judged, ordered
from unfooled.branching import Branching, seconds_of
from unfooled.counting import ways
from unfooled.descent import weigh
from unfooled.errors import InputError
from unfooled.evidence import margins, tolerance
from unfooled.forecast import duration
from unfooled.levels import Levels
from unfooled.program import Layers, Program, Scores, Spent
from unfooled.proof import Needs, Proof, tree
from unfooled.space import Space

_AT_ONCE = 1 << 15  # texts that are swept without asking whether a tree is cheaper,
_SOON = 0.05  # and seconds
_ASIDE = 0.1  # of the time of the sweep, or of what is left, may be spent on the estimate
_ASIDE_LEAST = 0.2  # seconds
_HOPELESS = 2.0  # a sweep that needs so many times the seconds left has only that part of them
_PATIENCE = 2.0  # a tree may take so many times what the sweep would, before it is given up


@dataclass(frozen=True)
class BranchAndBound:
    """Cuts the texts within `radius` swaps into cells and bounds the margin over each of them.

    For victims that show their layers. A cell is a set of swaps that are made, with all that may be
    made at the columns after them; columns come in the order of what their worst single swap costs.
    Cells that no bound decides are branched on, down to single texts, so with enough time every
    text is decided. Bounds are tight for the MLP and for convolutions over one text.
    Where they are loose the tree would be larger than the space: its size is
    estimated from a sample, and where it takes longer than evaluating all texts, they are evaluated;
    where that cannot end in time, the most sensitive ones for a tenth of the time that is left.
    Texts are decided radius by radius. What is computed from the layers costs no queries.

    `time_limit`: seconds for each text, of its own computing.
    """

    needs: ClassVar[Needs] = "layers"

    radius: int = 3
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.radius < 0:
            raise InputError(f"radius is a number of swaps, 0 or more, not {self.radius}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit is a number of seconds above 0, not {self.time_limit}")

    def prove(self, space: Space, label: int, rng: np.random.Generator) -> Program[Proof]:
        """The proof for one text whose label is `label`; `rng` draws what trees are judged by."""
        search = _Search(space, label, rng, limit=self.time_limit)
        try:
            yield from search.run(self.radius)
        except Spent:
            search.levels.spent = True
        return search.proof(self.radius)


class _Search:
    """What has been proved of one space so far, and the time it took."""

    def __init__(
        self, space: Space, label: int, rng: np.random.Generator, *, limit: float | None
    ) -> None:
        self.space, self.label, self.limit = space, label, limit
        self.levels = Levels(space, label)
        self.argument: Mapping[str, Any] | None = None  # of a tree that proved the last radius
        self.seconds = 0.0
        self.needs: float | None = None  # seconds of a sweep that was hopeless
        self._rng = rng
        self._opened = False
        self._margin = math.inf  # of the text itself
        self._cells: CellBounds | None = None  # once the network was opened
        self._reach = 0  # swaps that the cells are good for
        self._columns = tuple(range(len(space.counts)))

    def run(self, radius: int) -> Program[None]:
        """Radius by radius: 0 swaps, 1 swap, ... until a text fools or a limit is met."""
        levels = self.levels
        yield from levels.level(0, self._columns)
        self._margin = levels.least[0]
        if not levels.ended:
            yield Layers(read=False)
            self._columns = yield from levels.order(radius, "auto")
        for swaps in range(1, min(radius, len(self.space.counts)) + 1):
            if levels.ended:
                return
            yield from self._within(swaps, radius)
        if not levels.ended and levels.tie is None:
            levels.proved = radius  # a whole space has any

    def _prepare(self, radius: int) -> Program[None]:
        """Opens the network and puts the columns in order: what costs the most alone comes first."""
        self._opened = True
        reading = yield Layers()
        began = time.perf_counter()
        if reading is None:
            return
        most = self._reach = reach(reading, min(radius, len(self.space.counts)))
        cells = cell_bounds(reading, self.label, radius=most, weigh=weigh)
        if cells is not None and self._agrees(cells):
            order = _by_drop(cells)
            first = [reading.plan.columns[i] for i in order]
            self._columns = (*first, *sorted(set(self._columns) - set(first)))
            reading = ordered(reading, order)
            self._cells = cell_bounds(reading, self.label, radius=most, weigh=weigh)
        self.seconds += time.perf_counter() - began

    def _agrees(self, cells: CellBounds) -> bool:
        """Whether the text itself has in float64 the margin that the victim gives it."""
        scores = cells.original()
        apart = abs(float(margins(scores, self.label)[0]) - self._margin)
        return bool(apart <= tolerance(scores)[0])

    # --- one radius -----------------------------------------------------------------------------

    def _within(self, swaps: int, radius: int) -> Program[None]:
        """All texts with at most so many swaps, given that those with fewer are proved."""
        done = False
        if not self._opened and self._sweep_seconds(swaps, self.space.counts) > _SOON:
            yield from self._prepare(radius)
        if self._cells is not None and swaps <= self._reach:
            choices = [len(found) for found in self._cells.reading.choices]
            sweep = self._sweep_seconds(swaps, choices)
            began = time.perf_counter()
            chosen = self._tree_is_cheaper(self._cells, swaps, sweep)
            self.seconds += time.perf_counter() - began
            if chosen:
                done = yield from self._tree(self._cells, swaps, patience=_PATIENCE * sweep)
        if not done and not self.levels.ended:
            yield from self._listed(swaps)

    def _sweep_seconds(self, swaps: int, counts: Sequence[int]) -> float:
        """About what it takes to evaluate every text that has not been yet, at the speed so far."""
        texts = sum(ways(counts, swaps)[self.levels.listed + 1 :])
        last = self.levels.sweeping
        if swaps == 1 or texts <= _AT_ONCE:
            return 0.0
        if last is None or not last.forwards:
            return float("inf")  # a victim that cannot sweep
        return texts * last.seconds / last.forwards

    def _tree_is_cheaper(self, cells: CellBounds, swaps: int, sweep: float) -> bool:
        if sweep <= _SOON * cells.setup:
            return False
        left = sweep if self.limit is None else min(sweep, self.limit - self.seconds)
        patience = max(_ASIDE * left, _ASIDE_LEAST)
        return seconds_of(cells, swaps, self._rng, most=sweep, patience=patience) < sweep

    def _tree(self, cells: CellBounds, swaps: int, *, patience: float) -> Program[bool]:
        """Grows the tree; false: it decided nothing, and the texts have to be evaluated."""
        began, before = time.perf_counter(), self.seconds
        branching = Branching(cells, swaps)
        while branching.step():
            taken = time.perf_counter() - began
            if self.limit is not None and before + taken > self.limit:
                self.levels.late = True
                break
            if taken > patience:
                break
        self.seconds = before + time.perf_counter() - began
        if branching.witness is not None:
            row = cells.swaps.row(branching.witness)[None]
            self.levels.look(row, (yield Scores(row, cache=False)))
            return self.levels.witness is not None
        if not branching.complete:
            return self.levels.late
        return (yield from self._proved(branching, cells, swaps))

    def _proved(self, branching: Branching, cells: CellBounds, swaps: int) -> Program[bool]:
        """Asks the victim about texts in doubt; the rest is proved."""
        if branching.doubts > len(branching.doubtful):
            return False
        if branching.doubtful:
            rows = np.stack([cells.swaps.row(picks) for picks in branching.doubtful])
            self.levels.look(rows, (yield Scores(rows, cache=False)))
        if self.levels.witness is None and self.levels.tie is None:
            self.levels.proved = swaps
            order = [int(c) for c in cells.reading.plan.columns]
            least, where = branching.least
            closed = branching.levels()
            budgets = [branching.radius - depth for depth, c in enumerate(closed) if len(c.fixed)]
            self.argument = tree(
                order,
                [(c.fixed.tolist(), c.start.tolist(), c.bound.tolist()) for c in closed],
                weights=cells.weights(budgets),
                leaves=branching.leaves,
                least=None if where is None else least,
                where=None if where is None else cells.swaps.row(where),
            )
        return True

    def _listed(self, swaps: int) -> Program[None]:
        """Evaluates what has not been: fewer swaps first."""
        for level in range(self.levels.listed + 1, swaps + 1):
            left = None if self.limit is None else self._allowed(level, self.limit - self.seconds)
            if left is not None and left <= 0:
                self.levels.late = True
            else:
                yield from self.levels.level(level, self._columns, seconds=left)
            if self.levels.sweeping is not None:
                self.seconds += self.levels.sweeping.seconds
            if self.levels.ended:
                return
        if self.levels.tie is None:
            self.argument = None  # everything up to here has been evaluated

    def _allowed(self, level: int, left: float) -> float:
        """The seconds for evaluating what has not been: few, if they are not nearly enough."""
        expected = self._sweep_seconds(level, self.space.counts)
        hopeless = math.isfinite(expected) and expected > _HOPELESS * max(left, 0.0)
        self.needs = expected if hopeless else None
        return _ASIDE * left if hopeless else left

    def proof(self, radius: int) -> Proof:
        """The verdict on the radius asked for."""
        proof = self.levels.proof(radius)
        if self.levels.late and proof.verdict == "unknown":
            reason = (
                f"time: {self.limit:g} s ended before radius {self.levels.proved + 1} was decided"
            )
            if self.needs is not None:
                reason += f", which takes about {duration(self.needs)}"
            proof = replace(proof, reason=reason)
        return proof if self.argument is None else replace(proof, argument=self.argument)


def _by_drop(cells: CellBounds) -> list[int]:
    """The columns, those whose worst single swap leaves the least margin first."""
    if not cells.swaps.columns:
        return []
    root = np.zeros((1, 0), dtype=np.int64)
    every = np.zeros(1, dtype=np.int64), np.full(1, cells.swaps.columns)
    margin = judged(cells.logits(root, *every), cells.label).margins
    worst = np.minimum.reduceat(margin, cells.swaps.starts[:-1])
    return [int(c) for c in np.argsort(worst, kind="stable")]


METHOD = BranchAndBound
