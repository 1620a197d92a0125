"""Levels: every text of a space, one number of swaps after another, until one fools."""

from __future__ import annotations

import math
import time
from typing import Literal

import numpy as np

from unfooled.counting import Lister, Rows, unpermuted
from unfooled.errors import Unsound, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.forecast import feasibility
from unfooled.program import Floats, Program, Scores, Sensitivity, Spent, Sweep, Swept, leaders
from unfooled.proof import Proof, Verdict, enumeration
from unfooled.space import DELETED, Space

Order = Literal["auto", "gradient", "leave-one-out", "none"]

_FIRST, _MOST = 16, 4096  # rows of a question: they double, so that an early end costs little
_WORTH_ORDERING = 1024  # members from which a look at the sensitivities pays


class Levels:
    """What has been seen of one space so far."""

    def __init__(self, space: Space, label: int) -> None:
        self.space, self.label = space, label
        self.proved, self.evaluated = -1, 0
        self.witness: Rows | None = None
        self.tie: Rows | None = None  # the first near-tie
        self.spent = self.late = False  # no queries, or no time are left
        self.listed = -1  # all members with up to so many swaps have been seen
        self.sweeping: Swept | None = None  # the last sweep, for what it took
        self.least: tuple[float, Rows | None] = math.inf, None  # within the proved radius
        self._level: tuple[float, Rows | None] = math.inf, None  # with the present number of swaps

    def run(self, radius: int, order: str) -> Program[None]:
        """Level by level: 0 swaps, 1 swap, ... until a text fools or the budget ends."""
        columns = tuple(range(len(self.space.counts)))
        for swaps in range(min(radius, len(self.space.counts)) + 1):
            if swaps == 1:
                columns = yield from self.order(radius, order)
            yield from self.level(swaps, columns)
            if self.ended:
                return
        self.proved = self.proved if self.tie is not None else radius  # a whole space has any

    @property
    def ended(self) -> bool:
        """Whether a text fools, or nothing more can be afforded."""
        return self.witness is not None or self.spent or self.late

    def level(
        self, swaps: int, columns: tuple[int, ...], *, seconds: float | None = None
    ) -> Program[None]:
        """All members with so many swaps, after all those with fewer, within about `seconds`."""
        swept = False
        if swaps:
            swept = yield from self._sweep(swaps, columns, seconds)
        if not swept and not self.ended:
            yield from self._list(swaps, columns, seconds)
        if self.ended:
            return
        within = self.space.size(swaps)
        if self.evaluated != within:
            raise Unsound(
                f"exhaustive counted {self.evaluated} texts within {swaps} swaps of "
                f"{str(self.space.original)!r:.60}, and there are {within}"
            )
        self.listed = swaps
        if self.tie is None:
            self.proved = max(self.proved, swaps)
            self.least = min(self.least, self._level, key=lambda found: found[0])
        self._level = math.inf, None

    def order(self, radius: int, order: str) -> Program[tuple[int, ...]]:
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

    def _list(self, swaps: int, columns: tuple[int, ...], seconds: float | None) -> Program[None]:
        """Asks for the scores of all members with so many swaps, in chunks.

        Other texts share the batches, so `seconds` are those of the clock.
        """
        began = time.perf_counter()
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
            self.look(rows[: len(scores)], scores)
            self.late = seconds is not None and time.perf_counter() - began > seconds
            if self.spent or (self.late and stop < total):
                return
            self.late = False
            start, size = stop, min(2 * size, _MOST)

    def _sweep(self, swaps: int, columns: tuple[int, ...], seconds: float | None) -> Program[bool]:
        """Has the victim judge all members with so many swaps; false: it has to be asked one by one."""
        found: Swept | None = yield Sweep(self.label, swaps, columns, seconds)
        self.sweeping = found
        if found is None:
            return False
        if found.fooled is not None:
            try:
                self.look(found.fooled[None], (yield Scores(found.fooled[None], cache=False)))
            except Spent:  # it is clear enough, and whoever reports it runs it again
                self.witness = found.fooled
            if self.witness is None:
                return False  # the forward does not confirm it, so forwards decide
        if found.doubtful is not None and self.witness is None:
            doubtful = found.doubtful
            self.look(doubtful, (yield Scores(doubtful, cache=False)))
            if found.doubts > len(doubtful) and self.tie is None:
                return False  # more than were kept: forwards decide
        self.evaluated += found.evaluated
        self._level = min(self._level, (found.least, found.least_row), key=lambda seen: seen[0])
        cut = not found.complete and self.witness is None
        self.late = cut and seconds is not None and found.seconds > seconds
        self.spent = cut and not self.late
        return True

    def look(self, rows: Rows, scores: Floats) -> None:
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
        elif self.spent or self.late:
            reason = f"budget: {self.evaluated:,} of {feasibility(size)}"
        elif self.tie is not None:
            swaps = int(np.count_nonzero(self.tie))
            reason = f"near-tie: a text with {swaps} swaps has a margin within float noise of zero"
        else:
            verdict = "certified"
        least, where = self.least
        shown = enumeration(self.evaluated, None if where is None else least, where)
        return Proof(verdict, self.proved, self.witness, reason, size, argument=shown)
