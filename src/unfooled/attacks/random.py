"""Random search: the baseline that any search has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.program import Attack, Goal, Program, Scores, Spent, first_best
from unfooled.space import Space

_AT_ONCE = 64  # texts drawn before looking at their scores; a success narrows the next draw


@dataclass(frozen=True)
class Random(Attack):
    """Draws texts uniformly within the limit, and after each success among those with fewer swaps."""

    draws: int = 2000

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise InputError(f"draws is 1 or more, not {self.draws}")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        best: Rows | None = None
        radius = len(space.positions) if goal.max_swaps is None else goal.max_swaps
        left = self.draws
        while left > 0 and radius > 0 and space.positions:
            rows = space.sample(radius, min(left, _AT_ONCE), rng)
            left -= len(rows)
            try:
                scores = yield Scores(rows)
            except Spent:
                return best  # what the last rows found is with the engine
            met = goal.met(scores, rows)
            if met.any():
                counts = np.count_nonzero(rows, axis=1)
                few = met & (counts == counts[met].min())
                best = rows[few][first_best(goal.gain(scores[few]))]
                radius = int(counts[met].min()) - 1
        return best


METHOD = Random
