"""Ask: what one question still needs from the victim, and where the answers go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unfooled.counting import Rows
from unfooled.planner import Cost, plan
from unfooled.program import Floats, Gradients, Layers, Scores, Sensitivity, Sweep, Swept
from unfooled.victims.base import Part, Sensitive, Sweeping

if TYPE_CHECKING:
    from unfooled.task import Task

_KEPT = 256  # rows in doubt that a sweep reports


class Ask:
    """Rows of one question that the victim must still score, and where the answers go."""

    __slots__ = (
        "answer",
        "cut_short",
        "left",
        "of",
        "offset",
        "question",
        "rows",
        "slots",
        "stretches",
        "task",
        "tokens",
        "whole",
    )

    def __init__(
        self,
        task: Task[Any],
        question: Scores | Gradients | Sensitivity | Sweep | Layers,
        rows: Rows,
        *,
        whole: bool,
    ) -> None:
        self.task, self.question, self.rows, self.whole = task, question, rows, whole
        self.left = len(rows)
        # Where the answer lies in the cache; None: not there.
        self.slots: list[int] | slice | None = None
        self.offset = 0  # where the fresh rows go
        self.answer: Any = None
        self.stretches: Iterator[Swept] | None = None  # of a sweep
        self.cut_short = False  # a sweep ended because the budget did
        self.tokens = task.prepared.tokens(rows) if len(rows) else 0

    def deliver(self, start: int, scores: Floats) -> None:
        """Takes the scores of rows start, start + 1, ..."""
        into = self.task.store if self.slots is not None else self.answer
        begin = self.offset + start
        into[begin : begin + len(scores)] = scores
        self.left -= len(scores)

    def result(self) -> Any:
        """The whole answer, once nothing is left."""
        if self.slots is None:
            return self.answer
        found = self.task.store[self.slots]
        return (
            found.copy() if isinstance(self.slots, slice) else found
        )  # the store is not handed out

    # --- questions outside the batches --------------------------------------------------------

    def begin(self, limit: int | None) -> None:
        """Starts a question that only some victims can answer; by the others it is None."""
        victim, question = self.task.victim, self.question
        if isinstance(question, Sweep) and isinstance(victim, Sweeping):
            self.stretches = victim.sweep(self.task.prepared, question, limit=limit)
            self.answer = None if self.stretches is None else Swept(0, 0)
            self.left = int(self.stretches is not None)
        elif isinstance(question, Sensitivity) and isinstance(victim, Sensitive) and limit != 0:
            self.left = 1

    def advance(self) -> tuple[int, int]:
        """Takes the next stretch; returns the queries and the forwards that it cost."""
        victim, question = self.task.victim, self.question
        if isinstance(question, Sensitivity):
            assert isinstance(victim, Sensitive)
            self.answer, self.left = victim.sensitivity(self.task.prepared, question.of), 0
            return 1, 1
        assert self.stretches is not None
        assert isinstance(question, Sweep)
        began = time.perf_counter()
        stretch = next(self.stretches, None)
        taken = time.perf_counter() - began
        if stretch is None:  # without a counterexample, and not complete
            self.left, self.cut_short = 0, True
            return 0, 0
        self.answer = joined(self.answer, replace(stretch, seconds=taken))
        late = question.seconds is not None and self.answer.seconds > question.seconds
        self.left = int(stretch.fooled is None and not stretch.complete and not late)
        return stretch.evaluated, stretch.forwards


def joined(one: Swept, two: Swept) -> Swept:
    """Two stretches of a sweep as one; the second came later."""
    doubtful = [d for d in (one.doubtful, two.doubtful) if d is not None]
    lower = two if two.least < one.least else one
    return replace(
        two,
        evaluated=one.evaluated + two.evaluated,
        forwards=one.forwards + two.forwards,
        least=lower.least,
        least_row=lower.least_row,
        doubtful=np.concatenate(doubtful)[:_KEPT] if doubtful else None,
        doubts=one.doubts + two.doubts,
        seconds=one.seconds + two.seconds,
    )


class Slice(NamedTuple):
    """Rows start to stop of an ask."""

    ask: Ask
    start: int
    stop: int


def rows_of(batch: list[Slice]) -> int:
    """How many rows a batch has."""
    return sum(s.stop - s.start for s in batch)


def planned(pool: list[Slice], cost: Cost, *, most: Callable[[int], int]) -> list[list[Slice]]:
    """Batches of at most so many rows for their tokens, of the texts that have not failed."""
    live = [s for s in pool if s.ask.task.result is None]
    sizes = [(s.stop - s.start, s.ask.tokens) for s in live]
    return [
        [Slice(live[i].ask, live[i].start + a, live[i].start + b) for i, a, b in batch]
        for batch in plan(sizes, cost, most=most)
    ]


def parts_of(batch: list[Slice]) -> list[Part]:
    """A batch as the victim takes it."""
    return [Part(s.ask.task.prepared, s.ask.rows[s.start : s.stop]) for s in batch]


def told(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error}"
