"""Particle swarm search (SemPSO, Zang et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.evidence import NOISE
from unfooled.importance import most_swaps
from unfooled.populations import (
    NOWHERE,
    at_least,
    best_found,
    draw_columns,
    mutated,
    sigmoid,
    trimmed,
)
from unfooled.program import Attack, Floats, Goal, Program, first_best
from unfooled.space import Space
from unfooled.tightening import Ledger

_PULL = 3.0  # what a word adds to its velocity: towards an elite it differs from, or against moving
_INERTIA = (0.8, 0.2)  # at the first step and, but for one step, at the last
_OWN = (
    0.8,
    0.2,
)  # the probability to turn to the particle's own elite; that of the swarm's mirrors it
_MOST_WEIGHT = 10  # a position with more candidates is not drawn more often


@dataclass(frozen=True)
class Swarm:
    """Particles, their velocities, and the best text each has been."""

    particles: Rows
    velocities: Floats  # (particle, position)
    elites: Rows
    log_odds: Floats  # of the elites' scores

    @property
    def elite(self) -> Rows:
        """The best text of all particles."""
        best: Rows = self.elites[first_best(self.log_odds)]
        return best


@dataclass(frozen=True)
class SemPSO(Attack):
    """Moves a swarm of texts towards the best that each particle and all of them have been.

    Every step each particle turns to its own best text and to the swarm's: word by word, from its own
    word to the elite's, with the probability sigmoid(velocity). Then it mutates with probability
    1 - 2 x (share of words swapped): at a position not yet swapped, drawn with weight min(candidates,
    10), it takes the best candidate if that helps. The score of a text is the probability of the
    target, or of any other class than the label.

    Differs from the authors: candidates are those of the space; the paper's are words with the same
    sememes, `sememes` among the sources. All particles are asked for in one question, and so are all
    candidates of their mutations; a text is never paid for twice, and of several that fool in one
    question the one with the fewest swaps is returned. When every position is swapped, the word drawn
    may also go back to the original. They attack texts of 10 to 100 words and count a success only when
    at most 0.25 of the words are swapped: here the limit is kept on the way, a particle over it loses
    swaps drawn at random, and one at it gives up a swap before it takes another. They always have a
    target. Differs from TextAttack 0.3.11, whose particles turn away from the elites, and from
    OpenAttack 2.1.1, whose elites never change.
    """

    population: int = 60
    steps: int = 20

    def __post_init__(self) -> None:
        at_least(self, population=1, steps=0)

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        ledger = Ledger(space, goal)
        return (yield from best_found(ledger, self._fly(ledger, rng)))

    def _fly(self, ledger: Ledger, rng: np.random.Generator) -> Program[None]:
        swarm = yield from start(ledger, self.population, rng=rng)
        for step in range(self.steps):
            if ledger.best is not None:
                return
            swarm = yield from move(ledger, swarm, passed=step / self.steps, rng=rng)


def start(ledger: Ledger, n: int, *, rng: np.random.Generator) -> Program[Swarm]:
    """Particles with the best candidate at one position each, and one velocity for all its words."""
    rows = np.repeat(ledger.space.rows(ledger.space.origin), n, axis=0)
    columns = draw_columns(position_weights(ledger.space, rows), rng)
    rows = yield from mutated(ledger, rows, columns, rng=rng)
    odds = ledger.log_odds((yield from ledger.ask(rows)))
    speeds = rng.uniform(-_PULL, _PULL, size=(n, 1))
    return Swarm(rows, np.repeat(speeds, rows.shape[1], axis=1), rows, odds)


def move(
    ledger: Ledger, swarm: Swarm, *, passed: float, rng: np.random.Generator
) -> Program[Swarm]:
    """The swarm one step later, `passed` being the share of the steps before; unmutated if that fools."""
    inertia, own, shared = schedule(passed)
    velocities = faster(swarm, inertia=inertia)
    chances, n = sigmoid(velocities), len(swarm.particles)
    rows = swarm.particles
    for elite, chance in ((swarm.elites, own), (swarm.elite[None], shared)):
        turning = rng.random(n) < chance
        rows = turned(rows, elite, chances=np.where(turning[:, None], chances, 0.0), rng=rng)
    rows = trimmed(rows, most_swaps(ledger.space, ledger.goal), rng=rng)
    yield from ledger.ask(rows)
    if ledger.best is None:
        share = np.count_nonzero(rows, axis=1) / len(ledger.space.original)
        columns = draw_columns(position_weights(ledger.space, rows), rng)
        columns = np.where(rng.random(n) < 1 - 2 * share, columns, NOWHERE)
        rows = yield from mutated(ledger, rows, columns, rng=rng)
    odds = ledger.log_odds((yield from ledger.ask(rows)))
    risen = odds > swarm.log_odds + NOISE * np.maximum(1.0, np.abs(swarm.log_odds))
    elites: Rows = np.where(risen[:, None], rows, swarm.elites)
    return Swarm(rows, velocities, elites, np.where(risen, odds, swarm.log_odds))


def schedule(passed: float) -> tuple[float, float, float]:
    """Inertia, and the probabilities to turn to a particle's own elite and to the swarm's."""
    inertia = _INERTIA[0] + passed * (_INERTIA[1] - _INERTIA[0])
    own = _OWN[0] + passed * (_OWN[1] - _OWN[0])
    return inertia, own, _OWN[0] + _OWN[1] - own


def faster(swarm: Swarm, *, inertia: float) -> Floats:
    """The new velocities: up where a word differs from an elite's, down where it is the same."""
    pulls = [
        np.where(swarm.particles == elite, -_PULL, _PULL) for elite in (swarm.elites, swarm.elite)
    ]
    found: Floats = inertia * swarm.velocities + (1 - inertia) * sum(pulls)
    return found


def turned(rows: Rows, elites: Rows, *, chances: Floats, rng: np.random.Generator) -> Rows:
    """Each row with its words replaced by the elite's, every word with its own chance."""
    moved: Rows = np.where(rng.random(rows.shape) < chances, elites, rows)
    return moved


def position_weights(space: Space, rows: Rows) -> NDArray[np.integer]:
    """min(candidates, 10) where the word is not yet swapped; everywhere once all words are."""
    weights = np.minimum(space.counts, _MOST_WEIGHT)
    free = (rows == 0) | (rows != 0).all(axis=1, keepdims=True)
    return np.where(free, weights, 0)


METHOD = SemPSO
