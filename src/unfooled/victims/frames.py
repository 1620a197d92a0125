"""What a tokenizer puts around the pieces of a text or pair, and what it cuts off."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import Any

ITEM = 8  # bytes of a token id: rows are kept as bytes, which Python joins faster than numpy


def pack(ids: list[int]) -> bytes:
    """Token ids as the bytes of 64-bit integers."""
    return array("q", ids).tobytes()


@dataclass(frozen=True)
class Frame:
    """Special tokens before, between and after the one or two sides, and the room for the sides."""

    marks: tuple[bytes, ...]
    types: tuple[bytes, ...]
    """Token types, one byte each: of the marks and, between them, of one token of each side."""

    room: int | None  # tokens for all sides together; None: no limit
    keep_end: bool = False  # whether a long text loses its beginning

    @cached_property
    def plain(self) -> bool:
        """Whether every token has type 0, which models assume where no types are given."""
        return not any(map(any, self.types))

    @property
    def specials(self) -> int:
        return sum(map(len, self.marks)) // ITEM

    def wrap(self, *sides: bytes) -> bytes:
        """The ids of a row: the sides, cut as the tokenizer cuts them, with the special tokens."""
        sides = self.cut(*sides)
        if len(sides) == 1:
            return self.marks[0] + sides[0] + self.marks[1]
        return b"".join((self.marks[0], sides[0], self.marks[1], sides[1], self.marks[2]))

    def wrap_types(self, *sides: bytes) -> bytes:
        """The token types of the row that `wrap` gives."""
        row = self.types[0]
        for side, kind, mark in zip(
            self.cut(*sides), self.types[1::2], self.types[2::2], strict=True
        ):
            row += kind * (len(side) // ITEM) + mark
        return row

    def cut(self, *sides: bytes) -> tuple[bytes, ...]:
        """The sides as the tokenizer truncates them, the longest first."""
        if self.room is None or sum(map(len, sides)) <= self.room * ITEM:
            return sides
        lengths = kept([len(side) // ITEM for side in sides], self.room)
        if self.keep_end:
            return tuple(s[len(s) - n * ITEM :] for s, n in zip(sides, lengths, strict=True))
        return tuple(s[: n * ITEM] for s, n in zip(sides, lengths, strict=True))


def kept(lengths: list[int], room: int) -> list[int]:
    """How many tokens of each side stay when the longest is cut first.

    Of two sides the shorter is touched only when it is longer than half the room; then both get
    half, and the odd token goes to the second unless the first was the longer.

    >>> kept([3, 9], 8), kept([9, 9], 7), kept([12], 5)
    ([3, 5], [3, 4], [5])
    """
    if sum(lengths) <= room:
        return lengths
    if len(lengths) == 1:
        return [room]
    short, half = min(lengths), room // 2
    few = short if 2 * short <= room else half
    return [room - few, few] if lengths[0] > lengths[1] else [few, room - few]


def frame(backend: Any, *, pair: bool, limit: int | None, keep_end: bool = False) -> Frame:
    """The frame of a tokenizer, read off what it makes of the shortest text or pair."""
    backend.no_truncation()
    sample = backend.encode("a", "a") if pair else backend.encode("a")
    marks: list[list[int]] = [[]]
    types: list[bytes] = [b""]
    side: int | None = None
    for number, kind, owner in zip(sample.ids, sample.type_ids, sample.sequence_ids, strict=True):
        if owner is None:
            marks[-1].append(number)
            types[-1] += bytes([kind])
        elif owner != side:
            side = owner
            marks.append([])
            types += [bytes([kind]), b""]
    room = None if limit is None else max(0, limit - sum(map(len, marks)))
    return Frame(tuple(map(pack, marks)), tuple(types), room, keep_end)
