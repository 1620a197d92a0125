"""How many ways there are to change at most r words: elementary symmetric polynomials.

With c_i candidates at position i, exactly k swaps can be made in e_k(c_1, ..., c_n) ways, where
e_k is the k-th elementary symmetric polynomial. Everything a space counts, lists or draws comes
from the table of these numbers for every suffix c_i, ..., c_n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Rows = NDArray[np.int16]

_LARGE = 1 << 62  # counts saturate here for listing: nobody lists so many


def ways(counts: Sequence[int], radius: int) -> list[int]:
    """e_0, ..., e_radius of the counts, exactly.

    >>> ways((2, 3), 2)
    [1, 5, 6]
    """
    found = [1] + [0] * radius
    for i, count in enumerate(counts):
        for k in range(min(radius, i + 1), 0, -1):
            found[k] += count * found[k - 1]
    return found


def suffix_ways(counts: Sequence[int], radius: int) -> list[list[int]]:
    """Row i holds e_0, ..., e_radius of counts[i:]; the last row is that of no counts."""
    table = [[1] + [0] * radius]
    for count in reversed(counts):
        rest = table[-1]
        table.append([1] + [rest[k] + count * rest[k - 1] for k in range(1, radius + 1)])
    return table[::-1]


class Lister:
    """Lists the choices with exactly k swaps by number, so that any stretch can be made at once."""

    def __init__(self, counts: Sequence[int], radius: int) -> None:
        table = suffix_ways(counts, radius)
        self._counts = counts
        self._ways = np.array([[min(n, _LARGE) for n in row] for row in table], dtype=np.int64)
        self.totals = table[0]

    def choices(self, swaps: int, start: int, stop: int) -> Rows:
        """Members number start to stop among those with exactly so many swaps, earlier positions first."""
        index = np.arange(start, stop, dtype=np.int64)
        left = np.full(len(index), swaps)
        rows = np.zeros((len(index), len(self._counts)), dtype=np.int16)
        for i, count in enumerate(self._counts):
            rest = np.where(
                left > 0, self._ways[i + 1][left - 1], 0
            )  # ways to go on after a swap here
            here = np.minimum(rest, _LARGE // max(count, 1)) * count
            take = index < here
            rows[take, i] = index[take] // rest[take] + 1
            index = np.where(take, index % np.maximum(rest, 1), index - here)
            left = left - take
        return rows

    def chunks(self, size: int) -> Iterator[Rows]:
        """Every member once, fewer swaps first, in stretches of at most `size`."""
        for swaps, total in enumerate(self.totals):
            for start in range(0, total, size):
                yield self.choices(swaps, start, min(start + size, total))


def unpermuted(choices: Rows, order: Sequence[int]) -> Rows:
    """The rows of choices whose columns are listed in another order: entry i belongs to order[i].

    >>> unpermuted(np.array([[5, 0, 7]], dtype=np.int16), (2, 0, 1)).tolist()
    [[0, 7, 5]]
    """
    rows = np.empty_like(choices)
    rows[:, list(order)] = choices
    return rows


def row_keys(rows: Rows) -> list[bytes]:
    """One hashable key per row."""
    if rows.shape[1] == 0:
        return [b""] * len(rows)
    keys: list[bytes] = np.ascontiguousarray(rows).view(f"V{2 * rows.shape[1]}").ravel().tolist()
    return keys


def first_seen(slots: list[int], known: int, new: int) -> list[int]:
    """Which entries met a row for the first time: their slots are the next free ones in turn."""
    picks, wanted = [], known
    for i, slot in enumerate(slots):
        if slot == wanted:
            picks.append(i)
            wanted += 1
    assert wanted == known + new
    return picks


def draw(counts: Sequence[int], radius: int, *, n: int, rng: Generator) -> Rows:
    """`n` independent choices, uniform over all with at most `radius` swaps.

    The number of swaps is drawn in proportion to e_k, then positions one after the other by the
    share of the remaining ways that use them. Drawing positions uniformly would be wrong: a
    position with more candidates belongs to more members.
    """
    rows = np.zeros((n, len(counts)), dtype=np.int16)
    if radius >= len(counts):
        return rng.integers(0, np.array(counts, dtype=np.int64) + 1, size=rows.shape).astype(
            np.int16
        )
    table = suffix_ways(counts, radius)
    total = sum(table[0])
    shares = np.array([way / total for way in table[0]])
    left = np.minimum(np.searchsorted(np.cumsum(shares), rng.random(n), side="right"), radius)
    for i, count in enumerate(counts):
        here, rest = table[i], table[i + 1]
        use = [0.0] + [
            count * rest[k - 1] / here[k] if here[k] else 0.0 for k in range(1, radius + 1)
        ]
        take = rng.random(n) < np.array(use)[left]
        rows[take, i] = rng.integers(1, count + 1, size=int(take.sum()))
        left = left - take
    return rows
