"""Token ids of every choice at every position of a space, cut once and joined by gathers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
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
        self._fixed = fixed
        self._width = max(space.counts, default=0) + 3
        self._options = [
            _options(fixed[p], found, unknown, width=self._width)
            for p, found in zip(space.positions, choices, strict=True)
        ]
        self.canon = canonical_choices(self._options, self._width)
        self._columns = np.arange(len(space.counts))
        # Where every word and choice is one piece, rows have one length and a gather does it all.
        self.simple = len(unknown) == 1 and all(
            len(pieces) == 1 for known in (fixed, *choices) for pieces in known
        )
        self.base: Ids = np.array([i for pieces in fixed for i in pieces], dtype=np.int64)
        sizes = np.array([len(pieces) for pieces in fixed], dtype=np.int64)
        begins = np.cumsum(sizes) - sizes
        self.offsets: Ids = begins[list(space.positions)]  # where each column's word starts
        if self.simple:
            first = [[o[0] if o else 0 for o in known] for known in self._options]
            self.picks: Ids = np.array(first, dtype=np.int64).reshape(-1, self._width)

    @cached_property
    def _layout(self) -> _Layout:
        """Slots in the order of the text: columns, and stretches of fixed words between them."""
        column_of = {p: c for c, p in enumerate(self.space.positions)}
        pool: list[int] = []
        starts: list[Ids] = []
        sizes: list[Ids] = []
        slots = np.zeros(len(column_of), dtype=np.int64)
        stretch = False
        for position, pieces in enumerate(self._fixed):
            if position in column_of:
                made = self._options[column_of[position]]
                slots[column_of[position]] = len(starts)
                starts.append(np.cumsum([len(pool)] + [len(o) for o in made[:-1]]))
                sizes.append(np.array([len(o) for o in made]))
                pool.extend(i for o in made for i in o)
                stretch = False
                continue
            if not stretch:
                starts.append(np.full(self._width, len(pool)))
                sizes.append(np.zeros(self._width, dtype=np.int64))
                stretch = True
            pool.extend(pieces)
            sizes[-1] += len(pieces)
        return _Layout(
            np.array(pool, dtype=np.int64),
            np.array(starts, dtype=np.int64).reshape(-1, self._width),
            np.array(sizes, dtype=np.int64).reshape(-1, self._width),
            slots,
        )

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
        sizes, slots = self._row_sizes(rows), self._layout.slots
        starts = np.cumsum(sizes, axis=1) - sizes
        return starts[:, slots], sizes[:, slots]

    def means(self, vectors: NDArray[np.floating]) -> NDArray[np.floating]:
        """(columns, choices, d): the mean vector of the pieces of every choice, probes left out."""
        choices = max(self.space.counts, default=0) + 1
        found = np.zeros((len(self._options), choices, vectors.shape[1]))
        for column, known in enumerate(self._options):
            for choice in range(self.space.counts[column] + 1):
                if known[choice]:
                    found[column, choice] = vectors[list(known[choice])].mean(axis=0)
        return found

    def _row_sizes(self, rows: Rows) -> Ids:
        layout = self._layout
        sizes = np.repeat(layout.sizes[None, :, 0], len(rows), axis=0)
        sizes[:, layout.slots] = layout.sizes[layout.slots, rows]
        return sizes

    def _general(self, rows: Rows) -> Body:
        """Pieces of any length: flat positions in the pool, then one scatter into the padded block."""
        layout, sizes = self._layout, self._row_sizes(rows)  # (n, slots)
        starts = np.repeat(layout.starts[None, :, 0], len(rows), axis=0)
        starts[:, layout.slots] = layout.starts[layout.slots, rows]
        lengths = sizes.sum(axis=1)
        flat_sizes = sizes.ravel()
        begins = np.cumsum(flat_sizes) - flat_sizes
        picks = np.repeat(starts.ravel() - begins, flat_sizes) + np.arange(int(flat_sizes.sum()))
        ids = np.zeros((len(rows), int(lengths.max(initial=0))), dtype=np.int64)
        ids[np.arange(ids.shape[1]) < lengths[:, None]] = layout.pool[picks]
        return Body(ids, lengths)


class _Layout(NamedTuple):
    """All pieces in one pool; where those of each (slot, choice) start, and how many they are."""

    pool: Ids
    starts: Ids  # (slots, choices)
    sizes: Ids  # (slots, choices)
    slots: Ids  # column -> slot


def _options(
    original: Pieces, candidates: Sequence[Pieces], unknown: Pieces, *, width: int
) -> list[Pieces]:
    filled = [original, *candidates]
    filled += [()] * (width - len(filled))
    filled[UNKNOWN], filled[DELETED] = unknown, ()
    return filled


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
