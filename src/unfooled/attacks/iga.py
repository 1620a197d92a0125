"""Improved genetic search (IGA, Wang et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unfooled import spellings
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.importance import most_swaps
from unfooled.populations import (
    at_least,
    at_one_point,
    best_found,
    draw_columns,
    draw_parents,
    fitter,
    mutated,
    trimmed,
)
from unfooled.program import Attack, Goal, Program, first_best, leaders
from unfooled.space import Space
from unfooled.tightening import Ledger


@dataclass(frozen=True)
class Members:
    """Texts, and how often each of their words may still be replaced."""

    rows: Rows
    left: NDArray[np.int64]  # (member, position)


@dataclass(frozen=True)
class IGA(Attack):
    """Breeds texts from the best single swap of every position, crossed at one point.

    The first population has one member for each position, the first one included: the text with the
    best candidate there. Swapped words may be replaced again, every word at most `replacements` times;
    a child mutates at a position drawn in proportion to the replacements it has left. Scores and parents
    are those of `genetic`.

    Differs from the authors: the code they released holds no attack, so what is open is as in
    TextAttack's recipe (sizes, one-point crossover, 5 replacements, positions by replacements left) or
    as in `genetic` (parents). Of more positions than `population` those with the best single swaps are
    kept. A replacement counts when it changes the word. All choices of all children are asked for in
    one question, a text is never paid for twice, and of several that fool in one question the one with
    the fewest swaps is returned. A child over the limit of swaps loses some drawn at random, and one at
    the limit gives up a swap before it takes another. Differs from TextAttack 0.3.11, which prefers the
    worse parents, takes the first 60 positions, and replaces a random position instead of the first.
    """

    source: ClassVar[str] = spellings.IGA

    population: int = 60
    generations: int = 20
    temperature: float = 0.3
    replacements: int = 5

    def __post_init__(self) -> None:
        at_least(self, population=2, generations=0, replacements=1)
        if not self.temperature > 0:
            raise InputError(f"temperature is above 0, not {self.temperature}")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        ledger = Ledger(space, goal)
        return (yield from best_found(ledger, self._evolve(ledger, rng)))

    def _evolve(self, ledger: Ledger, rng: np.random.Generator) -> Program[None]:
        members = yield from self._first(ledger)
        for _ in range(self.generations):
            if ledger.best is not None or len(members.rows) < 2:  # one position: all has been tried
                return
            members = yield from self._next(ledger, members, rng=rng)

    def _first(self, ledger: Ledger) -> Program[Members]:
        """The best candidate of each position, alone, whether it helps or not."""
        space = ledger.space
        rows = space.neighbours(space.origin)
        odds = ledger.log_odds((yield from ledger.ask(rows)))
        ends = np.cumsum(space.counts)
        starts = ends - space.counts
        best = np.array(
            [a + first_best(odds[a:b]) for a, b in zip(starts, ends, strict=True)], dtype=np.int64
        )
        best = best[sorted(leaders(odds[best], self.population))]
        left = np.full((len(best), len(space.positions)), self.replacements)
        return Members(rows[best], left - (rows[best] != 0))

    def _next(self, ledger: Ledger, now: Members, *, rng: np.random.Generator) -> Program[Members]:
        """The fittest member as it is, and mutated children in place of the others."""
        odds = ledger.log_odds((yield from ledger.ask(now.rows)))
        n, chances = len(now.rows), fitter(odds, temperature=self.temperature)
        first, second = (draw_parents(chances, n - 1, rng=rng) for _ in range(2))
        from_first = at_one_point((n - 1, now.rows.shape[1]), rng)
        crossed: Rows = np.where(from_first, now.rows[first], now.rows[second])
        left = np.where(from_first, now.left[first], now.left[second])
        crossed = trimmed(crossed, most_swaps(ledger.space, ledger.goal), rng=rng)
        columns = draw_columns(left, rng)
        rows = yield from mutated(ledger, crossed, columns, rng=rng)
        here = columns[:, None] == np.arange(rows.shape[1])
        left = left - (here & (rows != crossed))
        elite = [first_best(odds)]
        return Members(
            np.concatenate([now.rows[elite], rows]), np.concatenate([now.left[elite], left])
        )


METHOD = IGA
