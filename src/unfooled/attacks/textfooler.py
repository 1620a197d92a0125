"""TextFooler (Jin et al. 2020): words in order of importance, the most similar fooling candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unfooled import spellings
from unfooled.choosing import WINDOW, Reference, Rule
from unfooled.counting import Rows
from unfooled.importance import importance, most_swaps
from unfooled.program import Attack, Goal, Program
from unfooled.space import UNKNOWN, Space


@dataclass(frozen=True)
class TextFooler(Attack):
    """Visits words by importance; takes the most similar candidate that fools, else the strongest.

    A word is as important as what its loss (the word unknown) takes from the label, and gives to
    the label that comes in its place. Without a candidate that fools and is similar enough, the one
    that leaves the label least is taken if that is less than in the original text (not in the
    current one). `step_similarity`, a cosine (the authors' is 0.8408 as angular similarity), is the
    least for a step: `step_window` words around the swap are compared (None: whole texts), and texts with
    fewer words are not checked. None needs no sentence encoder: of several candidates that fool, the one that
    leaves the label least is taken.

    Differs from the authors: similarity is compared with the original text, which
    `reference="previous"` turns into theirs, the text before this swap. Texts below 15 words had a
    threshold of 0.1. Their penalty of 1 on the probability of a candidate that is not similar enough
    can never be made good, so such a candidate is left out. Words without candidates, which they rank
    and then pass over, are not asked about. Candidates, their parts of speech and stop words are the
    source's affair. TextAttack ranks by deletion without the flip term, and wants a candidate to
    improve on the current text.
    """

    source: ClassVar[str] = spellings.TEXTFOOLER

    step_similarity: float | None = 0.8776
    step_window: int | None = WINDOW
    reference: Reference = "original"

    def __post_init__(self) -> None:
        self._rule()

    @property
    def strict(self) -> bool:
        return self.step_similarity is not None

    def _rule(self) -> Rule:
        return Rule(self.step_similarity, self.step_window, self.reference)

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, row, rule = most_swaps(space, goal), space.origin, self._rule()
        if not most:
            return None
        found = yield from importance(space, goal, code=UNKNOWN, flips=True)
        for column in found.order:
            if np.count_nonzero(row) >= most:
                return None
            step = yield from rule.choose(
                space,
                space.at(row, column)[1:],
                row=row,
                column=column,
                belief=found.belief,
                floor=found.start,
            )
            if step is not None and step.met:
                return step.row
            row = row if step is None else step.row
        return None


METHOD = TextFooler
