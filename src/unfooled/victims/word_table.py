"""A space as the word ids of a word model: what may stand where, and what the model cannot tell apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unfooled.counting import Rows
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims.base import Prepared
from unfooled.victims.pieces import PieceTable

if TYPE_CHECKING:
    from torch import Tensor

    from unfooled.victims.word_sweeps import Planned

_REMEMBERED = 200_000  # words with their surroundings
_COMBINED = 4096  # texts of one chunk that are cut to see whether its words stay apart


class Chunk(NamedTuple):
    """What stands before and after a word without white space between."""

    before: str
    after: str


def chunks(space: Space) -> list[Chunk | None]:
    """The surroundings of each column; None where two columns share a chunk of the text.

    Words are cut within stretches free of white space, so the rest of the text has no say in it.
    """
    words = space.original.words
    chunk_of, starts = _cut(space)
    shared = Counter(chunk_of[p] for p in space.positions)
    found: list[Chunk | None] = []
    for position in space.positions:
        chunk = chunk_of[position]
        if shared[chunk] > 1:
            found.append(None)
        else:
            first, last = starts[chunk], starts[chunk + 1]
            found.append(Chunk("".join(words[first:position]), "".join(words[position + 1 : last])))
    return found


def _cut(space: Space) -> tuple[list[int], list[int]]:
    """The chunk of every word, and the first words of the chunks with the end behind them."""
    words, gaps = space.original.words, space.original.gaps
    chunk_of, starts = [], [0]
    for position in range(len(words)):
        if position and gaps[position]:
            starts.append(position)
        chunk_of.append(len(starts) - 1)
    return chunk_of, [*starts, len(words)]


def shared_chunks(space: Space) -> list[list[tuple[str, ...]]]:
    """For every chunk with several columns, what may stand at each of its words."""
    chunk_of, starts = _cut(space)
    options = dict(zip(space.positions, space.candidates, strict=True))
    many = Counter(chunk_of[p] for p in space.positions)
    return [
        [(space.original.words[p], *options.get(p, ())) for p in range(*starts[c : c + 2])]
        for c, columns in many.items()
        if columns > 1
    ]


class Joints:
    """Whether words stay words of their own beside what they are glued to; remembers what it has cut."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], bool] = {}

    def hold(self, space: Space) -> bool:
        """Whether the words of a space never join up, whatever stands at each."""
        return all(
            self._stands_alone(chunk, candidate)
            for chunk, found in zip(chunks(space), space.candidates, strict=True)
            if chunk is not None and (chunk.before or chunk.after)
            for candidate in found
        ) and all(map(_stay_apart, shared_chunks(space)))

    def _stands_alone(self, chunk: Chunk, candidate: str) -> bool:
        """Whether a candidate stays a word (or words) of its own between what it is glued to."""
        key = (chunk.before, candidate, chunk.after)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            sides = (Text.parse(part).words for part in key)
            whole = Text.parse("".join(key)).words
            known = self._known[key] = whole == tuple(word for side in sides for word in side)
        return known


def _stay_apart(options: Sequence[tuple[str, ...]]) -> bool:
    """Whether words glued to each other stay words of their own, whatever stands at each."""
    if math.prod(map(len, options)) > _COMBINED:
        return False
    cut = {part: Text.parse(part).words for found in options for part in found}
    return all(
        Text.parse("".join(parts)).words == tuple(w for part in parts for w in cut[part])
        for parts in product(*options)
    )


class WordTable(Prepared):
    """A space as word ids. `table` is None where words join up with their neighbours in the string."""

    def __init__(self, space: Space, table: PieceTable | None, *, limit: int) -> None:
        self.space, self.table, self.limit = space, table, limit
        self.other: Tensor | None = None  # the encoded fixed side of a pair, made on first use
        self.planned: Planned | None = None  # what sweeps need, likewise
        self.length = min(max(len(table.base), 1), limit) if table and table.simple else None
        self.canon = _blind(table.canon, table, limit) if table else None

    def tokens(self, rows: Rows) -> int:
        if self.length is not None:
            return self.length
        longest = self.table.tokens(rows) if self.table else len(self.space.original)
        return min(max(longest, 1), self.limit)


def _blind(canon: Rows | None, table: PieceTable, limit: int) -> Rows | None:
    """Words that the model's length limit hides, even if every column were deleted, are all one."""
    hidden = table.offsets >= limit + len(table.offsets)
    if not table.simple or not hidden.any():
        return canon
    if canon is None:
        codes = np.array([*range(table.picks.shape[1] - 2), -2, -1], dtype=np.int16)
        canon = np.repeat(codes[None], len(table.offsets), axis=0)
    return np.where(hidden[:, None], np.int16(0), canon)
