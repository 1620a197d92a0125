"""Task: one program on one text, with its cache, its budget and its counts."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unfooled.ask import Ask
from unfooled.consults import Comparison, Consult, Memory, Suggestion
from unfooled.counting import Rows, first_seen, row_keys
from unfooled.errors import InputError, Unsupported
from unfooled.program import (
    Goal,
    Gradients,
    Layers,
    Program,
    Proposals,
    Question,
    Scores,
    Sensitivity,
    Similarities,
    Spent,
    Sweep,
    better,
)
from unfooled.refusals import refusal
from unfooled.space import DELETED, Space
from unfooled.victims.base import Differentiable, Layered, Prepared, Victim

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """A program to be run on a text: what the engine is given."""

    key: str
    space: Space
    program: Program[T]
    goal: Goal | None = None
    max_queries: int | None = None


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """What came of a job. `best` is the best row that met the goal, kept when a budget is set."""

    job: Job[T]
    value: T | None
    queries: int
    forwards: int
    exhausted: bool = False
    best: Rows | None = None
    error: str | None = None
    traceback: str | None = None


class Task(Generic[T]):
    """Drives one program: takes its questions apart, remembers answers, counts, ends."""

    def __init__(
        self,
        job: Job[T],
        victim: Victim,
        *,
        cache_rows: int,
        prepared: Prepared | None = None,
        companions: frozenset[type[Question]] = frozenset(),
    ) -> None:
        self.job, self.victim, self.cache_rows = job, victim, cache_rows
        self.companions = companions  # the questions that somebody beside the victim answers
        self.space = job.space
        self.prepared: Prepared = prepared or victim.prepare(job.space)
        self.classes = len(victim.labels)
        self.queries = self.forwards = 0
        self.store: NDArray[np.float64] = np.empty((64, self.classes))
        self.result: Result[T] | None = None
        self._index: dict[bytes, int] = {}
        self._columns = np.arange(len(self.space.counts))
        self._most = np.array(self.space.counts, dtype=np.int16)  # the last choice of each column
        self._asks: list[Ask | Consult] = []
        self._memory = Memory(self.space)
        self._single = True
        self._spent = self._cut_short = False
        self._best: tuple[tuple[int, float], Rows] | None = None
        self._version = self.space.version

    def start(self) -> list[Ask | Consult]:
        """Runs the program to its first question."""
        return self._send(None)

    @property
    def ready(self) -> bool:
        """Whether every row of the pending question has its answer."""
        return all(ask.left == 0 for ask in self._asks)

    def resume(self) -> list[Ask | Consult]:
        """Hands over the answer; returns what the next question needs from the victim."""
        answers = [ask.result() for ask in self._asks]
        if self.job.max_queries is not None and self.job.goal is not None:
            self._remember(answers)
        if self._spent:
            return self._end_of_budget(answers)
        return self._send(answers[0] if self._single else tuple(answers))

    def swept(self, ask: Ask) -> int:
        """Takes the next stretch of what is answered outside the batches; returns its forwards."""
        queries, forwards = ask.advance()
        self.queries += queries
        self.forwards += forwards
        self._cut_short = self._cut_short or ask.cut_short
        return forwards

    def fail(self, error: str, trace: str | None = None) -> None:
        """Ends the task with an error that belongs to its text."""
        self._asks = []
        self._finish(None, error=error, trace=self._close() or trace)

    def _close(self) -> str | None:
        """Ends the program; the traceback when it resists."""
        try:
            self.job.program.close()
        except Exception:
            return traceback.format_exc()
        return None

    def _send(self, answer: Any) -> list[Ask | Consult]:
        try:
            return self._take_apart(self.job.program.send(answer))
        except StopIteration as stop:
            return self._finish(stop.value, exhausted=self._cut_short)
        except Unsupported:
            raise
        except Exception as error:
            return self._broken(error)

    def _end_of_budget(self, answers: list[Any]) -> list[Ask | Consult]:
        cut = self._asks[-1].question
        assert isinstance(cut, (Scores, Gradients))  # nothing else is cut by a budget
        rows = np.atleast_2d(cut.rows)[: len(answers[-1])]
        try:
            self.job.program.throw(Spent(rows, answers[-1], len(answers) - 1))
        except StopIteration as stop:
            return self._finish(stop.value, exhausted=True)
        except Spent:
            return self._finish(None, exhausted=True)
        except Exception as error:
            return self._broken(error)
        return self._finish(None, exhausted=True, trace=self._close())

    def _broken(self, error: Exception) -> list[Ask | Consult]:
        """Ends the task with what its program raised."""
        what = f"{type(error).__name__}: {error}"
        return self._finish(None, error=what, trace=traceback.format_exc())

    def _finish(
        self,
        value: T | None,
        *,
        exhausted: bool = False,
        error: str | None = None,
        trace: str | None = None,
    ) -> list[Ask | Consult]:
        best = self._best[1] if self._best else None
        self.result = Result(
            self.job, value, self.queries, self.forwards, exhausted, best, error, trace
        )
        return []

    # --- questions ----------------------------------------------------------------------------

    def _take_apart(self, asked: Question | tuple[Question, ...]) -> list[Ask | Consult]:
        if self.space.version != self._version:  # an open copy has grown
            self._version = self.space.version
            self.prepared = self.victim.prepare(self.space)
            self._most = np.array(self.space.counts, dtype=np.int16)
        self._single = not isinstance(asked, tuple)
        self._asks = []
        for question in asked if isinstance(asked, tuple) else (asked,):
            self._asks.append(self._ask(question))
            if self._spent:
                break
        return [ask for ask in self._asks if ask.left]

    def _ask(self, question: Question) -> Ask | Consult:
        if isinstance(question, Gradients):
            if not isinstance(self.victim, Differentiable):
                raise refusal(question, self.victim.name)
        elif isinstance(question, (Sensitivity, Sweep)):
            return self._aside(question)
        elif isinstance(question, Layers):
            return self._opened(question)
        elif isinstance(question, (Similarities, Proposals)):
            return self._consult(question)
        elif not isinstance(question, Scores):
            raise InputError(
                f"a program yields a question or a tuple of them, not {question!r:.80}"
            )
        rows = self._affordable(question)
        if isinstance(question, Gradients):
            ask = Ask(self, question, rows, whole=True)
            choices = max(self.space.counts, default=0) + 1
            ask.answer = np.empty((0, len(self.space.counts), choices))  # until it is known
        else:
            ask = self._look_up(question, rows)
        self.forwards += ask.left
        return ask

    def _aside(self, question: Sensitivity | Sweep) -> Ask:
        """A question answered outside the batches, at once by None where the victim cannot."""
        if not self._single:
            raise InputError(f"a {type(question).__name__} is asked alone, not in a tuple")
        if not 0 <= (question.label if isinstance(question, Sweep) else question.of) < self.classes:
            raise InputError(f"{question!r:.80} names no class: there are {self.classes}")
        most = self.job.max_queries
        ask = self._rowless(question)
        ask.begin(None if most is None else max(0, most - self.queries))
        return ask

    def _rowless(self, question: Sensitivity | Sweep | Layers) -> Ask:
        return Ask(self, question, self.space.rows(self.space.origin)[:0], whole=True)

    def _opened(self, question: Layers) -> Ask:
        """The network itself, where the victim has one to show; it costs no queries."""
        if not isinstance(self.victim, Layered):
            raise refusal(question, self.victim.name)
        ask = self._rowless(question)
        if question.read:
            ask.answer = self.victim.layers(self.prepared)
        return ask

    def _consult(self, question: Similarities | Proposals) -> Consult:
        """A question for a companion; it costs no queries."""
        if type(question) not in self.companions:
            raise refusal(question, self.victim.name)
        if isinstance(question, Similarities):
            return Comparison(self, question, self._memory)
        return Suggestion(self, question, self._memory)

    def _affordable(self, question: Scores | Gradients) -> Rows:
        asked = np.atleast_2d(question.rows)
        if asked.shape[1:] != self._most.shape or asked.dtype.kind not in "iu":
            raise InputError(
                f"a question has rows of {len(self._most)} whole numbers here, not an array of "
                f"shape {asked.shape} and type {asked.dtype}"
            )
        if np.count_nonzero(asked > self._most) or np.count_nonzero(asked < DELETED):
            raise InputError("a question has a row that is not in the space, nor a probe of it")
        rows = np.ascontiguousarray(asked, dtype=np.int16)
        most = self.job.max_queries
        if most is not None and self.queries + len(rows) > most:
            rows, self._spent = rows[: max(0, most - self.queries)], True
        self.queries += len(rows)
        return rows

    def _look_up(self, question: Scores, rows: Rows) -> Ask:
        if self.prepared.canon is not None:
            rows = self.prepared.canon[self._columns, rows]
        n = len(rows)
        full = len(self._index) + n > self.cache_rows
        if not question.cache or n > self.cache_rows or (full and self._asks):
            ask = Ask(self, question, rows, whole=False)
            ask.answer = np.empty((n, self.classes))
            return ask
        if full:
            self._index.clear()
        index, known = self._index, len(self._index)
        slots = [index.setdefault(key, len(index)) for key in row_keys(rows)]
        new = len(index) - known
        if new != n:
            rows = rows[first_seen(slots, known, new)]
        if len(index) > len(self.store):
            grown = np.empty((max(2 * len(self.store), len(index)), self.classes))
            grown[:known] = self.store[:known]
            self.store = grown
        ask = Ask(self, question, rows, whole=False)
        ask.slots, ask.offset = slots if new != n else slice(known, known + n), known
        return ask

    def _remember(self, answers: Sequence[Any]) -> None:
        """Keeps the best row that met the goal: fewest swaps, then highest gain."""
        goal = self.job.goal
        for ask, scores in zip(self._asks, answers, strict=True):
            if goal is None or not isinstance(ask.question, Scores):
                continue
            if goal.gain(scores).max(initial=0.0) <= 0:  # the usual case
                continue
            rows = np.atleast_2d(ask.question.rows)[: len(scores)]
            for i in np.flatnonzero(goal.met(scores, rows)):
                swaps, gain = int(np.count_nonzero(rows[i])), float(goal.gain(scores[i : i + 1])[0])
                least, most = self._best[0] if self._best else (swaps + 1, 0.0)
                if swaps < least or (swaps == least and better(gain, most)):
                    self._best = (swaps, gain), rows[i].copy()
