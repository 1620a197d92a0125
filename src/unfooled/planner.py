"""How rows of different lengths are packed into batches, by what batches were seen to cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_REFITS = (8, 32, 128)  # after so many batches the cost model is fitted anew


@dataclass
class Cost:
    """Seconds of a batch of n rows of length L: `batch` + `step` L + `token` n L.

    A transformer has next to no `step` and likes batches of one length; a recurrent network walks
    through the longest row step by step and likes full batches of mixed lengths. The figures are
    learned from the first batches of a run.
    """

    batch: float = 100.0  # before anything is measured: in units of one token
    step: float = 0.0
    token: float = 1.0
    _seen: list[tuple[int, int, float]] = field(default_factory=list)

    def see(self, rows: int, tokens: int, seconds: float) -> None:
        """Learns from one batch."""
        if len(self._seen) >= _REFITS[-1]:
            return
        self._seen.append((rows, tokens, seconds))
        if len(self._seen) in _REFITS:
            self._fit()

    def _fit(self) -> None:
        from scipy.optimize import nnls  # only a run has to pay for it

        rows, tokens, seconds = np.array(self._seen[1:]).T  # the first batch warms up
        terms = np.stack([np.ones_like(rows), tokens, rows * tokens], axis=1)
        weights = 1 / np.maximum(seconds, 1e-9)  # relative errors count
        found, _ = nnls(terms * weights[:, None], np.ones(len(seconds)))
        if found[2] > 0:
            self.batch, self.step, self.token = map(float, found)

    def worth_padding(self, rows: int, *, tokens: int, longest: int) -> bool:
        """Whether rows of some length had better ride in a batch of longer rows than in their own."""
        return self.token * rows * (longest - tokens) <= self.batch + self.step * tokens


Stretch = tuple[Any, int, int]
"""Rows start to stop of something."""


def halves(batch: Sequence[Stretch], cut: int) -> tuple[list[Stretch], list[Stretch]]:
    """The first `cut` rows of a batch, and the rest."""
    first: list[Stretch] = []
    rest: list[Stretch] = []
    for item, start, stop in batch:
        middle = start + min(cut, stop - start)
        first += [(item, start, middle)] if middle > start else []
        rest += [(item, middle, stop)] if stop > middle else []
        cut -= middle - start
    return first, rest


def plan(
    sizes: Sequence[tuple[int, int]], cost: Cost, *, most: Callable[[int], int]
) -> list[list[tuple[int, int, int]]]:
    """Batches of (item, start, stop), from items of (rows, tokens).

    `most` says of how many rows a batch may be whose longest have so many tokens.

    Items are taken from the longest to the shortest and cut where a batch is full; a batch ends
    early where padding the next item would cost more than another batch.
    """
    batches: list[list[tuple[int, int, int]]] = []
    room = longest = 0
    for item in sorted(range(len(sizes)), key=lambda i: -sizes[i][1]):
        rows, tokens = sizes[item]
        start = 0
        while start < rows:
            take = min(room, rows - start)
            if take == 0 or (
                tokens < longest and not cost.worth_padding(take, tokens=tokens, longest=longest)
            ):
                batches.append([])
                room, longest = most(tokens), tokens
                continue
            batches[-1].append((item, start, start + take))
            start, room = start + take, room - take
    return batches
