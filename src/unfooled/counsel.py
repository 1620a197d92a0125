"""Counsel: asks the companions of a victim, many texts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from unfooled.ask import told
from unfooled.companions import Encodes, Floats, Proposal, Proposes
from unfooled.consults import Comparison, Consult, Stretch, Suggestion, encoded
from unfooled.errors import CompanionError
from unfooled.planner import Cost, halves, plan
from unfooled.program import Proposals, Question, Similarities
from unfooled.stats import Stats
from unfooled.victims.base import ran_out_of_memory

Finished = Iterator[Any]
"""The tasks that have an answer more, or have failed."""


class Counsel:
    """The companions of an engine and the questions that wait for them.

    A companion is given as it is, or as a function that loads it when the first question comes.
    """

    def __init__(
        self,
        encoder: Encodes | Callable[[], Encodes] | None,
        masked: Proposes | Callable[[], Proposes] | None,
        *,
        stats: Stats,
        say: Callable[[str], None],
    ) -> None:
        self._encoder, self._masked, self._stats, self._say = encoder, masked, stats, say
        self._most: dict[str, int] = {}  # rows at once, where memory set a limit
        self.waiting: list[Consult] = []
        given = {Similarities: encoder, Proposals: masked}
        self.present: frozenset[type[Question]] = frozenset(
            kind for kind, companion in given.items() if companion is not None
        )

    @property
    def rows(self) -> int:
        """How many rows and requests wait."""
        return sum(ask.left for ask in self.waiting)

    def work(self) -> Finished:
        """Answers one batch: of the requests first, then of the texts to be encoded."""
        self.waiting = [ask for ask in self.waiting if ask.task.result is None and ask.left]
        requests = [ask for ask in self.waiting if isinstance(ask, Suggestion)]
        alone = [ask for ask in self.waiting if isinstance(ask, Comparison) and ask.question.alone]
        if requests:
            masked = self.masked
            yield from self._propose(masked, requests[: self._room(masked)])
        elif alone:
            yield from self._one_by_one(self.encoder, alone[0])
        elif self.waiting:
            yield from self._encode(self.encoder, self._batch(self.encoder))
        self.waiting = [ask for ask in self.waiting if ask.task.result is None and ask.left]

    @property
    def encoder(self) -> Encodes:
        """The sentence encoder, loaded if need be."""
        if not isinstance(self._encoder, Encodes):
            assert self._encoder is not None  # the task has refused the question otherwise
            self._encoder = self._encoder()
        return self._encoder

    @property
    def masked(self) -> Proposes:
        """The masked language model, loaded if need be."""
        if not isinstance(self._masked, Proposes):
            assert self._masked is not None
            self._masked = self._masked()
        return self._masked

    def _room(self, companion: Encodes | Proposes) -> int:
        return max(1, self._most.get(companion.name, companion.batch_rows))

    # --- similarities -------------------------------------------------------------------------

    def _batch(self, encoder: Encodes) -> list[Stretch]:
        """The longest texts that wait, and those that may as well ride with them."""
        waiting = [ask for ask in self.waiting if isinstance(ask, Comparison)]
        sizes = [(ask.left, ask.tokens) for ask in waiting]
        room = self._room(encoder)
        first = plan(sizes, Cost(), most=lambda tokens: room)[0]
        done = [len(ask.rows) - ask.left for ask in waiting]
        return [Stretch(waiting[i], done[i] + a, done[i] + b) for i, a, b in first]

    def _encode(self, encoder: Encodes, batch: list[Stretch]) -> Finished:
        batch = [s for s in batch if s.ask.task.result is None]
        n = sum(s.stop - s.start for s in batch)
        if not n:
            return
        try:
            vectors = checked_vectors(encoded(encoder, batch), n=n, name=encoder.name)
        except Exception as error:
            yield from self._recover(encoder, batch, error)
            return
        self._stats.encoded += n
        start = 0
        for ask, begin, stop in batch:
            end = start + stop - begin
            yield from self._deliver(encoder, Stretch(ask, begin, stop), vectors[start:end])
            start = end

    def _deliver(self, encoder: Encodes, part: Stretch, vectors: Floats) -> Finished:
        ask = part.ask
        if ask.task.result is not None:  # another row of it has just failed
            return
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            self._fail(ask, encoder, part.start + int(bad[0]), "its vector is not finite")
            yield ask.task
            return
        ask.deliver(part.start, vectors)
        if not ask.left:
            yield ask.task

    def _recover(self, encoder: Encodes, batch: list[Stretch], error: Exception) -> Finished:
        """Halves a batch that failed, until the guilty row is alone (or memory suffices)."""
        n = sum(s.stop - s.start for s in batch)
        if n == 1:
            self._fail(batch[0].ask, encoder, batch[0].start, told(error))
            yield batch[0].ask.task
            return
        self._learn_limit(encoder, n, error)
        for half in halves(batch, n // 2):
            yield from self._encode(encoder, [Stretch(*s) for s in half])

    def _one_by_one(self, encoder: Encodes, ask: Comparison) -> Finished:
        """Encodes every text by itself, as strings: what whoever verifies does too."""
        for row in range(len(ask.rows)):
            (source,) = ask.sight.sources(ask.rows[row : row + 1])
            try:
                vector = checked_vectors(encoder.encode([source]), n=1, name=encoder.name)
            except Exception as error:
                self._fail(ask, encoder, row, told(error))
                yield ask.task
                return
            self._stats.encoded += 1
            yield from self._deliver(encoder, Stretch(ask, row, row + 1), vector)
            if ask.task.result is not None:
                return

    def _fail(self, ask: Comparison, encoder: Encodes, row: int, why: str) -> None:
        (source,) = ask.sight.sources(ask.rows[row : row + 1])
        ask.task.fail(f"{encoder.name} failed on {source!r}: {why}; expected a sentence vector")

    def _learn_limit(self, companion: Encodes | Proposes, n: int, error: Exception) -> None:
        if ran_out_of_memory(error) and n // 2 < self._room(companion):
            self._most[companion.name] = n // 2
            self._say(f"{companion.name} ran out of memory with {n} texts at once: now {n // 2}")

    # --- proposals ----------------------------------------------------------------------------

    def _propose(self, masked: Proposes, asks: Sequence[Suggestion]) -> Finished:
        asks = [ask for ask in asks if ask.task.result is None]
        if not asks:
            return
        try:
            found = checked_proposals(masked.propose([ask.request for ask in asks]), asks, masked)
        except Exception as error:
            if len(asks) == 1:
                text = str(asks[0].request.text)
                asks[0].task.fail(f"{masked.name} failed on {text!r}: {told(error)}")
                yield asks[0].task
                return
            self._learn_limit(masked, len(asks), error)
            for half in (asks[: len(asks) // 2], asks[len(asks) // 2 :]):
                yield from self._propose(masked, half)
            return
        self._stats.proposed += len(asks)
        for ask, proposals in zip(asks, found, strict=True):
            ask.deliver(proposals)
            if ask.task.result is None:
                yield ask.task


def checked_vectors(vectors: Any, *, n: int, name: str) -> Floats:
    """The vectors as an array, or a CompanionError that says what was expected."""
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != n or array.dtype.kind != "f":
        raise CompanionError(
            f"{name} was given {n} texts and returned an array of shape {array.shape} and type "
            f"{array.dtype}; expected ({n}, d) floating-point numbers"
        )
    return array


def checked_proposals(
    found: Any, asks: Sequence[Suggestion], masked: Proposes
) -> list[list[Proposal]]:
    """The proposals of each request, or a CompanionError that says what was expected."""
    lists = [list(proposals) for proposals in found]
    fits = len(lists) == len(asks) and all(
        len(proposals) <= ask.request.k for proposals, ask in zip(lists, asks, strict=True)
    )
    if not fits or not all(isinstance(p, Proposal) for proposals in lists for p in proposals):
        raise CompanionError(
            f"{masked.name} was given requests ({len(asks)}) and returned {lists!r:.80}; expected for "
            "each a list of at most k proposals"
        )
    return lists
