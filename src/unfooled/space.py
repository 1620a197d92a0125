"""Space: every text that can be reached by swapping words, each for one of its candidates."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import add, getitem

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from unfooled.admission import Dropped as Dropped
from unfooled.admission import admitted, check_positions
from unfooled.counting import Lister, Rows, draw, row_keys, ways
from unfooled.errors import InputError
from unfooled.membership import find_row
from unfooled.text import Source, Text, match_case

UNKNOWN, DELETED = -1, -2
"""Probe codes: a word unknown to the model, or taken out. Allowed in questions, never members."""


class Space:
    """The texts within reach of `text`: a row has one entry per position, 0 for the original word.

    `candidates` maps word positions to replacements. They take the case pattern of the word;
    duplicates and the original itself are dropped and listed with the reason in `dropped`.

    >>> space = Space("A good film", {1: ("fine", "great"), 2: ("movie",)})
    >>> space.size(1), space.size(None), str(space.text((2, 1)))
    (4, 6, 'A great movie')
    """

    __slots__ = ("_pieces", "candidates", "counts", "dropped", "original", "positions", "version")

    def __init__(self, text: Text | Source, candidates: Mapping[int, Iterable[str]]) -> None:
        self.original = Text.parse(text)
        self.version: int | None = None
        self._fill(*admitted(self.original, candidates))

    def _fill(self, kept: Mapping[int, tuple[str, ...]], dropped: tuple[Dropped, ...]) -> None:
        self.positions: tuple[int, ...] = tuple(kept)
        self.candidates: tuple[tuple[str, ...], ...] = tuple(kept.values())
        self.counts: tuple[int, ...] = tuple(map(len, self.candidates))
        self.dropped = dropped
        self._pieces: list[str] | None = None

    # --- counting, drawing, listing -----------------------------------------------------------

    @property
    def origin(self) -> Rows:
        """The row of the original text."""
        return np.zeros(len(self.positions), dtype=np.int16)

    def size(self, radius: int | None = None) -> int:
        """How many texts lie within `radius` swaps, the original included; None: all of them."""
        if self._radius(radius) == len(self.counts):
            return math.prod(n + 1 for n in self.counts)
        return sum(ways(self.counts, self._radius(radius)))

    def sample(self, radius: int | None, n: int, rng: Generator) -> Rows:
        """`n` rows, independent and uniform over the texts within `radius` swaps."""
        return draw(self.counts, self._radius(radius), n=n, rng=rng)

    def enumerate(self, radius: int | None = None, *, chunk: int = 4096) -> Iterator[Rows]:
        """Every row within `radius` swaps once, fewer swaps first, in chunks."""
        return Lister(self.counts, self._radius(radius)).chunks(chunk)

    def _radius(self, radius: int | None) -> int:
        if radius is None:
            return len(self.positions)
        if radius < 0:
            raise InputError(f"a radius is a number of swaps, 0 or more, not {radius}")
        return min(radius, len(self.positions))

    # --- rows ---------------------------------------------------------------------------------

    def at(self, rows: ArrayLike, column: int) -> Rows:
        """Each row with every choice at one column, the original word first."""
        rows = self.rows(rows)
        width = self.counts[column] + 1
        out = np.repeat(rows, width, axis=0)
        out.reshape(len(rows), width, -1)[:, :, column] = np.arange(width, dtype=np.int16)
        return out

    def neighbours(self, rows: ArrayLike, columns: Sequence[int] | None = None) -> Rows:
        """Each row with one column (of `columns`; None: any) set to another choice."""
        rows = self.rows(rows)
        columns = range(len(self.counts)) if columns is None else columns
        widths = [self.counts[c] + 1 for c in columns]
        column = np.repeat(np.array(columns, dtype=np.int64), widths)
        choice = np.concatenate(
            [np.arange(w, dtype=np.int16) for w in widths] or [np.empty(0, np.int16)]
        )
        out = np.repeat(rows, len(column), axis=0)
        column, choice = np.tile(column, len(rows)), np.tile(choice, len(rows))
        index = np.arange(len(out))
        other = out[index, column] != choice
        out[index, column] = choice
        kept: Rows = out[other]
        return kept

    def mutate(self, rows: ArrayLike, columns: ArrayLike, rng: Generator) -> Rows:
        """Each row with another choice, drawn uniformly, at its own entry of `columns`."""
        rows = self.rows(rows).copy()
        columns = np.broadcast_to(np.asarray(columns), len(rows))
        index = np.arange(len(rows))
        now = rows[index, columns]
        step = rng.integers(1, np.array(self.counts)[columns] + 1)
        rows[index, columns] = (now + step) % (np.array(self.counts)[columns] + 1)
        return rows

    def probes(self, row: ArrayLike, code: int = UNKNOWN) -> Rows:
        """One row per column, with the word there unknown (or deleted): for saliency."""
        out = np.repeat(self.rows(row), len(self.positions), axis=0)
        np.fill_diagonal(out, code)
        return out

    def unique(self, rows: ArrayLike) -> Rows:
        """The rows without repetitions, in order of first appearance."""
        rows = self.rows(rows)
        first = dict(zip(reversed(row_keys(rows)), range(len(rows) - 1, -1, -1), strict=True))
        return rows if len(first) == len(rows) else rows[sorted(first.values())]

    def contains(self, rows: ArrayLike, radius: int | None = None) -> NDArray[np.bool_]:
        """Which rows are members within `radius` swaps."""
        rows = np.atleast_2d(np.asarray(rows))
        if rows.shape[1] != len(self.counts):
            raise InputError(f"a row has {len(self.counts)} entries here, not {rows.shape[1]}")
        inside = ((rows >= 0) & (rows <= np.array(self.counts, dtype=np.int64))).all(axis=1)
        near: NDArray[np.bool_] = (rows != 0).sum(axis=1) <= self._radius(radius)
        return inside & near

    def rows(self, rows: ArrayLike) -> Rows:
        """A two-dimensional int16 view of one row or many."""
        found = np.asarray(rows, dtype=np.int16)
        return found if found.ndim == 2 else np.atleast_2d(found)

    # --- texts --------------------------------------------------------------------------------

    def swaps(self, row: ArrayLike) -> int | NDArray[np.int64]:
        """How many words a row swaps; an array for several rows."""
        count = np.count_nonzero(np.asarray(row), axis=-1)
        return int(count) if np.ndim(count) == 0 else count

    def changes(self, row: ArrayLike) -> dict[int, tuple[str, str]]:
        """Position -> (original word, word now), for the words that a row swaps."""
        return {
            self.positions[c]: (self.original.words[self.positions[c]], self.candidates[c][k - 1])
            for c, k in enumerate(np.asarray(row).tolist())
            if k > 0
        }

    def text(self, row: ArrayLike, *, unknown: str = "[UNK]") -> Text:
        """The text of a row; probe codes show as the `unknown` token or leave the word out."""
        choices, gone = np.asarray(row).tolist(), []
        if not self.contains(np.maximum(choices, 0))[0] or min(choices, default=0) < DELETED:
            raise InputError(f"{choices!r:.80} is no row here: the counts are {self.counts!r:.80}")
        words = list(self.original.words)
        for column, choice in enumerate(choices):
            position = self.positions[column]
            if choice > 0:
                words[position] = self.candidates[column][choice - 1]
            elif choice == UNKNOWN:
                words[position] = unknown
            elif choice == DELETED:
                gone.append(position)
        text = replace(self.original, words=tuple(words))
        return text.without(gone) if gone else text

    def sources(self, rows: ArrayLike, *, unknown: str = "[UNK]") -> list[Source]:
        """The strings (or pairs) of many rows, made by joining pieces that are cut once."""
        rows = self.rows(rows)
        least = rows.min(initial=0)
        if least < DELETED or np.count_nonzero(rows > np.array(self.counts, dtype=np.int16)):
            raise InputError(f"not all rows are of this space: the counts are {self.counts!r:.80}")
        if self.original.editable == "both" or least == DELETED:
            return [self.text(row, unknown=unknown).source for row in rows]
        words, pieces = self.original.words, [""] * (2 * len(self.positions) + 1)
        pieces[::2] = self._between()
        order = sorted(range(len(self.positions)), key=self.positions.__getitem__)
        options = [(words[self.positions[c]], *self.candidates[c], "", unknown) for c in order]
        bodies = []
        for row in rows[:, order].tolist():
            pieces[1::2] = map(getitem, options, row)
            bodies.append("".join(pieces))
        other = self.original.other
        if other is None:
            return list[Source](bodies)
        second = self.original.editable == "second"
        return [(other, body) if second else (body, other) for body in bodies]

    def _between(self) -> list[str]:
        """What stands before each position in the order of the text, and after the last: cut once."""
        if self._pieces is None:
            gaps, words = self.original.gaps, (*self.original.words, "")
            borders = [-1, *sorted(self.positions), len(words) - 1]
            self._pieces = [
                "".join(map(add, gaps[a + 1 : b], words[a + 1 : b])) + gaps[b]
                for a, b in pairwise(borders)
            ]
        return self._pieces

    def row(self, text: Text | Source) -> Rows:
        """The row of a text with the fewest swaps; an InputError when the text is outside."""
        found = find_row(
            self.original, dict(zip(self.positions, self.candidates, strict=True)), text
        )
        if found is None:
            raise InputError(
                f"{str(Text.parse(text))!r:.120} is not in the space of {str(self.original)!r:.120}: "
                "it differs in a word that is not a candidate, or in its spacing"
            )
        by_position = dict(zip(sorted(self.positions), found, strict=True))
        return np.array([by_position[p] for p in self.positions], dtype=np.int16)

    # --- identity -----------------------------------------------------------------------------

    @property
    def fingerprint(self) -> str:
        """A hash of the text and its candidates."""
        text = self.original
        content = [text.source, text.editable, self.positions, self.candidates]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        size = self.size()
        about = str(size) if size < 10**12 else f"about 10^{size.bit_length() * math.log10(2):.0f}"
        return f"Space({str(self.original)!r:.60}, {len(self.positions)} positions, {about} texts)"

    def open(self, positions: Iterable[int] = ()) -> Space:
        """A private copy that `extend` can add to; further positions start without candidates."""
        copy = Space(self.original, {})
        kept = dict(zip(self.positions, self.candidates, strict=True))
        asked = dict.fromkeys(positions, ())
        check_positions(self.original, asked)
        copy._fill(kept | {p: () for p in asked if p not in kept}, self.dropped)
        copy.version = 0
        return copy

    def extend(self, column: int, candidates: Iterable[str]) -> list[int]:
        """The choices at a column of an open copy that stand for these candidates.

        Indices are only appended, so rows made before stay valid.
        """
        if self.version is None:
            raise InputError("a space is frozen: extend a private copy made by open()")
        position = self.positions[column]
        word, known = self.original.words[position], list(self.candidates[column])
        choices = []
        for candidate in (match_case(c, word) for c in candidates):
            if candidate != word and candidate not in known:
                known.append(candidate)
            choices.append(0 if candidate == word else known.index(candidate) + 1)
        kept = dict(zip(self.positions, self.candidates, strict=True))
        self._fill(kept | {position: tuple(known)}, self.dropped)
        self.version += 1
        return choices
