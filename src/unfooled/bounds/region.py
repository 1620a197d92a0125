"""Region: the texts within a budget of swaps, as word vectors, for a batch of texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unfooled.bounds.reading import Reading
from unfooled.sweeps.regions import Pick


@dataclass(frozen=True)
class Region:
    """For each of a batch: all texts that differ from a base text in at most `budget` columns.

    `places`, `points` and `real` may have a batch of one, which then stands for all: the nodes of
    one text share them.
    """

    base: Tensor  # (batch, words, d) word vectors, fixed swaps already applied
    mask: Tensor  # (batch, words) true on words, false on padding
    places: Tensor  # (batch, columns) the word of each column
    points: Tensor  # (batch, columns, choices, d) vector of each choice minus the base vector there
    real: Tensor  # (batch, columns, choices) which points exist
    budget: Tensor  # (batch,) at most so many columns may be swapped
    free: Tensor | None = None  # (batch, columns) which columns may be swapped; None: all

    def __len__(self) -> int:
        return len(self.base)

    @classmethod
    def of(cls, readings: Sequence[Reading], budgets: Sequence[int] | Tensor) -> Region:
        """The texts within so many swaps of each text; shorter texts are padded with zeros."""
        n, width = len(readings), readings[0].text.shape[1]
        words = max(len(r.text) for r in readings)
        columns = max((len(r.choices) for r in readings), default=0)
        choices = max((len(c) for r in readings for c in r.choices), default=0)
        base = torch.zeros(n, words, width, dtype=torch.float64)
        mask = torch.zeros(n, words, dtype=torch.bool)
        places = torch.zeros(n, columns, dtype=torch.long)
        points = torch.zeros(n, columns, choices, width, dtype=torch.float64)
        real = torch.zeros(n, columns, choices, dtype=torch.bool)
        for i, reading in enumerate(readings):
            base[i, : len(reading.text)] = reading.text
            mask[i, : len(reading.text)] = True
            for c, (place, found) in enumerate(
                zip(reading.plan.places, reading.choices, strict=True)
            ):
                places[i, c] = place
                points[i, c, : len(found)] = found - reading.text[place]
                real[i, c, : len(found)] = True
        return cls(base, mask, places, points, real, torch.as_tensor(budgets))

    def nodes(
        self,
        fixed: Sequence[Sequence[Pick]],
        start: Sequence[int] | Tensor,
        *,
        budget: Sequence[int] | Tensor,
        order: Sequence[int] | Tensor | None = None,
    ) -> Region:
        """A batch of nodes of this one text: these swaps are made, so many more are allowed.

        Only columns from number `start` on in the `order` (as they stand when there is none) are free.
        """
        if len(self) != 1:
            raise ValueError(f"the nodes of one text are asked for, and here are {len(self)}")
        columns = self.places.shape[1]
        base = self.base.repeat(len(fixed), 1, 1)
        for row, picks in enumerate(fixed):
            for column, choice in picks:
                base[row, self.places[0, column]] += self.points[0, column, choice]
        rank = torch.empty(columns, dtype=torch.long)
        rank[torch.arange(columns) if order is None else torch.as_tensor(order)] = torch.arange(
            columns
        )
        free = rank >= torch.as_tensor(start)[:, None]
        for row, picks in enumerate(fixed):
            free[row, [column for column, _ in picks]] = False
        return Region(
            base,
            self.mask.expand(len(fixed), -1),
            self.places,
            self.points,
            self.real,
            torch.as_tensor(budget),
            free,
        )

    def rows(self, start: int, stop: int) -> Region:
        """Some of the batch."""

        def cut(part: Tensor) -> Tensor:
            return part if len(part) == 1 != len(self) else part[start:stop]

        return Region(
            self.base[start:stop],
            self.mask[start:stop],
            cut(self.places),
            cut(self.points),
            cut(self.real),
            self.budget[start:stop],
            None if self.free is None else self.free[start:stop],
        )

    def least(self, changes: Tensor) -> Tensor:
        """(batch, columns, ...): the least of 0 and the changes (batch, columns, choices, ...)."""
        return self._extreme(changes, sign=1.0)

    def most(self, changes: Tensor) -> Tensor:
        """(batch, columns, ...): the greatest of 0 and the changes (batch, columns, choices, ...)."""
        return -self._extreme(changes, sign=-1.0)

    def _extreme(self, changes: Tensor, *, sign: float) -> Tensor:
        if not changes.shape[2]:  # no column has a choice
            return changes.new_zeros(len(self), *changes.shape[1:2], *changes.shape[3:])
        extra = (1,) * (changes.dim() - 3)
        missing = ~self.real.reshape(*self.real.shape, *extra)
        found = (sign * changes).masked_fill(missing, 0.0).amin(dim=2).clamp(max=0.0)
        if self.free is None:
            return found.expand(len(self), *found.shape[1:])
        return found * self.free.reshape(*self.free.shape, *extra)

    def total(self, drops: Tensor) -> Tensor:
        """(batch, ...): the sum of the `budget` lowest of the drops (batch, columns, ...), none above 0."""
        kept = min(int(self.budget.max()), drops.shape[1])
        if kept == 0:
            return drops.new_zeros(len(drops), *drops.shape[2:])
        lowest = drops.topk(kept, dim=1, largest=False).values  # sorted
        allowed = torch.arange(kept) < self.budget[:, None]
        return (lowest * allowed.reshape(*allowed.shape, *(1,) * (drops.dim() - 2))).sum(dim=1)

    def minimum(self, slopes: Tensor) -> Tensor:
        """(batch, k): the least value over the region of <slopes, vectors>, slopes (batch, k, words, d).

        Exact: the columns are independent, so the best swaps are those with the lowest changes.
        """
        value = torch.einsum("nkwd,nwd->nk", slopes, self.base)
        if not self.points.shape[2]:
            return value
        places = self.places.expand(len(self), -1)
        index = places[:, None, :, None].expand(-1, slopes.shape[1], -1, slopes.shape[3])
        there = slopes.gather(2, index)  # (batch, k, columns, d)
        if len(self.points) == 1:
            changes = torch.einsum("nkcd,cjd->ncjk", there, self.points[0])
        else:
            changes = torch.einsum("nkcd,ncjd->ncjk", there, self.points)
        return value + self.total(self.least(changes))
