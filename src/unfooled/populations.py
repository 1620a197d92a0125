"""Populations of texts: who is drawn as a parent, how two texts are crossed, where one mutates.

What the genetic searches and the particle swarm share: pure functions of rows, and sub-programs that
ask about a whole population in one question.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.importance import most_swaps
from unfooled.program import Attack, Floats, Program, Spent, first_best
from unfooled.tightening import Ledger

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

NOWHERE = -1
"""The column of a row that does not mutate."""


def at_least(attack: Attack, **least: float) -> None:
    """Refuses an option of an attack that is below its least value."""
    for name, value in least.items():
        if not getattr(attack, name) >= value:
            raise InputError(f"{name} is {value} or more, not {getattr(attack, name)}")


def best_found(ledger: Ledger, work: Program[None]) -> Program[Rows | None]:
    """The best text that some work finds before it ends or the budget does."""
    if most_swaps(ledger.space, ledger.goal):
        with suppress(Spent):  # the ledger has what was found until then
            yield from work
    return ledger.best


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-value)): the score of log odds, without overflow."""
    found: Floats = np.exp(-np.logaddexp(0.0, -values))
    return found


# --- drawing ------------------------------------------------------------------------------------


def fitter(log_odds: Floats, *, temperature: float) -> Floats:
    """The chance of each member to be a parent: exp(score / temperature), scores from 0 to 1."""
    scores = sigmoid(log_odds)
    chances = np.exp((scores - scores.max()) / temperature)
    found: Floats = chances / chances.sum()
    return found


def draw_parents(chances: Floats, n: int, *, rng: Generator) -> Indices:
    """n members by number, drawn independently by their chances.

    The highest of log chance + Gumbel noise is such a draw. Other than a search in cumulative chances, it
    hangs on the last digits of two members at most, not of all: the same scores from other batches very
    rarely draw anybody else.
    """
    with np.errstate(divide="ignore"):  # no chance at all
        drawn: Indices = (np.log(chances) + rng.gumbel(size=(n, len(chances)))).argmax(axis=1)
    return drawn


def draw_columns(weights: NDArray[np.integer], rng: Generator) -> Indices:
    """For each row of weights a column drawn in proportion to them; NOWHERE where all are zero."""
    totals = np.cumsum(weights, axis=1)
    cuts = rng.random(len(weights)) * totals[:, -1]
    columns: Indices = (totals > cuts[:, None]).argmax(axis=1)
    return np.where(totals[:, -1] > 0, columns, NOWHERE)


# --- crossing and limits ------------------------------------------------------------------------


def evenly(shape: tuple[int, int], rng: Generator) -> Mask:
    """Uniform crossover: each word is from the first parent with probability 0.5."""
    return rng.random(shape) < 0.5


def at_one_point(shape: tuple[int, int], rng: Generator) -> Mask:
    """One-point crossover: the words before a point drawn uniformly are from the first parent."""
    points = rng.integers(0, shape[1], size=shape[0])
    before: Mask = np.arange(shape[1]) < points[:, None]
    return before


def trimmed(rows: Rows, most: int | NDArray[np.integer], *, rng: Generator) -> Rows:
    """The rows, those with too many swaps without some of them, drawn uniformly.

    `most` is one limit for all rows or one for each.
    """
    if (np.count_nonzero(rows, axis=1) <= most).all():
        return rows
    lots = np.where(rows != 0, rng.random(rows.shape), 2.0)  # words that are not swapped come last
    ranks = lots.argsort(axis=1).argsort(axis=1)
    kept: Rows = np.where(ranks < np.broadcast_to(most, len(rows))[:, None], rows, 0)
    return kept.astype(np.int16, copy=False)


# --- mutating -----------------------------------------------------------------------------------


def best_choices(ledger: Ledger, rows: Rows, columns: Indices) -> Program[Rows]:
    """Each row with the choice that scores highest at its column, all asked for in one question.

    The original word is one of the choices, and wins ties: a word that does not help is not swapped.
    """
    if not len(rows):
        return rows
    tried = [
        row[None] if column == NOWHERE else ledger.space.at(row, column)
        for row, column in zip(rows, columns.tolist(), strict=True)
    ]
    odds = ledger.log_odds((yield from ledger.ask(np.concatenate(tried))))
    ends = np.cumsum([len(choices) for choices in tried])
    parts = zip(tried, np.split(odds, ends[:-1]), strict=True)
    return np.stack([choices[first_best(values)] for choices, values in parts])


def mutated(ledger: Ledger, rows: Rows, columns: Indices, *, rng: Generator) -> Program[Rows]:
    """The rows with the best choice at their columns; a row at the limit gives up another swap first."""
    most = most_swaps(ledger.space, ledger.goal)
    new = (columns != NOWHERE) & (rows[np.arange(len(rows)), columns] == 0)
    rows = trimmed(rows, most - new.astype(np.int64), rng=rng)
    return (yield from best_choices(ledger, rows, columns))


# --- generations --------------------------------------------------------------------------------


def next_generation(
    ledger: Ledger,
    rows: Rows,
    *,
    chances: Callable[[Floats], Floats],
    weights: Callable[[Rows], NDArray[np.integer]],
    rng: Generator,
) -> Program[Rows]:
    """The fittest row as it is, and mutated children in place of the others.

    `chances` are those of parents, from the log odds of their scores; `weights` are those of the
    columns where rows mutate.
    """
    odds = ledger.log_odds((yield from ledger.ask(rows)))
    drawn = [rows[draw_parents(chances(odds), len(rows) - 1, rng=rng)] for _ in range(2)]
    children: Rows = np.where(evenly(drawn[0].shape, rng), *drawn)
    children = trimmed(children, most_swaps(ledger.space, ledger.goal), rng=rng)
    columns = draw_columns(weights(children), rng)
    children = yield from mutated(ledger, children, columns, rng=rng)
    return np.concatenate([rows[[first_best(odds)]], children])


def evolve(
    ledger: Ledger,
    *,
    population: int,
    generations: int,
    chances: Callable[[Floats], Floats],
    weights: Callable[[Rows], NDArray[np.integer]],
    rng: Generator,
) -> Program[None]:
    """Mutates copies of the original, then lets them breed until a text fools."""
    rows = np.repeat(ledger.space.rows(ledger.space.origin), population, axis=0)
    rows = yield from mutated(ledger, rows, draw_columns(weights(rows), rng), rng=rng)
    for _ in range(generations):
        if ledger.best is not None:
            return
        rows = yield from next_generation(ledger, rows, chances=chances, weights=weights, rng=rng)
