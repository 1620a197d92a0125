"""The simple prover: every text within a radius, fewer swaps first (PDP paper, Type-3 problem)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unfooled.counting import Lister, Rows, unpermuted
from unfooled.errors import InputError, Unsound, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.forecast import feasibility
from unfooled.program import Floats, Program, Scores, Sensitivity, Spent, Sweep, Swept, leaders
from unfooled.proof import Proof, Verdict, enumeration
from unfooled.space import DELETED, Space

_FIRST, _MOST = 16, 4096  # rows of a question: they double, so that an early end costs little
_WORTH_ORDERING = 1024  # members from which a look at the sensitivities pays


@dataclass(frozen=True)
class Exhaustive:
    """Scores every text within `radius` swaps; stops at the first that fools.

    Texts with fewer swaps come first, so a radius that is refuted or not finished still leaves the
    one below proved. Among them the more sensitive positions come first. Margins within the
    tolerance of the project are near-ties: neither proof nor counterexample, so the radius stays
    unknown unless a clear counterexample turns up.

    Differs from the paper: victims without gradients are ordered by leave-one-out scores; spaces
    too small for the order to matter are not ordered at all; word models compute only what a swap
    changes.
    """

    radius: int = 3
    order: Literal["auto", "gradient", "leave-one-out", "none"] = "auto"

    def __post_init__(self) -> None:
        if self.radius < 0:
            raise InputError(f"radius is a number of swaps, 0 or more, not {self.radius}")

    def prove(self, space: Space, label: int, rng: np.random.Generator) -> Program[Proof]:
        """The proof for one text whose label is `label`; nothing is drawn from `rng`."""
        search = _Search(space, label)
        try:
            yield from search.run(self.radius, self.order)
        except Spent:
            search.spent = True
        return search.proof(self.radius)


class _Search:
    """What has been seen of one space so far."""

    def __init__(self, space: Space, label: int) -> None:
        self.space, self.label = space, label
        self.proved, self.evaluated = -1, 0
        self.witness: Rows | None = None
        self.tie: Rows | None = None  # the first near-tie
        self.spent = False
        self.least: tuple[float, Rows | None] = math.inf, None  # within the proved radius
        self._level: tuple[float, Rows | None] = math.inf, None  # with the present number of swaps

    def run(self, radius: int, order: str) -> Program[None]:
        """Level by level: 0 swaps, 1 swap, ... until a text fools or the budget ends."""
        columns = tuple(range(len(self.space.counts)))
        for swaps in range(min(radius, len(self.space.counts)) + 1):
            if swaps == 1:
                columns = yield from self._order(radius, order)
            swept = False
            if swaps:
                swept = yield from self._sweep(swaps, columns)
            if not swept:
                yield from self._list(swaps, columns)
            if self.witness is not None or self.spent:
                return
            within = self.space.size(swaps)
            if self.evaluated != within:
                raise Unsound(
                    f"exhaustive counted {self.evaluated} texts within {swaps} swaps of "
                    f"{str(self.space.original)!r:.60}, and there are {within}"
                )
            self._level_done(swaps)
        self.proved = self.proved if self.tie is not None else radius  # a whole space has any

    def _level_done(self, swaps: int) -> None:
        if self.tie is None:
            self.proved = swaps
            self.least = min(self.least, self._level, key=lambda found: found[0])
        self._level = math.inf, None

    def _order(self, radius: int, order: str) -> Program[tuple[int, ...]]:
        """The columns, those that matter most to the score of the label first."""
        columns = tuple(range(len(self.space.counts)))
        if order == "none" or (order == "auto" and self.space.size(radius) < _WORTH_ORDERING):
            return columns
        found: Floats | None = None
        if order != "leave-one-out":
            found = yield Sensitivity(self.label)
            if found is None and order == "gradient":
                raise Unsupported(
                    "order gradient needs a victim with gradients for this text: word models and "
                    "Hugging Face classifiers have them; order leave-one-out works with all"
                )
        if found is None:
            scores = yield Scores(self.space.probes(self.space.origin, DELETED))
            found = -margins(scores, self.label)
        return tuple(leaders(np.nan_to_num(found), len(columns)))

    # --- one number of swaps ------------------------------------------------------------------

    def _list(self, swaps: int, columns: tuple[int, ...]) -> Program[None]:
        """Asks for the scores of all members with so many swaps, in chunks."""
        lister = Lister([self.space.counts[c] for c in columns], swaps)
        start, size, total = 0, _FIRST, lister.totals[swaps]
        while start < total and self.witness is None:
            stop = min(start + size, total)
            rows = unpermuted(lister.choices(swaps, start, stop), columns)
            try:
                scores = yield Scores(rows, cache=False)
            except Spent as end:
                rows, scores, self.spent = end.rows, end.scores, True
            self.evaluated += len(scores)
            self._look(rows[: len(scores)], scores)
            if self.spent:
                return
            start, size = stop, min(2 * size, _MOST)

    def _sweep(self, swaps: int, columns: tuple[int, ...]) -> Program[bool]:
        """Has the victim judge all members with so many swaps; false: it has to be asked one by one."""
        found: Swept | None = yield Sweep(self.label, swaps, columns)
        if found is None:
            return False
        if found.fooled is not None:
            try:
                self._look(found.fooled[None], (yield Scores(found.fooled[None], cache=False)))
            except Spent:  # it is clear enough, and whoever reports it runs it again
                self.witness = found.fooled
            if self.witness is None:
                return False  # the forward does not confirm it, so forwards decide
        if found.doubtful is not None and self.witness is None:
            doubtful = found.doubtful
            self._look(doubtful, (yield Scores(doubtful, cache=False)))
            if found.doubts > len(doubtful) and self.tie is None:
                return False  # more than were kept: forwards decide
        self.evaluated += found.evaluated
        self._level = min(self._level, (found.least, found.least_row), key=lambda seen: seen[0])
        self.spent = not found.complete and self.witness is None
        return True

    def _look(self, rows: Rows, scores: Floats) -> None:
        """Notes the first row that fools, the first near-tie and the least margin."""
        if not len(scores):
            return
        lead, width = margins(scores, self.label), tolerance(scores)
        lowest = int(lead.argmin())
        self._level = min(
            self._level, (float(lead[lowest]), rows[lowest].copy()), key=lambda found: found[0]
        )
        fooled = np.flatnonzero(lead < -width)
        if len(fooled):
            self.witness = rows[fooled[0]].copy()
        near = np.flatnonzero(np.abs(lead) <= width)
        if len(near) and self.tie is None:
            self.tie = rows[near[0]].copy()

    def proof(self, radius: int) -> Proof:
        """The verdict on the radius asked for."""
        size = self.space.size(radius)
        verdict: Verdict = "unknown"
        reason = ""
        if self.witness is not None:
            verdict = "falsified"
        elif self.spent:
            reason = f"budget: {self.evaluated:,} of {feasibility(size)}"
        elif self.tie is not None:
            swaps = int(np.count_nonzero(self.tie))
            reason = f"near-tie: a text with {swaps} swaps has a margin within float noise of zero"
        else:
            verdict = "certified"
        least, where = self.least
        shown = enumeration(self.evaluated, None if where is None else least, where)
        return Proof(verdict, self.proved, self.witness, reason, size, argument=shown)


METHOD = Exhaustive
