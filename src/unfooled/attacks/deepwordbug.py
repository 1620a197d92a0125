"""DeepWordBug (Gao et al. 2018): small edits of the words that the victim reads most from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unfooled import spellings
from unfooled.belief import Belief
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.importance import most_swaps, ranked, readable
from unfooled.lexicon.edits import distance
from unfooled.program import Attack, Floats, Goal, Program, Scores, first_passed
from unfooled.space import DELETED, UNKNOWN, Space

Scoring = Literal["combined", "head", "tail", "replace-one"]


@dataclass(frozen=True)
class DeepWordBug(Attack):
    """Ranks words by how the label changes while the text is read, and edits them in this order.

    `scoring`: `head` is p(x1..xi) - p(x1..xi-1), `tail` is p(xi..xn) - p(xi+1..xn), `combined` is head
    plus `tail_weight` (λ of the paper) times tail, `replace-one` is p(x) - p(x with word i unknown).
    The edits are the candidates of the space: the source `typos` makes them. All of them together cost
    at most `max_edits` characters (ε of the paper), counted word by word as Levenshtein distances, which
    is never less than that of the whole text. The `best` candidate is taken, or one `drawn` uniformly;
    a word of which a limit of similarity refuses that is passed over.

    Differs from the paper: it edits until ε is spent and looks at the answer once; here the search ends
    at the first text that fools. Its transformer makes one random edit of a word, which is `drawn`;
    `best` is TextAttack's. Heads and tails keep the words that have no candidates, because a row can
    only take out words that it can swap; where none would be left, one is unknown. With a target (not in
    the paper) p is 1 - p of the target. TextAttack has only replace-one, and accepts only what improves.
    """

    source: ClassVar[str] = spellings.DEEPWORDBUG

    scoring: Scoring = "combined"
    tail_weight: float = 1.0
    max_edits: int = 30
    candidate: Literal["best", "drawn"] = "best"

    def __post_init__(self) -> None:
        if self.scoring not in ("combined", "head", "tail", "replace-one"):
            raise InputError(
                f"scoring is combined, head, tail or replace-one, not {self.scoring!r}"
            )
        if self.candidate not in ("best", "drawn"):
            raise InputError(f"candidate is best or drawn, not {self.candidate!r}")
        if self.max_edits < 0:
            raise InputError(f"max_edits is 0 or more characters, not {self.max_edits}")

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        most, left = most_swaps(space, goal), self.max_edits
        row: Rows = space.origin
        if not most:
            return None
        scores = yield Scores(readable(space, self._probes(space)))
        belief = Belief.read(goal, scores)
        doubts = np.exp(belief.chance(scores))
        for column in ranked(self._values(doubts, len(row)), of=doubts):
            if np.count_nonzero(row) >= most:
                return None
            costs = _costs(space, column)
            rows = space.at(row, column)[1:][costs <= left]
            if not len(rows):
                continue
            if self.candidate == "drawn":
                rows = rng.choice(rows, size=1)
            scores = yield Scores(rows)
            best = first_passed(belief.chance(scores), rows, goal)
            if best is None:
                continue
            row = rows[best]
            left -= int(costs[row[column] - 1])
            if goal.met(scores[best : best + 1], row[None])[0]:
                return row
        return None

    def _probes(self, space: Space) -> Rows:
        """What the scoring asks for: heads from none to all of the words, then tails (all to none)."""
        if self.scoring == "replace-one":
            return np.concatenate([space.origin[None], space.probes(space.origin, UNKNOWN)])
        n = len(space.positions)
        later = np.arange(n) >= np.arange(n + 1)[:, None]  # (read so far, column)
        heads = np.where(later, DELETED, 0).astype(np.int16)
        tails = np.where(later, 0, DELETED).astype(np.int16)
        if self.scoring != "combined":
            return heads if self.scoring == "head" else tails
        return np.concatenate([heads, tails[1:-1]])  # the ends are the ends of the heads

    def _values(self, doubts: Floats, n: int) -> Floats:
        """The score of each column, from 1 - p of the probes."""
        values: Floats
        if self.scoring == "replace-one":
            values = doubts[1:] - doubts[0]
        elif self.scoring == "combined":
            heads = doubts[: n + 1]
            tails = np.concatenate([heads[-1:], doubts[n + 1 :], heads[:1]])
            values = self.tail_weight * np.diff(tails) - np.diff(heads)
        else:
            values = np.diff(doubts) if self.scoring == "tail" else -np.diff(doubts)
        return values


def _costs(space: Space, column: int) -> NDArray[np.int64]:
    """What each candidate of a column costs in edits."""
    word = space.original.words[space.positions[column]]
    return np.array([distance(word, candidate) for candidate in space.candidates[column]])


METHOD = DeepWordBug
