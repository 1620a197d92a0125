"""Probability weighted word saliency (PWWS, Ren et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unfooled import spellings
from unfooled.belief import Belief
from unfooled.counting import Rows
from unfooled.importance import most_swaps, ranked
from unfooled.program import Attack, Floats, Goal, Program, Scores, first_passed
from unfooled.space import UNKNOWN, Space


@dataclass(frozen=True)
class PWWS(Attack):
    """Swaps each word for its best candidate, in order of saliency times gain, until the victim is fooled.

    The best candidate w* of a word and its gain dP* = p(x) - p(x with w*) are found in the original
    text, the saliency S of a word is p(x) - p(x with the word unknown), and words go by
    softmax(S) dP*. Each is swapped without looking again, also when dP* is not above zero; a swap that a
    limit of similarity refuses, alone or beside those before it, is left out.

    Differs from the authors: named entities, which they swap for the most frequent entity of the
    same type in texts of other classes, are no special case, because our tagger knows that a word
    is a name but not of what. Names to swap for each other are given as a table from name to names,
    beside the synonyms: `candidates="wordnet:k=1000,rank=sense,names=true + table:names.tsv"`. So
    proofs cover them too. Synonyms are of the word's part of speech by our tagger, theirs by
    spaCy's; the presets have those of every part, as TextAttack. With a target (not in the paper)
    p(x) is replaced by 1 - p of the target. TextAttack asks again in the current text, accepts only
    what improves it, and weighs 1 - p in place of dP*, which is another order.
    """

    source: ClassVar[str] = spellings.PWWS

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, row = most_swaps(space, goal), space.origin
        if not most:
            return None
        n = len(space.positions)
        alone = space.neighbours(row)  # every single swap, column by column
        scores = yield Scores(np.concatenate([row[None], space.probes(row, UNKNOWN), alone]))
        chances = Belief.read(goal, scores).chance(scores)
        starts = n + 1 + np.concatenate([[0], np.cumsum(space.counts)[:-1]])
        best = _best(chances[n + 1 :], alone, goal=goal)
        start, doubts = np.exp(chances[0]), np.exp(chances)
        weights = softmax(doubts[1 : n + 1] - start)
        # n times the softmax, so that it is around 1 for a text of any length.
        gains = doubts[starts + [choice or 0 for choice in best]] - start
        order = ranked(n * weights * gains, of=doubts)
        for column in order:
            choice = best[column]
            if choice is None:
                continue
            if np.count_nonzero(row) >= most:
                return None
            tried: Rows = row.copy()
            tried[column] = choice + 1
            # One text at a time, as the authors count queries; the engine fills batches with other texts.
            scores = yield Scores(tried[None])
            if goal.met(scores, tried[None])[0]:
                return tried
            if goal.passed(tried[None])[0]:
                row = tried
        return None


def _best(chances: Floats, alone: Rows, *, goal: Goal) -> list[int | None]:
    """The best candidate of each column alone; None: a limit of similarity refuses them all."""
    counts = goal.space.counts
    ends = np.cumsum(counts)
    parts = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    return [first_passed(chances[part], alone[part], goal) for part in parts]


def softmax(values: Floats) -> Floats:
    """Weights that add up to 1, in proportion to the exponentials of the values."""
    raised: Floats = np.exp(values - values.max())
    weights: Floats = raised / raised.sum()
    return weights


METHOD = PWWS
