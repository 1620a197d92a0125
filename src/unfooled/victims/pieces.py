"""Token ids of every choice at every position of a space, cut once and joined by gathers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.space import DELETED, UNKNOWN, Space

Ids = NDArray[np.int64]
Pieces = tuple[int, ...]


class Body(NamedTuple):
    """Token ids of rows, padded at the end, and how many of each row are real."""

    ids: Ids  # (n, longest)
    lengths: Ids  # (n,)


class PieceTable:
    """The ids that each (column, choice) contributes, between the ids of the words that stay.

    Choices are indexed as rows index them: 0 the original word, k the k-th candidate, and the probe
    codes from the end, as negative indices do.
    """

    def __init__(
        self,
        space: Space,
        *,
        fixed: Sequence[Pieces],
        choices: Sequence[Sequence[Pieces]],
        unknown: Pieces,
    ) -> None:
        """`fixed`: the pieces of every word; `choices`: those of the candidates, column by column."""
        self.space = space
        width = max(space.counts, default=0) + 3
        options = [
            self._options(fixed[p], c, unknown, width)
            for p, c in zip(space.positions, choices, strict=True)
        ]
        self.canon = canonical_choices(options, width)
        self._lay_out(space, fixed, options, width)

    @staticmethod
    def _options(
        original: Pieces, candidates: Sequence[Pieces], unknown: Pieces, width: int
    ) -> list[Pieces]:
        filled = [original, *candidates]
        filled += [()] * (width - len(filled))
        filled[UNKNOWN], filled[DELETED] = unknown, ()
        return filled

    def _lay_out(
        self, space: Space, fixed: Sequence[Pieces], options: list[list[Pieces]], width: int
    ) -> None:
        column_of = {p: c for c, p in enumerate(space.positions)}
        pool: list[int] = []
        # One entry per slot: a column, or a stretch of fixed words.
        starts: list[Ids] = []
        sizes: list[Ids] = []
        slots: list[int] = []
        stretch = False
        for position, pieces in enumerate(fixed):
            if position in column_of:
                slots.append(len(starts))
                made = options[column_of[position]]
                starts.append(np.cumsum([len(pool)] + [len(o) for o in made[:-1]]))
                sizes.append(np.array([len(o) for o in made]))
                pool.extend(i for o in made for i in o)
                stretch = False
                continue
            if not stretch:
                starts.append(np.full(width, len(pool)))
                sizes.append(np.zeros(width, dtype=np.int64))
                stretch = True
            pool.extend(pieces)
            sizes[-1] += len(pieces)
        # Columns in the order of the row, which is the order of positions except in open copies.
        order = np.argsort(np.argsort(space.positions)) if slots else np.empty(0, np.int64)
        self._slots = np.array(slots, dtype=np.int64)[order]
        self._pool = np.array(pool, dtype=np.int64)
        self._starts = np.array(starts, dtype=np.int64).reshape(-1, width)
        self._sizes = np.array(sizes, dtype=np.int64).reshape(-1, width)
        self._columns = np.arange(len(slots))
        self._set_fast_path()

    def _set_fast_path(self) -> None:
        """Where every choice of a column is one piece, rows have one length: a gather does it all."""
        lead = self._sizes[:, 0]
        offsets = np.cumsum(lead) - lead
        self.offsets: Ids = offsets[self._slots]  # where each column's word starts in the original
        self.simple = all(
            (self._sizes[s, : n + 1] == 1).all() and self._sizes[s, UNKNOWN] == 1
            for s, n in zip(self._slots, self.space.counts, strict=True)
        )
        origin = self._general(self.space.rows(self.space.origin))
        self.base: Ids = origin.ids[0]
        if self.simple:
            last = max(len(self._pool) - 1, 0)
            picks = (
                self._pool[np.minimum(self._starts[self._slots], last)]
                if len(self._pool)
                else self._starts
            )
            self.picks: Ids = picks  # (columns, choices)
            longest = len(self.base)
        else:
            longest = int(self._sizes.max(axis=1).sum())
        self.longest = longest

    def tokens(self, rows: Rows) -> int:
        """The length of the longest of these rows."""
        if self.simple:
            return len(self.base)
        return int(self._row_sizes(rows).sum(axis=1).max(initial=0))

    def body(self, rows: Rows) -> Body:
        """The token ids of rows."""
        if not self.simple or (rows == DELETED).any():
            return self._general(rows)
        ids = np.empty((len(rows), len(self.base)), dtype=np.int64)
        ids[:] = self.base
        ids[:, self.offsets] = self.picks[self._columns, rows]
        return Body(ids, np.full(len(rows), len(self.base)))

    def fill(self, rows: Rows, out: Ids) -> None:
        """Writes ids of rows into `out`, cut to its width: the fast path without a copy."""
        width = min(len(self.base), out.shape[1])
        out[:, :width] = self.base[:width]
        seen = self.offsets < width
        if seen.all():
            out[:, self.offsets] = self.picks[self._columns, rows]
        else:
            out[:, self.offsets[seen]] = self.picks[self._columns[seen], rows[:, seen]]

    def spans(self, rows: Rows) -> tuple[Ids, Ids]:
        """Where each column's pieces start in each row, and how many there are: both (n, columns)."""
        sizes = self._row_sizes(rows)
        starts = np.cumsum(sizes, axis=1) - sizes
        return starts[:, self._slots], sizes[:, self._slots]

    def means(self, vectors: NDArray[np.floating]) -> NDArray[np.floating]:
        """(columns, choices, d): the mean vector of the pieces of every choice, probes left out."""
        choices = max(self.space.counts, default=0) + 1
        found = np.zeros((len(self._slots), choices, vectors.shape[1]))
        for column, slot in enumerate(self._slots):
            for choice in range(self.space.counts[column] + 1):
                start, size = self._starts[slot, choice], self._sizes[slot, choice]
                if size:
                    found[column, choice] = vectors[self._pool[start : start + size]].mean(axis=0)
        return found

    def _row_sizes(self, rows: Rows) -> Ids:
        sizes = np.repeat(self._sizes[None, :, 0], len(rows), axis=0)
        sizes[:, self._slots] = self._sizes[self._slots, rows]
        return sizes

    def _general(self, rows: Rows) -> Body:
        """Pieces of any length: flat positions in the pool, then one scatter into the padded block."""
        sizes = self._row_sizes(rows)  # (n, slots)
        starts = np.repeat(self._starts[None, :, 0], len(rows), axis=0)
        starts[:, self._slots] = self._starts[self._slots, rows]
        lengths = sizes.sum(axis=1)
        flat_sizes = sizes.ravel()
        begins = np.cumsum(flat_sizes) - flat_sizes
        picks = np.repeat(starts.ravel() - begins, flat_sizes) + np.arange(int(flat_sizes.sum()))
        ids = np.zeros((len(rows), int(lengths.max(initial=0))), dtype=np.int64)
        ids[np.arange(ids.shape[1]) < lengths[:, None]] = self._pool[picks]
        return Body(ids, lengths)


def canonical_choices(options: Sequence[Sequence[Hashable]], width: int) -> Rows | None:
    """(column, choice) -> the first choice with the same pieces; None when all differ.

    Choices without pieces (None, or nothing at all) are never taken for one another.
    """
    codes = [*range(width - 2), DELETED, UNKNOWN]
    table, differs = [], False
    for pieces in options:
        row = codes
        if len(set(pieces)) < width:
            first: dict[Hashable, int] = {}
            row = [first.setdefault(p, c) if p else c for p, c in zip(pieces, codes, strict=True)]
            differs = differs or row != codes
        table.append(row)
    return np.array(table, dtype=np.int16) if differs else None


def covering_rows(space: Space) -> Rows:
    """Few rows that together use every candidate once, for checking a table against the tokenizer."""
    most = max(space.counts, default=0)
    rows = np.zeros((most + 1, len(space.counts)), dtype=np.int16)
    for k in range(1, most + 1):
        rows[k] = [k if k <= n else 0 for n in space.counts]
    return rows
