"""Faster genetic search (Jia et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unfooled import spellings
from unfooled.counting import Rows
from unfooled.populations import at_least, best_found, evolve, sigmoid
from unfooled.program import Attack, Floats, Goal, Program
from unfooled.space import Space
from unfooled.tightening import Ledger

_LEAST = 1e-6  # is added to every score, as by the authors: no parent is impossible


@dataclass(frozen=True)
class FasterGenetic(Attack):
    """Breeds texts within fixed candidates: any position may mutate again, also back to the original.

    Like `genetic`, whose candidates depended on the current text by distance and language model, which
    made it slow; here they are those of the original text, so a space. Parents are drawn with chances
    in proportion to their scores, the position to mutate uniformly, swapped or not, and the best of the
    original word and all its candidates is taken there.

    Differs from the authors: their language model keeps candidates that lower the log probability of
    the text around a word by at most 5; it is absent here, and the source of candidates decides. 40
    generations are those of TextAttack's recipe, the default of the authors' code is 20. All choices of
    all children are asked for in one question, a text is never paid for twice, and of several that fool
    in one question the one with the fewest swaps is returned. They have no limit of swaps; here a child
    over the limit loses swaps drawn at random, and one at the limit gives up a swap before it takes
    another. Differs from TextAttack 0.3.11, which prefers the worse parents by exp(-score / 0.3), and
    positions with more candidates.
    """

    source: ClassVar[str] = spellings.GENETIC

    population: int = 60
    generations: int = 40

    def __post_init__(self) -> None:
        at_least(self, population=2, generations=0)

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        ledger = Ledger(space, goal)
        work = evolve(
            ledger,
            population=self.population,
            generations=self.generations,
            chances=in_proportion,
            weights=_anywhere,
            rng=rng,
        )
        return (yield from best_found(ledger, work))


def in_proportion(log_odds: Floats) -> Floats:
    """The chance of each member to be a parent: its score, as a share of all scores."""
    scores = sigmoid(log_odds) + _LEAST
    found: Floats = scores / scores.sum()
    return found


def _anywhere(rows: Rows) -> NDArray[np.integer]:
    return np.ones(rows.shape, dtype=np.int64)


METHOD = FasterGenetic
