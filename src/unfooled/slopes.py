"""Slopes: gradient questions that wait for the victim, answered many texts at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unfooled.ask import Ask, told
from unfooled.program import Gradients
from unfooled.stats import Stats
from unfooled.task import Task
from unfooled.victims import base
from unfooled.victims.base import Differentiable, Part, Victim

Finished = Iterator[Task[Any]]
"""The tasks that have an answer more, or have failed."""


class Slopes:
    """The gradient questions of an engine."""

    def __init__(self, victim: Victim, *, stats: Stats) -> None:
        self.victim, self.stats = victim, stats
        self.waiting: list[Ask] = []

    def work(self, most: int) -> Finished:
        """Answers one batch: of `most` rows, or of one question that has more."""
        live = [ask for ask in self.waiting if ask.task.result is None]
        batch: list[Ask] = []
        while live and (not batch or sum(a.left for a in (*batch, live[-1])) <= most):
            batch.append(live.pop())
        self.waiting = live
        if batch:
            yield from self._differentiate(batch)

    def _differentiate(self, batch: list[Ask]) -> Finished:
        victim = self.victim
        assert isinstance(victim, Differentiable)  # the task has refused the question otherwise
        parts = [Part(ask.task.prepared, ask.rows) for ask in batch]
        of = [q.of for q in (ask.question for ask in batch) if isinstance(q, Gradients)]
        try:
            answers = base.checked_slopes(
                victim.gradients(parts, of), parts=parts, name=victim.name
            )
        except Exception as error:
            yield from self._recover(batch, error)
            return
        self.stats.batches += 1
        for ask, answer in zip(batch, answers, strict=True):
            self.stats.forwards += ask.left
            ask.answer, ask.left = answer, 0
            if ask.task.result is None:  # another of its questions may have failed
                yield ask.task

    def _recover(self, batch: list[Ask], error: Exception) -> Finished:
        """Halves a batch that failed, until the guilty question is alone."""
        if len(batch) > 1:
            yield from self._differentiate(batch[: len(batch) // 2])
            yield from self._differentiate(batch[len(batch) // 2 :])
            return
        ask = batch[0]
        if ask.task.result is None:
            text = str(ask.task.space.text(ask.rows[0]))
            ask.task.fail(f"{self.victim.name} failed on {text!r}: {told(error)}")
            yield ask.task
