"""Pseudo-dynamic programming (PDP, Yang et al. 2022), and tightening beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.program import (
    Attack,
    Finding,
    Floats,
    Goal,
    Gradients,
    Program,
    Spent,
    first_best,
    leaders,
)
from unfooled.space import Space
from unfooled.tightening import Ledger, opening, tighten, within


@dataclass(frozen=True)
class PDP(Attack):
    """Keeps the best texts, looks ahead for the position to swap next, then tightens what it found.

    Algorithm 1 of Yang et al. (2022): the `keep` texts with the highest score are remembered; the
    next position is the one where some candidate, in one of `draws` texts drawn in proportion to
    their scores, scores highest; every remembered text then takes every candidate there.
    With `positions="gradient"` the position comes from gradients instead (white box).

    Differs from the paper: it says neither how many texts are kept nor how many are drawn. How many are
    kept hardly matters: 1 to 16 fool 109 or 110 of 200 mr texts, and 30 to 32 of 50 imdb texts within
    2,000 queries; 8 is a middle way, and tightening takes back what it costs. One is drawn, because on
    long texts each further one costs successes, the budget ending sooner, and on mr it gains nothing
    (docs/results/pdp.md, written by `benchmarks/pdp.py`).
    With `tighten` greedy search goes first, and after the paper's algorithm come ways to fewer swaps,
    or to a first success within the limit: all this for at most `tighten` further queries for each
    text. 0 is the paper's algorithm alone, whose own result is the `first_swaps` of an outcome.
    """

    keep: int = 8
    draws: int = 1
    positions: Literal["lookahead", "gradient"] = "lookahead"
    tighten: int = 2000

    def __post_init__(self) -> None:
        for name, least in (("keep", 1), ("draws", 1), ("tighten", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {least} or more, not {getattr(self, name)}")
        if self.positions not in ("lookahead", "gradient"):
            raise InputError(f"positions come from lookahead or gradient, not {self.positions!r}")

    @property
    def needs(self) -> Literal["scores", "gradients"]:
        return "gradients" if self.positions == "gradient" else "scores"

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Finding]:
        if not space.positions or goal.max_swaps == 0:
            return Finding(None)
        ledger, first, spare = Ledger(space, goal), None, self.tighten
        try:
            if spare:  # the cheapest search goes first, so that a small budget is not for nothing
                spare = yield from within(ledger, opening(ledger), queries=spare)
            first = yield from self._algorithm(ledger, rng)
            if spare:
                yield from within(ledger, tighten(ledger), queries=spare)
        except Spent:
            pass  # the ledger has what was found until now
        row = ledger.best if self.tighten else first
        return Finding(row, None if first is None else int(np.count_nonzero(first)))

    def _algorithm(self, ledger: Ledger, rng: np.random.Generator) -> Program[Rows | None]:
        """The paper's result: the best text that fools, at the first step that has one."""
        space, goal = ledger.space, ledger.goal
        choose = _look_ahead if self.positions == "lookahead" else _follow_gradients
        texts, left = space.rows(space.origin), list(range(len(space.positions)))
        scores = yield from ledger.ask(texts)
        while left:
            top = leaders(ledger.log_odds(scores), self.keep)
            texts, scores = texts[top], scores[top]
            drawn = np.unique(draw(ledger.log_odds(scores), self.draws, rng=rng))
            column = yield from choose(ledger, texts[drawn], scores=scores[drawn], columns=left)
            left.remove(column)
            texts = space.at(texts, column)
            scores = yield from ledger.ask(texts)
            met = goal.met(scores, texts)
            if met.any():
                return _best(texts[met], ledger.log_odds(scores[met]))
        return None


def draw(log_odds: Floats, n: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """n independent indices, each with probability in proportion to the score behind the log odds."""
    logs = -np.logaddexp(0.0, -log_odds)  # of the scores; their ratios survive where they underflow
    weights = np.exp(logs - logs.max())
    return rng.choice(len(weights), size=n, p=weights / weights.sum())


def _best(rows: Rows, log_odds: Floats) -> Rows:
    """Fewest swaps, then the highest score."""
    counts = np.count_nonzero(rows, axis=1)
    few = counts == counts.min()
    best: Rows = rows[few][first_best(log_odds[few])]
    return best


def _look_ahead(ledger: Ledger, drawn: Rows, *, scores: Floats, columns: list[int]) -> Program[int]:
    """The column where one swap of a drawn text scores highest.

    The paper's candidates include the original word, which adds the same score to every column and so
    decides nothing.
    """
    space = ledger.space
    swapped = yield from ledger.ask(space.neighbours(drawn, columns))
    starts = np.cumsum([0] + [space.counts[c] for c in columns[:-1]])
    values = ledger.log_odds(swapped).reshape(len(drawn), -1)  # (text, candidates of all columns)
    return columns[first_best(np.maximum.reduceat(values, starts, axis=1).max(axis=0))]


def _follow_gradients(
    ledger: Ledger, drawn: Rows, *, scores: Floats, columns: list[int]
) -> Program[int]:
    """The column where one swap of a drawn text would score highest if the victim were linear."""
    goal, space = ledger.goal, ledger.space
    ours = goal.label if goal.target is None else goal.target
    top = scores[first_best(ledger.log_odds(scores))].copy()
    top[ours] = -np.inf
    rival = int(top.argmax())
    of_ours, of_rival = yield (Gradients(drawn, ours), Gradients(drawn, rival))
    ahead = of_rival - of_ours if goal.target is None else of_ours - of_rival
    reach = ahead + goal.gain(scores)[:, None, None]  # (text, column, choice)
    values = [reach[:, c, 1 : space.counts[c] + 1].max() for c in columns]
    return columns[first_best(np.array(values))]


METHOD = PDP
