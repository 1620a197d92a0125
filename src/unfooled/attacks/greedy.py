"""Greedy search in order of saliency: the plainest word-substitution attack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfooled.counting import Rows
from unfooled.program import Attack, Goal, Program, Scores, better, first_best, leaders
from unfooled.space import UNKNOWN, Space


@dataclass(frozen=True)
class Greedy(Attack):
    """Visits positions in order of saliency and takes the best candidate at each, until the flip.

    The saliency of a word is what the goal gains when the victim does not know the word. At each
    position the candidate with the highest gain is kept if it gains at all.
    """

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        row: Rows = space.origin
        if not len(row):
            return None
        asked = np.concatenate([row[None], space.probes(row, UNKNOWN)])
        gains = goal.gain((yield Scores(asked)))
        now = gains[0]
        swaps = 0
        for column in leaders(gains[1:], len(row)):
            if goal.max_swaps is not None and swaps >= goal.max_swaps:
                return None
            rows = space.at(row, column)[1:]
            scores = yield Scores(rows)
            gains = goal.gain(scores)
            best = first_best(gains)
            if not better(gains[best], now):
                continue
            row, now, swaps = rows[best], gains[best], swaps + 1
            if now > 0 and goal.met(scores[best : best + 1], row[None])[0]:
                return row
        return None


METHOD = Greedy
