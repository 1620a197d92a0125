"""BERT-Attack (Li et al. 2020): the first fooling candidate in the language model's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unfooled import spellings
from unfooled.counting import Rows
from unfooled.importance import checked_share, importance, most_swaps
from unfooled.program import Attack, Goal, Program, Scores, better, first_best
from unfooled.space import UNKNOWN, Space


@dataclass(frozen=True)
class BertAttack(Attack):
    """Visits words by importance and takes the first candidate that fools, else the strongest.

    Importance is TextFooler's: the word unknown, with the flip term. Candidates are tried in the order of
    their source, which for this attack is a masked language model run once on the original text. When
    none fools, the one that lowers the label most is taken, if it does so in the current text. At most
    `max_share` of the words are swapped (None: no limit but the goal's).

    Differs from the authors: they stop when more than int(0.4 n) words have changed, so that
    int(0.4 n) + 1 can; here the share is rounded down, and one word is always allowed. They never rank
    the last word; here every word with candidates is. They ask candidate by candidate and stop at the
    first that fools; here all candidates of a position are one question, which finds the same text and
    counts the queries of the whole position. Sentence similarity, which they apply to finished texts,
    is no part of the search. TextAttack has no flip term, takes the best in place of the first, rounds
    the share up, and runs the language model again in every text.
    """

    source: ClassVar[str] = spellings.BERT_ATTACK

    max_share: float | None = 0.4

    def __post_init__(self) -> None:
        checked_share(self.max_share, "max_share")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, row = most_swaps(space, goal, self.max_share), space.origin
        if not most:
            return None
        found = yield from importance(space, goal, code=UNKNOWN, flips=True)
        now = found.start
        for column in found.order:
            if np.count_nonzero(row) >= most:
                return None
            rows = space.at(row, column)[1:]
            scores = yield Scores(rows)
            met = goal.met(scores, rows)
            if met.any():
                first: Rows = rows[met.argmax()]
                return first
            chances = found.belief.chance(scores)
            best = first_best(chances)
            if better(chances[best], now):
                row, now = rows[best], float(chances[best])
        return None


METHOD = BertAttack
