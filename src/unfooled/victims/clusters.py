"""Words between spaces: the units that a space is cut into for a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import getitem, itemgetter
from typing import Any, NamedTuple

from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.victims.units import Before, Units, tokens

Pieces = bytes | None
"""Token ids; None where they depend on more than the unit."""
Wanted = dict[Before, list[str]]
"""Words whose ids are needed, by what stands before them."""
Known = Mapping[Before, Mapping[str, Pieces]]
"""The ids of all that was wanted."""


class Cluster(NamedTuple):
    """Words without a space between them, and the gap before: one unit of the tokenizer."""

    gap: str
    words: tuple[str, ...]
    columns: tuple[int, ...]  # of the space, for the words that have candidates
    places: tuple[int, ...]  # where those words stand in `words`
    first: bool  # whether it opens the text

    @property
    def alone(self) -> bool:
        """Whether it is one word, and that has candidates."""
        return len(self.words) == 1 == len(self.columns)

    @property
    def before(self) -> Before:
        """What stands before its words."""
        return self.gap, self.first

    @property
    def whole(self) -> str:
        """Its words as they stand in the text."""
        return "".join(self.words)

    def spelled(self, choices: Sequence[int], space: Space, *, unknown: str) -> str | None:
        """Its words under some choices; None where a deletion joins the rest to the word before."""
        words: list[str | None] = list(self.words)
        for column, place, choice in zip(self.columns, self.places, choices, strict=True):
            if choice > 0:
                words[place] = space.candidates[column][choice - 1]
            elif choice:
                words[place] = unknown if choice == UNKNOWN else None
        if words[0] is None:
            return None if any(words) else ""
        return "".join([word for word in words if word is not None])


def clusters(
    words: Sequence[str], gaps: Sequence[str], *, columns: Mapping[int, int]
) -> list[Cluster]:
    """The clusters of one side of a text; `columns`: word -> column of the space."""
    starts = [i for i in range(len(words)) if i == 0 or gaps[i]]
    found = []
    for start, stop in pairwise([*starts, len(words)]):
        own = [i for i in range(start, stop) if i in columns]
        places = (0,) if own == [start] else tuple([i - start for i in own])
        mine = tuple([columns[i] for i in own])
        found.append(Cluster(gaps[start], tuple(words[start:stop]), mine, places, start == 0))
    return found


class _Glued(dict[tuple[int, ...], Pieces]):
    """The ids of a cluster with several columns, looked up when first asked for."""

    def __init__(self, side: Side, cluster: Cluster, lead: bytes) -> None:
        super().__init__()
        self._side, self._cluster, self._lead = side, cluster, lead

    def __missing__(self, choices: tuple[int, ...]) -> Pieces:
        ids = self._side.find(self._cluster, choices)
        self[choices] = None if ids is None else self._lead + ids
        return self[choices]


class Side:
    """One editable side of a text: the ids of rows, special tokens and truncation left out.

    `options[column]` are the ids of the column's unit by choice: the original, the candidates,
    deleted, unknown. `safe` is False where even the words that stay have no ids of their own.
    All this is there once it is laid out.
    """

    def __init__(
        self,
        parts: tuple[Sequence[str], Sequence[str]],
        space: Space,
        *,
        columns: Mapping[int, int],
        units: Units,
        unknown: str | None,
    ) -> None:
        """`parts`: the words and gaps; `unknown`: the probe word, None: no ids for probe codes."""
        words, gaps = parts
        if unknown is not None and not units.probes_hold(unknown, [gap for gap in gaps[1:] if gap]):
            unknown = None
        self._space, self._units, self._unknown = space, units, unknown
        self.clusters = clusters(words, gaps, columns=columns)
        self.options: dict[int, list[Pieces]] = {}
        self.before: dict[int, int] = {}  # column -> tokens of the fixed words before it
        self.glued: set[int] = set()  # columns that share their unit with another
        self.later: set[int] = set()  # of these, all but the first of each unit
        self._end = gaps[-1]

    def want(self, wanted: Wanted) -> None:
        """Adds everything that rows with one swap can ask for."""
        if self._end:
            wanted.setdefault((self._end, not self.clusters), []).append("")
        for cluster in self.clusters:
            words = wanted.setdefault(cluster.before, [])
            if cluster.alone:
                words.append(cluster.words[0])
                words.extend(self._space.candidates[cluster.columns[0]])
            elif cluster.columns:
                swaps = self._single_swaps(cluster)
                spelled = [cluster.spelled(s, self._space, unknown="") for s in swaps]
                words.extend([found for found in spelled if found])
            else:
                words.append(cluster.whole)

    def lay_out(self, known: Known) -> None:
        """Puts the ids in the order of the text: they are known, for they were wanted."""
        self._known = known
        last = known[self._end, not self.clusters][""] if self._end else b""
        self.safe = last is not None
        self._lay_out(last or b"")

    def _single_swaps(self, cluster: Cluster) -> list[list[int]]:
        origin = [0] * len(cluster.columns)
        found = [origin]
        for index, column in enumerate(cluster.columns):
            for choice in range(1, self._space.counts[column] + 1):
                found.append([*origin[:index], choice, *origin[index + 1 :]])
        return found

    def find(self, cluster: Cluster, choices: Sequence[int]) -> Pieces:
        """The ids of a cluster under some choices."""
        if self._unknown is None and min(choices, default=0) < 0:
            return None
        words = cluster.spelled(choices, self._space, unknown=self._unknown or "")
        if not words:
            return None if words is None else b""
        gap, first = cluster.before
        if UNKNOWN in choices:
            return self._units.probe(gap + words, first=first)
        known = self._known[gap, first]
        if words not in known:
            known = self._units.learn((words,), gap=gap, first=first)
        return known[words]

    def _lay_out(self, end: bytes) -> None:
        slots: list[tuple[tuple[int, ...], Any]] = []
        lead, self.fixed = b"", tokens(end)
        for cluster in self.clusters:
            origin = self._known[cluster.before][cluster.whole]
            self.safe &= origin is not None
            if not cluster.columns:
                lead += origin or b""
                self.fixed += tokens(origin)
                continue
            self.before |= dict.fromkeys(cluster.columns, self.fixed - tokens(end))
            slots.append((cluster.columns, self._table(cluster, lead)))
            lead = b""
        self._tables = [table for _, table in slots]
        self._tail = lead + end
        in_order = [c for c, _ in slots] == [(i,) for i in range(len(self._space.positions))]
        self._getters = None if in_order else [itemgetter(*c) for c, _ in slots]

    def _table(self, cluster: Cluster, lead: bytes) -> list[Pieces] | _Glued:
        """The ids by choice: a list for one column, a table by tuples for several."""
        if cluster.alone:
            known, unknown = self._known[cluster.before], self._unknown
            candidates = self._space.candidates[cluster.columns[0]]
            found = [known[cluster.words[0]], *map(known.__getitem__, candidates)]
            if unknown is None:
                found += [None, None]
            else:
                found += [b"", self._units.probe(cluster.gap + unknown, first=cluster.first)]
            self.options[cluster.columns[0]] = found
        else:
            found = self._joined(cluster)
        if len(cluster.columns) > 1:
            self.glued.update(cluster.columns)
            self.later.update(cluster.columns[1:])
            return _Glued(self, cluster, lead)
        return [None if ids is None else lead + ids for ids in found] if lead else found

    def _joined(self, cluster: Cluster) -> list[Pieces]:
        """Sets the options of words that share their unit with others; returns the last column's."""
        found: list[Pieces] = []
        for index, column in enumerate(cluster.columns):
            before, after = (0,) * index, (0,) * (len(cluster.columns) - index - 1)
            found = [
                self.find(cluster, (*before, choice, *after))
                for choice in (*range(self._space.counts[column] + 1), DELETED, UNKNOWN)
            ]
            self.options[column] = found
        return found

    def bodies(self, rows: list[list[int]], *, head: bytes, tail: bytes) -> list[bytes] | None:
        """The ids of rows between two marks; None where a choice has none of its own."""
        if self._getters is not None:
            return None
        tables, join, tail = self._tables, b"".join, self._tail + tail
        try:
            return [head + join(map(getitem, tables, row)) + tail for row in rows]
        except TypeError:  # a None among them
            return None

    def body(self, row: list[int]) -> Pieces:
        """The ids of a row; None where a choice has none of its own."""
        if self._getters is None:
            pieces = [table[choice] for table, choice in zip(self._tables, row, strict=True)]
        else:
            pieces = [t[get(row)] for t, get in zip(self._tables, self._getters, strict=True)]
        pieces.append(self._tail)
        try:
            return b"".join(pieces)
        except TypeError:  # a None among them; looking for it first would cost as much as joining
            return None
