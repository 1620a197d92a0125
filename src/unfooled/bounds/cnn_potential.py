"""Potential: a lower bound of a lead that falls by no more than the loss of each cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unfooled.bounds.cells import Doubles, Ints, Swaps
from unfooled.bounds.cnn_clusters import Clusters, Pairs, chains
from unfooled.bounds.cnn_losses import Levels, Weights
from unfooled.bounds.cnn_windows import Flags, Windows

_NEAR = 4  # columns whose windows a swap can share


class Shapes(NamedTuple):
    """All clusters of a text."""

    singles: Clusters
    pairs: Pairs | None
    envelopes: tuple[Clusters, ...]  # by size: of pairs if they are too many, of three columns, ...


class Node(NamedTuple):
    """Texts: their swaps, and what is left of the windows."""

    fixed: Ints  # (n, swaps)
    touched: Flags  # (n, words + 2)
    encoded: Doubles  # (n, features)
    made: Doubles  # (n, features): the strongest answer of the windows that the swaps change


class Potential:
    """Bounds over the cells of nodes with one budget, for one choice of weights."""

    def __init__(
        self, windows: Windows, swaps: Swaps, shapes: Shapes, levels: Levels, weights: Weights
    ) -> None:
        self.levels, self.weights, self.swaps = levels, weights, swaps
        self.budget, self.columns = levels.budget, swaps.columns
        alone = levels.losses(weights, shapes.singles)
        worst = np.maximum.reduceat(alone, swaps.starts[:-1])
        lone = _sums(worst, self.budget)
        grouped = np.zeros((self.budget + 1, self.columns + 1))  # by size and start
        self._beside = np.zeros((self.columns, self.budget + 1, self.columns + 1))
        self._near, self._extra = self._pairs(windows, shapes.pairs, worst, grouped)
        for clusters in shapes.envelopes:
            self._chains(clusters, grouped)
        grouped = _suffix(grouped)
        self._beside = _suffix(self._beside)
        self.most: Doubles = lone  # (budget + 1, columns + 1): the largest total of so many swaps
        for many in range(2, self.budget + 1):
            for size in range(2, many + 1):
                np.maximum(lone[many], grouped[size] + lone[many - size], out=lone[many])

    def _pairs(
        self, windows: Windows, pairs: Pairs | None, worst: Doubles, grouped: Doubles
    ) -> tuple[Ints, Doubles]:
        """The near columns of each column, and what a swap there costs more beside each swap."""
        near = np.full((self.columns, _NEAR), -1, dtype=np.int64)
        filled = np.zeros(self.columns, dtype=np.int64)
        slot: dict[tuple[int, ...], int] = {}
        for first, second in chains(windows.places, 2):
            near[first, filled[first]] = second
            slot[first, second] = int(filled[first])
            filled[first] += 1
        extra = np.zeros((len(self.swaps.column), _NEAR))
        if pairs is None or not len(pairs.swaps):
            return near, extra
        column = pairs.both.columns
        if self.budget > 1:
            both = self.levels.losses(self.weights, pairs.both)
            np.maximum.at(grouped[2], column[:, 0], both)
        levels = self.levels
        given = levels.losses(self.weights, pairs.second)
        kept = np.maximum(levels.value[:, 0], pairs.both.low[:, levels.good])
        given += np.maximum(pairs.lost[:, levels.good] - kept, 0.0) @ levels.gain
        at = np.array([slot[a, b] for a, b in column.tolist()], dtype=np.int64)
        np.maximum.at(extra, (pairs.swaps[:, 0], at), given - worst[column[:, 1]])
        return near, extra

    def _chains(self, clusters: Clusters, grouped: Doubles) -> None:
        """Enters clusters of which any part may have been made already."""
        columns, levels = clusters.columns, self.levels
        size = columns.shape[1]
        if not len(columns):
            return
        loss = levels.losses(self.weights, clusters)
        if size <= self.budget:
            np.maximum.at(grouped[size], columns[:, 0], loss)
        over = np.maximum(clusters.high[:, levels.good] - levels.value[:, 0], 0.0)
        loss = loss + over @ levels.gain
        for made in range(max(1, size - self.budget), size):
            for column in columns[:, :made].T:
                np.maximum.at(self._beside, (column, size - made, columns[:, made]), loss)

    # --- nodes ----------------------------------------------------------------------------------

    def lower(self, node: Node, margin: Doubles) -> Doubles:
        """(n, columns + 1): a bound of the lead over the cell from each column on."""
        paid, kept = self._paid(node)
        plain = (margin - paid)[:, None] - self.most[self.budget]
        if node.fixed.size and (self._near >= 0).any():
            last = self._near[self.swaps.column[node.fixed]].max(axis=(1, 2))
            beside = (margin - paid - kept)[:, None] - self._with_near(node.fixed)
            still = np.arange(self.columns + 1) <= last[:, None]
            plain = np.where(still, np.minimum(plain, beside), plain)
        plain[:, -1] = margin
        return plain

    def _paid(self, node: Node) -> tuple[Doubles, Doubles]:
        """What the potential of a text is below its lead, and what more if its own windows change."""
        levels = self.levels
        bad = node.encoded[:, levels.bad]
        paid = np.maximum(self.weights.ceiling - bad, 0.0) @ levels.cost
        if not node.fixed.shape[1]:
            return paid, np.zeros_like(paid)
        touch = node.touched[:, levels.order]  # (n, for, ranks)
        row, feature = np.nonzero(touch.any(axis=2))
        touch = touch[row, feature]  # (hits, ranks)
        seen = touch.cumsum(axis=1)
        lost = (seen > 0).astype(np.float64)
        most = levels.most
        few = np.where(
            levels.takes[feature],
            np.einsum("er,erl->el", touch[:, :most].astype(np.float64), self.weights.share[feature]),
            lost[:, :most],
        )
        lost[:, :most] = few
        lost[levels.never[feature]] = 0.0
        lost[np.arange(1, touch.shape[1] + 1) - seen > most] = 0.0  # more than can be touched
        value, gain = levels.value[feature], levels.gain[feature]
        top = np.minimum(value[:, :-1], node.encoded[:, levels.good][row, feature][:, None])
        made = node.made[:, levels.good][row, feature][:, None]
        whole = np.maximum(top - value[:, 1:], 0.0)
        above = np.maximum(top - np.maximum(value[:, 1:], made), 0.0)
        first = np.bincount(row, (above * lost).sum(axis=1) * gain, len(bad))
        second = np.bincount(row, (whole * lost).sum(axis=1) * gain, len(bad))
        return paid + first, second - first

    def _with_near(self, fixed: Ints) -> Doubles:
        """(n, columns + 1): the largest total of swaps of which some share windows with those made."""
        near = self._near[self.swaps.column[fixed]].reshape(len(fixed), -1)
        extra = np.where(near >= 0, self._extra[fixed].reshape(len(fixed), -1), 0.0)
        worst, total = np.zeros((2, len(fixed), self.columns + 1))
        rows = np.arange(len(fixed))
        for column, more in zip(near.T, extra.T, strict=True):
            np.add.at(total, (rows, column), more)
            np.maximum.at(worst, (rows, column), more)
        total, worst = np.cumsum(total[:, ::-1], axis=1)[:, ::-1], _suffix(worst)
        total = np.minimum(total, self.budget * worst)
        beside = self._beside[self.swaps.column[fixed]].max(axis=1)  # (n, budget + 1, columns + 1)
        found = np.broadcast_to(self.most[:, None], (self.budget + 1, *total.shape)).copy()
        for many in range(1, self.budget + 1):
            for size in range(1, many + 1):
                np.maximum(found[many], beside[:, size] + found[many - size], out=found[many])
        best: Doubles = found[self.budget] + total
        return best


def _suffix(values: Doubles) -> Doubles:
    """The largest from each place of the last axis on."""
    found: Doubles = np.maximum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
    return found


def _sums(values: Doubles, most: int) -> Doubles:
    """(most + 1, n + 1): the sum of the k largest values from each place on, none of them below 0."""
    best, sums = np.zeros(most), np.zeros((most + 1, len(values) + 1))
    for at in range(len(values) - 1, -1, -1):
        best = np.sort(np.append(best, values[at]))[::-1][:most]
        sums[1:, at] = best.cumsum()
    return sums
