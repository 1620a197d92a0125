"""Beam search over one more swap at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.program import Attack, Goal, Program, Scores, first_best, leaders
from unfooled.space import Space


@dataclass(frozen=True)
class Beam(Attack):
    """Keeps the `width` best texts of each number of swaps and tries every further swap of each."""

    width: int = 4

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"width is at least 1, not {self.width}")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        beam = space.rows(space.origin)
        most = len(space.positions) if goal.max_swaps is None else goal.max_swaps
        for _ in range(min(most, len(space.positions))):
            rows = space.unique(_one_more(space, beam))
            scores = yield Scores(rows)
            gains = goal.gain(scores)
            met = goal.met(scores, rows)
            if met.any():
                found: Rows = rows[met][first_best(gains[met])]
                return found
            beam = rows[leaders(gains, self.width)]
        return None


def _one_more(space: Space, beam: Rows) -> Rows:
    """Every row of the beam with one more word swapped."""
    return np.concatenate(
        [space.neighbours(row, np.flatnonzero(row == 0).tolist()) for row in beam]
    )


METHOD = Beam
