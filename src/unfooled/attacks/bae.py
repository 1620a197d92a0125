"""BAE (Garg & Ramakrishnan 2020), mode R: words replaced by what a masked language model proposes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unfooled import spellings
from unfooled.choosing import WINDOW, Reference, Rule
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.importance import importance, most_swaps
from unfooled.program import Attack, Goal, Program, Proposals
from unfooled.space import DELETED, Space
from unfooled.text import is_word, match_case


@dataclass(frozen=True)
class BAE(Attack):
    """Visits words by importance; takes the most similar proposal that fools, else the strongest.

    A word is as important as what its deletion takes from the label. A masked language model is asked
    at every step for `proposals` words (the authors' 50), with the word masked in the current text; the
    source only says which words may be swapped, and its filters judge what is proposed: the same part of
    speech or a noun for a verb, no stop words. With 0 `proposals` the candidates of the space are
    searched as they are, and no language model is needed: so it is in an audit, with a preset, and with
    candidates that you name, unless you ask for proposals too.
    `step_similarity`, a cosine (the authors' is 0.9363 as angular similarity), is the least for a
    step: `step_window` words around the swap are compared (None: whole texts), and texts with fewer
    words are not checked. None needs no sentence encoder.

    Differs from the paper: only mode R, replacement. An insertion would be asked for between two words,
    and a question about proposals is about one; and written as a swap of its neighbour it would count as
    no word more, R+I as one swap. The language model is a small one unless you name another, words of
    several pieces are not proposed, and a proposal need not be in GloVe's vocabulary. Parts of speech are those in the current text. The strongest is
    taken only if it lowers the label in the current text. Similarity is compared with the original text,
    which `reference="previous"` turns into the authors' text before this swap. TextAttack applies the
    angular threshold to plain cosines, which is another, looser one.
    """

    source: ClassVar[str] = spellings.BAE

    proposals: int = 50
    step_similarity: float | None = 0.9801
    step_window: int | None = WINDOW
    reference: Reference = "original"

    def __post_init__(self) -> None:
        if self.proposals < 0:
            raise InputError(f"proposals is 0 or more words, not {self.proposals}")
        self._rule()

    @property
    def opens(self) -> bool:
        return self.proposals > 0

    @property
    def strict(self) -> bool:
        return self.step_similarity is not None

    def _rule(self) -> Rule:
        return Rule(self.step_similarity, self.step_window, self.reference)

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, row, rule = most_swaps(space, goal), space.origin, self._rule()
        if not most:
            return None
        found = yield from importance(space, goal, code=DELETED)
        now = found.start
        for column in found.order:
            if np.count_nonzero(row) >= most:
                return None
            rows = space.at(row, column)[1:]
            if self.proposals:
                proposed = yield Proposals(row, space.positions[column], self.proposals)
                words = [proposal.word for proposal in proposed]
                rows = _grown(space, row, column=column, words=words, most=goal.max_candidates)
            if not len(rows):
                continue
            step = yield from rule.choose(
                space, rows, row=row, column=column, belief=found.belief, floor=now
            )
            if step is None:
                continue
            if step.met:
                return step.row
            row, now = step.row, step.chance
        return None


def _grown(space: Space, row: Rows, *, column: int, words: Iterable[str], most: int | None) -> Rows:
    """The row with each of the first `most` words at a column, after the open space has taken them in."""
    word = space.original.words[space.positions[column]]
    cased = dict.fromkeys(match_case(w, word) for w in words if is_word(w))
    cased.pop(word, None)  # proposed again
    choices = space.extend(column, list(cased)[:most])
    rows = np.repeat(row[None], len(choices), axis=0)
    rows[:, column] = choices
    return rows


METHOD = BAE
