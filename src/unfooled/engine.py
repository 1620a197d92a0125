"""Engine: runs many programs at once against one victim, at the speed of the victim."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from unfooled.ask import Ask, Slice, parts_of, planned, rows_of, told
from unfooled.companions import Encodes, Proposes
from unfooled.consults import Consult
from unfooled.counsel import Counsel
from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.intake import prepared, seen_random
from unfooled.planner import Cost, halves
from unfooled.program import Floats, Gradients, Sensitivity, Sweep
from unfooled.slopes import Slopes
from unfooled.stats import Stats
from unfooled.task import Job, Result, Task
from unfooled.victims import base
from unfooled.victims.base import Prepared, Victim

T = TypeVar("T")

_PRESSURE = 4  # programs are resumed only while fewer than so many batches of rows are waiting
_IN_FLIGHT = 64
_ROWS = 2  # that a program asks for at a time, or more
_CHECKED_TWICE = 8  # texts scored twice at the start, to see whether the victim repeats itself


class Engine:
    """Answers the questions of many programs: packs them into batches, caches, counts, isolates.

    `in_flight` programs run at a time (default: as many as fill a batch, 64 at the least); `batch` caps
    the rows of a batch (default: the victim's).
    Outcomes depend on neither. Similarities need an `encoder`, Proposals a `masked` language model:
    each is given as it is, or as a function that loads it when the first question comes. An engine that
    `proves` refuses a random victim.
    """

    def __init__(
        self,
        victim: Victim,
        *,
        in_flight: int | None = None,
        batch: int | None = None,
        cache_rows: int = 16_384,
        encoder: Encodes | Callable[[], Encodes] | None = None,
        masked: Proposes | Callable[[], Proposes] | None = None,
        on_batch: Callable[[Stats], None] | None = None,
        say: Callable[[str], None] | None = None,
        proves: bool = False,
    ) -> None:
        self.victim, self.cache_rows = victim, cache_rows
        self.batch = victim.batch_rows if batch is None else batch
        least = max(_IN_FLIGHT, self.batch // _ROWS)
        self.in_flight = least if in_flight is None else in_flight
        if self.in_flight < 1 or self.batch < 1:
            raise InputError(f"in_flight {in_flight} and batch {self.batch}: both are at least 1")
        self.stats, self.cost, self.proves = Stats(), Cost(), proves
        self._on_batch, self._say = on_batch or (lambda stats: None), say or warnings.warn
        self._counsel = Counsel(encoder, masked, stats=self.stats, say=self._say)
        self._slopes = Slopes(victim, stats=self.stats, say=self._say)
        self._reset()

    def _reset(self) -> None:
        self._pool: list[Slice] = []
        self._pooled = 0
        self._ready: deque[Task[Any]] = deque()
        self._under_way: deque[tuple[list[Slice], Callable[[], Floats]]] = deque()
        self._asides: deque[Ask] = deque()
        self._ended: list[Result[Any]] = []
        self._counsel.waiting.clear()
        self._slopes.waiting.clear()

    def run(self, jobs: Iterable[Job[T]]) -> Iterator[Result[T]]:
        """The results of all jobs, in the order in which they end."""
        return chain.from_iterable(self.bursts(jobs))

    def bursts(self, jobs: Iterable[Job[T]]) -> Iterator[list[Result[T]]]:
        """The same, those that end together in one list."""
        self._reset()  # an earlier run may have been left in the middle
        rest = iter(jobs)
        first = list(islice(rest, _CHECKED_TWICE))
        if seen := seen_random(first, self.victim, proves=self.proves):
            self.stats.random, self.cache_rows = True, 0
            self._say(f"{seen}: caching is off, and outcomes can differ from run to run")
        waiting = prepared(chain(first, rest), self.victim, most=self.in_flight)
        active, more = 0, True
        while active or more:
            while more and active < self.in_flight and self._pooled < self.batch:
                job, ready = next(waiting, (None, None))
                more = job is not None
                if job is not None:
                    active += 1
                    self._start(job, ready)
            while self._ready and self._has_room():
                task = self._ready.popleft()
                self._enqueue(task, task.resume())
            self._work(more and active < self.in_flight)
            ended, self._ended = self._ended, []
            active -= len(ended)
            self.stats.texts += len(ended)
            if ended:
                yield ended

    def _capacity(self, tokens: int) -> int:
        """How many rows a batch may have whose longest has so many tokens."""
        most = self.victim.batch_tokens
        return self.batch if most is None else max(1, min(self.batch, most // max(tokens, 1)))

    def _has_room(self) -> bool:
        return self._pooled < _PRESSURE * self.batch

    # --- starting and ending ------------------------------------------------------------------

    def _start(self, job: Job[T], ready: Prepared | None) -> None:
        try:
            task = Task(
                job,
                self.victim,
                cache_rows=self.cache_rows,
                prepared=ready,
                companions=self._counsel.present,
            )
        except Exception as error:
            said = f"{self.victim.name} failed on {str(job.space.original)!r}: {told(error)}"
            trace = traceback.format_exc()
            self._ended.append(Result(job, None, 0, 0, error=said, traceback=trace))
        else:
            self._enqueue(task, task.start())

    def _enqueue(self, task: Task[Any], asks: list[Ask | Consult]) -> None:
        if task.result is not None:
            self._end(task)
        elif not asks:
            self._ready.append(task)
        for ask in asks:
            if not isinstance(ask, Ask):
                self._counsel.waiting.append(ask)
            elif isinstance(ask.question, Gradients):
                self._slopes.waiting.append(Slice(ask, 0, ask.left))
            elif isinstance(ask.question, (Sensitivity, Sweep)):
                self._asides.append(ask)
            else:
                self._pool.append(Slice(ask, 0, ask.left))
                self._pooled += ask.left

    def _end(self, task: Task[Any]) -> None:
        if task.result is not None:
            self.stats.queries += task.result.queries
            self._ended.append(task.result)

    def _fail(self, ask: Ask, row: Rows, error: str) -> None:
        if ask.task.result is None:
            text = str(ask.task.space.text(row))
            expected = f"expected {len(self.victim.labels)} finite scores, one for each class"
            ask.task.fail(f"{self.victim.name} failed on {text!r}: {error}; {expected}")
            self._end(ask.task)

    # --- working ------------------------------------------------------------------------------

    def _work(self, more: bool) -> None:
        """Runs full batches; partial ones, and waiting, only when nothing else can be done before.

        `more`: another text can be started.
        """
        idle = not (self._under_way or (self._ready and self._has_room()))
        if idle and self._pooled < min(self.batch, self._counsel.rows):
            self._go_on(self._counsel.work())
        elif self._pool:
            batches = planned(self._pool, self.cost, most=self._capacity)
            full = [b for b in batches if rows_of(b) >= self._capacity(b[0].ask.tokens)]
            chosen = full or (batches if idle else [])
            rest = [] if chosen is batches else [b for b in batches if b not in full]
            self._pool = [s for b in rest for s in b]
            self._pooled = rows_of(self._pool)
            for batch in chosen:
                self._submit(batch)
        elif self._slopes.waiting and idle:
            self._go_on(self._slopes.work(self.batch))
        elif self._asides and idle:
            self._work_on_aside(self._asides.popleft())
        going_on = (more and self._pooled < self.batch) or (self._ready and self._has_room())
        if self._under_way and not going_on:
            self._collect(*self._under_way.popleft())

    def _submit(self, batch: list[Slice]) -> None:
        began = time.perf_counter()
        try:
            handle = self.victim.submit(parts_of(batch))
        except Exception as error:
            self._recover(batch, error)
            return
        if self.victim.depth:
            self._under_way.append((batch, handle))
            while len(self._under_way) > self.victim.depth:
                self._collect(*self._under_way.popleft())
        else:
            self._collect(batch, handle)
            tokens = max(s.ask.tokens for s in batch)
            self.cost.see(rows_of(batch), tokens, time.perf_counter() - began)

    def _collect(self, batch: list[Slice], handle: Callable[[], Floats]) -> None:
        n = rows_of(batch)
        try:
            scores = base.checked(
                handle(), n=n, classes=len(self.victim.labels), name=self.victim.name
            )
        except Exception as error:
            self._recover(batch, error)
            return
        self.stats.batches += 1
        self.stats.forwards += n
        if not np.isfinite(scores).all():
            self._weed_out(batch, scores)
        start = 0
        for ask, begin, stop in batch:
            end = start + stop - begin
            if ask.task.result is None:
                ask.deliver(begin, scores[start:end])
                if not ask.left and ask.task.ready:
                    self._ready.append(ask.task)
            start = end
        self._on_batch(self.stats)

    def _weed_out(self, batch: list[Slice], scores: Floats) -> None:
        """Fails the texts whose scores are not finite; the others go on."""
        owners = [(s.ask, i) for s in batch for i in range(s.start, s.stop)]
        for number in np.flatnonzero(~np.isfinite(scores).all(axis=1)):
            ask, row = owners[number]
            self._fail(ask, ask.rows[row], f"it returned {scores[number].tolist()}")

    def _recover(self, batch: list[Slice], error: Exception) -> None:
        """Halves a batch that failed, until the guilty row is alone (or memory suffices)."""
        n = rows_of(batch)
        if n == 1:
            ask, start, _ = batch[0]
            self._fail(ask, ask.rows[start], told(error))
            return
        if base.ran_out_of_memory(error) and n // 2 < self.batch:
            self.batch = n // 2
            self._say(
                f"{self.victim.name} ran out of memory with {n} texts at once: now {self.batch}"
            )
        for half in halves(batch, n // 2):
            live = [Slice(*s) for s in half if s[0].task.result is None]
            if not live:
                continue
            try:
                handle = self.victim.submit(parts_of(live))
            except Exception as again:
                self._recover(live, again)
            else:
                self._collect(live, handle)

    def _go_on(self, finished: Iterable[Task[Any]]) -> None:
        """Takes the texts that have an answer more, from the victim's gradients or a companion."""
        for task in finished:
            if task.result is not None:
                self._end(task)
            elif task.ready:
                self._ready.append(task)
        self._on_batch(self.stats)

    def _work_on_aside(self, ask: Ask) -> None:
        """One stretch of a question that is answered outside the batches; the texts take turns."""
        try:
            self.stats.forwards += ask.task.swept(ask)
        except Exception as error:
            self._fail(ask, ask.task.space.origin, told(error))
            return
        if ask.left:
            self._asides.append(ask)
        else:
            self._ready.append(ask.task)
        self._on_batch(self.stats)
