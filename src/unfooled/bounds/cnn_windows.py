"""Windows of a convolutional network: what swaps make of them, and the strongest answer left.

A swap changes the windows of the words before, at and after its place. Answers are after the ReLU,
as if there were one more window of value 0 that no swap can touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from unfooled.bounds.cells import Doubles, Ints, Swaps
from unfooled.bounds.reading import Reading
from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.sweeps.cnn import constants, shares, windows

REACH = 2  # swaps no further apart than this share windows
_AFTER = 4  # windows of which one is left whatever a single swap touches
_DIGITS = 9  # of answers that tell windows apart
_NUMBERS = 1 << 20  # in an array over texts and features,
_CACHED = 1 << 17  # and in one that the processor's cache should hold

Flags = NDArray[np.bool_]


class Left(NamedTuple):
    """The strongest windows that swaps do not touch, strongest first."""

    value: Doubles  # (n, ranks, features)
    window: NDArray[np.int32]  # (n, ranks, features)


class Windows:
    """The windows of one text, and what every swap adds to those around it."""

    def __init__(self, reading: Reading, swaps: Swaps, *, radius: int) -> None:
        network = reading.network
        assert isinstance(network, CNN | CNNMSR)
        with torch.inference_mode():
            base = shares(network, reading.text)
            found = windows(constants(network, base.shape[2]), base)
            new = shares(network, torch.cat((reading.text[:0], *reading.choices)))
        self.answers: Doubles = found.numpy()  # (words, features), before the ReLU
        self.words, self.features = (int(n) for n in self.answers.shape)
        self.places: Ints = np.array(reading.plan.places, dtype=np.int64)  # of the columns
        self.place: Ints = self.places[swaps.column]  # of the swaps
        self.added: Doubles = new.numpy() - base.numpy()[self.place]  # (swaps, 3, features)
        self.alone: Doubles = np.zeros((len(self.place), self.features))
        for offset in range(3):
            at = self.place + 1 - offset
            real = (at >= 0) & (at < self.words)
            answer = self.answers[at[real]] + self.added[real, offset]
            self.alone[real] = np.maximum(self.alone[real], answer)
        self._sort(3 * max(radius, 1) + 1)

    @property
    def block(self) -> int:
        """How many texts to treat at once."""
        return max(1, _NUMBERS // self.features)

    def _sort(self, most: int) -> None:
        """The strongest windows of each feature; those that are missing are the one of value 0.

        Windows of the same words tie, and go by place whatever their last digits are elsewhere: a
        checker on another machine has to find the same bounds. What that may cost is far below `sure`.
        """
        order = np.argsort(-np.round(self.answers, _DIGITS), axis=0, kind="stable")[:most]
        value = np.maximum(np.take_along_axis(self.answers, order, axis=0), 0.0)
        missing = ((0, most - len(order)), (0, 0))
        self.order: Ints = np.pad(order, missing, constant_values=self.words + 1)
        self.value: Doubles = np.pad(value, missing)  # (ranks, features)

    def touched(self, fixed: Ints) -> Flags:
        """(n, words + 2): which windows the swaps of each row change; the last is never one."""
        found = np.zeros((len(fixed), self.words + 2), dtype=np.bool_)
        rows = np.arange(len(fixed))
        for place in self.place[fixed].T:
            for at in (place - 1, place, place + 1):
                found[rows, at] = True  # -1 is the last, mended below
        found[:, self.words :] = False
        return found

    def left(self, touched: Flags, ranks: int) -> Left:
        """The strongest windows that are not touched; after the last one come zeros."""
        shape = len(touched), ranks, self.features
        value, window = np.zeros(shape), np.full(shape, self.words + 1, dtype=np.int32)
        filled = np.zeros((len(touched), self.features), dtype=np.int8)
        for here, answer in zip(self.order, self.value, strict=True):
            free = ~touched[:, here]
            for rank in range(ranks):
                row, feature = np.nonzero(free & (filled == rank))
                value[row, rank, feature] = answer[feature]
                window[row, rank, feature] = here[feature]
            filled += free
            if (filled >= ranks).all():
                break
        return Left(value, window)

    def strongest(self, fixed: Ints) -> Doubles:
        """(n, features): the strongest answer of the windows that the swaps of each row change."""
        if not fixed.shape[1]:
            return np.zeros((len(fixed), self.features))
        found = self.alone[fixed[:, 0]]
        for swap in fixed.T[1:]:
            np.maximum(found, self.alone[swap], out=found)
        place = np.sort(self.place[fixed], axis=1)
        near = np.flatnonzero((np.diff(place, axis=1) <= REACH).any(axis=1))
        found[near] = self.together(fixed[near])
        return found

    def together(self, fixed: Ints) -> Doubles:
        """The same for swaps that share windows."""
        return self.joint(fixed, self.place[fixed], self.added)

    def joint(self, items: Ints, places: Ints, added: Doubles, *, first: int = 0) -> Doubles:
        """(n, features): the strongest answer of the windows that are changed at `places` (n, size).

        All of `items`, of which `added` says what they add, are swapped; with `first`, the windows of
        those before it do not count.
        """
        best = np.zeros((len(items), self.features))
        for around in places.T[first:]:
            for step in (-1, 0, 1):
                at = around + step
                total = self.answers[np.clip(at, 0, self.words - 1)]
                for item, place in zip(items.T, places.T, strict=True):
                    row = np.flatnonzero(np.abs(place - at) <= 1)
                    total[row] += added[item[row], place[row] + 1 - at[row]]
                real = (at >= 0) & (at < self.words)
                best[real] = np.maximum(best[real], total[real])
        return best

    def children(self, fixed: Ints, parent: Ints, swap: Ints) -> Iterator[Doubles]:
        """Blocks of (texts, features): the encoded rows `parent` of `fixed` with one more swap."""
        left, made = self.left(self.touched(fixed), _AFTER), self.strongest(fixed)
        size = max(1, _CACHED // self.features)
        for at in range(0, len(swap), size):
            block = slice(at, at + size)
            yield self._children(fixed, left, made, parent[block], swap[block])

    def _children(
        self, fixed: Ints, left: Left, made: Doubles, parent: Ints, swap: Ints
    ) -> Doubles:
        place = self.place[swap]
        found: Doubles = left.value[parent, 0]
        changed = left.window[parent, 0]
        changed -= place.astype(np.int32)[:, None] - 1  # 0, 1 or 2 if it is touched
        hit = np.flatnonzero(changed.view(np.uint32) <= REACH)
        row, feature = np.divmod(hit, self.features)
        for rank in range(1, _AFTER):
            if not len(row):
                break
            found[row, feature] = left.value[parent[row], rank, feature]
            again = np.abs(left.window[parent[row], rank, feature] - place[row]) <= 1
            row, feature = row[again], feature[again]
        answers = self.alone[swap]
        np.maximum(answers, made[parent], out=answers)
        near = np.abs(self.place[fixed[parent]] - place[:, None]) <= REACH
        shared = np.flatnonzero(near.any(axis=1))
        if len(shared):
            both = np.column_stack((fixed[parent[shared]], swap[shared]))
            answers[shared] = self.together(both)
        np.maximum(found, answers, out=found)
        return found

    def needed(self, ranks: int) -> Ints:
        """(ranks, features): how many swaps it takes at least to touch the strongest 1, 2, ... windows.

        A window that no swap touches takes more than there are.
        """
        never = len(self.places) + 1
        last = np.full(self.words + 2, -1)  # the last window that a swap can touch with each
        for place in np.sort(self.places):
            last[max(place - 1, 0) : min(place + 2, self.words)] = place + 1
        found = np.zeros((ranks, self.features), dtype=np.int64)
        for rank in range(ranks):
            cover = np.full(self.features, -1)
            for at in np.sort(self.order[: rank + 1], axis=0):
                more = at > cover
                found[rank] += np.where(more, np.where(last[at] < 0, never, 1), 0)
                cover = np.where(more, last[at], cover)
        return found

    def ceiling(self, swaps: Swaps, radius: int) -> Doubles:
        """(features,): no text with so many swaps is encoded with more."""
        rise = np.zeros((self.words + 2, 3, self.features))  # by window, from the words around it
        if swaps.columns:
            most = np.maximum.reduceat(np.maximum(self.added, 0.0), swaps.starts[:-1])
            for offset in range(3):
                rise[self.places + 2 - offset, offset] = most[:, offset]
        total = np.sort(rise[1:-1], axis=1)[:, max(0, 3 - radius) :].sum(axis=1)
        found: Doubles = np.maximum((self.answers + total).max(axis=0), 0.0)
        return found
