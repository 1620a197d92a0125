"""Genetic search (Alzantot et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unfooled import spellings
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.populations import at_least, best_found, evolve, fitter
from unfooled.program import Attack, Goal, Program
from unfooled.space import Space
from unfooled.tightening import Ledger


@dataclass(frozen=True)
class Genetic(Attack):
    """Breeds texts: fit parents are crossed word by word, children take the best swap at one position.

    The score of a text is the probability of the target, or of any other class than the label.
    Parents are drawn with chances in proportion to exp(score / temperature), so fitter ones are
    preferred. A child mutates at a position that is not yet swapped, drawn in proportion to its number of
    candidates, and keeps the best candidate there if it helps. The fittest text always survives.

    Differs from the authors: candidates are those of the space, so a language model does not choose 4
    of 8, and frequent words are left alone only if the source of candidates does so; positions weigh
    these candidates and not those among 50 neighbours. All candidates of all children are asked for in
    one question, a text is never paid for twice, and of several that fool in one question the one with
    the fewest swaps is returned. A text of which every position is swapped does not mutate, where their
    code tries any position again. Their limit of swaps (0.2 of the words) only counts a finished text as
    a failure; here a child over the limit loses swaps drawn at random, and one at the limit gives up a
    swap before it takes another. They always have a target. On pairs their code takes a candidate at
    random, with temperature 1; here pairs are as texts. Differs from TextAttack 0.3.11, which prefers
    the worse parents.
    """

    source: ClassVar[str] = spellings.GENETIC

    population: int = 60
    generations: int = 20
    temperature: float = 0.3

    def __post_init__(self) -> None:
        at_least(self, population=2, generations=0)
        if not self.temperature > 0:
            raise InputError(f"temperature is above 0, not {self.temperature}")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        ledger = Ledger(space, goal)
        work = evolve(
            ledger,
            population=self.population,
            generations=self.generations,
            chances=partial(fitter, temperature=self.temperature),
            weights=partial(_weights, np.array(space.counts)),
            rng=rng,
        )
        return (yield from best_found(ledger, work))


def _weights(counts: NDArray[np.integer], rows: Rows) -> NDArray[np.integer]:
    """The number of candidates at each position, none where the word is swapped already."""
    return np.where(rows == 0, counts, 0)


METHOD = Genetic
