"""Slopes: gradient questions that wait for the victim, answered many texts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unfooled.ask import Slice, parts_of, rows_of, told
from unfooled.planner import halves
from unfooled.program import Gradients
from unfooled.stats import Stats
from unfooled.task import Task
from unfooled.victims import base
from unfooled.victims.base import Differentiable, Victim

Finished = Iterator[Task[Any]]
"""The tasks that have an answer more, or have failed."""


class Slopes:
    """The gradient questions of an engine."""

    def __init__(self, victim: Victim, *, stats: Stats, say: Callable[[str], None]) -> None:
        self.victim, self._stats, self._say = victim, stats, say
        self.waiting: list[Slice] = []
        self._most: int | None = None  # rows at once, where memory set a limit

    def work(self, most: int) -> Finished:
        """Answers one batch of so many rows at most, the questions that came first before others."""
        live = [s for s in self.waiting if s.ask.task.result is None]
        batch, rest = halves(live, most if self._most is None else min(most, self._most))
        self.waiting = [Slice(*s) for s in rest]
        yield from self._differentiate([Slice(*s) for s in batch])

    def _differentiate(self, batch: list[Slice]) -> Finished:
        victim, batch = self.victim, [s for s in batch if s.ask.task.result is None]
        if not batch:
            return
        assert isinstance(victim, Differentiable)  # the task has refused the question otherwise
        parts = parts_of(batch)
        of = [q.of for q in (s.ask.question for s in batch) if isinstance(q, Gradients)]
        try:
            found = base.checked_slopes(victim.gradients(parts, of), parts=parts, name=victim.name)
        except Exception as error:
            yield from self._recover(batch, error)
            return
        self._stats.batches += 1
        self._stats.forwards += rows_of(batch)
        for (ask, start, _), answer in zip(batch, found, strict=True):
            ask.answer = np.concatenate((ask.answer, answer)) if start else answer
            ask.left -= len(answer)
            yield ask.task

    def _recover(self, batch: list[Slice], error: Exception) -> Finished:
        """Halves a batch that failed, until the guilty row is alone (or memory suffices)."""
        n = rows_of(batch)
        if n == 1:
            ask, start, _ = batch[0]
            text = str(ask.task.space.text(ask.rows[start]))
            ask.task.fail(f"{self.victim.name} failed on {text!r}: {told(error)}")
            yield ask.task
            return
        if base.ran_out_of_memory(error) and (self._most is None or n // 2 < self._most):
            self._most = n // 2
            said = f"{self.victim.name} ran out of memory with the gradients of {n} texts at once"
            self._say(f"{said}: now {self._most}")
        for half in halves(batch, n // 2):
            yield from self._differentiate([Slice(*s) for s in half])
