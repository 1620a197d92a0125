"""A space as token ids: every choice cut once, rows joined from the pieces, checked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.text import Source
from unfooled.victims.base import Floats, Prepared
from unfooled.victims.clusters import Known, Side, Wanted
from unfooled.victims.encoder import Encoded, Encoder
from unfooled.victims.frames import ITEM
from unfooled.victims.pieces import canonical_choices, covering_rows
from unfooled.victims.units import tokens

Sizes = NDArray[np.int64]


class TokenTable(Prepared):
    """A space for one tokenizer.

    `exact_pieces`: rows are joined from pieces, and rows that use every candidate once came out as
    the tokenizer has them. Otherwise, and for rows with a choice that has no pieces of its own,
    strings are made and tokenised. Either way the ids are the tokenizer's.
    """

    def __init__(self, space: Space, encoder: Encoder) -> None:
        self.space, self._encoder = space, encoder
        self._frame = encoder.frame(pair=space.original.is_pair)
        self._typed = encoder.typed and not self._frame.plain
        self.exact_pieces = False
        self._sides: list[Side | bytes | None] = []
        self._sizes: Sizes | None = None
        self.means: Floats | None = None  # (columns, choices, d), kept here by the first gradient
        self.longest = len(space.original) + self._frame.specials  # a guess, until pieces are known
        self._plain = False  # one side, no types, and every row fits: nothing to look at row by row
        if encoder.units.usable:
            self._open(encoder.unknown)

    def _open(self, unknown: str | None) -> None:
        text, units = self.space.original, self._encoder.units
        columns = {position: column for column, position in enumerate(self.space.positions)}
        cut = text.split if text.editable == "both" else 0
        gaps = (text.seam, *text.gaps[cut + 1 :]) if text.editable == "both" else text.gaps
        later = {p - cut: c for p, c in columns.items() if p >= cut}
        last = Side(
            (text.words[cut:], gaps), self.space, columns=later, units=units, unknown=unknown
        )
        self._last = last
        self._sides = [last]
        if text.editable == "both":
            early = {p: c for p, c in columns.items() if p < cut}
            words = text.words[:cut], text.gaps[: cut + 1]
            self._sides.insert(
                0, Side(words, self.space, columns=early, units=units, unknown=unknown)
            )
        elif text.other is not None:
            other = units.whole(text.other)
            self._sides.insert(0 if text.editable == "second" else 1, other)

    def settle(self, joined: list[bytes | None], spelled: list[bytes]) -> None:
        """Whether rows joined from pieces are what the tokenizer makes of them; the last is a probe."""
        own = iter(spelled)
        agreed = [row is None or row == next(own) for row in joined]
        self.exact_pieces = all(agreed[:-1])
        if not self.exact_pieces:
            return
        if not agreed[-1]:  # probe rows are spelled out, members need not be
            self._open(None)
            self.lay_out(_known([self], self._encoder))
        self._measure()

    def want(self, wanted: Wanted) -> None:
        """Adds the words whose ids are needed."""
        for side in self._editable:
            side.want(wanted)

    def lay_out(self, known: Known) -> None:
        """Puts the ids of words in order."""
        for side in self._editable:
            side.lay_out(known)

    def _safe(self) -> bool:
        return all(s is not None and (isinstance(s, bytes) or s.safe) for s in self._sides)

    @property
    def _editable(self) -> list[Side]:
        return [side for side in self._sides if isinstance(side, Side)]

    # --- checking -----------------------------------------------------------------------------

    def _members(self) -> Rows:
        """Rows that use every candidate once, those without pieces left out."""
        rows = covering_rows(self.space)
        for side in self._editable:
            for column, options in side.options.items():
                bad = [choice for choice, ids in enumerate(options[:-2]) if ids is None]
                if bad:
                    rows[np.isin(rows[:, column], bad), column] = 0
        return rows

    def samples(self) -> tuple[list[bytes | None], list[Source]]:
        """Rows that use every candidate once, and a probe, joined from pieces; the strings of those that
        can be. Nothing where pieces are no use from the start."""
        if not self._sides or not self._safe():
            return [], []
        members, probe, unknown = self._members(), _probe_row(self.space), self._encoder.unknown
        bodies = [self._bodies(row) for row in (*members.tolist(), *probe.tolist())]
        strings = [
            s for rows in (members, probe) for s in self.space.sources(rows, unknown=unknown)
        ]
        asked = [s for s, body in zip(strings, bodies, strict=True) if body is not None]
        return [None if body is None else self._frame.wrap(*body) for body in bodies], asked

    # --- rows ---------------------------------------------------------------------------------

    def lines(self, rows: Rows) -> Encoded:
        """The token ids of rows, truncated and framed, as the tokenizer has them."""
        if not self.exact_pieces:
            return self._spelled(rows)
        if self._plain:
            head, tail = self._frame.marks
            whole = self._last.bodies(rows.tolist(), head=head, tail=tail)
            if whole is not None:
                return Encoded(whole, [])
        bodies = [self._bodies(row) for row in rows.tolist()]
        wrap, types = self._frame.wrap, self._frame.wrap_types
        if None not in bodies:
            ids = [wrap(*found) for found in bodies if found is not None]
            kinds = [types(*found) for found in bodies if found is not None] if self._typed else []
            return Encoded(ids, kinds)
        spelled = self._spelled(rows[[found is None for found in bodies]])
        rest, more = iter(spelled.ids), iter(spelled.types)
        ids = [next(rest) if found is None else wrap(*found) for found in bodies]
        if not self._typed:
            return Encoded(ids, [])
        return Encoded(ids, [next(more) if found is None else types(*found) for found in bodies])

    def _spelled(self, rows: Rows) -> Encoded:
        return self._encoder.encode(self.space.sources(rows, unknown=self._encoder.unknown))

    def _bodies(self, row: list[int]) -> tuple[bytes, ...] | None:
        """The ids of each side; None where a choice has none of its own."""
        if len(self._sides) == 1:
            body = self._last.body(row)
            return None if body is None else (body,)
        found = [side.body(row) if isinstance(side, Side) else side for side in self._sides]
        first, second = found
        return None if first is None or second is None else (first, second)

    # --- lengths and what the model cannot tell apart -----------------------------------------

    def tokens(self, rows: Rows) -> int:
        if self._sizes is None:
            return self.longest
        found = int(self._sizes.take(rows + self._at).sum(axis=1).max(initial=0)) + self._fixed
        return found if self._most is None else min(found, self._most)

    def _measure(self) -> None:
        """Sets the sizes of all choices, the length of rows and the canonical choices."""
        width = max(self.space.counts, default=0) + 3
        count = len(self.space.positions)
        options: list[list[bytes | None]] = [[]] * count
        table: list[list[int]] = [[]] * count
        even = True  # whether every word is as long as the one it stands for
        for side in self._editable:
            for column, found in side.options.items():
                own = len(found[0] or b"")
                each = [own if ids is None else len(ids) for ids in found]
                even = even and each.count(own) + (each[-2] != own) == len(each)  # deleting apart
                gap = width - len(found)
                # Deleted, unknown, original, candidates: so that code 0 lies at entry 2.
                table[column] = each[-2:] + each[:-2] + [0] * gap
                known = (
                    found if column not in side.glued else list[bytes | None]([None] * len(found))
                )
                options[column] = known[:-2] + [None] * gap + known[-2:]
            for (
                column
            ) in side.later:  # the first word of a unit counts it, the others what they add
                own = table[column][2]
                table[column] = [size - own for size in table[column]]
        sizes = np.array(table, dtype=np.int64).reshape(count, width) // ITEM
        self._fixed = self._frame.specials + sum(
            tokens(side) if isinstance(side, bytes) else side.fixed for side in self._sides if side
        )
        self._at = np.arange(count) * width + 2
        self._most = self._encoder.limit
        self.longest = int(sizes.max(axis=1, initial=0).sum()) + self._fixed
        fits = self._most is None or self.longest <= self._most
        self._plain = fits and len(self._sides) == 1 and not self._typed
        if even:  # deleting apart, which only shortens
            self.longest = int(sizes[:, 2].sum()) + self._fixed
        self._sizes = None if even else sizes.ravel()
        self.canon = canonical_choices(options, width)
        if self._most is not None:
            if self.longest > self._most:
                self.canon = self._without_unseen(self.canon, sizes)
            self.longest = min(self.longest, self._most)

    def _without_unseen(self, canon: Rows | None, sizes: Sizes) -> Rows | None:
        """Words that truncation always cuts off are never read: all their choices are one.

        Always: in every row with at most one word deleted, which pulls the later ones in. Pairs are
        left alone: there the length of what is cut off decides what stays of the other side.
        """
        counts, room = self.space.counts, self._frame.room
        if self._frame.keep_end or room is None or len(self._sides) > 1 or self._last.glued:
            return canon
        codes = [*range(sizes.shape[1] - 2), DELETED, UNKNOWN]
        plain = np.tile(np.array(codes, dtype=np.int16), (len(counts), 1))
        table = plain if canon is None else canon
        swaps = widest = 0
        for column, fixed in self._last.before.items():
            if fixed + swaps - widest >= room:
                table[column, :-2] = table[column, UNKNOWN] = 0
            least = int(sizes[column, 1 : counts[column] + 3].min())
            swaps, widest = swaps + least, max(widest, least)
        return table


def token_tables(spaces: Sequence[Space], encoder: Encoder) -> Callable[[], list[TokenTable]]:
    """Lays out spaces for one tokenizer; the handle waits until what came of it is checked.

    The tokenizer is asked once for all of them, for it cuts many strings at a time.
    """
    tables = [TokenTable(space, encoder) for space in spaces]
    known = _known(tables, encoder)
    samples = []
    for table in tables:
        table.lay_out(known)
        samples.append(table.samples())
    asked = encoder.begin([source for _, strings in samples for source in strings])

    def settled() -> list[TokenTable]:
        spelled = iter(asked())
        for table, (joined, strings) in zip(tables, samples, strict=True):
            if joined:
                table.settle(joined, list(islice(spelled, len(strings))))
        return tables

    return settled


def _known(tables: Sequence[TokenTable], encoder: Encoder) -> Known:
    """The ids of all words that the tables want; those that are not known yet are cut in one go."""
    wanted: Wanted = {}
    for table in tables:
        table.want(wanted)
    learn = encoder.units.learn
    return {
        (gap, first): learn(found, gap=gap, first=first) for (gap, first), found in wanted.items()
    }


def _probe_row(space: Space) -> Rows:
    """A row in which every other word is deleted, the first with it, and the rest are unknown."""
    rows = np.full((1, len(space.counts)), UNKNOWN, dtype=np.int16)
    rows[0, ::2] = DELETED
    return rows
