"""Importance: which words a victim's answer hangs on, by taking them away one at a time.

Sub-programs for attacks that visit words in this order: `found = yield from importance(...)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unfooled.belief import Belief
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.program import Floats, Goal, Program, Scores, leaders
from unfooled.space import DELETED, UNKNOWN, Space


@dataclass(frozen=True, slots=True)
class Importance:
    """What was asked about the original text and the texts without one of its words."""

    belief: Belief
    start: float  # the chance of the original text
    columns: tuple[int, ...]
    chances: Floats  # of each column, when its word is taken away
    values: Floats  # the chances, with the flip term where it is wanted

    @property
    def order(self) -> list[int]:
        """The columns, most important first."""
        return [self.columns[i] for i in leaders(self.values, len(self.columns))]


def importance(
    space: Space,
    goal: Goal,
    *,
    code: int = UNKNOWN,
    flips: bool = False,
    columns: Sequence[int] | None = None,
) -> Program[Importance]:
    """How near the goal comes when a word is unknown (or deleted), for all `columns` in one question.

    With `flips` the importance of a word whose loss changes the label is raised by what the new
    label y' gains: p(x) - p(x without i) + p_y'(x without i) - p_y'(x), as TextFooler and
    BERT-Attack have it. Values are logarithms of this plus 1 - p(x): the same order. Neither paper
    has a target; with one, importance is what the target alone gains.
    """
    chosen = tuple(range(len(space.positions)) if columns is None else columns)
    probes = readable(space, space.probes(space.origin, code)[list(chosen)])
    scores = yield Scores(np.concatenate([space.origin[None], probes]))
    belief = Belief.read(goal, scores)
    chances = belief.chance(scores)
    values = chances[1:]
    if flips and goal.target is None:
        values = _raised(belief, scores, chances=values)
    return Importance(belief, float(chances[0]), chosen, chances[1:], values)


def _raised(belief: Belief, scores: Floats, *, chances: Floats) -> Floats:
    """The chances of the probes with the flip term; the first row of scores is the original's."""
    odds = np.exp(belief.logs(scores))
    now = odds[1:].argmax(axis=1)
    gained = odds[np.arange(1, len(odds)), now] - odds[0, now]
    raised = np.exp(chances) + np.where(now == belief.goal.label, 0.0, gained)
    # Above zero: who is not the first has at most 0.5, and so had y' before. Only an original that
    # is misclassified itself can come to less.
    found: Floats = np.log(np.maximum(raised, np.finfo(np.float64).tiny))
    return np.where(now == belief.goal.label, chances, found)


def readable(space: Space, probes: Rows) -> Rows:
    """The probes with an unknown word where no word would be left: many victims refuse no text."""
    if len(space.positions) == len(space.original):
        probes = probes.copy()
        probes[(probes == DELETED).all(axis=1), :1] = UNKNOWN
    return probes


def ranked(differences: Floats, *, of: Floats) -> list[int]:
    """Indices by a difference of probabilities, the highest first.

    Float noise is in proportion to the probabilities `of` which they are differences, so those of a
    victim that is very sure are compared on their own scale.
    """
    return leaders(
        differences / max(float(np.max(of)), np.finfo(np.float64).tiny), len(differences)
    )


def most_swaps(space: Space, goal: Goal, share: float | None = None) -> int:
    """How many words an attack may swap: the goal's limit, its own share of the words, all of them.

    A share is rounded down, but allows one word at least.
    """
    most = [len(space.positions)] + ([] if goal.max_swaps is None else [goal.max_swaps])
    if share is not None:
        most.append(
            max(1, math.floor(share * len(space.original) + 1e-9))
        )  # 0.29 x 100 is 28.999...
    return min(most)


def checked_share(share: float | None, name: str) -> None:
    """Refuses what is no share of the words."""
    if share is not None and not 0 < share <= 1:
        raise InputError(f"{name} is a share of the words above 0, at most 1, not {share}")
