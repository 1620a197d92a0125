"""Choosing: which candidate of a position a greedy attack takes, when sentences must stay similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unfooled.belief import Belief
from unfooled.counting import Rows, row_keys
from unfooled.errors import InputError
from unfooled.evidence import NOISE
from unfooled.program import Floats, Program, Scores, Similarities, first_best
from unfooled.space import Space

Reference = Literal["original", "previous"]
WINDOW = 15  # words, of TextFooler and BAE


@dataclass(frozen=True, slots=True)
class Step:
    """The candidate taken at a position, as a row, and whether it meets the goal."""

    row: Rows
    chance: float
    met: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """How similar a text must stay to be taken.

    A window of so many words around the swap is compared, or with None the whole text. A text with fewer
    words than the window is not held to `least`, whatever other texts came before it; among several that
    fool, the most similar is taken all the same. `least` None: nobody asks for similarities.
    """

    least: float | None
    window: int | None
    reference: Reference

    def __post_init__(self) -> None:
        if self.least is not None and not -1 <= self.least <= 1:
            raise InputError(f"step_similarity is from -1 to 1, not {self.least}")
        if self.window is not None and self.window < 1:
            raise InputError(f"step_window is 1 or more words, not {self.window}")
        if self.reference not in ("original", "previous"):
            raise InputError(f"reference is original or previous, not {self.reference!r}")
        usual = self.window in (None, WINDOW) and self.reference == "original"
        if self.least is None and not usual:
            raise InputError(
                "step_window and reference say how step_similarity compares, which is not given: give "
                "it too, such as step_similarity 0.8776"
            )

    def binds(self, space: Space) -> bool:
        """Whether a text is held to it: any, or with a window one that has so many words."""
        long = self.window is None or len(space.original) >= self.window
        return self.least is not None and long

    def choose(
        self, space: Space, rows: Rows, *, row: Rows, column: int, belief: Belief, floor: float
    ) -> Program[Step | None]:
        """The most similar of the rows that fool; else the one with the highest chance above `floor`.

        `rows` differ from `row`, the text before, at `column`. None: no row is similar enough and
        better than `floor`. Only rows that could be taken are compared with the reference.
        """
        scores = yield Scores(rows)
        chances = belief.chance(scores)
        met = belief.goal.met(scores, rows)
        able = np.flatnonzero(met | (chances > floor + NOISE * max(1.0, abs(floor))))
        likeness = yield from self.likeness(space, rows[able], row=row, column=column)
        if likeness is not None and self.least is not None and self.binds(space):
            near = likeness >= self.least
            belief.goal.refused.update(row_keys(rows[able[~near]]))
            able, likeness = able[near], likeness[near]
        if not len(able):
            return None
        fooling = met[able]
        if fooling.any():
            by = chances[able] if likeness is None else likeness
            best = int(able[fooling][first_best(by[fooling])])
        else:
            best = int(able[first_best(chances[able])])
        return Step(rows[best], float(chances[best]), bool(met[best]))

    def likeness(
        self, space: Space, rows: Rows, *, row: Rows, column: int
    ) -> Program[Floats | None]:
        """How similar rows, which swap `column` of `row`, are to the reference; None: nobody asks."""
        if self.least is None or not len(rows):
            return None
        reference = space.origin if self.reference == "original" else row
        found: Floats = yield Similarities(rows, reference, self.window, column)
        return found
