"""Tightening: from a text that fools to one with fewer swaps, or to a first one where a search failed.

Every way here asks through a `Ledger`, which remembers all scores, so that what one search has paid
for is free for the next, and which keeps the best text of all.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np

from unfooled import registry
from unfooled.counting import Rows, row_keys
from unfooled.errors import InputError
from unfooled.program import (
    Floats,
    Goal,
    Program,
    Scores,
    Spent,
    are_distributions,
    better,
    first_best,
    leaders,
)
from unfooled.space import Space

T = TypeVar("T")

_TEAMS = 256  # texts made of the best single swaps, for each number of swaps
_STARS = 32  # single swaps that a cheap climb tries
_STARTS = 4  # texts that are climbed from, for each number of swaps


class Enough(Exception):
    """The queries set aside for a part of a search are used up; the search itself may go on."""


class Ledger:
    """All that one search has learned about one text: scores by row, and the best row that fools."""

    def __init__(self, space: Space, goal: Goal) -> None:
        self.space, self.goal = space, goal
        self.best: Rows | None = None
        self.allowance: int | None = None  # queries left before Enough, None: no end
        self._gain = -np.inf
        self._odds = True  # so far every row of scores was a distribution
        self._index: dict[bytes, int] = {}
        self._rows: Rows = np.empty((0, len(space.positions)), dtype=np.int16)
        self._scores: Floats = np.empty((0, 0))

    @property
    def swaps(self) -> int | None:
        """The fewest swaps found to fool."""
        return None if self.best is None else int(np.count_nonzero(self.best))

    def ask(self, rows: Rows) -> Program[Floats]:
        """The scores of rows; only those that were never asked for become queries."""
        keys = row_keys(rows)
        fresh: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._index:
                fresh.setdefault(key, i)
        asked = rows[list(fresh.values())]
        cut = self.allowance is not None and len(asked) > self.allowance
        if self.allowance is not None:
            asked = asked[: self.allowance]
            self.allowance -= len(asked)
        if len(asked):
            try:
                self._learn(asked, (yield Scores(asked)))
            except Spent as end:
                self._learn(end.rows, end.scores)
                raise
        if cut:
            raise Enough
        found: Floats = self._scores[[self._index[key] for key in keys]]
        return found

    def follow(self, program: Program[T]) -> Program[T]:
        """What another search returns, its questions answered from memory where they can be."""
        answer: Any = None
        while True:
            try:
                question = program.send(answer)
            except StopIteration as stop:
                value: T = stop.value
                return value
            if not isinstance(question, Scores):
                raise InputError(f"only scores are remembered, not {type(question).__name__}")
            answer = yield from self.ask(question.rows)

    def leading(self, swaps: int, n: int) -> Rows:
        """Of all texts asked for with so many swaps, the n with the highest gain."""
        members = np.flatnonzero(
            (np.count_nonzero(self._rows, axis=1) == swaps) & (self._rows >= 0).all(axis=1)
        )
        top = leaders(self.goal.gain(self._scores[members]), n) if len(members) else []
        found: Rows = self._rows[members[top]]
        return found

    def log_odds(self, scores: Floats) -> Floats:
        """Those of the goal; scores are logits unless every answer of this victim was a distribution."""
        return self.goal.log_odds(scores, distributions=self._odds)

    def _learn(self, rows: Rows, scores: Floats) -> None:
        if not len(rows):
            return
        self._odds &= are_distributions(scores)
        self._store(rows, scores)
        met = self.goal.met(scores, rows)
        if not met.any():
            return
        rows, scores = rows[met], scores[met]
        counts = np.count_nonzero(rows, axis=1)
        few = counts == counts.min()
        gains = self.goal.gain(scores[few])
        first = first_best(gains)
        fewer = self.swaps is None or counts.min() < self.swaps
        if fewer or (counts.min() == self.swaps and better(gains[first], self._gain)):
            self.best, self._gain = rows[few][first].copy(), float(gains[first])

    def _store(self, rows: Rows, scores: Floats) -> None:
        known = len(self._index)
        if known + len(rows) > len(self._rows):
            room = max(2 * len(self._rows), known + len(rows), 256)
            grown = np.zeros((room, rows.shape[1]), dtype=np.int16)
            values = np.zeros((room, scores.shape[1]))
            if known:
                grown[:known], values[:known] = self._rows[:known], self._scores[:known]
            self._rows, self._scores = grown, values
        self._rows[known : known + len(rows)] = rows
        self._scores[known : known + len(rows)] = scores
        self._index.update(zip(row_keys(rows), range(known, known + len(rows)), strict=True))


def within(ledger: Ledger, work: Program[None], *, queries: int) -> Program[int]:
    """Does some work for at most so many queries; how many of them are left."""
    ledger.allowance = queries
    try:
        yield from work
    except Enough:
        return 0
    else:
        return ledger.allowance
    finally:
        ledger.allowance = None


def restart(ledger: Ledger, name: str, *, most: int | None = None) -> Program[None]:
    """Runs another attack by name, on what is known already, with at most so many swaps."""
    goal = ledger.goal if most is None else replace(ledger.goal, max_swaps=most)
    attack = registry.build("attacks", name)
    unused = np.random.default_rng(0)  # greedy and beam draw nothing
    yield from ledger.follow(attack.search(ledger.space, goal, unused))


def opening(ledger: Ledger) -> Program[None]:
    """A cheap first text that fools: greedy's, with the swaps put back that it does not need."""
    yield from restart(ledger, "greedy")
    aim = _aim(ledger) + 1
    while ledger.best is not None and _aim(ledger) < aim:
        aim = _aim(ledger)
        yield from _put_back(ledger, ledger.best, aim=aim)


def tighten(ledger: Ledger) -> Program[None]:
    """Lowers the number of swaps of the best text until no way does.

    All single swaps are asked for, so one swap, or two when no single one fools, is the minimum.
    """
    space = ledger.space
    yield from ledger.ask(space.neighbours(space.origin))
    while True:
        aim = _aim(ledger)
        for way in (_restore, _team_up, _climb_narrowly, _start_over, _climb):
            if aim < 2:
                return
            yield from way(ledger, aim)
            if _aim(ledger) < aim:
                break
        else:
            return


def _aim(ledger: Ledger) -> int:
    """How many swaps the next text may have: one fewer, or the limit while there is none."""
    if ledger.swaps is not None:
        return ledger.swaps - 1
    positions = len(ledger.space.positions)
    limit = ledger.goal.max_swaps
    return positions if limit is None else min(limit, positions)


def _restore(ledger: Ledger, aim: int) -> Program[None]:
    """Puts back one word of the best text, else two, else one while another changes its candidate."""
    best = ledger.best
    if best is None:
        return
    yield from _put_back(ledger, best, aim=aim)
    if _aim(ledger) == aim:
        fewer = _without(best, 1)
        changed = [ledger.space.neighbours(row, np.flatnonzero(row).tolist()) for row in fewer]
        yield from ledger.ask(np.concatenate(changed))


def _put_back(ledger: Ledger, row: Rows, *, aim: int) -> Program[None]:
    """Tries the row without one of its swaps, and when that never fools, without two."""
    for count in (1, 2):
        yield from ledger.ask(_without(row, count))
        if _aim(ledger) < aim:
            return


def _without(row: Rows, count: int) -> Rows:
    """The row with every group of so many swaps put back."""
    groups = list(combinations(np.flatnonzero(row).tolist(), count))
    rows = np.repeat(row[None], len(groups), axis=0)
    for i, group in enumerate(groups):
        rows[i, list(group)] = 0
    return rows


def _team_up(ledger: Ledger, aim: int) -> Program[None]:
    """Tries all groups of the positions whose best single swaps gain most."""
    space = ledger.space
    singles = ledger.leading(1, sum(space.counts))
    stars: dict[int, Rows] = {}
    for row in singles:
        stars.setdefault(int(np.flatnonzero(row)[0]), row)
    pool = min(aim, len(stars))
    while pool < len(stars) and comb(pool + 1, aim) <= _TEAMS:
        pool += 1
    chosen = np.stack(list(stars.values())[:pool])
    teams = [
        chosen[list(team)].sum(axis=0, dtype=np.int16) for team in combinations(range(pool), aim)
    ]
    if teams:
        yield from ledger.ask(np.stack(teams))


def _start_over(ledger: Ledger, aim: int) -> Program[None]:
    """A beam from the original, no deeper than the aim."""
    yield from restart(ledger, "beam", most=aim)


def _climb_narrowly(ledger: Ledger, aim: int) -> Program[None]:
    """Climbs with the single swaps that gain most: cheap where a text has hundreds of candidates."""
    yield from _climb(ledger, aim, narrow=_STARS)


def _climb(ledger: Ledger, aim: int, *, narrow: int | None = None) -> Program[None]:
    """Improves the most promising texts with as many swaps as the aim, one swap at a time."""
    singles = ledger.leading(1, sum(ledger.space.counts) if narrow is None else narrow)
    for row in ledger.leading(aim, _STARTS):
        yield from _exchange(ledger, row, singles=singles)
        if _aim(ledger) < aim:
            return


def _exchange(ledger: Ledger, row: Rows, *, singles: Rows) -> Program[None]:
    """Replaces each swap by the best other one of `singles`, until no exchange gains."""
    goal = ledger.goal
    now = float(goal.gain((yield from ledger.ask(row[None])))[0])
    rising = True
    while rising:
        rising = False
        for column in np.flatnonzero(row).tolist():
            base = row.copy()
            base[column] = 0
            rows = base + singles[(singles[:, base != 0] == 0).all(axis=1)]
            if not len(rows):
                continue
            scores = yield from ledger.ask(rows)
            if goal.met(scores, rows).any():
                return
            gains = goal.gain(scores)
            best = first_best(gains)
            if better(gains[best], now):
                row, now, rising = rows[best], float(gains[best]), True
