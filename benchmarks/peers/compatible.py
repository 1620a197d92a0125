"""TextAttack's deterministic searches as programs of ours, with its choices instead of our own.

What is TextAttack's and not ours: every word is ranked, also one without candidates; texts that differ in one
word are asked for, and tied, in alphabetical order; equal importance goes as numpy's `argsort` leaves
it; a word is taken only if it beats the current text, in exact comparison; a beam keeps equal
texts as if they were several, and ends with the best text of its last step, even if an earlier one
was better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.peers.exchange import DIGITS, Case
from unfooled.counting import Rows
from unfooled.program import Floats, Program, Scores
from unfooled.space import DELETED, UNKNOWN, Space

Ranking = Literal["unk", "delete", "weighted-saliency"]
Status = Literal["skipped", "success", "failure"]


@dataclass(frozen=True)
class Ended:
    """Where a search came to, whether or not that fools the victim."""

    status: Status
    row: Rows


@dataclass(frozen=True)
class Board:
    """One text and how its answers are read."""

    space: Space
    columns: Sequence[int]  # of the words, in their order
    label: int
    most: int

    @classmethod
    def of(cls, case: Case) -> Board:
        space = case.space()
        return cls(space, case.columns(space), case.label, case.most)

    def read(self, scores: Floats) -> Judged:
        """What TextAttack makes of logits."""
        odds = probabilities(scores)
        return Judged(1 - odds[:, self.label], odds.argmax(axis=1) != self.label)

    def swaps(self, row: Rows, columns: Sequence[int]) -> Rows:
        """The row with one more word of these columns swapped, by text; none when it is at the limit."""
        free = [c for c in columns if row[c] == 0 and self.space.counts[c]]
        if np.count_nonzero(row) >= self.most:
            free = []
        rows = self.space.neighbours(row, free)
        texts = self.space.sources(rows)
        return rows[sorted(range(len(rows)), key=lambda i: texts[i])]


@dataclass(frozen=True)
class Judged:
    """Of each row the score, 1 - p of the label, and whether another class is first."""

    values: Floats
    met: NDArray[np.bool_]


def probabilities(logits: Floats) -> Floats:
    """The softmax of logits, rounded as the peer's model does it."""
    values = np.asarray(logits, dtype=np.float64)
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    found: Floats = np.round(raised / raised.sum(axis=1, keepdims=True), DIGITS)
    return found


def by_importance(board: Board, *, by: Ranking) -> Program[Ended]:
    """TextAttack's GreedyWordSwapWIR: words in order of importance, the best candidate of each."""
    row = board.space.origin
    first = board.read((yield Scores(row[None])))
    if first.met[0]:
        return Ended("skipped", row)
    now = first.values[0]
    values = yield from (_weighted(board) if by == "weighted-saliency" else _without(board, by))
    for index in (-values).argsort():
        rows = board.swaps(row, [board.columns[index]])
        if not len(rows):
            continue
        judged = board.read((yield Scores(rows)))
        best = int(judged.values.argmax())
        if not judged.values[best] > now:
            continue
        row, now = rows[best], judged.values[best]
        if judged.met[best]:
            return Ended("success", row)
    return Ended("failure", row)


def _without(board: Board, by: Ranking) -> Program[Floats]:
    """The scores without each word."""
    code = DELETED if by == "delete" else UNKNOWN
    probes = board.space.probes(board.space.origin, code)[list(board.columns)]
    return board.read((yield Scores(probes))).values


def _weighted(board: Board) -> Program[Floats]:
    """The softmax of saliency times the best score of a single swap, which is 0 where there is none."""
    saliency = yield from _without(board, "unk")
    weights = torch.softmax(torch.tensor(saliency, dtype=torch.float32), dim=0).numpy()
    best = []
    for column in board.columns:
        rows = board.swaps(board.space.origin, [column])
        best.append(board.read((yield Scores(rows))).values.max() if len(rows) else 0.0)
    found: Floats = weights * np.array(best)
    return found


def in_a_beam(board: Board, *, width: int) -> Program[Ended]:
    """TextAttack's BeamSearch; its GreedySearch is the one of width 1."""
    beam = board.space.rows(board.space.origin)
    first = board.read((yield Scores(beam)))
    if first.met[0]:
        return Ended("skipped", beam[0])
    best, met = beam[0], False
    while not met:
        rows = np.concatenate([board.swaps(row, board.columns) for row in beam])
        if not len(rows):
            return Ended("failure", best)
        judged = board.read((yield Scores(rows)))
        top = int(judged.values.argmax())
        best, met = rows[top], bool(judged.met[top])
        beam = rows[(-judged.values).argsort()[:width]]
    return Ended("success", best)


SEARCHES = {
    "unk": partial(by_importance, by="unk"),
    "delete": partial(by_importance, by="delete"),
    "weighted-saliency": partial(by_importance, by="weighted-saliency"),
    "greedy": partial(in_a_beam, width=1),
    "beam": partial(in_a_beam, width=4),
}
"""The names of the searches on both sides of the wire."""
