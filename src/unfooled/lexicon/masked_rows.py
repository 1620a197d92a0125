"""Texts as rows of token ids for a masked language model, with the places of a word's pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from unfooled.errors import InputError
from unfooled.text import Text

Ids = tuple[int, ...]


class Row(NamedTuple):
    """Token ids with the special ones, and the side of a pair that each belongs to."""

    ids: Ids
    types: Ids


class Place(NamedTuple):
    """A row and the columns in it where the pieces of a word, or its mask, stand."""

    row: Row
    columns: Sequence[int]


class Span(NamedTuple):
    """The side of a text that a word belongs to, its first piece and the one after its last."""

    side: int
    first: int
    stop: int


@dataclass(frozen=True)
class Line:
    """The pieces of a text, or of both sides of a pair, and where each editable word is."""

    sides: tuple[Ids, ...]
    spans: tuple[Span, ...]


class Rows:
    """A fast tokenizer and the most tokens that its model reads.

    Of a text that is longer the model sees the part around the word. Such parts begin at multiples
    of half their length, so that neighbouring words share one.
    """

    def __init__(self, tokenizer: Any, *, limit: int) -> None:
        if not getattr(tokenizer, "is_fast", False) or tokenizer.mask_token_id is None:
            raise InputError(
                f"{type(tokenizer).__name__} is no fast tokenizer with a mask token, which a "
                "masked language model needs: save the model with its tokenizer.json"
            )
        self.mask: int = tokenizer.mask_token_id
        self._backend = tokenizer.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self._frames = tuple(_frame(self._backend, pair=pair) for pair in (False, True))
        self._limit = limit

    def read(self, text: Text) -> Line:
        """The pieces of a text."""
        source = text.source
        strings = (source,) if isinstance(source, str) else source
        found = [self._backend.encode(s, add_special_tokens=False) for s in strings]
        starts = [[start for start, _ in side.offsets] for side in found]
        ends = [[end for _, end in side.offsets] for side in found]
        spans = [
            Span(side, bisect_right(ends[side], start), bisect_left(starts[side], end))
            for side, start, end in _stretches(text)
        ]
        return Line(tuple(tuple(side.ids) for side in found), tuple(spans))

    def masked(self, line: Line, position: int) -> Place | None:
        """The row with one mask in the place of a word; None for a word without pieces."""
        side, first, stop = line.spans[position]
        if first >= stop:
            return None
        ids = line.sides[side]
        changed = (*ids[:first], self.mask, *ids[stop:])
        return self._place(line, changed, span=Span(side, first, first + 1))

    def plain(self, line: Line, position: int) -> Place | None:
        """The row as it is; None for a word without pieces."""
        span = line.spans[position]
        if span.first >= span.stop:
            return None
        return self._place(line, line.sides[span.side], span=span)

    def _place(self, line: Line, ids: Ids, *, span: Span) -> Place:
        frame = self._frames[len(line.sides) - 1]
        room = self._limit - sum(len(mark.ids) for mark in frame.marks)
        sides = list(line.sides)
        for other in range(len(sides)):
            if other != span.side:
                sides[other] = sides[other][: max(room // 2, room - len(ids))]
                room -= len(sides[other])
        start = _start(span.first, len(ids), room=room)
        sides[span.side] = ids[start : start + room]
        row, begins = frame.around(sides)
        shift = begins[span.side] - start
        stop = min(span.stop, start + room)
        return Place(row, range(span.first + shift, stop + shift))


@dataclass(frozen=True)
class _Frame:
    """Special tokens before, between and after the sides, and the type of each side."""

    marks: tuple[Row, ...]
    types: Ids

    def around(self, sides: Sequence[Ids]) -> tuple[Row, list[int]]:
        """The whole row, and the column where each side begins."""
        ids, types, begins = [*self.marks[0].ids], [*self.marks[0].types], []
        for side, kind, mark in zip(sides, self.types, self.marks[1:], strict=True):
            begins.append(len(ids))
            ids += [*side, *mark.ids]
            types += [*[kind] * len(side), *mark.types]
        return Row(tuple(ids), tuple(types)), begins


def _frame(backend: Any, *, pair: bool) -> _Frame:
    """Read off what the tokenizer makes of the shortest text or pair."""
    sample = backend.encode("a", "a") if pair else backend.encode("a")
    marks: list[tuple[list[int], list[int]]] = [([], [])]
    kinds: list[int] = []
    side: int | None = None
    for number, kind, owner in zip(sample.ids, sample.type_ids, sample.sequence_ids, strict=True):
        if owner is None:
            marks[-1][0].append(number)
            marks[-1][1].append(kind)
        elif owner != side:
            side = owner
            kinds.append(kind)
            marks.append(([], []))
    return _Frame(tuple(Row(tuple(i), tuple(t)) for i, t in marks), tuple(kinds))


def _start(first: int, length: int, *, room: int) -> int:
    """Where the part of a long side begins, with a quarter of it before the word if there is."""
    if length <= room:
        return 0
    step = max(1, room // 2)
    return min(max(0, (first - room // 4) // step * step), length - room)


def _stretches(text: Text) -> list[tuple[int, int, int]]:
    """The side of each word, and where it begins and ends in the string of that side."""
    if text.editable == "both":
        first, second = text.sides
        return _within(first, 0) + _within(second, 1)
    return _within(text, 1 if text.editable == "second" else 0)


def _within(text: Text, side: int) -> list[tuple[int, int, int]]:
    found, end = [], 0
    for gap, word in zip(text.gaps, text.words, strict=False):
        start = end + len(gap)
        end = start + len(word)
        found.append((side, start, end))
    return found
