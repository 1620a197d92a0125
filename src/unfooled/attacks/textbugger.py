"""TextBugger (Li et al. 2019), black box: the best bug of each word, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unfooled import spellings
from unfooled.belief import Belief
from unfooled.choosing import Reference, Rule
from unfooled.counting import Rows, row_keys
from unfooled.importance import importance, most_swaps
from unfooled.program import Attack, Goal, Program, Scores, first_passed, leaders
from unfooled.space import DELETED, Space
from unfooled.text import is_word


@dataclass(frozen=True)
class TextBugger(Attack):
    """Visits the sentences that speak most for the label, their words by importance; takes the best bug.

    A sentence is worth what it alone gives the label; one that alone has another label is left out.
    A word is worth what its deletion takes from the label of the whole text. Its best bug is taken,
    also when it does not help; a word whose bugs a limit of similarity all refuses is passed over.
    The bugs are the candidates of the space: the source `typos` makes them. When the whole text is
    no longer more similar to the original than `step_similarity` (a cosine, the paper's), the
    search ends without success; None needs no sentence encoder. `step_window` words around the swap
    can be compared in place of the whole text, and `reference="previous"` compares with the text
    before the swap. `sentences=False` ranks the words of the whole text at once, as does a text of
    one sentence.

    Differs from the paper: a sentence alone still has the words of the others that have no candidates,
    because a row can only take out words that it can swap; sentences end at a run of punctuation with
    . ! or ?. With a target (not in the paper) words and bugs are judged by the target. TextAttack has
    no sentences, accepts only what improves, and checks an angular similarity of 0.8.
    """

    source: ClassVar[str] = spellings.TEXTBUGGER

    step_similarity: float | None = 0.8
    sentences: bool = True
    step_window: int | None = None
    reference: Reference = "original"

    def __post_init__(self) -> None:
        self._rule()

    @property
    def strict(self) -> bool:
        return self.step_similarity is not None

    def _rule(self) -> Rule:
        return Rule(self.step_similarity, self.step_window, self.reference)

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, rule = most_swaps(space, goal), self._rule()
        row: Rows = space.origin
        if not most:
            return None
        parts = sentences(space) if self.sentences else [list(range(len(row)))]
        if len(parts) > 1:
            parts = yield from _weighty(space, parts, goal=goal)
        for part in parts:
            found = yield from importance(space, goal, code=DELETED, columns=part)
            for column in found.order:
                if np.count_nonzero(row) >= most:
                    return None
                rows = space.at(row, column)[1:]
                scores = yield Scores(rows)
                best = first_passed(found.belief.chance(scores), rows, goal)
                if best is None:
                    continue
                if not (yield from _close(rule, space, rows[best], row=row, column=column)):
                    goal.refused.update(row_keys(rows[best : best + 1]))
                    return None
                row = rows[best]
                if goal.met(scores[best : best + 1], row[None])[0]:
                    return row
        return None


def _close(rule: Rule, space: Space, new: Rows, *, row: Rows, column: int) -> Program[bool]:
    """Whether a text, which swaps `column` of `row`, may be gone on with: more similar than the least."""
    if not rule.binds(space):
        return True
    likeness = yield from rule.likeness(space, new[None], row=row, column=column)
    return likeness is None or rule.least is None or bool(likeness[0] > rule.least)


def sentences(space: Space) -> list[list[int]]:
    """The columns of each sentence that has any, in the order of the text."""
    text, number, of = space.original, 0, []
    for position, word in enumerate(text.words):
        number += text.editable == "both" and position == text.split
        of.append(number)
        number += _ends(word)
    groups: dict[int, list[int]] = {}
    for column, position in enumerate(space.positions):
        groups.setdefault(of[position], []).append(column)
    return list(groups.values())


def _ends(word: str) -> bool:
    """Whether a sentence ends here: a run of punctuation with a stop in it."""
    return not is_word(word) and any(stop in word for stop in ".!?")


def _weighty(space: Space, parts: list[list[int]], *, goal: Goal) -> Program[list[list[int]]]:
    """The sentences that alone have the label, the surest first."""
    rows = np.full((len(parts), len(space.positions)), DELETED, dtype=np.int16)
    for row, part in zip(rows, parts, strict=True):
        row[part] = 0
    scores = yield Scores(rows)
    doubts = Belief.read(replace(goal, target=None), scores).chance(scores)
    kept = scores.argmax(axis=1) == goal.label
    return [parts[i] for i in leaders(-doubts, len(parts)) if kept[i]]


METHOD = TextBugger
