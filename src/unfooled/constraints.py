"""A search held to a least similarity: it asks as before, and texts too far away are not scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unfooled.companions import Encodes
from unfooled.counting import Rows, row_keys
from unfooled.errors import CompanionError, UnfooledError
from unfooled.evidence import NOISE
from unfooled.program import Floats, Goal, Program, Question, Scores, Similarities, Spent, Sweep
from unfooled.similarity import cosine
from unfooled.space import Space
from unfooled.subspaces import view, window

T = TypeVar("T")
Mask = NDArray[np.bool_]

_NEAR = (
    1e-5  # of the threshold: decided by encoding alone; batches were seen to move cosines by 2e-7
)
_SLACK = 1e-6  # below the threshold: what rounding may take from a similarity of exactly that
_WALL = 1e6  # the label's score of a refused text where scores are not probabilities


@dataclass(frozen=True)
class Closeness:
    """How similar to the original a text has to stay.

    The whole texts are compared, or, with a `window`, for every swapped word the words around it:
    all of these must be similar enough. A text is close when its least cosine, computed with both
    texts alone in the encoder, is at least the threshold less 1e-6. Cosines out of larger batches
    decide only where they are more than 1e-5 away from the threshold, so that no verdict depends
    on what shared a batch.

    Differs from TextFooler: it checks the window of the newest swap only, against the text before
    it, and in effect not at all in texts of fewer than 15 words.
    """

    least: float  # as a cosine
    window: int | None = None

    def windows(self, space: Space) -> NDArray[np.int64]:
        """(columns,): where the window around each column starts; columns that share one are equal."""
        length = len(space.original)
        starts = [window(length, p, width=self.window).start for p in space.positions]
        return np.array(starts, dtype=np.int64)

    def holds(self, space: Space, row: Rows, *, encoder: Encodes) -> bool:
        """Whether a row is close, by encoding its text alone: the verdict for what is reported."""
        starts, least = self.windows(space), 1.0
        for start in dict.fromkeys(starts[row != 0].tolist()):
            column = int(np.flatnonzero(starts == start)[0])
            words = window(len(space.original), space.positions[column], width=self.window)
            part = view(space, words)
            texts = part.space.sources(np.stack([0 * row, row])[:, part.columns])
            original, text = [_alone(encoder, str(t)) for t in texts]
            least = min(least, float(cosine(text, original)[0]))
        return least >= self.least - _SLACK


def _alone(encoder: Encodes, text: str) -> Floats:
    try:
        found = np.asarray(encoder.encode([text]))
    except UnfooledError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise CompanionError(f"{encoder.name} failed on {text!r} when run alone: {why}") from error
    if found.ndim != 2 or len(found) != 1 or not np.isfinite(found).all():
        raise CompanionError(f"{encoder.name} gave no vector for {text!r} when run alone")
    vector: Floats = found[0]
    return vector


class Constrained(Generic[T]):
    """A program held to a closeness. `refused` counts the rows it asked for in vain.

    Members of the space that are too far from the original are not queried, and the goal is told
    which they were. They come back with scores that no search likes and no goal meets: all the
    weight on the true label (probabilities 1 and 0 where the victim gives probabilities, else 1e6
    and 0). Probes and the original pass, gradients too: they are estimates and report nothing. A
    sweep is declined, as by a victim that has none.
    """

    def __init__(self, goal: Goal, closeness: Closeness) -> None:
        self.goal, self.closeness, self.refused = goal, closeness, 0
        self._starts = closeness.windows(goal.space)
        self._scale: float | None = None  # of the scores of refused texts, once the kind is known

    def follow(self, program: Program[T]) -> Program[T]:
        """The program, to be run in the place of the one that it wraps."""
        answer: Any = None
        end: Spent | None = None
        try:
            while True:
                try:
                    asked = program.send(answer) if end is None else program.throw(end)
                except StopIteration as stop:
                    value: T = stop.value
                    return value
                end = None
                try:
                    answer = yield from self._answered(asked)
                except Spent as spent:
                    end = spent
        finally:
            program.close()

    def _answered(self, asked: Question | tuple[Question, ...]) -> Program[Any]:
        """What the engine answers, with refusals where they belong."""
        if isinstance(asked, Sweep):
            return None
        questions = asked if isinstance(asked, tuple) else (asked,)
        allowed: dict[int, Mask] = {}
        for i, question in enumerate(questions):
            if isinstance(question, Scores):
                allowed[i] = yield from self._allowed(np.atleast_2d(question.rows))
        reduced = tuple([_only(q, allowed.get(i)) for i, q in enumerate(questions)])
        try:
            answers = yield (reduced if isinstance(asked, tuple) else reduced[0])
        except Spent as spent:
            raise self._spent(spent, questions, allowed) from None
        answers = answers if isinstance(asked, tuple) else (answers,)
        whole = [
            self._filled(answer, allowed[i]) if i in allowed else answer
            for i, answer in enumerate(answers)
        ]
        return tuple(whole) if isinstance(asked, tuple) else whole[0]

    def _spent(
        self, spent: Spent, questions: tuple[Question, ...], allowed: dict[int, Mask]
    ) -> Spent:
        """What could be afforded of the question as it was asked."""
        cut = questions[spent.which]
        if not isinstance(cut, Scores):
            return spent
        passed = np.flatnonzero(allowed[spent.which])
        stop = int(passed[len(spent.rows)])  # the first row that was not afforded
        scores = self._filled(spent.scores, allowed[spent.which][:stop])
        return Spent(np.atleast_2d(cut.rows)[:stop], scores, spent.which)

    def _filled(self, scores: Floats, allowed: Mask) -> Floats:
        """The scores of all rows that were asked for."""
        if len(scores) and self._scale is None:
            sums = scores.sum(axis=1)
            odds = bool((scores >= 0).all() and (np.abs(sums - 1) <= NOISE).all())
            self._scale = 1.0 if odds else _WALL
        if allowed.all():
            return scores
        whole = np.zeros((len(allowed), scores.shape[1]))
        whole[:, self.goal.label] = _WALL if self._scale is None else self._scale
        whole[allowed] = scores
        return whole

    # --- similarity ---------------------------------------------------------------------------

    def _allowed(self, rows: Rows) -> Program[Mask]:
        """Which rows may be scored."""
        allowed = np.ones(len(rows), dtype=bool)
        if rows.shape[1:] != self._starts.shape or rows.dtype.kind not in "iu":
            return allowed  # the engine says what is wrong with them
        judged = np.flatnonzero(self.goal.space.contains(rows) & (rows != 0).any(axis=1))
        if not len(judged):
            return allowed
        least = yield from self._least(rows[judged], alone=False)
        near = np.abs(least - self.closeness.least) <= _NEAR
        if near.any():
            least[near] = yield from self._least(rows[judged[near]], alone=True)
        allowed[judged] = least >= self.closeness.least - _SLACK
        refused = row_keys(self.goal.space.rows(rows[~allowed]))
        self.refused += len(refused)
        self.goal.refused.update(refused)
        return allowed

    def _least(self, rows: Rows, *, alone: bool) -> Program[Floats]:
        """The least similarity of each row over the windows around its swaps."""
        space, width = self.goal.space, self.closeness.window
        groups: list[tuple[Mask, int]] = []
        for start in dict.fromkeys(self._starts.tolist()):
            columns = np.flatnonzero(self._starts == start)
            there = (rows[:, columns] != 0).any(axis=1)
            if there.any():
                groups.append((there, int(columns[0])))
        origin = space.origin
        answers = yield tuple(
            [Similarities(rows[there], origin, width, centre, alone) for there, centre in groups]
        )
        least = np.ones(len(rows))
        for (there, _), found in zip(groups, answers, strict=True):
            least[there] = np.minimum(least[there], found)
        return least


def _only(question: Question, allowed: Mask | None) -> Question:
    """The question about those rows alone."""
    if allowed is None or not isinstance(question, Scores) or allowed.all():
        return question
    return Scores(np.atleast_2d(question.rows)[allowed], question.cache)
