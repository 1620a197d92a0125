"""What a method is: a program for one text that asks questions and receives answers.

A method yields a question (or a tuple of them) and gets the answer back; batching, caching,
budgets and checking are the engine's. See `engine.py` for who answers, `attacks/` for examples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows, row_keys
from unfooled.evidence import NOISE, margins, tolerance
from unfooled.space import Space

Floats = NDArray[np.floating]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scores:
    """The victim's scores of rows: answered by (n, classes)."""

    rows: Rows
    cache: bool = True


@dataclass(frozen=True, slots=True)
class Gradients:
    """First-order change of class `of` for every swap: answered by (n, positions, choices).

    Entry [i, c, k] estimates the score of row i with column c set to choice k, minus its score now.
    """

    rows: Rows
    of: int


@dataclass(frozen=True, slots=True)
class Similarities:
    """Sentence similarity of rows to a reference row: answered by (n,) cosines.

    Of a pair the editable side is compared. With a `window` both texts are cut to so many words
    around the word of column `centre`, shifted at the borders. `alone`: every text is encoded by
    itself, so that the last digits do not depend on what shares its batch.
    """

    rows: Rows
    reference: Rows
    window: int | None = None
    centre: int | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Proposals:
    """What a masked language model would put at a position: answered by a list of Proposal.

    At most k, best first. `position` counts the words of the text, whether or not the space has
    candidates there. `masked`: the model does not see the word that stands there now.
    """

    row: Rows
    position: int
    k: int
    masked: bool = True


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much the score of class `of` depends on each word of the original text.

    Answered by the L1 norm of the gradient at each column, or None by a victim that has none.
    """

    of: int


@dataclass(frozen=True, slots=True)
class Layers:
    """The network behind the victim and the vectors of this text and its candidates.

    Answered by a Reading of `bounds.reading`, or None where the words of this space are not single
    vectors to the network. Victims that are only scored from outside refuse it.
    """

    read: bool = True  # False: only whether they refuse is asked, and the answer is None


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every member with exactly so many swaps, judged where the victim computes it.

    Answered by Swept, or None by a victim that has no faster way than Scores for this space.
    Members with the more sensitive columns, those that come first in `order`, come early. It ends
    when it has taken so many `seconds` of its own. Asked alone, never in a tuple.
    """

    label: int
    swaps: int
    order: tuple[int, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw: ends at the first member that clearly fools, or when the budget does.

    A victim's arithmetic may differ from its forwards in the last digits, so what lies within
    twice the tolerance is left in doubt, to be asked for by Scores.
    """

    evaluated: int  # members, with those that the victim cannot tell from one it computed
    forwards: int  # members it computed
    least: float = math.inf  # the least margin of the label,
    least_row: Rows | None = None  # and where
    fooled: Rows | None = None  # the row of a member that clearly has another label
    doubtful: Rows | None = None  # rows in doubt, not necessarily all
    doubts: int = 0  # how many there are
    complete: bool = False
    seconds: float = 0.0  # that it took, other texts' turns not counted


Question = Scores | Gradients | Similarities | Proposals | Sensitivity | Sweep | Layers
Program = Generator[Question | tuple[Question, ...], Any, T]


class Spent(Exception):
    """Thrown into a program once when its budget ends, with what could still be afforded.

    `which` says which question of a tuple was cut.
    """

    def __init__(self, rows: Rows, scores: Floats, which: int = 0) -> None:
        super().__init__("the query budget is spent")
        self.rows, self.scores, self.which = rows, scores, which


@dataclass(frozen=True, slots=True)
class Goal:
    """What counts as fooling: another label (or the target), within the limits, inside the space.

    `max_candidates` is for attacks that add candidates of their own: the space keeps to it already.
    `refused` are the rows so far, as `row_keys`, that a limit of similarity kept from the victim, or the
    attack's own.
    """

    space: Space
    label: int
    target: int | None = None
    max_swaps: int | None = None
    max_candidates: int | None = None
    refused: set[bytes] = field(default_factory=set, compare=False)

    def gain(self, scores: Floats) -> Floats:
        """What a search climbs: above zero, the label has changed as asked."""
        if self.target is not None:
            return margins(scores, self.target)
        return -margins(scores, self.label)

    def log_odds(self, scores: Floats, *, distributions: bool) -> Floats:
        """log(I / (1 - I)) of the score I of each text: 1 - F of the label, or F of the target.

        The same order as I, without its loss of precision: a float cannot tell 1 - 1e-17 from 1.
        Scores are logits, or `distributions` over the classes.
        """
        logs = np.asarray(scores, dtype=np.float64)
        if distributions:
            logs = np.log(np.maximum(logs, np.finfo(np.float64).tiny))
        ours = self.label if self.target is None else self.target
        against = logs[:, ours] - np.logaddexp.reduce(np.delete(logs, ours, axis=1), axis=1)
        found: Floats = -against if self.target is None else against
        return found

    def passed(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of these rows, all of them asked about, no limit has kept from the victim."""
        if not self.refused:
            return np.ones(len(rows), dtype=np.bool_)
        return np.array([key not in self.refused for key in row_keys(rows)], dtype=np.bool_)

    def met(self, scores: Floats, rows: Rows) -> NDArray[np.bool_]:
        """Which rows reach the goal. Near-ties do not, nor do rows over the limit or outside."""
        gain = self.gain(scores)
        if not (gain > 0).any():  # the usual case
            return np.zeros(len(scores), dtype=np.bool_)
        fooled: NDArray[np.bool_] = gain > tolerance(scores)
        if fooled.any():
            fooled &= self.space.contains(rows, self.max_swaps)
        return fooled


@dataclass(frozen=True, slots=True)
class Finding:
    """What an attack with more to tell than a row came to.

    An attack that tightens its own result says how many swaps it had before; one that collects
    successes names the others.
    """

    row: Rows | None
    first_swaps: int | None = None  # None: nothing was found before tightening
    others: tuple[Rows, ...] = ()  # closest first


@dataclass(frozen=True)
class Attack(ABC):
    """A search for a text that fools the victim, written for one text. Its fields are its options.

    `source` spells the candidates that it searches unless others are given; None: the common ones.
    """

    source: ClassVar[str | None] = None

    @property
    def needs(self) -> Literal["scores", "gradients"]:
        """What it asks of a victim; an attack whose options decide computes it from them."""
        return "scores"

    @property
    def opens(self) -> bool:
        """Whether it adds candidates of its own, out of Proposals: it is then given an open space.

        The source of the candidates says which words may be swapped, and its filters judge proposals.
        """
        return False

    @property
    def strict(self) -> bool:
        """Whether it refuses texts that the goal allows: then only what it returns itself counts."""
        return False

    def ready(self) -> None:  # noqa: B027 - most attacks need nothing
        """Loads what the search needs; what is not to be had is said before any text is attacked."""

    @abstractmethod
    def search(
        self, space: Space, goal: Goal, rng: np.random.Generator
    ) -> Program[Rows | Finding | None]:
        """A row that meets the goal, or None; a Finding when there is more to tell."""


def are_distributions(scores: Floats) -> bool:
    """Whether every row can be probabilities of the classes: none negative, with sum 1."""
    return bool((scores >= 0).all() and (abs(scores.sum(axis=1) - 1) <= NOISE).all())


def better(value: float, than: float) -> bool:
    """Whether a gain is higher by more than float noise."""
    return value > than + NOISE * max(1.0, abs(than))


def first_best(values: Floats) -> int:
    """The first index whose value is as high as the highest, but for float noise.

    Equal effects (two words a network cannot tell apart, a max-pool that ignores both) come back
    from different batches with different last digits. Taking the first within the noise keeps a
    search on the same path whatever shared its batch.
    """
    top = values.max()
    return int((values >= top - NOISE * max(1.0, abs(top))).argmax())


def first_passed(values: Floats, rows: Rows, goal: Goal) -> int | None:
    """The first best of the rows that no limit has kept from the victim; None: it saw none of them."""
    passed = np.flatnonzero(goal.passed(rows))
    return int(passed[first_best(values[passed])]) if len(passed) else None


def leaders(values: Floats, k: int) -> list[int]:
    """The indices of the k highest values, best first; values within the noise go by index."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order].tolist()
    order = order.tolist()
    ranked: list[int] = []
    start = 0
    while start < len(order) and start < k:
        least = ordered[start] - NOISE * max(1.0, abs(ordered[start]))
        end = start + 1
        while end < len(order) and ordered[end] >= least:
            end += 1
        ranked += sorted(order[start:end])
        start = end
    return ranked[:k]
